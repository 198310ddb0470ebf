"""How a WebSocket is opened, with websockets of before and since version 13."""

from __future__ import annotations

from typing import Any

from websockets.exceptions import ConnectionClosed

try:
    from websockets.asyncio.client import connect as _connect

    _HEADERS = "additional_headers"
except ImportError:
    from websockets.client import connect as _connect  # type: ignore

    _HEADERS = "extra_headers"

OPENS_WITHIN_SECONDS = 10
CLOSES_WITHIN_SECONDS = 2
# Of one message: a portfolio of thousands of positions.
BYTES_MAX = 64 * 2**20


class _Connect(_connect):
    """A credential follows no redirect."""

    MAX_REDIRECTS_ALLOWED = 1

    def process_redirect(self, exc: Exception) -> Exception:
        return exc


async def open_socket(url: str, headers: dict[str, str]) -> Any:
    """A connection of websockets; raises its error, or that of the system."""
    named: dict[str, Any] = {_HEADERS: headers}
    return await _Connect(
        url,
        **named,
        open_timeout=OPENS_WITHIN_SECONDS,
        close_timeout=CLOSES_WITHIN_SECONDS,
        # The heartbeats of the server say as much.
        ping_interval=None,
        max_size=BYTES_MAX,
    )


def close_code(error: ConnectionClosed) -> int | None:
    """Of the server's close frame; None without one."""
    return None if error.rcvd is None else error.rcvd.code

"""Why a call brought no answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .generated import ErrorCode


class PaperbookError(Exception):
    """Any failure of a call. ``sent`` is the body that it was sent with: of an order it has the
    idempotency key, so that ``place_order(error.sent)`` shows whether it was placed, and places it
    once.
    """

    def __init__(
        self,
        message: str,
        *,
        request_id: str | None = None,
        sent: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.request_id = request_id
        self.sent = sent

    @property
    def idempotency_key(self) -> str | None:
        """Of one order."""
        sent = self.sent or {}
        return sent.get("idempotencyKey") or sent.get("clientOrderId")


class RefusedError(PaperbookError):
    """The server refused: branch on ``code``, show ``message``."""

    def __init__(
        self,
        status: int,
        code: ErrorCode,
        message: str,
        *,
        retry_after_seconds: int | None,
        request_id: str | None,
        sent: Mapping[str, Any] | None,
    ) -> None:
        super().__init__(message, request_id=request_id, sent=sent)
        self.status = status
        self.code = code
        # How long to wait; None where waiting does not help.
        self.retry_after_seconds = retry_after_seconds

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class BadAnswerError(PaperbookError):
    """The answer is not one of this API: a proxy failed, or the address is another service's."""

    def __init__(
        self, status: int, *, request_id: str | None, sent: Mapping[str, Any] | None
    ) -> None:
        message = f"HTTP {status}, which is no answer of the API"
        super().__init__(message, request_id=request_id, sent=sent)
        self.status = status


class NoAnswerError(PaperbookError):
    """No server, or none in time. ``__cause__`` is the error of httpx."""

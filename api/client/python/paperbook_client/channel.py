"""One subscribed channel of a stream: its messages, and whether one is missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from .events import (
    GameEvent,
    GamesEvent,
    GapEvent,
    OrderEvent,
    PortfolioEvent,
    QuoteEvent,
    StreamEvent,
)


class Channel:
    """Passes the content of its messages to ``emit``."""

    def __init__(self, name: str, after: str | None, emit: Callable[[StreamEvent], None]) -> None:
        self.name = name
        # Of ``orders``: the eventId of the last event that was emitted.
        self.after = after
        self._emit = emit
        # "asked": messages are of an earlier subscription. "begun": its first message is awaited.
        self._phase: Literal["asked", "begun", "live"] = "asked"
        self._epoch = 0
        self._seq: int | None = None
        self._quote: Any = None

    def ask(self) -> None:
        """It is being subscribed to, again or for the first time."""
        self._phase = "asked"
        self._seq = None
        self._quote = None

    def begin(self) -> None:
        """The server has accepted the subscription: its messages follow."""
        self._phase = "begun"

    def take(self, message: dict[str, Any]) -> bool:
        """False: messages are missing, so that it has to be subscribed to again."""
        if self._phase == "asked":
            return True
        if message.get("gap"):
            return self._take_gap()
        if not self._is_next(message):
            return self.miss()
        self._phase = "live"
        self._show(message)
        return True

    def take_heartbeat(self, seq: int) -> bool:
        """As ``take``; ``seq`` is the number of the last message, as the server has it."""
        return self._seq is None or self._seq == seq or self.miss()

    def miss(self) -> bool:
        """Messages are lost, except events, which can be asked for again."""
        if self.after is None:
            self._emit(GapEvent(self.name))
        return False

    def _take_gap(self) -> bool:
        if self._phase == "live" and self.after is not None:
            return False
        self._seq = None
        self._emit(GapEvent(self.name))
        return True

    def _is_next(self, message: dict[str, Any]) -> bool:
        if message.get("replayed"):
            return True
        epoch, seq = message.get("epoch"), message.get("seq")
        if epoch is None or seq is None:
            return False
        is_first = message.get("snapshot") or (self._seq is None and self.name == "orders")
        if not is_first and (epoch != self._epoch or seq != (self._seq or 0) + 1):
            return False
        self._epoch, self._seq = epoch, seq
        return True

    def _show(self, message: dict[str, Any]) -> None:
        data, at = message["data"], message["at"]
        is_snapshot = "snapshot" in message
        if self.name == "orders":
            if is_snapshot:
                self.after = message.get("eventId")
                self._emit(PortfolioEvent(data, at))
            elif self.after is None or data["eventId"] > self.after:
                self.after = data["eventId"]
                self._emit(OrderEvent(data, "replayed" in message))
        elif self.name == "games":
            if is_snapshot:
                self._emit(GamesEvent(data["games"], data["nextCursor"], at))
            else:
                self._emit(GameEvent(data, at))
        else:
            self._quote = _merged(self._quote, data)
            self._emit(QuoteEvent(self._quote, None if is_snapshot else data, at))


def _merged(before: Any, patch: Any) -> Any:
    """A merge patch applied (RFC 7396), but a member that it removes stays as None: every field of
    a Quote is always there.
    """
    if not (isinstance(before, dict) and isinstance(patch, dict)):
        return patch
    return {**before, **{name: _merged(before.get(name), patch[name]) for name in patch}}

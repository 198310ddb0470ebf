"""The events that a stream yields. Times are date-times of the server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from .errors import RefusedError
from .generated import Event, Game, Portfolio, Quote


@dataclass(frozen=True)
class QuoteEvent:
    """A quote as it is now; ``change`` has its new members, None if all of them may be new."""

    quote: Quote
    change: dict[str, Any] | None
    at: str


@dataclass(frozen=True)
class GamesEvent:
    """The first hundred games, as ``list_games`` answers them."""

    games: list[Game]
    next_cursor: str | None
    at: str


@dataclass(frozen=True)
class GameEvent:
    """A game that has changed."""

    game: Game
    at: str


@dataclass(frozen=True)
class PortfolioEvent:
    """Where ``orders`` begins again: earlier events may not have been sent."""

    portfolio: Portfolio
    at: str


@dataclass(frozen=True)
class OrderEvent:
    """Each event once, in order, over all connections. Replayed: it happened during a loss."""

    event: Event
    replayed: bool


@dataclass(frozen=True)
class GapEvent:
    """Messages of a channel are missing, and its content follows again. Events of ``orders`` are
    asked for again. There a gap means that the server cannot send them any more.
    """

    channel: str


@dataclass(frozen=True)
class EndedEvent:
    """The server has ended a channel, which is subscribed to no more."""

    channel: str
    error: RefusedError


@dataclass(frozen=True)
class StateEvent:
    """``error`` is why the last connection ended; ``retry_in_seconds`` is of "waiting"."""

    state: Literal["connecting", "open", "waiting", "closed"]
    error: Exception | None = None
    retry_in_seconds: float | None = None


StreamEvent: TypeAlias = (
    QuoteEvent
    | GamesEvent
    | GameEvent
    | PortfolioEvent
    | OrderEvent
    | GapEvent
    | EndedEvent
    | StateEvent
)

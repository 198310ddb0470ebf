"""A typed client of a Paperbook server: paper trading of prediction markets."""

from . import generated
from .client import AsyncClient, Client, outcomes_of
from .errors import (
    BadAnswerError,
    ConnectionLostError,
    NoAnswerError,
    PaperbookError,
    RefusedError,
)
from .events import (
    EndedEvent,
    GameEvent,
    GamesEvent,
    GapEvent,
    OrderEvent,
    PortfolioEvent,
    QuoteEvent,
    StateEvent,
    StreamEvent,
)
from .generated import *  # noqa: F403
from .stream import Stream

__all__ = [
    "AsyncClient",
    "BadAnswerError",
    "Client",
    "ConnectionLostError",
    "EndedEvent",
    "GameEvent",
    "GamesEvent",
    "GapEvent",
    "NoAnswerError",
    "OrderEvent",
    "PaperbookError",
    "PortfolioEvent",
    "QuoteEvent",
    "RefusedError",
    "StateEvent",
    "Stream",
    "StreamEvent",
    "outcomes_of",
    *generated.__all__,
]

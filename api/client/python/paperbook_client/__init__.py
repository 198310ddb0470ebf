"""A typed client of a Paperbook server: paper trading of prediction markets."""

from . import generated
from .client import AsyncClient, Client
from .errors import BadAnswerError, NoAnswerError, PaperbookError, RefusedError
from .generated import *  # noqa: F403

__all__ = [
    "AsyncClient",
    "BadAnswerError",
    "Client",
    "NoAnswerError",
    "PaperbookError",
    "RefusedError",
    *generated.__all__,
]

"""Why a call brought no answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

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
        request_id: str | None = None,
        sent: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message, request_id=request_id, sent=sent)
        self.status = status
        self.code = code
        # How long to wait; None if waiting does not help.
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


class ConnectionLostError(PaperbookError):
    """A message of a stream was not answered. ``outcome`` is "not_sent" if the server never got
    it, else "unknown": it may have been done. Then ``place(error.sent)`` shows whether an order was
    placed, and places it once; a cancel can be sent again as it is.
    """

    def __init__(
        self, why: str, outcome: Literal["not_sent", "unknown"], *, sent: Mapping[str, Any] | None
    ) -> None:
        said = "the outcome is unknown" if outcome == "unknown" else "nothing was sent"
        super().__init__(f"{why}: {said}", sent=sent)
        self.outcome = outcome


def refusal_of(
    status: int,
    body: Any,
    *,
    request_id: str | None = None,
    sent: Mapping[str, Any] | None = None,
) -> RefusedError:
    """The refusal in the body of an error; raises ``BadAnswerError`` if there is none."""
    error = body.get("error") if isinstance(body, dict) else None
    if not (isinstance(error, dict) and isinstance(error.get("code"), str)):
        raise BadAnswerError(status, request_id=request_id, sent=sent)
    return RefusedError(
        status,
        error["code"],
        str(error.get("message")),
        retry_after_seconds=error.get("retryAfterSeconds"),
        request_id=request_id,
        sent=sent,
    )

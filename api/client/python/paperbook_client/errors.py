"""Why a call brought no answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from .generated import ErrorCode


class PaperbookError(Exception):
    """Any failure of a call. ``sent`` is the body that it was sent with. The body of an order has the
    idempotency key. So ``place_order(error.sent)`` shows whether it was placed, and places it once.
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
        leader: str | None = None,
    ) -> None:
        super().__init__(message, request_id=request_id, sent=sent)
        self.status = status
        self.code = code
        # Of "not_leader": the address of the node that takes the request; None: none is known.
        self.leader = leader
        # How long to wait; None if waiting does not help.
        self.retry_after_seconds = retry_after_seconds

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"

    def __repr__(self) -> str:
        fields = ("status", "code", "message", "retry_after_seconds", "request_id")
        shown = [f"{name}={getattr(self, name)!r}" for name in fields]
        return f"{type(self).__name__}({', '.join(shown)})"


class InvalidRequest(RefusedError):
    """400, 405, 413: the request is wrong. ``message`` names the field."""


class Unauthorized(RefusedError):
    """401: no key, or one that is not valid."""


class Forbidden(RefusedError):
    """403: the key may not do that, or a switch of the server is off."""


class NotFound(RefusedError):
    """404: there is none of that id. ``code`` says of what."""


class Conflict(RefusedError):
    """409: the request is right, and cannot be done as things are now."""


class InsufficientBalance(Conflict):
    """The order costs more than the account can spend."""


class PriceMoved(Conflict):
    """The price is past the cap or floor of the market order."""


class NoLiquidity(Conflict):
    """There is no quote, an empty side, or a quote that is too old."""


class MarketNotOpen(Conflict):
    """The market is paused, closed or has a result; or it cannot be traded here."""


class AlreadyClosed(Conflict):
    """The trade is not open, or the order does not rest."""


class IdempotencyKeyReused(Conflict):
    """The key belongs to another order."""


class TooLate(Conflict):
    """The order arrived later than its ``rejectIfLaterThan``."""


class RateLimited(RefusedError):
    """429: over a limit. ``retry_after_seconds`` says how long to wait."""


class Unavailable(RefusedError):
    """500, 503: a fault of the server, or it cannot answer now."""


# By the code, where a program does something of its own; else by the status.
_BY_CODE: dict[str, type[RefusedError]] = {
    "already_closed": AlreadyClosed,
    "idempotency_key_reused": IdempotencyKeyReused,
    "insufficient_balance": InsufficientBalance,
    "market_not_open": MarketNotOpen,
    "market_resolved": MarketNotOpen,
    "no_liquidity": NoLiquidity,
    "no_tradable_listing": MarketNotOpen,
    "price_moved": PriceMoved,
    "too_late": TooLate,
}
_BY_STATUS: dict[int, type[RefusedError]] = {
    400: InvalidRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    405: InvalidRequest,
    409: Conflict,
    413: InvalidRequest,
    429: RateLimited,
    500: Unavailable,
    503: Unavailable,
}


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
    placed, and places it once. A cancel can be sent again as it is.
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
    code = error["code"]
    kind = _BY_CODE.get(code) or _BY_STATUS.get(status, RefusedError)
    return kind(
        status,
        code,
        str(error.get("message")),
        retry_after_seconds=error.get("retryAfterSeconds"),
        request_id=request_id,
        sent=sent,
        leader=leader_in(body),
    )


def leader_in(body: Any) -> str | None:
    """The address of the node that the body of a refusal names."""
    error = body.get("error") if isinstance(body, dict) else None
    leader = error.get("leader") if isinstance(error, dict) else None
    return leader if isinstance(leader, str) else None


def address_at(leader: str, own: str) -> str | None:
    """The address ``own`` of HTTP at the node that a refusal names. None: a credential that was sent
    over TLS is not sent without.
    """
    node, here = urlsplit(leader), urlsplit(own)
    if not node.netloc or node.scheme not in ("https", here.scheme):
        return None
    return here._replace(scheme=node.scheme, netloc=node.netloc).geturl()

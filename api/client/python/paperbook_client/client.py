"""The clients: how a call is sent, sent again, and answered. Rules U60 to U62 (api/RULES.md)."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import random
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

import httpx

from .calls import Call
from .errors import (
    BadAnswerError,
    NoAnswerError,
    RefusedError,
    address_at,
    leader_in,
    refusal_of,
)
from .generated import AsyncOperations, OrderBatchResults, OrderPlacement, Operations
from .stream import Stream
from .sync_stream import SyncStream

# Without a handler of the program, Python prints warnings: a failed callback must not be silent.
log = logging.getLogger("paperbook_client")

ANSWERS_WITHIN_SECONDS = 30.0
FIRST_PAUSE_SECONDS = 0.25
# How often the server sends a heartbeat over a stream.
HEARTBEAT_SECONDS = 5.0
# A server that asks for a longer wait is not waited for: its refusal is raised at once.
WAITS_AT_MOST_SECONDS = 10.0
# The server that `npm start` and `paperbook serve` start on this machine.
LOCAL_URL = "http://127.0.0.1:8080/v1"
# How many characters of a key the API itself shows.
PREFIX_CHARACTERS = 16
Money: TypeAlias = type[float] | type[Decimal]
ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


class Client(Operations):
    """One method per operation: ``client.get_portfolio()``. Each returns the JSON of the answer.

    Without ``base_url`` it is PAPERBOOK_BASE_URL, or the server of this machine. Without ``key`` it
    is PAPERBOOK_API_KEY. ``base_url`` has the version: ``https://paper.example/v1``. Reads, and
    orders under the same idempotency keys, are sent again up to ``retries`` times without an answer
    or at a 503. At a 429 any call is. With ``money=Decimal`` each field that ends in ``Dollars`` is
    a ``Decimal``.
    """

    def __init__(
        self,
        base_url: str | None = None,
        key: str | None = None,
        *,
        retries: int = 3,
        timeout_seconds: float = ANSWERS_WITHIN_SECONDS,
        waits_at_most_seconds: float = WAITS_AT_MOST_SECONDS,
        money: Money = float,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._setup = _Setup(base_url, key, timeout_seconds, money)
        self._http = httpx.Client(transport=transport, **self._setup.http_options())
        self._retries = _Retries(retries, waits_at_most_seconds)

    def __repr__(self) -> str:
        return f"<Client {self._setup}>"

    @property
    def rate_limit(self) -> RateLimit | None:
        """What the last answer said of the request limits; None before the first."""
        return self._setup.rate_limit

    def stream(
        self,
        *,
        after: str | None = None,
        cancel_on_disconnect: bool = False,
        org: str | None = None,
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
        first_pause_seconds: float = FIRST_PAUSE_SECONDS,
    ) -> SyncStream:
        """``AsyncClient.stream`` with callbacks, or a plain ``for``: ``with`` opens it."""
        setup = self._setup
        asynchronous = AsyncClient(
            setup.base_url, setup.key, timeout_seconds=setup.timeout_seconds, money=setup.money
        )
        options = {
            "after": after,
            "cancel_on_disconnect": cancel_on_disconnect,
            "org": _checked_org(org),
            "heartbeat_seconds": heartbeat_seconds,
            "first_pause_seconds": first_pause_seconds,
        }
        return SyncStream(asynchronous, options)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def call(self, call: Call) -> Any:
        attempt = 0
        while True:
            result = self._sent(call, call.path)
            there = self._setup.leader_of(call, result)
            if there is not None:
                result = self._sent(call, there)
            pause = self._retries.pause(call, result, attempt)
            if pause is None:
                return self._setup.answer(call, result)
            attempt += 1
            self._setup.log_again(call, result, pause)
            time.sleep(pause)

    def _sent(self, call: Call, url: str) -> _Result:
        try:
            return self._http.request(call.method, url, **_request(call))
        except httpx.RequestError as error:
            return error


class AsyncClient(AsyncOperations):
    """``Client`` for asyncio."""

    def __init__(
        self,
        base_url: str | None = None,
        key: str | None = None,
        *,
        retries: int = 3,
        timeout_seconds: float = ANSWERS_WITHIN_SECONDS,
        waits_at_most_seconds: float = WAITS_AT_MOST_SECONDS,
        money: Money = float,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._setup = _Setup(base_url, key, timeout_seconds, money)
        self._http = httpx.AsyncClient(transport=transport, **self._setup.http_options())
        self._retries = _Retries(retries, waits_at_most_seconds)

    def __repr__(self) -> str:
        return f"<AsyncClient {self._setup}>"

    @property
    def rate_limit(self) -> RateLimit | None:
        """What the last answer said of the request limits; None before the first."""
        return self._setup.rate_limit

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def call(self, call: Call) -> Any:
        attempt = 0
        while True:
            result = await self._sent(call, call.path)
            there = self._setup.leader_of(call, result)
            if there is not None:
                result = await self._sent(call, there)
            pause = self._retries.pause(call, result, attempt)
            if pause is None:
                return self._setup.answer(call, result)
            attempt += 1
            self._setup.log_again(call, result, pause)
            await asyncio.sleep(pause)

    async def _sent(self, call: Call, url: str) -> _Result:
        try:
            return await self._http.request(call.method, url, **_request(call))
        except httpx.RequestError as error:
            return error

    def stream(
        self,
        *,
        after: str | None = None,
        cancel_on_disconnect: bool = False,
        org: str | None = None,
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
        first_pause_seconds: float = FIRST_PAUSE_SECONDS,
    ) -> Stream:
        """The stream, which ``async with`` opens.

        ``after`` is the eventId of the last event of ``orders`` that is known. With
        ``cancel_on_disconnect`` orders placed over a connection are canceled when that is lost, or
        closed. ``org`` is the id of an organization, whose sandbox it is about.
        """
        named = _checked_org(org)
        headers = self._setup.headers() | ({} if named is None else {"x-service-org": named})

        async def refusal(url: str) -> Exception:
            """The same request without a WebSocket is answered; 400 if only that is wrong."""
            try:
                at = f"http{url.removeprefix('ws')}"
                response = await self._http.get(at, headers=headers)
                if response.status_code == 400:
                    return ConnectionError("the handshake was refused")
                return refusal_of(response.status_code, _json(response))
            except BadAnswerError as error:
                return error
            except httpx.RequestError:
                return ConnectionError("the server could not be reached")

        return Stream(
            f"ws{self._setup.base_url.removeprefix('http')}/stream",
            headers,
            refusal,
            after=after,
            cancel_on_disconnect=cancel_on_disconnect,
            timeout_seconds=self._setup.timeout_seconds,
            heartbeat_seconds=heartbeat_seconds,
            first_pause_seconds=first_pause_seconds,
            loads=self._setup.loads,
        )


@dataclass(frozen=True)
class RateLimit:
    """The request limits after an answer. Without a key the minute is advice, and the month None."""

    plan: str | None
    limit: int
    remaining: int
    reset_seconds: int
    month_limit: int | None
    month_remaining: int | None
    month_reset_seconds: int | None


def outcomes_of(batch: OrderBatchResults) -> list[OrderPlacement | RefusedError]:
    """The outcome of each order of a batch, in their order: its placement, or its refusal."""
    outcomes: list[OrderPlacement | RefusedError] = []
    for result in batch["results"]:
        body: Any = result["body"]
        outcomes.append(refusal_of(result["status"], body) if "error" in body else body)
    return outcomes


_Result = httpx.Response | httpx.RequestError


class _Retries:
    def __init__(self, at_most: int, waits_at_most_seconds: float) -> None:
        self._at_most = at_most
        self._waits_at_most_seconds = waits_at_most_seconds

    def pause(self, call: Call, result: _Result, attempt: int) -> float | None:
        """Seconds until the call is sent again; None if it is not."""
        if attempt >= self._at_most:
            return None
        after = 0.0
        if isinstance(result, httpx.Response):
            # A call that was answered 429 was not done, so any call can be repeated.
            if not (result.status_code == 429 or result.status_code == 503 and call.repeatable):
                return None
            after = _retry_after(result)
            if after > self._waits_at_most_seconds:
                return None
        elif not call.repeatable:
            return None
        # Bots that failed together do not return together.
        return max(after, FIRST_PAUSE_SECONDS * (1 << attempt) * random.uniform(0.5, 1))


def _retry_after(response: httpx.Response) -> float:
    text = response.headers.get("retry-after", "")
    return float(text) if text.isascii() and text.isdigit() else 0.0


class _Setup:
    """What both clients keep, and how they read an answer."""

    def __init__(
        self, base_url: str | None, key: str | None, timeout_seconds: float, money: Money
    ) -> None:
        named = base_url or os.environ.get("PAPERBOOK_BASE_URL") or LOCAL_URL
        self.base_url = _with_version(named)
        self.key = key or os.environ.get("PAPERBOOK_API_KEY") or None
        self.timeout_seconds = timeout_seconds
        self.money = money
        self.loads: Callable[[str | bytes], Any] = _loads_decimal if money is Decimal else json.loads
        self.rate_limit: RateLimit | None = None

    def __str__(self) -> str:
        """Without the secret part of the key."""
        known = self.key is not None and self.key.startswith("svc_sk_")
        signed_in = "a session" if self.key else "no key"
        who = f"key {(self.key or '')[:PREFIX_CHARACTERS]}…" if known else signed_in
        return f"{self.base_url} {who}"

    def headers(self) -> dict[str, str]:
        return {} if self.key is None else {"authorization": f"Bearer {self.key}"}

    def http_options(self) -> dict[str, Any]:
        return {
            "base_url": self.base_url,
            "headers": self.headers(),
            "timeout": self.timeout_seconds,
            # A credential follows no redirect.
            "follow_redirects": False,
        }

    def answer(self, call: Call, result: _Result) -> Any:
        """The JSON of a success; everything else is raised."""
        if isinstance(result, httpx.RequestError):
            message = f"no answer from {self.base_url}: {str(result) or type(result).__name__}"
            log.debug("%s %s: %s", call.method, call.path, message)
            raise NoAnswerError(message, sent=call.body) from result
        request_id = result.headers.get("x-request-id")
        log.debug("%s %s: %d, request %s", call.method, call.path, result.status_code, request_id)
        self.rate_limit = _rate_limit_of(result.headers) or self.rate_limit
        answer = _json(result, self.loads)
        if not result.is_success or answer is None:
            raise refusal_of(result.status_code, answer, request_id=request_id, sent=call.body)
        return answer

    def leader_of(self, call: Call, result: _Result) -> str | None:
        """The address of a call at the node of a cluster that its answer names: such a refusal says
        that nothing was done. Rule U91 (api/RULES.md).
        """
        if isinstance(result, httpx.RequestError) or result.status_code != 503:
            return None
        leader = leader_in(_json(result))
        there = None if leader is None else address_at(leader, self.base_url)
        return None if there is None else there + call.path

    def log_again(self, call: Call, result: _Result, pause: float) -> None:
        why = result.status_code if isinstance(result, httpx.Response) else repr(result)
        log.warning("%s %s: %s, again in %.2f s", call.method, call.path, why, pause)


def _with_version(base_url: str) -> str:
    """The address without a slash at its end; with ``/v1``, if it is a server's alone."""
    url = httpx.URL(base_url)
    if url.scheme not in ("http", "https") or not url.host:
        raise ValueError(f"base_url must be like {LOCAL_URL}: it is {base_url!r}")
    return base_url.rstrip("/") + ("/v1" if url.path in ("", "/") else "")


def _checked_org(org: str | None) -> str | None:
    if org is not None and not ID.fullmatch(org):
        raise ValueError("org must be the id of an organization")
    return org


def _rate_limit_of(headers: httpx.Headers) -> RateLimit | None:
    """None for the answer of something else, such as a proxy."""

    def number(name: str) -> int | None:
        text = headers.get(name, "")
        return int(text) if text.isascii() and text.isdigit() else None

    limit, remaining = number("ratelimit-limit"), number("ratelimit-remaining")
    reset_seconds = number("ratelimit-reset")
    if limit is None or remaining is None or reset_seconds is None:
        return None
    return RateLimit(
        headers.get("service-plan"),
        limit,
        remaining,
        reset_seconds,
        number("service-quota-limit"),
        number("service-quota-remaining"),
        number("service-quota-reset"),
    )


def _request(call: Call) -> dict[str, Any]:
    return {
        "params": {
            name: _query_value(value) for name, value in call.query.items() if value is not None
        },
        "json": call.body,
        "headers": {} if call.org is None else {"x-service-org": call.org},
    }


def _query_value(value: object) -> Any:
    """A list is sent as its parts with commas between."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(str(part) for part in value)
    return value


def _loads_decimal(text: str | bytes) -> Any:
    return json.loads(text, parse_float=Decimal, object_pairs_hook=_with_decimals)


def _with_decimals(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {name: _money_or_float(name, value) for name, value in pairs}


def _money_or_float(name: str, value: Any) -> Any:
    if name.endswith("Dollars"):
        return Decimal(value) if isinstance(value, int) else value
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, list):
        return [float(each) if isinstance(each, Decimal) else each for each in value]
    return value


def _json(response: httpx.Response, loads: Callable[[str | bytes], Any] = json.loads) -> Any:
    """None where it is none."""
    try:
        return loads(response.content)
    except ValueError:
        return None

"""The clients: how a call is sent, sent again, and answered."""

from __future__ import annotations

import asyncio
import random
import re
import time
from typing import Any

import httpx

from .calls import Call
from .errors import BadAnswerError, NoAnswerError, RefusedError, refusal_of
from .generated import AsyncOperations, OrderBatchResults, OrderPlacement, Operations
from .stream import Stream

ANSWERS_WITHIN_SECONDS = 30.0
FIRST_PAUSE_SECONDS = 0.25
# How often the server sends a heartbeat over a stream.
HEARTBEAT_SECONDS = 5.0
# A server that asks for a longer wait is not waited for: its refusal is raised at once.
WAITS_AT_MOST_SECONDS = 10.0
ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


class Client(Operations):
    """One method per operation: ``client.get_portfolio()``. Each returns the JSON of the answer.

    ``base_url`` has the version: ``https://paper.example/v1``. Reads, and orders under the
    same idempotency keys, are sent again up to ``retries`` times without an answer or at a 503; any call
    is at a 429.
    """

    def __init__(
        self,
        base_url: str,
        key: str | None = None,
        *,
        retries: int = 3,
        timeout_seconds: float = ANSWERS_WITHIN_SECONDS,
        waits_at_most_seconds: float = WAITS_AT_MOST_SECONDS,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._http = httpx.Client(
            transport=transport, **_http_options(base_url, key, timeout_seconds)
        )
        self._retries = _Retries(retries, waits_at_most_seconds)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def call(self, call: Call) -> Any:
        attempt = 0
        while True:
            result = self._sent(call)
            pause = self._retries.pause(call, result, attempt)
            if pause is None:
                return _answer(call, result)
            attempt += 1
            time.sleep(pause)

    def _sent(self, call: Call) -> _Result:
        try:
            return self._http.request(call.method, call.path, **_request(call))
        except httpx.RequestError as error:
            return error


class AsyncClient(AsyncOperations):
    """``Client`` for asyncio."""

    def __init__(
        self,
        base_url: str,
        key: str | None = None,
        *,
        retries: int = 3,
        timeout_seconds: float = ANSWERS_WITHIN_SECONDS,
        waits_at_most_seconds: float = WAITS_AT_MOST_SECONDS,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._key = key
        self._timeout_seconds = timeout_seconds
        self._http = httpx.AsyncClient(
            transport=transport, **_http_options(base_url, key, timeout_seconds)
        )
        self._retries = _Retries(retries, waits_at_most_seconds)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def call(self, call: Call) -> Any:
        attempt = 0
        while True:
            result = await self._sent(call)
            pause = self._retries.pause(call, result, attempt)
            if pause is None:
                return _answer(call, result)
            attempt += 1
            await asyncio.sleep(pause)

    async def _sent(self, call: Call) -> _Result:
        try:
            return await self._http.request(call.method, call.path, **_request(call))
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
        if org is not None and not ID.fullmatch(org):
            raise ValueError("org must be the id of an organization")
        headers = _headers(self._key) | ({} if org is None else {"x-service-org": org})

        async def refusal() -> Exception:
            """The same request without a WebSocket is answered; 400 if only that is wrong."""
            try:
                response = await self._http.get("/stream", headers=headers)
                if response.status_code == 400:
                    return ConnectionError("the handshake was refused")
                return refusal_of(response.status_code, _json(response))
            except BadAnswerError as error:
                return error
            except httpx.RequestError:
                return ConnectionError("the server could not be reached")

        return Stream(
            f"ws{self._base_url.removeprefix('http')}/stream",
            headers,
            refusal,
            after=after,
            cancel_on_disconnect=cancel_on_disconnect,
            timeout_seconds=self._timeout_seconds,
            heartbeat_seconds=heartbeat_seconds,
            first_pause_seconds=first_pause_seconds,
        )


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


def _http_options(base_url: str, key: str | None, timeout_seconds: float) -> dict[str, Any]:
    return {
        "base_url": base_url,
        "headers": _headers(key),
        "timeout": timeout_seconds,
        # A credential follows no redirect.
        "follow_redirects": False,
    }


def _headers(key: str | None) -> dict[str, str]:
    return {} if key is None else {"authorization": f"Bearer {key}"}


def _request(call: Call) -> dict[str, Any]:
    return {
        "params": {name: value for name, value in call.query.items() if value is not None},
        "json": call.body,
        "headers": {} if call.org is None else {"x-service-org": call.org},
    }


def _answer(call: Call, result: _Result) -> Any:
    """The JSON of a success; everything else is raised."""
    if isinstance(result, httpx.RequestError):
        message = str(result) or type(result).__name__
        raise NoAnswerError(message, sent=call.body) from result
    answer = _json(result)
    if not result.is_success or answer is None:
        request_id = result.headers.get("x-request-id")
        raise refusal_of(result.status_code, answer, request_id=request_id, sent=call.body)
    return answer


def _json(response: httpx.Response) -> Any:
    """None where it is none."""
    try:
        return response.json()
    except ValueError:
        return None

"""The stream: quotes, games and own orders as they change, and orders placed over it."""

from __future__ import annotations

import asyncio
import json
import logging
import random
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, NoReturn

from websockets.exceptions import ConnectionClosed, WebSocketException

from .calls import with_key
from .channel import Channel
from .connect import close_code, open_socket
from .errors import ConnectionLostError, RefusedError, address_at, leader_in, refusal_of
from .events import EndedEvent, StateEvent, StreamEvent
from .generated import CanceledOrders, OrderAnswer, OrderPlacement, OrderRequest

log = logging.getLogger("paperbook_client")

HEARTBEATS_MISSED = 2
PAUSE_SECONDS_MAX = 30.0
WAIT_SECONDS_MAX = 60
WAITING_MAX = 10_000
# Events not iterated over yet; channels with more events wait until half of them were.
EVENTS_MAX = 10_000
KEY_ENDED = 4401
# Trying again does not help.
FINAL_STATUSES = (400, 401, 403, 404)
# The request limits refuse it, for so long if they do not say.
LIMITED = 429
RETRY_SECONDS = 5
# In place of a status: the connection was lost before there was an answer.
LOST = 0

# One that raises a refusal ends the connection.
_Answered = Callable[[int, Any], None]


class Stream:
    """Made by ``AsyncClient.stream()``: ``async with`` opens it, ``async for`` yields its events.

    It reconnects by itself after a lost connection, with the same subscriptions. ``orders``
    continues after the last event.
    """

    def __init__(
        self,
        url: str,
        headers: dict[str, str],
        refusal: Callable[[str], Awaitable[Exception]],
        *,
        after: str | None,
        cancel_on_disconnect: bool,
        timeout_seconds: float,
        heartbeat_seconds: float,
        first_pause_seconds: float,
        loads: Callable[[str | bytes], Any] = json.loads,
    ) -> None:
        self._home = url
        # Of the next connection: another node of a cluster may have been named.
        self._url = url
        self._loads = loads
        self._headers = headers
        self._refusal = refusal
        self._after = after
        self._cancel_on_disconnect = cancel_on_disconnect
        self._timeout_seconds = timeout_seconds
        self._heartbeat_seconds = heartbeat_seconds
        self._first_pause_seconds = first_pause_seconds
        self._state = StateEvent("connecting")
        self._socket: Any = None
        self._ready = asyncio.Event()
        self._ended = asyncio.Event()
        self._attempts = 0
        self._channels: dict[str, _Subscribed] = {}
        self._behind: set[str] = set()
        self._ids = 0
        self._waiting: dict[int, _Answered] = {}
        self._events: deque[StreamEvent] = deque()
        self._has_events = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Stream:
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<Stream {self._url} {self._state.state} {sorted(self._channels)}>"

    def __aiter__(self) -> Stream:
        return self

    async def __anext__(self) -> StreamEvent:
        """The next event; the StateEvent "closed" is the last."""
        while not self._events:
            if self._ended.is_set():
                raise StopAsyncIteration
            self._has_events.clear()
            await self._has_events.wait()
        event = self._events.popleft()
        if self._behind and len(self._events) <= EVENTS_MAX // 2:
            await self._catch_up()
        return event

    @property
    def state(self) -> StateEvent:
        return self._state

    @property
    def last_event_id(self) -> str | None:
        """The eventId of the last event of ``orders`` that arrived; None: none is known."""
        orders = self._channels.get("orders")
        return self._after if orders is None else orders.channel.after

    async def ready(self) -> None:
        """Returns once orders can be placed; raises when the stream is closed."""
        waits = [asyncio.create_task(each.wait()) for each in (self._ready, self._ended)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waits:
                each.cancel()
        if self._ended.is_set():
            raise _closed_by(self._state.error)

    async def subscribe(self, *names: str) -> None:
        """To ``quotes:ins_…``, ``games``, ``orders``, also on every later connection. Returns once
        each has begun; raises the first ``RefusedError``, or when the stream is closed.
        """
        begun: list[asyncio.Future[None]] = []
        for name in names:
            if self._ended.is_set():
                raise _closed_by(self._state.error)
            known = self._channels.get(name)
            if known is not None:
                begun.append(known.begun)
                continue
            channel = Channel(name, self._after if name == "orders" else None, self._emit)
            self._channels[name] = subscribed = _Subscribed(channel)
            # It may be refused, and forgotten, before the next one is asked for.
            begun.append(subscribed.begun)
            if self._socket is not None:
                await self._begin(subscribed)
        await asyncio.gather(*(asyncio.shield(each) for each in begun))

    async def unsubscribe(self, *names: str) -> None:
        for name in names:
            subscribed = self._channels.get(name)
            if subscribed is not None:
                self._forget(subscribed, RuntimeError(f"{name} was unsubscribed from"))
                await self._send({"op": "unsubscribe", "channels": [name]})

    async def place(self, order: OrderRequest) -> OrderPlacement:
        """As ``place_order``. Raises ``RefusedError``, or ``ConnectionLostError``, which says
        whether the order may have been placed.
        """
        keyed = with_key(order)
        answer: OrderPlacement = await self._order({"op": "place", "order": keyed}, keyed)
        return answer

    async def cancel(self, order_id: str) -> OrderAnswer:
        """As ``cancel_order``. Raises as ``place``."""
        answer: OrderAnswer = await self._order({"op": "cancel", "orderId": order_id}, None)
        return answer

    async def cancel_all(self, *, instrument_id: str | None = None) -> CanceledOrders:
        """As ``cancel_orders``. Raises as ``place``."""
        which = {} if instrument_id is None else {"instrumentId": instrument_id}
        answer: CanceledOrders = await self._order({"op": "cancel_all", **which}, None)
        return answer

    async def close(self) -> None:
        """Closes it finally. The outcome of messages that wait for answers is unknown."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._end(None)

    async def _order(self, message: dict[str, Any], sent: Any) -> Any:
        socket = self._socket
        if socket is None or not self._ready.is_set() or len(self._waiting) >= WAITING_MAX:
            raise ConnectionLostError("the stream is not ready", "not_sent", sent=sent)
        answer: asyncio.Future[tuple[int, Any]] = asyncio.get_running_loop().create_future()

        def answered(status: int, body: Any) -> None:
            if not answer.done():
                answer.set_result((status, body))
            if status >= 300 and leader_in(body) is not None:
                raise refusal_of(status, body)

        number = self._numbered(answered)
        try:
            async with asyncio.timeout(self._timeout_seconds):
                await socket.send(json.dumps({"id": number, **message}))
                status, body = await answer
        except TimeoutError:
            why = "the server did not answer in time"
            raise ConnectionLostError(why, "unknown", sent=sent) from None
        except ConnectionClosed as error:
            raise ConnectionLostError("the connection was lost", "unknown", sent=sent) from error
        finally:
            self._waiting.pop(number, None)
        if status == LOST:
            raise ConnectionLostError("the connection was lost", "unknown", sent=sent)
        if status >= 300:
            raise refusal_of(status, body, sent=sent)
        return body

    def _numbered(self, answered: _Answered) -> int:
        self._ids += 1
        self._waiting[self._ids] = answered
        return self._ids

    async def _send(self, message: dict[str, Any], answered: _Answered | None = None) -> None:
        """On a lost connection nothing is sent: the next one has the same subscriptions."""
        socket = self._socket
        if socket is None:
            return
        number = self._numbered(answered or (lambda _status, _body: None))
        try:
            await socket.send(json.dumps({"id": number, **message}))
        except ConnectionClosed:
            self._waiting.pop(number, None)

    async def _run(self) -> None:
        try:
            await self._run_until_final()
        except Exception as error:
            # A fault of this program: every waiting caller gets it.
            self._end(error)

    async def _run_until_final(self) -> None:
        while True:
            self._enter(StateEvent("connecting"))
            try:
                error = await self._connected()
            finally:
                self._lose()
            leader = error.leader if isinstance(error, RefusedError) else None
            if leader is not None:
                self._url = _url_at(leader, self._home) or self._url
            elif isinstance(error, RefusedError) and error.status in FINAL_STATUSES:
                return self._end(error)
            # Clients that lost a server together do not return together: full jitter.
            at_most = self._first_pause_seconds * 2 ** min(self._attempts, 20)
            self._attempts += 1
            wait = error.retry_after_seconds if isinstance(error, RefusedError) else None
            pause = random.random() * min(PAUSE_SECONDS_MAX, at_most)
            # A node that is named need not be waited for.
            pause += 0 if leader is not None else min(wait or 0, WAIT_SECONDS_MAX)
            self._enter(StateEvent("waiting", error, pause))
            await asyncio.sleep(pause)

    async def _connected(self) -> Exception:
        """Why the connection ended."""
        url = self._url
        try:
            socket = await open_socket(url, self._headers)
        except (WebSocketException, OSError, TimeoutError):
            # The node that another one has named may be gone.
            self._url = self._home
            return await self._refusal(url)
        self._socket = socket
        try:
            await self._read(socket)
        except RefusedError as error:
            return error
        except ValueError as error:
            return ConnectionError(f"the server sent a message that is not JSON: {error}")
        except ConnectionClosed as error:
            if close_code(error) == KEY_ENDED:
                why = "the key has ended"
                return RefusedError(401, "invalid_token", why, retry_after_seconds=None)
            return error
        except TimeoutError:
            return ConnectionError("the heartbeats of the server are missing")
        finally:
            self._socket = None
            await socket.close()

    async def _read(self, socket: Any) -> NoReturn:
        if self._cancel_on_disconnect:

            def accepted(status: int, body: Any) -> None:
                if status == LOST:
                    return
                if status >= 300:
                    raise refusal_of(status, body)
                self._ready.set()

            # Before it is accepted nothing is placed.
            subscribe = {"op": "subscribe", "channels": [], "cancelOnDisconnect": True}
            await self._send(subscribe, accepted)
        else:
            self._ready.set()
        self._enter(StateEvent("open"))
        for subscribed in list(self._channels.values()):
            await self._begin(subscribed)
        await self._read_heard(socket)

    async def _read_heard(self, socket: Any) -> NoReturn:
        """Raises TimeoutError once nothing has come for so long."""
        loop = asyncio.get_running_loop()
        every = self._heartbeat_seconds / 4
        # Half a period more, so that a slightly late heartbeat does not count as missing.
        limit = (HEARTBEATS_MISSED + 0.5) * self._heartbeat_seconds
        heard = looked = loop.time()
        is_waiting = False
        timer: asyncio.TimerHandle

        def look() -> None:
            nonlocal heard, looked, timer
            now = loop.time()
            # This program did nothing for a while, so it has not read arrived messages either.
            if not is_waiting or now - looked > 2 * every:
                heard = now
            looked = now
            if now - heard > limit:
                silence.reschedule(now)
            else:
                timer = loop.call_later(every, look)

        timer = loop.call_later(every, look)
        async with asyncio.timeout(None) as silence:
            try:
                while True:
                    is_waiting = True
                    text = await socket.recv()
                    is_waiting = False
                    heard = loop.time()
                    await self._take(self._loads(text))
            finally:
                timer.cancel()

    async def _take(self, message: dict[str, Any]) -> None:
        if "channel" in message:
            subscribed = self._channels.get(message["channel"])
            if subscribed is not None:
                await self._take_of_channel(subscribed, message)
        elif "heartbeat" in message:
            self._attempts = 0
            for name, seq in message["heartbeat"]["seq"].items():
                of_name = self._channels.get(name)
                if of_name is not None and not of_name.channel.take_heartbeat(seq):
                    await self._begin_again(of_name)
        else:
            answered = self._waiting.pop(message.get("id", 0), None)
            if answered is not None:
                answered(message["status"], message["body"])

    async def _take_of_channel(self, subscribed: _Subscribed, message: dict[str, Any]) -> None:
        name = subscribed.channel.name
        if message.get("ended"):
            error = refusal_of(403, message)
            # Orders may be at one node, and a quote at another.
            if error.leader is not None and (name == "orders" or "orders" not in self._channels):
                raise error
            self._forget(subscribed, error)
            self._emit(EndedEvent(name, error))
        elif name in self._behind:
            return
        elif len(self._events) >= EVENTS_MAX:
            # Nobody iterates over them: the channel continues once events were taken.
            self._behind.add(name)
            subscribed.channel.ask()
            await self._send({"op": "unsubscribe", "channels": [name]})
        elif not subscribed.channel.take(message):
            await self._begin_again(subscribed)
        elif "snapshot" in message:
            subscribed.settle(None)

    async def _catch_up(self) -> None:
        late, self._behind = self._behind, set()
        for name in late:
            subscribed = self._channels.get(name)
            if subscribed is not None:
                subscribed.channel.miss()
                await self._begin(subscribed)

    async def _begin_again(self, subscribed: _Subscribed) -> None:
        await self._send({"op": "unsubscribe", "channels": [subscribed.channel.name]})
        await self._begin(subscribed)

    async def _begin(self, subscribed: _Subscribed) -> None:
        channel = subscribed.channel
        after = channel.after

        def answered(status: int, body: Any) -> None:
            if self._channels.get(channel.name) is not subscribed or status == LOST:
                return
            if status < 300:
                channel.begin()
                # There is no snapshot, and there may be nothing to replay.
                if after is not None:
                    subscribed.settle(None)
                return
            error = refusal_of(status, body)
            if status == LIMITED:
                wait = error.retry_after_seconds or RETRY_SECONDS
                subscribed.ask_again(wait, lambda: self._begin(subscribed))
                return
            if status >= 500:
                # This passes: it is subscribed to again on the next connection.
                raise error
            was_begun = subscribed.begun.done()
            self._forget(subscribed, error)
            if was_begun:
                self._emit(EndedEvent(channel.name, error))

        subscribed.stop_asking()
        channel.ask()
        on = {} if after is None else {"after": {"orders": after}}
        await self._send({"op": "subscribe", "channels": [channel.name], **on}, answered)

    def _forget(self, subscribed: _Subscribed, error: Exception) -> None:
        channel = subscribed.channel
        if channel.name == "orders":
            self._after = channel.after
        self._channels.pop(channel.name, None)
        self._behind.discard(channel.name)
        subscribed.stop_asking()
        subscribed.settle(error)

    def _lose(self) -> None:
        self._ready.clear()
        self._behind.clear()
        waiting, self._waiting = self._waiting, {}
        for answered in waiting.values():
            answered(LOST, None)

    def _end(self, error: Exception | None) -> None:
        if self._ended.is_set():
            return
        self._ended.set()
        for subscribed in list(self._channels.values()):
            self._forget(subscribed, _closed_by(error))
        self._enter(StateEvent("closed", error))

    def _enter(self, state: StateEvent) -> None:
        self._state = state
        # A program that watches nothing else sees a lost connection, and a refusal, in its log.
        is_bad = state.state == "waiting" or (state.state == "closed" and state.error is not None)
        level = logging.WARNING if is_bad else logging.DEBUG
        log.log(level, "stream %s%s", state.state, f": {state.error}" if state.error else "")
        # While a server is away for long, only the last states matter.
        if len(self._events) < 2 * EVENTS_MAX or state.state == "closed":
            self._emit(state)

    def _emit(self, event: StreamEvent) -> None:
        self._events.append(event)
        self._has_events.set()


class _Subscribed:
    """A channel, and whether it has begun."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # Set while the request limits refuse it, until it is asked for again.
        self._again: asyncio.Task[None] | None = None
        # A waiting caller gets the error, and without one it is ignored.
        self.begun.add_done_callback(lambda begun: begun.cancelled() or begun.exception())

    def ask_again(self, seconds: float, ask: Callable[[], Awaitable[None]]) -> None:
        async def later() -> None:
            await asyncio.sleep(seconds)
            self._again = None
            await ask()

        self._again = asyncio.create_task(later())

    def stop_asking(self) -> None:
        if self._again is not None:
            self._again.cancel()
            self._again = None

    def settle(self, error: Exception | None) -> None:
        if self.begun.done():
            return
        if error is None:
            self.begun.set_result(None)
        else:
            self.begun.set_exception(error)


def _url_at(leader: str, home: str) -> str | None:
    """The address of a stream at a node; None: it does not go there."""
    there = address_at(leader, f"http{home.removeprefix('ws')}")
    return None if there is None else f"ws{there.removeprefix('http')}"


def _closed_by(error: Exception | None) -> Exception:
    return error or RuntimeError("the stream is closed")

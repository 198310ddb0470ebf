"""The stream for programs without asyncio: callbacks, or a plain ``for``."""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import threading
from collections.abc import Callable, Coroutine, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from .errors import PaperbookError
from .events import StateEvent, StreamEvent
from .generated import CanceledOrders, OrderAnswer, OrderPlacement, OrderRequest

if TYPE_CHECKING:
    from .client import AsyncClient
    from .stream import Stream

log = logging.getLogger("paperbook_client")

Result = TypeVar("Result")
Kind = TypeVar("Kind", bound=StreamEvent)
ENDS_WITHIN_SECONDS = 5.0


class SyncStream:
    """Made by ``Client.stream()``: ``with`` opens it. ``on`` registers callbacks, or ``for`` yields
    its events, one of the two.

    Callbacks are called one after the other, in a thread of their own. So they may place orders
    over the stream. If one raises, its error is logged and the next event is shown.
    """

    def __init__(self, client: AsyncClient, options: dict[str, Any]) -> None:
        self._client = client
        self._options = options
        self._loop = asyncio.new_event_loop()
        self._thread: threading.Thread | None = None
        self._stream: Stream | None = None
        self._callbacks: list[tuple[Any, Callable[[Any], object]]] = []
        self._caller: threading.Thread | None = None

    def __enter__(self) -> SyncStream:
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="paperbook-stream", daemon=True
        )
        self._thread.start()
        self._run(self._open())
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return repr(self._stream) if self._stream is not None else "<SyncStream not open>"

    def on(self, kind: type[Kind], callback: Callable[[Kind], object]) -> None:
        """Calls ``callback`` with each event of the kind: ``stream.on(QuoteEvent, print)``."""
        _ = self._opened
        self._callbacks.append((kind, callback))
        if self._caller is None:
            self._caller = threading.Thread(
                target=self._call, name="paperbook-callbacks", daemon=True
            )
            self._caller.start()

    def __iter__(self) -> Iterator[StreamEvent]:
        if self._caller is not None:
            raise RuntimeError("the events of this stream go to its callbacks")
        return self._events()

    @property
    def state(self) -> StateEvent:
        return self._opened.state

    @property
    def last_event_id(self) -> str | None:
        """The eventId of the last event of ``orders`` that arrived; None: none is known."""
        return self._opened.last_event_id

    def ready(self) -> None:
        """Returns once orders can be placed; raises when the stream is closed."""
        self._run(self._opened.ready())

    def subscribe(self, *names: str) -> None:
        """As ``Stream.subscribe``: to ``quotes:ins_…``, ``games``, ``orders``."""
        self._run(self._opened.subscribe(*names))

    def unsubscribe(self, *names: str) -> None:
        self._run(self._opened.unsubscribe(*names))

    def place(self, order: OrderRequest) -> OrderPlacement:
        """As ``Stream.place``."""
        return self._run(self._opened.place(order))

    def cancel(self, order_id: str) -> OrderAnswer:
        """As ``Stream.cancel``."""
        return self._run(self._opened.cancel(order_id))

    def cancel_all(self, *, instrument_id: str | None = None) -> CanceledOrders:
        """As ``Stream.cancel_all``."""
        return self._run(self._opened.cancel_all(instrument_id=instrument_id))

    def wait(self, seconds: float | None = None) -> bool:
        """Waits while callbacks are called: until the stream is closed, or for so long. Returns
        whether it is closed.
        """
        if self._caller is None:
            raise RuntimeError("there is no callback to wait for: on registers one")
        self._caller.join(seconds)
        return not self._caller.is_alive()

    def close(self) -> None:
        """Closes it finally. Callbacks of earlier events are called first, except from a callback."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        self._run(self._shut())
        if self._caller is not None and self._caller is not threading.current_thread():
            self._caller.join(ENDS_WITHIN_SECONDS)
        # A callback that takes longer gets an error from what it waits for.
        self._run(_cancel_others())
        self._loop.call_soon_threadsafe(self._loop.stop)
        thread.join(ENDS_WITHIN_SECONDS)
        self._loop.close()

    @property
    def _opened(self) -> Stream:
        if self._stream is None or self._thread is None:
            raise PaperbookError("the stream is not open: use it within `with client.stream()`")
        return self._stream

    async def _open(self) -> None:
        self._stream = self._client.stream(**self._options)
        await self._stream.__aenter__()

    async def _shut(self) -> None:
        if self._stream is not None:
            await self._stream.close()
        await self._client.close()

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _events(self) -> Iterator[StreamEvent]:
        stream = self._opened
        while self._loop.is_running():
            try:
                event = self._run(_next_of(stream))
            except concurrent.futures.CancelledError:
                return
            if event is None:
                return
            yield event

    def _call(self) -> None:
        for event in self._events():
            for kind, callback in list(self._callbacks):
                if not isinstance(event, kind):
                    continue
                try:
                    callback(event)
                except Exception:
                    log.exception("a callback for %s failed", kind.__name__)


async def _cancel_others() -> None:
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()


async def _next_of(stream: Stream) -> StreamEvent | None:
    try:
        return await anext(stream)
    except StopAsyncIteration:
        return None

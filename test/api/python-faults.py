"""A stream on scripted connections; prints what came of it as JSON (python-stream.test.ts)."""

import asyncio
import json
import threading
import time
from collections.abc import Callable

import httpx

import paperbook_client.stream
from paperbook_client import AsyncClient, Client, ConnectionLostError, NoAnswerError, RefusedError

# Of every connection that was tried.
urls: list[str] = []
Answers = Callable[[dict], dict | None]
ORDER = {"action": "sell", "type": "market", "tradeId": "a"}


class Lost(OSError):
    """The connection ends."""


class Socket:
    """Answers each message; while one is sent, everything else has its turn."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        # Ends it after the next answer.
        self.last: Exception | None = None
        self._messages: asyncio.Queue[dict | Exception] = asyncio.Queue()
        self.ops: list[str] = []

    async def send(self, text: str) -> None:
        message = json.loads(text)
        self.ops.append(message["op"])
        try:
            answer = self._answers(message)
        except Lost:
            # What ends a connection of websockets while one reads from it.
            await self._messages.put(ValueError("lost"))
            return
        if answer is not None:
            await self._messages.put({"id": message["id"], **answer})
            if answer["status"] == 200 and message.get("channels") == ["games"]:
                data = {"games": [], "nextCursor": None}
                begun = {"epoch": 1, "seq": 0, "at": "", "snapshot": True, "data": data}
                await self._messages.put({"channel": "games", **begun})
        if self.last is not None:
            await self._messages.put(self.last)
        for _ in range(20):
            await asyncio.sleep(0)

    async def recv(self) -> str:
        message = await self._messages.get()
        if isinstance(message, Exception):
            raise message
        return json.dumps(message)

    async def push(self, message: dict) -> None:
        await self._messages.put(message)

    async def close(self) -> None:
        pass


def scripted(*connections: Answers | Exception) -> list[Socket]:
    """The connections that streams open from now on, in turn, the last again and again."""
    left, opened = list(connections), []

    async def open_socket(url: str, _: object) -> Socket:
        urls.append(url)
        answers = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answers, Exception):
            raise answers
        opened.append(Socket(answers))
        return opened[-1]

    paperbook_client.stream.open_socket = open_socket
    return opened


def refused(status: int, code: str) -> dict:
    return {"status": status, "body": {"error": {"code": code, "message": "No."}}}


def accept(_: dict) -> dict:
    return {"status": 200, "body": {}}


def lose(_: dict) -> None:
    raise Lost


async def outcome(call) -> str:
    try:
        async with asyncio.timeout(5):
            await call
    except RefusedError as error:
        return error.code
    except ConnectionLostError as error:
        return error.outcome
    except Exception as error:
        return type(error).__name__
    return "done"


async def blocked(client: AsyncClient) -> list:
    """A program that does nothing for longer than heartbeats may be missing, while one arrives."""
    opened = scripted(accept)
    loop = asyncio.get_running_loop()
    async with client.stream(heartbeat_seconds=0.1) as stream:
        await stream.ready()
        await asyncio.sleep(0.05)
        heartbeat = opened[0].push({"heartbeat": {"at": "", "seq": {}}})
        threading.Timer(0.3, asyncio.run_coroutine_threadsafe, (heartbeat, loop)).start()
        time.sleep(0.6)
        await asyncio.sleep(0.05)
        return [stream.state.state, len(opened)]


async def main() -> dict:
    said: dict = {}
    body = {"text": '{"error": "bad gateway"}'}
    proxy = httpx.MockTransport(lambda _: httpx.Response(502, **body))
    async with AsyncClient("http://a/v1", "key", transport=proxy) as client:
        opened = scripted(lose, lambda message: None)
        async with client.stream(cancel_on_disconnect=True, first_pause_seconds=0.01) as stream:
            states: list[str] = []
            while states.count("open") < 2:
                states.append((await anext(stream)).state)
            said["beforeAccepted"] = await outcome(stream.place(ORDER))
            said["sent"] = opened[-1].ops

        scripted(lambda _: refused(503, "internal_error"), accept)
        async with client.stream(first_pause_seconds=0.01) as stream:
            said["unavailable"] = await outcome(stream.subscribe("games"))

        unknown = refused(404, "instrument_not_found")
        scripted(lambda message: accept(message) if "games" in message["channels"] else unknown)
        async with client.stream(first_pause_seconds=0.01) as stream:
            await stream.ready()
            said["firstRefused"] = await outcome(stream.subscribe("quotes:ins_0", "games"))

        opened = scripted(accept)
        async with client.stream(after="0" * 16, first_pause_seconds=0.01) as stream:
            await stream.ready()
            ended = RefusedError(401, "invalid_token", "No.", retry_after_seconds=None)
            opened[0].last = ended
            said["endedBetween"] = await outcome(stream.subscribe("orders", "games"))

        scripted(OSError("502"), accept)
        async with client.stream(first_pause_seconds=0.01) as stream:
            said["behindProxy"] = await outcome(stream.ready())
            said["why"] = [str((await anext(stream)).error) for _ in range(2)][1]

        def not_leader(leader: str) -> Answers:
            answer = refused(503, "not_leader")
            answer["body"]["error"]["leader"] = leader
            return lambda message: answer if message["op"] == "place" else accept(message)

        for leader in ("http://b", "https://c", "ftp://d"):
            urls.clear()
            scripted(not_leader(leader), accept)
            async with client.stream(first_pause_seconds=0.01) as stream:
                await stream.ready()
                refusal = await outcome(stream.place(ORDER))
                # By now the next connection may be open: its state says nothing of this one's end.
                while (await anext(stream)).state != "waiting":
                    pass
                await stream.ready()
                said[leader] = [refusal, await outcome(stream.place(ORDER)), *urls]

        # A channel that ends at one node begins at the other; a node that is gone is left.
        urls.clear()
        opened = scripted(accept, OSError("gone"), accept)
        async with client.stream(after="0" * 16, first_pause_seconds=0.01) as stream:
            await stream.subscribe("orders")
            error = {"code": "not_leader", "message": "No.", "leader": "http://b"}
            ended = {"channel": "orders", "epoch": 1, "seq": 0, "at": "", "ended": True}
            await opened[0].push({**ended, "error": error})
            while len(opened) < 2 or "subscribe" not in opened[1].ops:
                await anext(stream)
            said["ended"] = list(urls)
        async with AsyncClient("https://a/v1", "key", transport=proxy) as secure:
            urls.clear()
            scripted(not_leader("http://b"), accept)
            async with secure.stream(first_pause_seconds=0.01) as stream:
                await stream.ready()
                await outcome(stream.place(ORDER))
                while len(urls) < 2:
                    await anext(stream)
                said["secure"] = list(urls)

        said["blocked"] = await blocked(client)
        try:
            client.stream(org="mine")
        except ValueError as error:
            said["org"] = str(error)

    garbled = {"headers": {"content-encoding": "gzip"}, "content": b"{}"}
    broken = httpx.MockTransport(lambda _: httpx.Response(200, **garbled))
    async with AsyncClient("http://a/v1", "key", transport=broken, retries=0) as client:
        try:
            await client.get_me()
        except NoAnswerError as error:
            said["garbled"] = type(error.__cause__).__name__
        except httpx.HTTPError as error:
            said["garbled"] = f"not caught: {type(error).__name__}"
    calls: list[str] = []

    def at_nodes(request: httpx.Request) -> httpx.Response:
        own, key = str(request.url), request.headers["authorization"]
        calls.append(f"{request.method} {own} {key} {request.content.decode()}")
        leader = "http://c" if own.startswith("http://b") else "http://b"
        if own.startswith("http://b") and request.method == "DELETE":
            return httpx.Response(200, json={"canceled": []})
        error = {"code": "not_leader", "message": "No.", "leader": leader}
        return httpx.Response(503, json={"error": error})

    nodes = httpx.MockTransport(at_nodes)
    with Client("http://a", "key", transport=nodes, retries=0) as plain:
        plain.cancel_orders(instrument_id="ins_1")
        said["led"] = calls[:]
    async with AsyncClient("http://a/v1", "key", transport=nodes, retries=0) as client:
        calls.clear()
        said["ledOnce"] = [await outcome(client.place_order(ORDER)), len(calls)]
        said["ledSame"] = calls[0].replace("//a", "//b") == calls[1]
    async with AsyncClient("https://a/v1", "key", transport=nodes, retries=0) as client:
        calls.clear()
        said["ledSecure"] = [await outcome(client.get_me()), *calls]
    return said


print(json.dumps(asyncio.run(main())))

"""What a program does with the stream; prints what came of it as JSON (python-stream.test.ts)."""

import asyncio
import json
import sys

import paperbook_client.stream
from paperbook_client import (
    AsyncClient,
    ConnectionLostError,
    GapEvent,
    OrderEvent,
    OrderRequest,
    QuoteEvent,
    RefusedError,
    StateEvent,
    outcomes_of,
)


async def refusal(call) -> str:
    """The code of it."""
    try:
        await call
    except RefusedError as error:
        return error.code
    raise AssertionError("it was not refused")


async def main(direct: str, relayed: str, key: str, brief: str, instrument: str) -> dict:
    said: dict = {"events": [], "replayed": 0, "gaps": 0, "bids": [], "states": []}
    order: OrderRequest = {
        "action": "buy",
        "type": "limit",
        "limitPriceCents": 3,
        "instrumentId": instrument,
        "side": "yes",
        "count": 1,
    }

    async def until(stream, is_so) -> None:
        async for event in stream:
            match event:
                case OrderEvent(shown, replayed):
                    said["events"].append(shown["eventId"])
                    said["replayed"] += replayed
                case QuoteEvent(quote):
                    said["bids"].append(quote["venues"][0]["yesBidCents"])
                case GapEvent():
                    said["gaps"] += 1
                case StateEvent(state, error):
                    said["states"].append([state, str(error)])
            if is_so(event):
                return

    async with (
        AsyncClient(direct, key) as client,
        AsyncClient(relayed, key) as through,
        through.stream(heartbeat_seconds=0.5, first_pause_seconds=0.02) as stream,
    ):
        try:
            await stream.place(order)
        except ConnectionLostError as error:
            said["early"] = [error.outcome, error.idempotency_key is not None]
        await stream.subscribe("orders", f"quotes:{instrument}")
        said["unknown"] = await refusal(stream.subscribe("quotes:ins_000000000000"))
        placed = await stream.place(order)
        said["placed"] = placed["status"]
        said["badOrder"] = await refusal(stream.place({**order, "count": 0}))
        assert placed["order"] is not None
        said["canceled"] = (await stream.cancel(placed["order"]["orderId"]))["order"]["status"]
        for _ in range(8):
            await client.place_order(order)
        await until(stream, lambda _: len(said["events"]) == 10)
        said["all"] = [each["eventId"] for each in (await client.list_events())["events"]]
        said["isLast"] = stream.last_event_id == said["all"][-1]
        async with through.stream(after=said["all"][7]) as later:
            await later.subscribe("orders")
            missed = []
            async for event in later:
                if isinstance(event, OrderEvent):
                    missed.append(event.event["eventId"])
                if len(missed) == 2:
                    break
            said["missed"] = missed == said["all"][8:]
        await stream.ready()
        said["canceledAll"] = (await stream.cancel_all())["count"]
        # The test takes this as a sign, and lets the connection fall silent.
        await stream.unsubscribe(f"quotes:{instrument}")
        await until(stream, lambda event: isinstance(event, StateEvent) and "heartbeats" in str(event.error))
        outcomes = outcomes_of(await client.place_orders({"orders": [order, {**order, "count": 0}]}))
        said["batch"] = [each.code if isinstance(each, RefusedError) else each["status"] for each in outcomes]
    paperbook_client.stream.EVENTS_MAX = 4
    async with AsyncClient(direct, key) as client, client.stream(after=said["all"][-1]) as stream:
        await stream.subscribe("orders")
        for _ in range(9):
            await stream.place(order)
        # Until the server has sent what it sends, nothing is iterated over.
        await asyncio.sleep(1)
        before = (await client.list_events(after=said["all"][-1]))["events"]
        got = []
        async for event in stream:
            if isinstance(event, OrderEvent):
                got.append(event.event["eventId"])
            if len(got) == len(before):
                break
        said["bounded"] = got == [each["eventId"] for each in before]
    async with AsyncClient(relayed, brief) as client, client.stream() as stream:
        await stream.subscribe("games")
        # As before: the key is revoked.
        await stream.unsubscribe("games")
        said["last"] = [event.state async for event in stream if isinstance(event, StateEvent)][-1]
        said["closed"] = await refusal(stream.ready())
    async with AsyncClient(direct, "svc_sk_none") as client, client.stream() as stream:
        said["refused"] = await refusal(stream.subscribe("games"))
    return said


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(*sys.argv[1:]))))

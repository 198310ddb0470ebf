"""A stream without asyncio; prints what came of it as JSON (python-stream.test.ts)."""

import json
import sys
import threading

from paperbook_client import Client, LimitBuy, OrderEvent, PaperbookError, QuoteEvent, StateEvent


def main(url: str, key: str, instrument: str) -> dict:
    said: dict = {"types": [], "raised": 0}
    order: LimitBuy = {
        "action": "buy",
        "type": "limit",
        "limitPriceCents": 3,
        "instrumentId": instrument,
        "side": "yes",
        "count": 1,
    }
    done = threading.Event()
    with Client(url, key) as client:
        with client.stream() as stream:

            def happened(event: OrderEvent) -> None:
                # The last cancel may be shown before the stream is closed.
                if done.is_set():
                    return
                said["types"].append(event.event["type"])
                if event.event["type"] == "order_placed" and len(said["types"]) == 1:
                    # A callback may use the stream.
                    said["again"] = stream.place(order)["status"]
                if len(said["types"]) == 3:
                    done.set()

            def fails(event: OrderEvent) -> None:
                if done.is_set():
                    return
                said["raised"] += 1
                raise ValueError("mine")

            stream.on(OrderEvent, fails)
            stream.on(OrderEvent, happened)
            stream.on(QuoteEvent, lambda event: said.setdefault("label", event.quote["label"]))
            stream.subscribe("orders", f"quotes:{instrument}")
            said["state"] = stream.state.state
            said["repr"] = repr(stream)
            placed = stream.place(order)
            assert placed["order"] is not None
            said["canceled"] = stream.cancel(placed["order"]["orderId"])["order"]["status"]
            said["done"] = done.wait(20)
            said["open"] = stream.wait(0.01)
            said["count"] = stream.cancel_all()["count"]
            try:
                iter(stream)
            except RuntimeError as error:
                said["iter"] = str(error)
        try:
            stream.place(order)
        except PaperbookError as error:
            said["after"] = str(error)
        with client.stream(after="0" * 16) as stream:
            stream.subscribe("orders")
            seen = []
            for event in stream:
                if isinstance(event, OrderEvent):
                    seen.append(event.event["type"])
                if len(seen) == 3:
                    break
            said["iterated"] = seen
        with client.stream() as stream:
            states: list[str] = []
            closed = threading.Event()

            def stated(event: StateEvent) -> None:
                states.append(event.state)
                if event.state == "open":
                    stream.close()
                    closed.set()

            stream.on(StateEvent, stated)
            said["closedWithin"] = closed.wait(20)
    said["threads"] = [each.name for each in threading.enumerate() if "stream" in each.name]
    return said


print(json.dumps(main(*sys.argv[1:])))

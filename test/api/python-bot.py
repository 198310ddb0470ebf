"""What programs do with the Python client; prints what came of it as JSON (python-client.test.ts)."""

import asyncio
import json
import sys

from paperbook_client import (
    AsyncClient,
    Client,
    OrderRequest,
    PaperbookError,
    RefusedError,
    TradesPage,
)

ORGANIZATION = "0195d3a0-0000-7000-8000-0000000000aa"
ORDER = "0195d3a0-0000-7000-8000-0000000000bb"


def failure(call) -> dict:
    """Fields of the exception."""
    try:
        call()
    except PaperbookError as error:
        key = error.idempotency_key
        return {"is": type(error).__name__, "text": str(error), **vars(error), "key": key}
    raise AssertionError("it did not fail")


def trade(url: str, key: str, instrument: str) -> dict:
    said: dict = {}
    order: OrderRequest = {
        "action": "buy",
        "type": "market",
        "instrumentId": instrument,
        "side": "yes",
        "count": 10,
    }
    with Client(url, key) as client:
        said["prefix"] = client.get_me()["key"]["prefix"]
        said["found"] = [each["id"] for each in client.search_instruments("hawks over")["instruments"]]
        closed = client.list_instruments(tradable=False)["instruments"]
        said["notTradable"] = [each["id"] for each in closed]
        said["games"] = [each["id"] for each in client.list_games(from_="2026-11-22")["games"]]
        [quote] = client.list_quotes(instrument)["quotes"]
        said["ask"] = quote["venues"][0]["yesAskCents"]
        placed = client.place_order(order)
        said["placed"] = placed
        said["orderIsUnchanged"] = "idempotencyKey" not in order
        said["again"] = client.place_order({**order, "idempotencyKey": placed["idempotencyKey"]})
        said["byClientId"] = client.place_order({**order, "clientOrderId": "mine"})["idempotencyKey"]
        rested = client.place_order({**order, "type": "limit", "limitPriceCents": 7})["order"]
        assert rested is not None
        said["resting"] = client.list_orders(status="resting", limit=1)["orders"] == [rested]
        said["canceled"] = client.cancel_order(rested["orderId"])["order"]["status"]
        batch = client.place_orders({"orders": [order, {**order, "clientOrderId": "mine"}]})
        said["batch"] = [each["body"] for each in batch["results"]]
        said["twice"] = failure(lambda: client.cancel_order(rested["orderId"]))
        said["nowhere"] = failure(lambda: client.get_instrument("no/where?"))
        said["badOrder"] = failure(lambda: client.place_order({**order, "count": 0, "clientOrderId": "k"}))
        said["org"] = failure(lambda: client.get_portfolio(org=ORGANIZATION))
    said["async"] = asyncio.run(read(url, key))
    return said


async def read(url: str, key: str) -> dict:
    async with AsyncClient(url, key) as client:
        portfolio, trades = await asyncio.gather(client.get_portfolio(), client.list_trades())
        try:
            await client.get_game("none")
        except RefusedError as error:
            return {
                "positions": portfolio["positionsCount"],
                "trades": len(trades["trades"]),
                "code": error.code,
            }
    raise AssertionError("there is no such game")


def fail(url: str, key: str, instrument: str) -> dict:
    order: OrderRequest = {
        "action": "buy",
        "type": "market",
        "instrumentId": instrument,
        "side": "yes",
        "count": 1,
    }
    with Client(url, key) as client:
        said = {
            "placed": client.place_order(order),
            "unanswered": failure(lambda: client.place_order(order)),
            "batch": client.place_orders({"orders": [order, {**order, "idempotencyKey": "own"}]}),
            "lostBatch": failure(lambda: client.place_orders({"orders": [order]})),
            "longWait": failure(client.get_portfolio),
            "cancels": [
                failure(lambda: client.cancel_order(ORDER)),
                failure(lambda: client.cancel_order(ORDER)),
                client.cancel_order(ORDER),
            ],
            "redirect": failure(client.get_me),
            "proxy": failure(client.get_usage),
        }
    said["async"] = asyncio.run(persist(url, key))
    with Client(url, key, retries=0) as client:
        said["once"] = failure(client.get_status)
    return said


async def persist(url: str, key: str) -> TradesPage:
    async with AsyncClient(url, key) as client:
        return await client.list_trades(org=ORGANIZATION)


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    print(json.dumps({"trade": trade, "fail": fail}[what](*arguments)))

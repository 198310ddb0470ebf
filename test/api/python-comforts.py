"""The comforts of the Python client, on scripted answers; prints what came of them as JSON
(python-client.test.ts)."""

import asyncio
import io
import json
import logging
import os
import sys
from decimal import Decimal

import httpx

import paperbook_client
from paperbook_client import AsyncClient, Client, RefusedError

KEY = "svc_sk_0123456789abcdefsecretsecretsecretsecretsecret"
LIMITS = {
    "ratelimit-limit": "60",
    "ratelimit-remaining": "41",
    "ratelimit-reset": "17",
    "service-quota-limit": "1000",
    "service-quota-remaining": "900",
    "service-quota-reset": "86400",
    "service-plan": "basic",
}
QUOTE = {"instrumentId": "a", "venues": [{"yesAskCents": 44}]}
ROWS = [
    {"at": f"2026-11-21T05:00:0{n}.000Z", "yesBidCents": n + 40, "live": True} for n in range(3)
]
CANDLE = {
    "start": "2026-11-21T05:00:00.000Z",
    "end": "2026-11-21T05:01:00.000Z",
    "bid": {"open": 40, "high": 41, "low": 40, "close": 41},
    "trades": None,
}
EVENTS = {None: ("e1", "1"), "1": ("e2", "2"), "2": (None, "2")}
asked: list[str] = []


def answer(request: httpx.Request) -> httpx.Response:
    path, query = request.url.path, dict(request.url.params)
    asked.append(str(request.url))
    if path == "/v1/portfolio/trades":
        at = int(query.get("cursor", "0"))
        trades = [{"tradeId": f"t{2 * at + n}", "costDollars": 4.35} for n in range(2)]
        body: dict = {"trades": trades, "nextCursor": None if at == 2 else str(at + 1)}
    elif path == "/v1/portfolio/events":
        event, place = EVENTS[query.get("after")]
        body = {"events": [{"eventId": event}] if event else [], "nextAfter": place}
    elif path == "/v1/history":
        body = {"quotes": ROWS, "gaps": [], "nextCursor": None}
    elif path == "/v1/history/candles":
        body = {"candles": [CANDLE, {**CANDLE, "trades": {"count": 2}}], "nextCursor": None}
    elif path == "/v1/account":
        body = {"points": 100000.05, "account": {"balanceDollars": 100000, "netWorthDollars": 0.1}}
        body["odds"] = [0.5, 1]
    elif path == "/v1/quotes":
        body = {"quotes": [QUOTE]}
    else:
        status, code = path.split("/")[-1].split("-", 1)
        error = {"error": {"code": code, "message": "No."}}
        return httpx.Response(int(status), json=error, headers={"x-request-id": "r1"})
    return httpx.Response(200, json=body, headers=LIMITS)


def of_environment() -> dict:
    os.environ["PAPERBOOK_BASE_URL"] = "https://paper.example/"
    os.environ["PAPERBOOK_API_KEY"] = KEY
    said = {"env": repr(Client(transport=httpx.MockTransport(answer)))}
    del os.environ["PAPERBOOK_BASE_URL"], os.environ["PAPERBOOK_API_KEY"]
    said["none"] = repr(AsyncClient(transport=httpx.MockTransport(answer)))
    said["token"] = repr(Client("http://a/v2", "ey.session", transport=httpx.MockTransport(answer)))
    try:
        Client("paper.example")
    except ValueError as error:
        said["bad"] = str(error)
    return said


def of_kinds(client: Client, codes: dict[str, int]) -> dict:
    kinds = {}
    for code, status in codes.items():
        try:
            client.get_instrument(f"{status}-{code}")
        except RefusedError as error:
            names = [each.__name__ for each in type(error).__mro__ if each.__name__ in dir(paperbook_client)]
            kinds[code] = [error.code == code, repr(error), *names]
    return kinds


async def asynchronous() -> dict:
    async with AsyncClient("http://a/v1", KEY, transport=httpx.MockTransport(answer)) as client:
        trades = [trade["tradeId"] async for trade in client.iter_trades()]
        return {"trades": trades, "rows": repr(client.iter_events())}


def of_frames(client: Client) -> dict:
    trades = client.iter_trades().to_frame()
    history = client.iter_history(instrument_id="a").to_frame()
    candles = paperbook_client.to_frame(client.get_candles(instrument_id="a"))
    return {
        "trades": [len(trades), list(trades.columns)],
        "history": [str(history.index.dtype), history["yesBidCents"].tolist()],
        "candles": [candles.index.name, list(candles.columns)],
        "none": len(paperbook_client.to_frame([])),
    }


def main(codes: dict[str, int]) -> dict:
    said: dict = of_environment()
    text = io.StringIO()
    logging.basicConfig(stream=text, level=logging.DEBUG)
    logging.getLogger("httpx").setLevel(logging.ERROR)
    with Client("http://a/v1", KEY, transport=httpx.MockTransport(answer)) as client:
        said["limitBefore"] = client.rate_limit
        said["trades"] = [trade["tradeId"] for trade in client.iter_trades(status="open")]
        rows = client.iter_trades()
        before = len(asked)
        said["lazy"] = [next(rows)["tradeId"], len(asked) - before]
        said["events"] = [event["eventId"] for event in client.iter_events()]
        said["later"] = [event["eventId"] for event in client.iter_events(after="1")]
        said["limit"] = vars(client.rate_limit)
        client.list_quotes(["a", "b"])
        client.list_quotes("a")
        said["asked"] = asked[-2:]
        said["kinds"] = of_kinds(client, codes)
        said["async"] = asyncio.run(asynchronous())
        try:
            import pandas  # noqa: F401

            said["frames"] = of_frames(client)
        except ImportError:
            said["frames"] = None
    with Client("http://a/v1", money=Decimal, transport=httpx.MockTransport(answer)) as client:
        page = client.get_account()
        account = page["account"]
        assert account is not None
        said["money"] = [repr(account[name]) for name in ("balanceDollars", "netWorthDollars")]
        said["other"] = [type(page["points"]).__name__, str(page["odds"])]
    said["log"] = text.getvalue()
    return said


print(json.dumps(main(json.loads(sys.argv[1]))))

"""Read by mypy alone (python-client.test.ts): an ignored line that is right is an error, too."""

from decimal import Decimal

from paperbook_client import (
    Client,
    InsufficientBalance,
    LimitBuy,
    OrderRequest,
    QuoteEvent,
    Rows,
    Trade,
)

market: OrderRequest = {
    "action": "buy",
    "type": "market",
    "instrumentId": "ins_000000000000",
    "side": "yes",
    "count": 1,
}
limit: LimitBuy = {
    "action": "buy",
    "type": "limit",
    "instrumentId": "ins_000000000000",
    "side": "yes",
    "count": 1,
    "limitPriceCents": 40,
    "timeInForce": "ioc",
}
ticker: OrderRequest = {"action": "buy", "type": "market", "ticker": "T", "side": "no", "count": 1}
sell: OrderRequest = {"action": "sell", "type": "market", "tradeId": "a", "minPriceCents": 9}
unpriced: OrderRequest = {
    "action": "buy",
    "type": "limit",  # type: ignore
    "instrumentId": "ins_000000000000",
    "side": "yes",
    "count": 1,
}
sideless: OrderRequest = {  # type: ignore
    "action": "buy",
    "type": "market",
    "instrumentId": "ins_000000000000",
    "count": 1,
}
resting: OrderRequest = {**market, "timeInForce": "gtc"}  # type: ignore
nothing: OrderRequest = {"action": "sell", "type": "limit", "limitPriceCents": 3}  # type: ignore


def use(client: Client) -> Rows[Trade]:
    try:
        client.place_order(limit)
        client.place_orders({"orders": [market, limit, ticker, sell]})
    except InsufficientBalance as error:
        print(error.code, error.status)
    client.list_quotes(["a", "b"])["quotes"]
    client.list_instruments(tradable=True)
    with client.stream() as stream:
        stream.on(QuoteEvent, lambda event: print(event.quote["label"]))
        stream.on(QuoteEvent, "no callback")  # type: ignore
    for trade in client.iter_trades(status="open"):
        print(trade["contracts"] + 1, trade["nothing"])  # type: ignore
    return client.iter_trades()


use(Client(money=Decimal))

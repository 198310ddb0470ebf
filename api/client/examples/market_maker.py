"""Rests a bid on each side of one instrument, and moves both as the price moves.

A fill of either side leaves the other side to close the risk: yes at 41 and no at 57 cost 98 cents
together and pay 100. Orders end with the connection, so none stays. Run it with
PAPERBOOK_API_KEY set: ``python3 market_maker.py --seconds 60``.
"""

import argparse
import threading

from paperbook_client import Client, OrderEvent, Quote, QuoteEvent, RefusedError, Side, SyncStream

EDGE_CENTS = 2
CONTRACTS = 10


class Maker:
    def __init__(self, stream: SyncStream, instrument_id: str) -> None:
        self._stream = stream
        self._instrument_id = instrument_id
        # The resting order of each side, and its limit.
        self._resting: dict[Side, tuple[str, int]] = {}
        self.moves = 0

    def quoted(self, event: QuoteEvent) -> None:
        wanted = prices_of(event.quote)
        for side, cents in wanted.items():
            known = self._resting.get(side)
            if known is not None and known[1] == cents:
                continue
            if known is not None:
                self._cancel(side, known[0])
            self._rest(side, cents)

    def happened(self, event: OrderEvent) -> None:
        order = event.event.get("order")
        print(event.event["type"], order["instrumentSide"] if order else "")
        if event.event["type"] == "order_filled" and order is not None:
            self._resting.pop(order["instrumentSide"], None)

    def _rest(self, side: Side, cents: int) -> None:
        try:
            placed = self._stream.place(
                {
                    "action": "buy",
                    "type": "limit",
                    "instrumentId": self._instrument_id,
                    "side": side,
                    "count": CONTRACTS,
                    "limitPriceCents": cents,
                }
            )
        except RefusedError as error:
            print("refused", error)
            return
        if placed["order"] is not None and placed["status"] == "resting":
            self._resting[side] = (placed["order"]["orderId"], cents)
            self.moves += 1

    def _cancel(self, side: Side, order_id: str) -> None:
        self._resting.pop(side, None)
        try:
            self._stream.cancel(order_id)
        except RefusedError as error:
            # It was filled meanwhile.
            print("not canceled", error.code)


def prices_of(quote: Quote) -> dict[Side, int]:
    """A bid below the best bid of yes, and one below the best bid of no, which is 100 - ask."""
    first = quote["venues"][0] if quote["venues"] else None
    bid = first["yesBidCents"] if first else None
    ask = first["yesAskCents"] if first else None
    prices: dict[Side, int] = {}
    if bid is not None and bid - EDGE_CENTS >= 1:
        prices["yes"] = bid - EDGE_CENTS
    if ask is not None and 100 - ask - EDGE_CENTS >= 1:
        prices["no"] = 100 - ask - EDGE_CENTS
    return prices


def main(seconds: float) -> None:
    with Client() as client:
        found = client.list_instruments(tradable=True, priced=True, status="scheduled", limit=1)
        instrument = found["instruments"][0]
        print("making a market in", instrument["label"])
        with client.stream(cancel_on_disconnect=True) as stream:
            maker = Maker(stream, instrument["id"])
            stream.on(QuoteEvent, maker.quoted)
            stream.on(OrderEvent, maker.happened)
            stream.ready()
            stream.subscribe("orders", f"quotes:{instrument['id']}")
            threading.Event().wait(seconds)
        print("moved", maker.moves, "orders")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    main(parser.parse_args().seconds)

"""Buys where its own probability is above the price, and states that probability with the order.

The server scores stated probabilities once games end: ``client.get_own_eval()`` has the Brier score
of each pick. The model here is deliberately simple: the middle price of the last hour. Put your own
in its place. Run it with PAPERBOOK_API_KEY set: ``python3 taker.py --edge 1``.
"""

import argparse
import itertools

from paperbook_client import Client, Instrument, MarketBuy, RefusedError

CONTRACTS = 5
INSTRUMENTS_AT_MOST = 20


def probability_of(client: Client, instrument: Instrument) -> int | None:
    """In percent; None where there are no prices to learn from."""
    candles = client.get_candles(instrument_id=instrument["id"], interval="1m", limit=60)["candles"]
    middles = [candle["mid"]["close"] for candle in candles if candle["mid"] is not None]
    if not middles:
        return None
    return min(99, max(1, round(sum(middles) / len(middles))))


def main(edge_cents: int) -> None:
    with Client() as client:
        found = client.iter_instruments(tradable=True, priced=True, status="scheduled")
        looked, bought = 0, 0
        for instrument in itertools.islice(found, INSTRUMENTS_AT_MOST):
            looked += 1
            percent = probability_of(client, instrument)
            venues = client.get_quote(instrument["id"])["quote"]["venues"]
            ask = venues[0]["yesAskCents"] if venues else None
            if percent is None or ask is None or percent - ask < edge_cents:
                continue
            order: MarketBuy = {
                "action": "buy",
                "type": "market",
                "instrumentId": instrument["id"],
                "side": "yes",
                "count": CONTRACTS,
                # Never above the price that was looked at.
                "maxPriceCents": ask,
                "statedProbPct": percent,
            }
            try:
                placed = client.place_order(order)
            except RefusedError as error:
                print("refused", instrument["label"], error.code)
                continue
            bought += placed["trade"] is not None
            print("bought", instrument["label"], "at most", ask, "for", percent, "percent")
        print("looked at", looked, "and bought", bought)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edge", type=int, default=1, help="cents below the probability")
    main(parser.parse_args().edge)

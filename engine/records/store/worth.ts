/**
 * Net worth: the run's money with open trades at cost, plus the gain of these trades at live bids.
 * Rules M21 (engine/RULES.md), Y12.
 */
import { invariant } from '../../base/invariant.ts';
import type { Cents, MarketNumber, PriceCents } from '../../base/units.ts';
import type { OpenRow, OpenTrades } from './open-trades.ts';
import type { TraderNumber } from './trader-ids.ts';
import type { Traders } from './traders.ts';

/** Live bids by market and side; null: there is none, or none may be shown. */
export type BidSource = { of(market: MarketNumber, isYes: boolean): PriceCents | null };

/** Live bids of both sides, two bytes per market: yes, no; 0: there is none. */
export class Bids implements BidSource {
  /** The markets in the order of the bytes; null: all, by number. */
  readonly #places: ReadonlyMap<MarketNumber, number> | null;
  #bytes: Uint8Array | null = null;

  constructor(markets: readonly MarketNumber[] | null = null, bytes: Uint8Array | null = null) {
    this.#places = markets === null ? null : new Map(markets.map((market, at) => [market, at]));
    this.set(bytes);
  }

  /** Null: open trades count at cost. */
  set(bytes: Uint8Array | null): void {
    invariant(bytes === null || bytes.length % 2 === 0, 'a market has one bid of two');
    this.#bytes = bytes;
  }

  of(market: MarketNumber, isYes: boolean): PriceCents | null {
    const place = this.#places === null ? market : this.#places.get(market);
    const bid = place === undefined ? 0 : (this.#bytes?.[2 * place + (isYes ? 0 : 1)] ?? 0);
    return bid === 0 ? null : bid;
  }
}

export class Worth {
  readonly #traders: Traders;
  readonly #open: OpenTrades;
  readonly #bids: Bids;

  constructor(traders: Traders, open: OpenTrades, bids: Bids) {
    this.#traders = traders;
    this.#open = open;
    this.#bids = bids;
  }

  /** Null: open trades count at cost. */
  setBids(bytes: Uint8Array | null): void {
    this.#bids.set(bytes);
  }

  of(trader: TraderNumber, bids: BidSource = this.#bids): Cents {
    let cents = this.#traders.col.worth_cents[trader]!;
    for (const row of this.#open.of(trader)) cents += this.#gainOf(row, bids);
    return cents;
  }

  /** Markets of a trader's open trades. */
  marketsOf(trader: TraderNumber): MarketNumber[] {
    const markets = new Set<MarketNumber>();
    for (const row of this.#open.of(trader)) markets.add(this.#open.col.market.get(row));
    return [...markets];
  }

  /** Of all traders, by number. */
  ofAll(): Float64Array {
    const { col, end } = this.#traders;
    const cents = col.worth_cents.slice(0, end);
    const { trader: traders } = this.#open.col;
    for (const row of this.#open.rows()) {
      const trader = traders.get(row);
      cents[trader] = cents[trader]! + this.#gainOf(row, this.#bids);
    }
    return cents;
  }

  #gainOf(row: OpenRow, bids: BidSource): Cents {
    const { market, isYes, contracts, costCents } = this.#open.col;
    const bid = bids.of(market.get(row), isYes.get(row) === 1);
    return bid === null ? 0 : bid * contracts.get(row) - costCents.get(row);
  }
}

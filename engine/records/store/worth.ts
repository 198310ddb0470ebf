/**
 * Net worth: the run's money with open trades at cost, plus the gain of these trades at live bids.
 * Rules M21 (engine/RULES.md), Y12.
 */
import { invariant } from '../../base/invariant.ts';
import type { Cents, MarketNumber, PriceCents } from '../../base/units.ts';
import type { Database, Statement } from './database.ts';
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

type OpenRow = [trader: number, market: number, isYes: number, contracts: number, cost: number];
const COLUMNS = 'trader, market, market_yes, contracts, cost_cents';

export class Worth {
  readonly #traders: Traders;
  readonly #bids: Bids;
  readonly #open: Statement<OpenRow>;
  readonly #openOf: Statement<OpenRow>;

  constructor(database: Database, traders: Traders, bids: Bids) {
    this.#traders = traders;
    this.#bids = bids;
    this.#open = database.prepare(`SELECT ${COLUMNS} FROM trades WHERE state = 0`).raw() as never;
    this.#openOf = database
      .prepare(`SELECT ${COLUMNS} FROM trades WHERE state = 0 AND trader = ?`)
      .raw() as never;
  }

  /** Null: open trades count at cost. */
  setBids(bytes: Uint8Array | null): void {
    this.#bids.set(bytes);
  }

  of(trader: TraderNumber, bids: BidSource = this.#bids): Cents {
    let cents = this.#traders.col.worth_cents[trader]!;
    for (const row of this.#openOf.iterate(trader)) cents += gainOf(row, bids);
    return cents;
  }

  /** Of all traders, by number. */
  ofAll(): Float64Array {
    const { col, end } = this.#traders;
    const cents = col.worth_cents.slice(0, end);
    for (const row of this.#open.iterate())
      cents[row[0]] = cents[row[0]]! + gainOf(row, this.#bids);
    return cents;
  }
}

function gainOf([, market, isYes, contracts, costCents]: OpenRow, bids: BidSource): Cents {
  const bid = bids.of(market, isYes === 1);
  return bid === null ? 0 : bid * contracts - costCents;
}

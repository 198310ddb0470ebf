/**
 * Markets and instruments that are over, as columns. Each is one small object whose members read the
 * columns, so that all other code sees a market or an instrument. Nothing shows what a venue last
 * said of such a market, so it is forgotten. Rules K59, K61 (feeds/FORMATS.md).
 */

import { invariant } from '../base/invariant.ts';
import { TextNumbers } from '../base/text-numbers.ts';
import { grown } from '../base/typed-arrays.ts';
import {
  type InstrumentNumber,
  type MarketNumber,
  marketName,
  NO_ROW,
  type Venue,
  venueOf,
} from '../base/units.ts';
import type { MarketOutcome, Payouts } from './messages.ts';
import { type Instrument, type Market, NO_BOOKS, NO_TRADES } from './reference-data.ts';

/** The code of an outcome is its place here. */
const OUTCOMES = [null, 'yes', 'no', 'void', 'scalar'] as const satisfies (MarketOutcome | null)[];
/** In place of a payout, or of a settlement's count of trades. */
const NONE = -1;
const [GROWTH, ROWS_MIN] = [1.25, 64];

type Column = Float64Array | Int32Array | Int8Array;

/** A column with room for a row. It grows by a quarter, since most of its rows stay for ever. */
function roomFor<C extends Column>(column: C, row: number): C {
  if (row < column.length) return column;
  const rows = Math.max(ROWS_MIN, row + 1, Math.ceil(column.length * GROWTH));
  return grown(column, new (column.constructor as new (rows: number) => C)(rows));
}

type ResultOf = Pick<Market, 'outcome' | 'payouts' | 'resolvedAtMs' | 'settlement' | 'corrections'>;

export class PastMarkets {
  readonly #numbers = new TextNumbers();
  /** `venue/ticker` of every market, by its number. */
  #names: readonly string[] = [];
  #outcomes = new Int8Array(0);
  #yesCents = new Int8Array(0);
  #noCents = new Int8Array(0);
  #corrections = new Int32Array(0);
  #trades = new Int32Array(0);
  #records = new Float64Array(0);
  #resolvedAtMs = new Float64Array(0);

  /** The names of the catalog in use. */
  nameBy(names: readonly string[]): void {
    this.#names = names;
  }

  /** A market as it is from now on. */
  keep(market: Market): Market {
    const { number, outcome, payouts, resolvedAtMs, settlement, corrections } = market;
    const name = this.nameOf(number);
    invariant(marketName(market.venue, market.ticker) === name, 'a past market has another name');
    if (this.numberOf(name) === undefined) this.#numbers.add(name, number);
    this.set(number, { outcome, payouts, resolvedAtMs, settlement, corrections });
    return new PastMarket(number, this);
  }

  /** The number of a market that is kept, or was. */
  numberOf(name: string): MarketNumber | undefined {
    return this.#numbers.find(name, (number) => this.#names[number] === name);
  }

  nameOf(number: MarketNumber): string {
    const name = this.#names[number];
    invariant(name !== undefined, 'a past market has no name');
    return name;
  }

  get(number: MarketNumber): ResultOf {
    const outcome = OUTCOMES[this.#outcomes[number]!]!;
    const [yes, no] = [this.#yesCents[number]!, this.#noCents[number]!];
    const trades = this.#trades[number]!;
    return {
      outcome,
      payouts: yes === NONE ? null : { yesPayoutCents: yes, noPayoutCents: no },
      resolvedAtMs: this.#resolvedAtMs[number]!,
      settlement: trades === NONE ? null : { record: this.#records[number]!, trades },
      corrections: this.#corrections[number]!,
    };
  }

  outcomeOf(number: MarketNumber): MarketOutcome | null {
    return OUTCOMES[this.#outcomes[number]!]!;
  }

  set(number: MarketNumber, changes: Partial<ResultOf>): void {
    if (number >= this.#outcomes.length) this.#grow(number);
    const { outcome, payouts, resolvedAtMs, settlement, corrections } = changes;
    if (outcome !== undefined) this.#outcomes[number] = OUTCOMES.indexOf(outcome);
    if (payouts !== undefined) {
      this.#yesCents[number] = payouts?.yesPayoutCents ?? NONE;
      this.#noCents[number] = payouts?.noPayoutCents ?? NONE;
    }
    if (resolvedAtMs !== undefined) this.#resolvedAtMs[number] = resolvedAtMs;
    if (settlement !== undefined) {
      this.#records[number] = settlement?.record ?? 0;
      this.#trades[number] = settlement?.trades ?? NONE;
    }
    if (corrections !== undefined) this.#corrections[number] = corrections;
  }

  #grow(row: number): void {
    this.#outcomes = roomFor(this.#outcomes, row);
    this.#yesCents = roomFor(this.#yesCents, row);
    this.#noCents = roomFor(this.#noCents, row);
    this.#corrections = roomFor(this.#corrections, row);
    this.#trades = roomFor(this.#trades, row);
    this.#records = roomFor(this.#records, row);
    this.#resolvedAtMs = roomFor(this.#resolvedAtMs, row);
  }
}

/** Members without a setter cannot change: a change is a mistake in our own code, and throws. */
class PastMarket implements Market {
  readonly number: MarketNumber;
  readonly #of: PastMarkets;

  constructor(number: MarketNumber, of: PastMarkets) {
    this.number = number;
    this.#of = of;
  }

  get isPast() {
    return true;
  }
  get venue(): Venue {
    return venueOf(this.#of.nameOf(this.number))!;
  }
  get ticker(): string {
    const name = this.#of.nameOf(this.number);
    return name.slice(name.indexOf('/') + 1);
  }

  get outcome(): MarketOutcome | null {
    return this.#of.outcomeOf(this.number);
  }
  set outcome(outcome: MarketOutcome | null) {
    this.#of.set(this.number, { outcome });
  }
  get payouts(): Payouts | null {
    return this.#of.get(this.number).payouts;
  }
  set payouts(payouts: Payouts | null) {
    this.#of.set(this.number, { payouts });
  }
  get resolvedAtMs() {
    return this.#of.get(this.number).resolvedAtMs;
  }
  get settlement(): Market['settlement'] {
    return this.#of.get(this.number).settlement;
  }
  get corrections() {
    return this.#of.get(this.number).corrections;
  }
  set corrections(corrections) {
    this.#of.set(this.number, { corrections });
  }

  get status() {
    return 'open' as const;
  }
  get closesAtMs() {
    return Number.POSITIVE_INFINITY;
  }
  get venueClosesAtMs() {
    return null;
  }
  get quote() {
    return null;
  }
  get quotes() {
    return 0;
  }
  get lastTrade() {
    return null;
  }
  get lastTradeOf() {
    return NO_TRADES;
  }
  get book() {
    return null;
  }
  get routedBooks() {
    return NO_BOOKS;
  }
  get shownBy() {
    return null;
  }
}

export class PastInstruments {
  readonly #numbers = new TextNumbers();
  readonly #markets: readonly Market[];
  #ids: readonly string[] = [];
  /** The record of the log that describes each. */
  #described = new Float64Array(0);
  /** The market where its orders went, `NO_ROW`: none, or more than one. */
  #homes = new Int32Array(0);
  #polarities = new Int8Array(0);

  constructor(markets: readonly Market[]) {
    this.#markets = markets;
  }

  /** The ids of the catalog in use. */
  nameBy(ids: readonly string[]): void {
    this.#ids = ids;
  }

  /** An instrument as it is from now on. */
  keep({ number, id, home, described }: Instrument): Instrument {
    invariant(this.idOf(number) === id, 'a past instrument has another id');
    invariant(described !== null, 'an instrument is past that the log does not describe');
    if (this.numberOf(id) === undefined) this.#numbers.add(id, number);
    this.#described = roomFor(this.#described, number);
    this.#homes = roomFor(this.#homes, number);
    this.#polarities = roomFor(this.#polarities, number);
    this.#described[number] = described;
    this.#homes[number] = home?.market.number ?? NO_ROW;
    this.#polarities[number] = home?.polarity ?? 1;
    return new PastInstrument(number, this);
  }

  numberOf(id: string): InstrumentNumber | undefined {
    return this.#numbers.find(id, (number) => this.#ids[number] === id);
  }

  idOf(number: InstrumentNumber): string {
    const id = this.#ids[number];
    invariant(id !== undefined, 'a past instrument has no id');
    return id;
  }

  describedAt(number: InstrumentNumber): number {
    return this.#described[number]!;
  }

  homeOf(number: InstrumentNumber): Instrument['home'] {
    const market = this.#homes[number]!;
    const polarity = this.#polarities[number] === 1 ? 1 : -1;
    return market === NO_ROW ? null : { market: this.#markets[market]!, polarity };
  }
}

class PastInstrument implements Instrument {
  readonly number: InstrumentNumber;
  readonly #of: PastInstruments;

  constructor(number: InstrumentNumber, of: PastInstruments) {
    this.number = number;
    this.#of = of;
  }

  get id() {
    return this.#of.idOf(this.number);
  }
  get described() {
    return this.#of.describedAt(this.number);
  }
  get home() {
    return this.#of.homeOf(this.number);
  }
  get isPast() {
    return true;
  }
  get entry() {
    return null;
  }
  get listed() {
    return false;
  }
  get listings() {
    return [];
  }
  get opensAtMs() {
    return 0;
  }
  get closesAtMs() {
    return Number.POSITIVE_INFINITY;
  }
}

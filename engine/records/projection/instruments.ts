/**
 * The facts about each instrument in the newest catalog that named it. Rules Y3, Y16, Y92
 * (engine/RULES.md).
 */

import { invariant } from '../../base/invariant.ts';
import { type EpochMs, type MarketNumber, PAYOUT_CENTS } from '../../base/units.ts';
import type { OutcomeSource } from '../../rules/events.ts';
import type { Database, Statement } from '../store/database.ts';
import { UNKNOWN_START_MS } from '../store/tables.ts';
import type { Closing, Closings, WantedClosing } from './closings.ts';

export type KnownInstrument = {
  id: string;
  label: string;
  gameId: string | null;
  /** Picks of equal keys move together: the key is the game, or the instrument without a game. */
  cluster: string;
  startsAtMs: EpochMs;
  polarity: 1 | -1;
};
/** For all instruments, by number. A start of NaN: no instrument has that number. */
export type InstrumentColumns = {
  startsAtMs: Float64Array;
  /** The least number of an instrument of the same game, or its own number without a game. */
  clusters: Uint32Array;
  polarity: Int8Array;
};
export type KnownMarket = {
  ticker: string;
  /** The source and the time of its result; null: it has none. */
  source: OutcomeSource | null;
  resolvedAtMs: EpochMs | null;
};

type InstrumentRow = [
  id: string,
  label: string,
  slug: string | null,
  gameId: string | null,
  startsAtMs: number,
  polarity: 1 | -1 | null,
];

type MarketRow = [ticker: string, source: OutcomeSource | null, resolvedAtMs: EpochMs | null];

export class Instruments {
  readonly #instrument: Statement<InstrumentRow>;
  readonly #market: Statement<MarketRow>;
  readonly #wanted: Statement<[market: number, startsAtMs: number]>;
  readonly #closings: Closings;
  readonly #all: Statement<ColumnsRow>;
  #columns: InstrumentColumns | null = null;

  constructor(database: Database, closings: Closings) {
    this.#closings = closings;
    this.#instrument = database
      .prepare(
        `SELECT id, label, game_slug, game_id, starts_at_ms, polarity
         FROM instruments WHERE instrument = ?`,
      )
      .raw() as never;
    this.#market = database
      .prepare('SELECT ticker, source, resolved_at_ms FROM markets WHERE market = ?')
      .raw() as never;
    this.#all = database
      .prepare(
        `SELECT instrument, game_slug, starts_at_ms, polarity FROM instruments
         ORDER BY instrument`,
      )
      .raw() as never;
    this.#wanted = database
      .prepare(
        `SELECT DISTINCT i.market, i.starts_at_ms FROM instruments i
         JOIN markets m ON m.market = i.market
         WHERE m.source IS NOT NULL AND i.starts_at_ms <= ?
           AND i.starts_at_ms > ${UNKNOWN_START_MS}`,
      )
      .raw() as never;
  }

  columns(): InstrumentColumns {
    this.#columns ??= columnsOf(this.#all.all());
    return this.#columns;
  }

  /** A catalog changed some of them. */
  changed(): void {
    this.#columns = null;
  }

  /** Null: the catalog's shard has not been read so far. */
  get(instrument: number): KnownInstrument | null {
    const row = this.#instrument.get(instrument);
    if (row === undefined) return null;
    const [id, label, slug, gameId, startsAtMs, polarity] = row;
    return { id, label, gameId, cluster: slug ?? id, startsAtMs, polarity: polarity ?? 1 };
  }

  market(market: MarketNumber): KnownMarket | null {
    const row = this.#market.get(market);
    if (row === undefined) return null;
    const [ticker, source, resolvedAtMs] = row;
    return { ticker, source, resolvedAtMs };
  }

  /** The closing line in the instrument's terms; null: there is none, or it is not known yet. */
  closing(
    market: MarketNumber,
    { startsAtMs, polarity }: Pick<KnownInstrument, 'startsAtMs' | 'polarity'>,
  ) {
    const quote = this.#closings.get(market, startsAtMs)?.quote ?? null;
    if (quote === null) return null;
    const { yesBidCents, yesAskCents } = quote;
    invariant(yesBidCents < yesAskCents, 'a closing line is crossed');
    if (polarity === 1) return { yesBidCents, yesAskCents };
    return { yesBidCents: PAYOUT_CENTS - yesAskCents, yesAskCents: PAYOUT_CENTS - yesBidCents };
  }

  put(closing: Closing): void {
    this.#closings.put(closing);
  }

  /** The unknown closing lines of markets with a result whose game has begun. */
  wanted(nowMs: EpochMs): WantedClosing[] {
    return this.#wanted
      .all(nowMs)
      .map(([market, startsAtMs]) => ({ market, startsAtMs }))
      .filter(({ market, startsAtMs }) => this.#closings.get(market, startsAtMs) === undefined);
  }
}

type ColumnsRow = [
  instrument: number,
  slug: string | null,
  startsAtMs: number,
  polarity: 1 | -1 | null,
];

/** @param rows in the order of their numbers */
function columnsOf(rows: readonly ColumnsRow[]): InstrumentColumns {
  const end = (rows.at(-1)?.[0] ?? -1) + 1;
  const startsAtMs = new Float64Array(end).fill(Number.NaN);
  const clusters = new Uint32Array(end);
  const polarities = new Int8Array(end).fill(1);
  const firstOf = new Map<string, number>();
  for (const [instrument, slug, startMs, polarity] of rows) {
    startsAtMs[instrument] = startMs;
    polarities[instrument] = polarity ?? 1;
    if (slug !== null && !firstOf.has(slug)) firstOf.set(slug, instrument);
    clusters[instrument] = slug === null ? instrument : firstOf.get(slug)!;
  }
  return { startsAtMs, clusters, polarity: polarities };
}

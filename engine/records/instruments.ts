/** What the newest catalog that named an instrument said of it. Rules Y3, Y16 (engine/RULES.md). */
import type { OutcomeSource } from '../rules/events.ts';
import { invariant } from '../rules/invariant.ts';
import { type EpochMs, type MarketNumber, PAYOUT_CENTS } from '../rules/units.ts';
import type { Closing, Closings, WantedClosing } from './closings.ts';
import type { Database, Statement } from './database.ts';

export type KnownInstrument = {
  id: string;
  label: string;
  gameId: string | null;
  /** Picks of equal keys move together: a game's, else the instrument's own. */
  cluster: string;
  startsAtMs: EpochMs;
  polarity: 1 | -1;
};
export type KnownMarket = { ticker: string; source: OutcomeSource | null };

type InstrumentRow = [
  id: string,
  label: string,
  slug: string | null,
  gameId: string | null,
  startsAtMs: number,
  polarity: 1 | -1 | null,
];

export class Instruments {
  readonly #instrument: Statement<InstrumentRow>;
  readonly #market: Statement<[ticker: string, source: OutcomeSource | null]>;
  readonly #wanted: Statement<[market: number, startsAtMs: number]>;
  readonly #closings: Closings;

  constructor(database: Database, closings: Closings) {
    this.#closings = closings;
    this.#instrument = database
      .prepare(
        `SELECT id, label, game_slug, game_id, starts_at_ms, polarity
         FROM instruments WHERE instrument = ?`,
      )
      .raw() as never;
    this.#market = database
      .prepare('SELECT ticker, source FROM markets WHERE market = ?')
      .raw() as never;
    this.#wanted = database
      .prepare(
        `SELECT DISTINCT i.market, i.starts_at_ms FROM instruments i
         JOIN markets m ON m.market = i.market
         WHERE m.source IS NOT NULL AND i.starts_at_ms <= ?`,
      )
      .raw() as never;
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
    return row === undefined ? null : { ticker: row[0], source: row[1] };
  }

  /** The closing line in the instrument's terms; null: there is none, or it is not known yet. */
  closing(market: MarketNumber, { startsAtMs, polarity }: KnownInstrument) {
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

  /** Of markets with a result whose game has begun, the closing lines that are not known. */
  wanted(nowMs: EpochMs): WantedClosing[] {
    return this.#wanted
      .all(nowMs)
      .map(([market, startsAtMs]) => ({ market, startsAtMs }))
      .filter(({ market, startsAtMs }) => this.#closings.get(market, startsAtMs) === undefined);
  }
}

/**
 * The settled picks of a trader that can be listed, and the numbers of a trader's page. Rules Y13
 * to Y15, Y26, Y87 (engine/RULES.md).
 */
import { invariant } from '../../base/invariant.ts';
import type { Cents, EpochMs, Side, Uuid } from '../../base/units.ts';
import type { Database, Statement } from '../store/database.ts';
import { LISTED, TRADE_STATES } from '../store/tables.ts';
import type { TraderNumber } from '../store/trader-ids.ts';
import { uuidBytes, uuidText } from '../store/uuid-bytes.ts';
import type { Instruments } from './instruments.ts';

export type Pick = {
  pickId: Uuid;
  /** In the instrument's terms. */
  side: Side;
  result: 'won' | 'lost' | 'void';
  stakeCents: Cents;
  pnlCents: Cents;
  openedAtMs: EpochMs;
  closedAtMs: EpochMs;
  instrumentId: string | null;
  marketLabel: string | null;
  placedPrivate: boolean;
};

export type Counts = { won: number; lost: number; void: number };

export type PicksQuestion = {
  trader: Uuid;
  /** Whether picks placed while private are seen. */
  seesPrivate: boolean;
  limit: number;
  /** The last pick of the page before. */
  after: Uuid | null;
};

/** Rule Y26 (engine/RULES.md). */
const PICKS_MAX = 100;

type Row = {
  trade: number;
  id: Buffer;
  instrument: number;
  instrument_yes: number;
  state: number;
  cost_cents: Cents;
  pnl_cents: Cents;
  opened_at_ms: EpochMs;
  closed_at_ms: EpochMs;
  placed_private: number;
};

export class Picks {
  readonly #instruments: Instruments;
  readonly #recent: Statement<Row>;
  readonly #counts: Statement<[state: number, count: number]>;
  readonly #trade: Statement<number>;

  constructor(database: Database, instruments: Instruments) {
    this.#instruments = instruments;
    this.#recent = database.prepare(
      `SELECT trade, id, instrument, instrument_yes, state, cost_cents, pnl_cents, opened_at_ms,
         closed_at_ms, placed_private
       FROM settled WHERE trader = ? AND ${LISTED} AND placed_private <= ?
       ORDER BY trade DESC LIMIT ${PICKS_MAX}`,
    ) as never;
    this.#counts = database
      .prepare(
        `SELECT state, count(*) FROM settled
         WHERE trader = ? AND ${LISTED} AND placed_private = 0 GROUP BY state`,
      )
      .raw() as never;
    this.#trade = database
      .prepare('SELECT trade FROM settled WHERE id = ? AND trader = ?')
      .pluck() as never;
  }

  /** Newest opened first; null: `after` is no settled trade of the trader. */
  page(
    trader: TraderNumber,
    { seesPrivate, limit, after }: PicksQuestion,
  ): { picks: Pick[]; next: Uuid | null } | null {
    invariant(limit > 0, 'a page of no picks is asked for');
    const before =
      after === null ? Number.POSITIVE_INFINITY : this.#trade.get(uuidBytes(after), trader);
    if (before === undefined) return null;
    const recent = this.#recent.all(trader, seesPrivate ? 1 : 0);
    const rest = recent.filter(({ trade }) => trade < before);
    const picks = rest.slice(0, limit).map((row) => this.#pickOf(row));
    return { picks, next: rest.length > limit ? picks.at(-1)!.pickId : null };
  }

  /** Only picks that were not placed while private. */
  publicCounts(trader: TraderNumber): Counts {
    const counts = { won: 0, lost: 0, void: 0 };
    for (const [state, count] of this.#counts.all(trader)) {
      counts[TRADE_STATES[state] as keyof Counts] = count;
    }
    return counts;
  }

  #pickOf(row: Row): Pick {
    const known = this.#instruments.get(row.instrument);
    return {
      pickId: uuidText(row.id),
      side: row.instrument_yes === 1 ? 'yes' : 'no',
      result: TRADE_STATES[row.state] as Pick['result'],
      stakeCents: row.cost_cents,
      pnlCents: row.pnl_cents,
      openedAtMs: row.opened_at_ms,
      closedAtMs: row.closed_at_ms,
      instrumentId: known?.id ?? null,
      marketLabel: known?.label ?? null,
      placedPrivate: row.placed_private === 1,
    };
  }
}

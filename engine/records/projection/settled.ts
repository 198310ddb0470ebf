/** Settled picks of one trader with their scores. Rules Y27, Y50 to Y54, Y87 (engine/RULES.md). */

import {
  type Cents,
  type Contracts,
  type EpochMs,
  HOME_VENUE,
  type Side,
  type Uuid,
} from '../../base/units.ts';
import type { OutcomeSource } from '../../rules/events.ts';
import { type FeeEntry, pnlAfterFeesCents } from '../../rules/fees.ts';
import type { Fills } from '../boards/windows.ts';
import { type PickScores, pickScores, slateOf } from '../maths/eval-scores.ts';
import { ClosedTradeBlock, type ClosedTradeRow } from '../store/closed-trade-blocks.ts';
import type { Database, Statement } from '../store/database.ts';
import { LISTED, OUTCOMES, TRADE_STATES, VOID } from '../store/tables.ts';
import type { TraderNumber } from '../store/trader-ids.ts';
import { uuidText } from '../store/uuid-bytes.ts';
import type { Instruments, KnownInstrument } from './instruments.ts';

export type ScoredTrade = PickScores & {
  tradeId: Uuid;
  instrumentId: string | null;
  gameId: string | null;
  /** Rows of one cluster move together. */
  cluster: string;
  inSlate: boolean;
  result: 'won' | 'lost' | 'void';
  side: Side;
  status: 'settled' | 'void';
  openedAtMs: EpochMs;
  closedAtMs: EpochMs;
  outcomeSource: OutcomeSource | null;
  contracts: Contracts;
  costCents: Cents;
  pnlCents: Cents;
  pnlAfterFeesCents: Cents;
  /** Whether its order was placed under the preset `realistic`. */
  realistic: boolean;
  /** The ticker on venue_a; null: not known yet. */
  ticker: string | null;
};

type Row = [
  trade: number,
  id: Buffer,
  trader: number,
  market: number,
  instrument: number,
  marketYes: number,
  instrumentYes: number,
  contracts: number,
  costCents: number,
  entryCents: number,
  statedPct: number | null,
  openedAtMs: number,
  state: number,
  outcome: number,
  closedAtMs: number,
  pnlCents: number,
  listed: 0 | 1,
  realistic: 0 | 1,
  charged: 0 | 1,
];

const COLUMNS =
  'trade, id, trader, market, instrument, market_yes, instrument_yes, contracts, cost_cents, ' +
  `entry_cents, stated_pct, opened_at_ms, state, outcome, closed_at_ms, pnl_cents, (${LISTED}), ` +
  'realistic, charged';

/** The viewer of a trader's picks: the trader, or anyone. */
export type Seer = 'owner' | 'public';

export class Settled {
  readonly #instruments: Instruments;
  readonly #of: Statement<Row>;

  constructor(database: Database, instruments: Instruments) {
    this.#instruments = instruments;
    this.#of = database
      .prepare(
        `SELECT ${COLUMNS} FROM settled
         WHERE trader = ? AND closed_at_ms > ? ORDER BY trade`,
      )
      .raw() as never;
  }

  /**
   * The picks of one trader since a moment, in the order of their opening. A slate has only picks
   * that the viewer can see.
   */
  of(
    trader: TraderNumber,
    {
      afterMs,
      fees,
      seenBy,
      fills = 'all',
    }: { afterMs: EpochMs; fees: readonly FeeEntry[]; seenBy: Seer; fills?: Fills },
  ): ScoredTrade[] {
    const all = this.#of.all(trader, afterMs);
    const seen = seenBy === 'owner' ? all : all.filter((row) => row[16] === 1);
    const rows = fills === 'all' ? seen : seen.filter((row) => row[17] === 1);
    const known = rows.map((row) => this.#instruments.get(row[4]));
    const inSlate = slateOf(
      rows.map((row, at) => ({
        instrument: row[4],
        placedAtMs: row[11],
        startsAtMs: known[at]?.startsAtMs ?? null,
        hasOutcome: row[12] !== VOID,
      })),
    );
    return rows.map((row, at) => this.#scored(row, known[at]!, inSlate[at]!, fees));
  }

  /** The same trades as boards read them. */
  blockOf(trader: TraderNumber, afterMs: EpochMs): ClosedTradeBlock {
    return ClosedTradeBlock.of(this.#of.all(trader, afterMs).map(closedTradeRowOf));
  }

  #scored(
    row: Row,
    known: KnownInstrument | null,
    inSlate: boolean,
    fees: readonly FeeEntry[],
  ): ScoredTrade {
    const [, id, , market, instrument, , instrumentYes, contracts, costCents] = row;
    const [, , , , , , , , , , , openedAtMs, , outcome] = row;
    const listed = this.#instruments.market(market);
    const closing = known === null ? null : this.#instruments.closing(market, known);
    return {
      ...scoresOf(row, closing),
      tradeId: uuidText(id),
      instrumentId: known?.id ?? null,
      gameId: known?.gameId ?? null,
      cluster: known?.cluster ?? String(instrument),
      inSlate,
      result: TRADE_STATES[row[12]] as ScoredTrade['result'],
      side: sideOf(instrumentYes),
      status: OUTCOMES[outcome] === 'void' ? 'void' : 'settled',
      openedAtMs,
      closedAtMs: row[14],
      outcomeSource: listed?.source ?? null,
      ...{ contracts, costCents },
      realistic: row[17] === 1,
      pnlCents: row[15],
      pnlAfterFeesCents: afterFees(row, listed?.ticker ?? '', fees),
      ticker: listed?.ticker ?? null,
    };
  }
}

function closedTradeRowOf(row: Row): ClosedTradeRow {
  const [trade, , trader, market, instrument, , instrumentYes, contracts, costCents] = row;
  const [, , , , , , , , , entryCents, statedPct, openedAtMs, state] = row;
  const [, , , , , , , , , , , , , , closedAtMs, pnlCents, isListed, isRealistic, isCharged] = row;
  return {
    ...{
      closedAtMs,
      openedAtMs,
      pnlCents,
      costCents,
      contracts,
      trade,
      trader,
      instrument,
      market,
    },
    ...{ entryCents, statedPct: statedPct ?? 0, state, instrumentYes, isListed },
    ...{ isRealistic, isCharged },
  };
}

const sideOf = (isYes: number): Side => (isYes === 1 ? 'yes' : 'no');

function scoresOf(row: Row, closing: ReturnType<Instruments['closing']>): PickScores {
  const [, , , , , marketYes, instrumentYes, , , entryCents, statedPct] = row;
  const outcome = OUTCOMES[row[13]]!;
  const isDecided = outcome === 'yes' || outcome === 'no';
  // The result is in the market's terms; the side held is in both.
  const hasWon = isDecided && (outcome === 'yes') === (marketYes === 1);
  const side = sideOf(instrumentYes);
  const resolvedOutcome = isDecided ? (hasWon ? side : side === 'yes' ? 'no' : 'yes') : null;
  return pickScores({ side, entryCents, statedPct, resolvedOutcome, closing });
}

function afterFees(row: Row, ticker: string, fees: readonly FeeEntry[]): Cents {
  // Its P&L has the fees that it paid. Rule F27 (feeds/FORMATS.md).
  if (row[18] === 1) return row[15];
  return pnlAfterFeesCents(fees, {
    venue: HOME_VENUE,
    venueMarketId: ticker,
    atMs: row[11],
    priceCents: row[9],
    contracts: row[7],
    pnlCents: row[15],
  });
}

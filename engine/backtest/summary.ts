/** The result of a backtest, as it is answered. Rules Z8 to Z11 (engine/RULES.md). */
import { createHash } from 'node:crypto';
import { invariant } from '../base/invariant.ts';
import { type Cents, dollarsOf, type EpochMs, isoOf } from '../base/units.ts';
import type { Columns } from '../history/record-columns.ts';
import { BRIER_UNITS, brierUnits } from '../records/maths/eval-scores.ts';
import { roiPct } from '../records/maths/roi.ts';
import { canonicalJson } from '../records/track-record/canonical.ts';
import type { BacktestRun } from './backtest.ts';
import { hasRows } from './plan.ts';
import type { BacktestMarket, BacktestTask, BacktestTrade, TradeResult } from './task.ts';

/** If `withPrices` is false, no trade has a price. Rule Z10 (engine/RULES.md). */
export function answerOf(
  { terms, markets }: BacktestTask,
  { trades, skipped, beginsAtMs }: BacktestRun,
  inputHash: string,
  withPrices: boolean,
) {
  const equity = equityOf(trades, terms.startBalanceCents, beginsAtMs);
  const settled = markets.filter(({ result }) => result !== null);
  const gapMs = settled.reduce((sum, { rows }) => sum + (rows?.gapMs ?? 0), 0);
  return {
    summary: {
      markets: markets.length,
      ...summaryOf(trades),
      maxDrawdownDollars: drawdown(equity),
    },
    equity: equity.map(({ atMs, cents }) => ({
      at: isoOf(atMs),
      netWorthDollars: dollarsOf(cents),
    })),
    trades: trades.map((trade) => tradeView(trade, withPrices)),
    skipped,
    coverage: {
      markets: settled.length,
      withQuotes: settled.filter(({ rows }) => rows !== null && hasRows(rows)).length,
      gapSeconds: Math.round(gapMs / 1000),
    },
    inputHash,
    mode: 'paper' as const,
  };
}

function summaryOf(trades: readonly BacktestTrade[]) {
  const count = (result: TradeResult) => trades.filter((trade) => trade.result === result).length;
  const sum = (of: (trade: BacktestTrade) => Cents) =>
    trades.reduce((total, trade) => total + of(trade), 0);
  const pnlCents = sum(({ pnlCents }) => pnlCents);
  const feesCents = sum(feesOf);
  const costCents = sum(({ costCents }) => costCents);
  return {
    trades: trades.length,
    won: count('won'),
    lost: count('lost'),
    void: count('void'),
    soldEarly: count('sold'),
    pnlDollars: dollarsOf(pnlCents),
    feesDollars: dollarsOf(feesCents),
    pnlAfterFeesDollars: dollarsOf(pnlCents - feesCents),
    roiPct: roiPct(pnlCents, costCents),
    brier: brierOf(trades),
  };
}

const feesOf = ({ entryFeeCents, exitFeeCents }: BacktestTrade): Cents =>
  entryFeeCents + exitFeeCents;

/**
 * The Brier score over trades that a result ended, with the entry price as forecast; null: none.
 */
function brierOf(trades: readonly BacktestTrade[]): number | null {
  const scores = trades.flatMap(({ result, entryCents }) => {
    if (result !== 'won' && result !== 'lost') return [];
    return [brierUnits(entryCents, result === 'won' ? 1 : 0) / BRIER_UNITS];
  });
  if (scores.length === 0) return null;
  return scores.reduce((sum, score) => sum + score, 0) / scores.length;
}

type Point = { atMs: EpochMs; cents: Cents };

/**
 * Net worth with positions at their cost. It changes by a fee when a trade opens, and by its P&L
 * less a fee when it closes. One point per instant, after the start.
 */
function equityOf(trades: readonly BacktestTrade[], startCents: Cents, beginsAtMs: EpochMs) {
  const changes = trades.flatMap((trade) => [
    { atMs: trade.openedAtMs, cents: -trade.entryFeeCents },
    { atMs: trade.closedAtMs, cents: trade.pnlCents - trade.exitFeeCents },
  ]);
  changes.sort((a, b) => a.atMs - b.atMs);
  const points: Point[] = [{ atMs: beginsAtMs, cents: startCents }];
  let cents = startCents;
  for (const [at, change] of changes.entries()) {
    cents += change.cents;
    if (changes[at + 1]?.atMs !== change.atMs) points.push({ atMs: change.atMs, cents });
  }
  invariant(
    points.every(({ atMs }) => atMs >= beginsAtMs),
    'equity changes before it begins',
  );
  return points;
}

/** The largest decline from a point to a later one, in dollars, 0 or more. */
function drawdown(points: readonly Point[]): number {
  let highest = Number.NEGATIVE_INFINITY;
  let deepest = 0;
  for (const { cents } of points) {
    highest = Math.max(highest, cents);
    deepest = Math.max(deepest, highest - cents);
  }
  return dollarsOf(deepest);
}

function tradeView(trade: BacktestTrade, withPrices: boolean) {
  const { instrumentId, label, side, contracts, entryCents, exitCents } = trade;
  return {
    instrumentId,
    label,
    side,
    contracts,
    ...(withPrices ? { entryCents, exitCents } : {}),
    openedAt: isoOf(trade.openedAtMs),
    closedAt: isoOf(trade.closedAtMs),
    result: trade.result,
    pnlDollars: dollarsOf(trade.pnlCents),
    feesDollars: dollarsOf(feesOf(trade)),
  };
}

/**
 * The SHA-256 of everything that the answer depends on, taken piece by piece. Rule Z11
 * (engine/RULES.md).
 */
export class InputHash {
  readonly #hash = createHash('sha256');

  /** The terms, and the fee table if fees count. */
  constructor({ terms, feeTable }: BacktestTask) {
    this.#hash.update(canonicalJson({ terms, feeTable: terms.fees === 'none' ? [] : feeTable }));
  }

  market({ rows, ...market }: BacktestMarket, parts: readonly Columns[]): void {
    const { resolvedAtMs = null, gapMs = 0 } = rows ?? {};
    this.#hash.update(canonicalJson({ ...market, resolvedAtMs, gapMs, parts: parts.length }));
    for (const columns of parts) {
      for (const values of columns) this.#hash.update(Float64Array.from(values));
    }
  }

  hex(): string {
    return this.#hash.digest('hex');
  }
}

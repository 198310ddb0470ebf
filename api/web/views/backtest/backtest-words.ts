/** The result of a backtest, in words. */
import type { Backtest, BacktestTradeResult } from '../../../client/generated.js';
import { counted, duration, money } from '../../state/format.ts';

type Skipped = Backtest['skipped'];

const SKIPPED: Readonly<Record<keyof Skipped, string>> = {
  not_settled: 'no result yet',
  no_history: 'this server has recorded no price of it',
  no_price: 'no live price on both sides at entry time',
  no_favorite: 'no such side: both cost the same, or the market names neither team',
  out_of_band: 'the price was outside the limits of the rule',
  no_cash: 'the balance did not cover it, or the stake buys no contract',
};

export const RESULTS: Readonly<Record<BacktestTradeResult, string>> = {
  won: 'Won',
  lost: 'Lost',
  void: 'Void',
  sold: 'Sold early',
};

/** By reason, the most frequent first. */
export function skippedRows(skipped: Skipped): { reason: string; why: string; count: number }[] {
  return Object.entries(skipped)
    .map(([reason, count]) => ({
      ...{ reason, count },
      why: SKIPPED[reason as keyof Skipped] ?? reason,
    }))
    .sort((a, b) => b.count - a.count);
}

export function coverageText({ markets, withQuotes, gapSeconds }: Backtest['coverage']): string {
  if (markets === 0) return 'None of these markets has a result yet.';
  const gaps =
    gapSeconds === 0
      ? 'without a gap from the look on'
      : `with gaps of ${duration(gapSeconds * 1000)} in all from the look on`;
  return `The history has prices of ${withQuotes} of ${counted(markets, 'settled market')}, ${gaps}.`;
}

export function equityText({ equity, summary }: Backtest): string {
  const [first, last] = [equity[0], equity.at(-1)];
  if (first === undefined || last === undefined) return 'There is nothing to draw.';
  const fall = summary.maxDrawdownDollars;
  return (
    `From ${money(first.netWorthDollars)} to ${money(last.netWorthDollars)}; ` +
    (fall === 0 ? 'it never fell.' : `the max drawdown was ${money(fall)}.`)
  );
}

/** Times of a chart rise: events of one instant are a millisecond apart. */
export function risingTimes(equity: Backtest['equity']): number[] {
  let last = Number.NEGATIVE_INFINITY;
  return equity.map(({ at }) => {
    last = Math.max(Date.parse(at), last + 1);
    return last;
  });
}

/** How long to wait, as a sentence; null if waiting does not help. */
export function retryText(retryAfterSeconds: number | null): string | null {
  if (retryAfterSeconds === null) return null;
  return `Try again in ${counted(retryAfterSeconds, 'second')}.`;
}

/** Whether it is an answer of this server, and not a service's answer in another form. */
export function isBacktest(answer: unknown): answer is Backtest {
  if (!isObject(answer)) return false;
  const { summary, equity, trades, skipped, coverage, inputHash } = answer;
  return (
    hasNumbers(summary, SUMMARY_NUMBERS) &&
    (summary.roiPct === null || typeof summary.roiPct === 'number') &&
    (summary.brier === null || typeof summary.brier === 'number') &&
    isListOf(
      equity,
      (point) => hasTexts(point, ['at']) && hasNumbers(point, ['netWorthDollars']),
    ) &&
    isListOf(trades, (trade) => hasTexts(trade, TRADE_TEXTS) && hasNumbers(trade, TRADE_NUMBERS)) &&
    isObject(skipped) &&
    hasNumbers(skipped, Object.keys(skipped)) &&
    hasNumbers(coverage, ['markets', 'withQuotes', 'gapSeconds']) &&
    typeof inputHash === 'string'
  );
}

const SUMMARY_NUMBERS = [
  ...['markets', 'trades', 'won', 'lost', 'void', 'soldEarly', 'pnlDollars', 'feesDollars'],
  ...['pnlAfterFeesDollars', 'maxDrawdownDollars'],
];
const TRADE_TEXTS = ['instrumentId', 'label', 'side', 'openedAt', 'closedAt', 'result'];
const TRADE_NUMBERS = ['contracts', 'pnlDollars', 'feesDollars'];

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isListOf(value: unknown, isOne: (one: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isOne);
}

function hasNumbers(value: unknown, names: readonly string[]): value is Record<string, unknown> {
  return isObject(value) && names.every((name) => typeof value[name] === 'number');
}

function hasTexts(value: unknown, names: readonly string[]): boolean {
  return isObject(value) && names.every((name) => typeof value[name] === 'string');
}

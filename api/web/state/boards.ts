/** The leaderboard, the board of evaluation, and the own evaluation. */
import { signal } from '@preact/signals';
import type {
  EvalBoard,
  EvalPick,
  EvalRow,
  Leaderboard,
  LeaderboardRow,
} from '../../client/generated.js';
import { call } from './calls.ts';
import { Loader } from './loaded.ts';
import { Pages } from './pages.ts';
import { report } from './problems.ts';
import type { Fills } from './score-text.ts';

const TRADES_A_PAGE = 200;
const TRADE_PAGES_MAX = 10;

export const leaderboard = new Pages<
  [window: string, kind: Leaderboard['kind'], fills: Fills],
  LeaderboardRow,
  Leaderboard
>(
  (cursor, window, kind, fills) =>
    call('getLeaderboard', { query: { window, kind, fills, ...from(cursor) } }),
  ({ traderId }) => traderId,
);

export const evalBoard = new Pages<
  [window: string, metric: EvalBoard['metric'], fills: Fills],
  EvalRow,
  EvalBoard
>(
  (cursor, window, metric, fills) =>
    call('getEval', { query: { window, metric, fills, ...from(cursor) } }),
  ({ traderId }) => traderId,
);

export const ownEval = new Loader((window: string, fills: Fills) =>
  call('getOwnEval', { query: { window, fills } }),
);

/** Whether the own picks show an edge. */
export const verdict = new Loader((window: string, fills: Fills) =>
  call('getVerdict', { query: { window, fills } }),
);

/** The labels of the markets of own trades, by trade. */
export const tradeLabels = signal<ReadonlyMap<string, string>>(new Map());

/**
 * Asks for the labels of trades, newest first, until it has the labels of all picks. An evaluation
 * has none, and a catalog has no labels of markets that it has dropped.
 */
export async function needTradeLabels(picks: readonly EvalPick[]): Promise<void> {
  const known = new Map(tradeLabels.value);
  const lacks = () => picks.some(({ tradeId }) => !known.has(tradeId));
  let next: { cursor?: string } | null = {};
  try {
    for (let page = 0; page < TRADE_PAGES_MAX && next !== null && lacks(); page++) {
      next = await addLabels(known, next);
    }
  } catch (error) {
    report(error);
  }
}

/** Adds the labels of a page of trades. Null: it was the last page. */
async function addLabels(
  known: Map<string, string>,
  at: { cursor?: string },
): Promise<{ cursor?: string } | null> {
  const { trades, nextCursor } = await call('listTrades', {
    query: { limit: TRADES_A_PAGE, ...at },
  });
  for (const { tradeId, instrumentLabel } of trades) known.set(tradeId, instrumentLabel ?? '');
  tradeLabels.value = new Map(known);
  return nextCursor === null ? null : from(nextCursor);
}

function from(cursor: string | null): { cursor?: string } {
  return cursor === null ? {} : { cursor };
}

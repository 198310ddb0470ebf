/** The report of a shard's start, for its caller. */
import { invariant } from '../../base/invariant.ts';
import type { EpochMs, GameStatus, Uuid } from '../../base/units.ts';
import type { MarketResult } from '../../rules/messages.ts';
import { resultOf } from '../../rules/payouts.ts';
import type { ShardState } from '../../rules/state.ts';

export type OpenReport = {
  accounts: number;
  /** Their uuids, four words each. */
  accountIds: Uint32Array;
  restingOrders: number;
  replayedRecords: number;
  /** The engine's time when it stopped. */
  nowMs: EpochMs;
  /** Markets without a result in which an account has a position or an order. */
  openMarkets: number[];
  /** By market number, null if there is none. */
  results: (MarketResult | null)[];
  /** By market number: how often its result was corrected. */
  corrections: number[];
  /** The game statuses of feeds, and the catalog's status that each replaced; null: none. */
  games: { slug: string; status: GameStatus; over: GameStatus | null }[];
  /** Keys whose owner's account is in another shard, and that have traded here today. */
  awayKeys: Uuid[];
};

/** The part of a report that is logged. */
export function countsOf({ accounts, restingOrders, replayedRecords }: OpenReport) {
  return { accounts, restingOrders, replayedRecords };
}

export function openReportOf(state: ShardState, replayedRecords: number): OpenReport {
  return {
    accounts: state.accounts.live,
    accountIds: accountIdsOf(state),
    restingOrders: state.orders.live,
    replayedRecords,
    nowMs: state.nowMs,
    openMarkets: openMarketsOf(state),
    results: state.markets.map(resultOf),
    corrections: state.markets.map(({ corrections }) => corrections),
    games: gamesOf(state),
    awayKeys: state.tradeCounts.awayKeys(state.nowMs),
  };
}

function gamesOf({ games, catalog }: ShardState): OpenReport['games'] {
  const listed = new Map(catalog.games.map(({ slug, status }) => [slug, status]));
  return [...games].map(([slug, { status }]) => ({
    slug,
    status,
    over: listed.get(slug) ?? null,
  }));
}

function accountIdsOf({ accounts }: ShardState): Uint32Array {
  const words = new Uint32Array(4 * accounts.live);
  let at = 0;
  for (const row of accounts.rows()) {
    for (const word of [0, 1, 2, 3] as const) words[at++] = accounts.col.id.word(row, word);
  }
  invariant(at === words.length, 'the count of accounts differs from their list');
  return words;
}

/** Every market with an order or a position. Markets with a result have neither. */
function openMarketsOf({ orders, positions }: ShardState): number[] {
  const markets = new Set<number>();
  for (const row of orders.rows()) markets.add(orders.col.market.get(row));
  for (const row of positions.rows()) markets.add(positions.col.market.get(row));
  return [...markets];
}

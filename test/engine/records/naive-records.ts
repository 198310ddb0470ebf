/** The records as their rules read, calculated again from all trades at each question. */

import type { EpochMs, Uuid } from '../../../engine/base/units.ts';
import type { BoardKind, LeaderboardRow } from '../../../engine/records/boards/leaderboard.ts';
import type { Fills } from '../../../engine/records/boards/windows.ts';
import type { NaiveTrade, World } from './random-facts.ts';

const DAY_MS = 86_400_000;

/** The parts of a world that the records are calculated from. */
export type Known = Pick<World, 'trades' | 'accounts' | 'nowMs'>;

export type Shown = { isPublic: boolean; showsEarlier: boolean };

export function resultOf({ end, side }: NaiveTrade): 'won' | 'lost' | 'void' | null {
  if (end === null || end.how !== 'settled') return null;
  if (end.outcome === 'void' || end.outcome === 'scalar') return 'void';
  return end.outcome === side ? 'won' : 'lost';
}

/** Whether a list of picks may have it, for any viewer. */
export function isPick(trade: NaiveTrade, { trades }: Pick<World, 'trades'>): boolean {
  if (resultOf(trade) === null || trade.combine) return false;
  const { parlay, trader } = trade;
  if (parlay === null) return true;
  return !trades.some((leg) => {
    return leg.parlay === parlay && leg.trader === trader && leg.end === null;
  });
}

/** Whether the public sees it as a pick of this trader. */
export function isSeen(trade: NaiveTrade, world: Known, shown: Map<Uuid, Shown>): boolean {
  const profile = shown.get(trade.trader);
  if (profile?.isPublic !== true || !isPick(trade, world)) return false;
  return profile.showsEarlier || !trade.placedPrivate;
}

export function isListed(world: Known, trader: Uuid, shown: Map<Uuid, Shown>): boolean {
  const profile = shown.get(trader);
  if (profile?.isPublic !== true) return false;
  const isHidden = world.trades.some((trade) => trade.trader === trader && trade.placedPrivate);
  return profile.showsEarlier || !isHidden;
}

const pnlOf = ({ end, costCents }: NaiveTrade) => end!.proceedsCents - costCents;
const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

export function sumsOf(world: Known, trader: Uuid, afterMs: EpochMs, fills: Fills = 'all') {
  const over = world.trades.filter((trade) => {
    if (fills === 'realistic' && !trade.realistic) return false;
    return trade.trader === trader && trade.end !== null && trade.end.atMs > afterMs;
  });
  const count = (result: string) =>
    over.filter((trade) => isPick(trade, world) && resultOf(trade) === result).length;
  return {
    closed: over.length,
    pnlCents: total(over.map(pnlOf)),
    costCents: total(over.map(({ costCents }) => costCents)),
    won: count('won'),
    lost: count('lost'),
    void: count('void'),
  };
}

/** Two decimals of a percent, halves away from zero. */
export function roiPct(pnlCents: number, costCents: number): number | null {
  if (costCents === 0) return null;
  const hundredths = Math.floor(Math.abs((pnlCents / costCents) * 10_000) + 0.5 + 1e-9);
  return (Math.sign(pnlCents) * hundredths) / 100;
}

/** Open trades at these bids; `bidOf` null: at cost. */
export function worthOf(
  world: Known,
  trader: Uuid,
  bidOf: (trade: NaiveTrade) => number | null,
): number {
  const account = world.accounts.find(({ id }) => id === trader)!;
  const open = world.trades.filter((trade) => trade.trader === trader && trade.end === null);
  const gains = open.map((trade) => {
    const bid = bidOf(trade);
    return bid === null ? 0 : bid * trade.contracts - trade.costCents;
  });
  return account.worthCents + total(gains);
}

export function leaderboard(
  world: Known,
  shown: Map<Uuid, Shown>,
  {
    kind,
    days,
    bidOf,
    fills,
  }: {
    kind: BoardKind;
    days: number | null;
    bidOf: (t: NaiveTrade) => number | null;
    fills?: Fills;
  },
): LeaderboardRow[] {
  const afterMs = days === null ? Number.NEGATIVE_INFINITY : world.nowMs - days * DAY_MS;
  const rows = world.accounts
    .filter(({ id }) => isListed(world, id, shown))
    .map(({ id, run, busts }) => {
      const sums = sumsOf(world, id, afterMs, fills);
      const worthCents = worthOf(world, id, bidOf);
      return { trader: id, ...sums, worthCents, resets: run - 1, busts };
    })
    .filter(({ closed }) => kind === 'net_worth' || closed > 0);
  const value = (row: (typeof rows)[number]) => {
    if (kind === 'net_worth') return row.worthCents;
    return kind === 'pnl' ? row.pnlCents : (roiPct(row.pnlCents, row.costCents) ?? 0);
  };
  rows.sort((a, b) => value(b) - value(a) || (a.trader < b.trader ? -1 : 1));
  return rows.map(({ closed, ...row }, at) => ({ rank: at + 1, ...row }));
}

/**
 * The worth of positions and accounts at the present quotes. Money is added in whole cents. Rules
 * M21, A78, U38, U42 (api/RULES.md).
 */
import type { Account, Portfolio, Position, Side } from '../../client/generated.js';
import type { ShownQuote } from './shown-quote.ts';

type Prices = Pick<ShownQuote, 'bidCents' | 'askCents'>;
export type Mark = {
  /** The bid of its side; null: there is no bid now, and it counts at its cost. */
  markCents: number | null;
  valueDollars: number;
  pnlDollars: number;
};
export type Totals = Pick<
  Account,
  | 'balanceDollars'
  | 'heldDollars'
  | 'openStakeDollars'
  | 'netWorthDollars'
  | 'pnlSinceResetDollars'
  | 'lifetimePnlDollars'
>;

/** The price at which a side sells: the bid of yes, or a dollar less the ask. */
export function bidOfSide(side: Side, { bidCents, askCents }: Prices): number | null {
  if (side === 'yes') return bidCents;
  return askCents === null ? null : 100 - askCents;
}

/** @param quote null: none has arrived, and it keeps the portfolio's mark */
export function markOf(position: Position, quote: Prices | null): Mark {
  const costCents = centsOf(position.costDollars);
  const markCents =
    quote === null ? (position.markCents ?? null) : bidOfSide(position.instrumentSide, quote);
  const valueCents =
    quote === null
      ? centsOf(position.valueDollars ?? position.costDollars)
      : markCents === null
        ? costCents
        : markCents * position.contracts;
  return {
    markCents,
    valueDollars: valueCents / 100,
    pnlDollars: (valueCents - costCents) / 100,
  };
}

/** The position at the quote. While venue data is off it has no mark, and gets none. */
export function markedNow(position: Position, quote: Prices | null): Position {
  if (position.markCents === undefined || quote === null) return position;
  const { markCents, valueDollars, pnlDollars } = markOf(position, quote);
  return { ...position, markCents, valueDollars, unrealizedPnlDollars: pnlDollars };
}

/**
 * The account at the quotes of now; null before the first trade.
 *
 * @param quotes of the positions, in their order
 */
export function totalsOf(
  { account, positions }: Pick<Portfolio, 'account' | 'positions'>,
  quotes: readonly (Prices | null)[],
): Totals | null {
  if (account === null) return null;
  // The changes since the answer. Positions that it leaves out keep their marks.
  let movedCents = 0;
  for (const [at, position] of positions.entries()) {
    const now = markOf(position, quotes[at] ?? null).valueDollars;
    movedCents += centsOf(now) - centsOf(markOf(position, null).valueDollars);
  }
  const moved = (dollars: number) => (centsOf(dollars) + movedCents) / 100;
  const { balanceDollars, heldDollars, openStakeDollars } = account;
  return {
    ...{ balanceDollars, heldDollars, openStakeDollars },
    netWorthDollars: moved(account.netWorthDollars),
    pnlSinceResetDollars: moved(account.pnlSinceResetDollars),
    lifetimePnlDollars: moved(account.lifetimePnlDollars),
  };
}

/** Before the first trade, what an account begins with. */
const START_DOLLARS = 100_000;

/** Cash and net worth for the header: before the first trade, the start balance. Rule U38. */
export function fundsOf(
  of: Pick<Portfolio, 'account' | 'positions'>,
  quotes: readonly (Prices | null)[],
): { cashDollars: number; netWorthDollars: number } {
  const totals = totalsOf(of, quotes);
  if (totals === null) return { cashDollars: START_DOLLARS, netWorthDollars: START_DOLLARS };
  return { cashDollars: totals.balanceDollars, netWorthDollars: totals.netWorthDollars };
}

/** Positions of one side of a market, the newest first. */
export type MarketPositions = { first: Position; all: readonly Position[]; sum: Sum };
type Sum = Pick<Position, 'contracts' | 'costDollars'>;

/** By market and side, in the order of the list. Rule U42. */
export function byMarket(positions: readonly Position[]): MarketPositions[] {
  const groups = Map.groupBy(positions, ({ instrumentId, instrumentSide, tradeId }) => {
    return instrumentId === null ? tradeId : `${instrumentId} ${instrumentSide}`;
  });
  return [...groups.values()].map((all) => ({ first: all[0]!, all, sum: sumOf(all) }));
}

function sumOf(all: readonly Position[]): Sum {
  const costCents = all.reduce((sum, { costDollars }) => sum + centsOf(costDollars), 0);
  const contracts = all.reduce((sum, one) => sum + one.contracts, 0);
  return { contracts, costDollars: costCents / 100 };
}

/** Of several positions at once. `markCents` is of the first. @param quotes one for each */
export function markOfAll(
  positions: readonly Position[],
  quotes: readonly (Prices | null)[],
): Mark {
  const marks = positions.map((position, at) => markOf(position, quotes[at] ?? null));
  const sum = (field: 'valueDollars' | 'pnlDollars') =>
    marks.reduce((all, mark) => all + centsOf(mark[field]), 0) / 100;
  return {
    markCents: marks[0]?.markCents ?? null,
    valueDollars: sum('valueDollars'),
    pnlDollars: sum('pnlDollars'),
  };
}

/** The average cost of a contract, in cents. */
export function averageCents({
  costDollars,
  contracts,
}: Pick<Position, 'costDollars' | 'contracts'>) {
  return Math.round((centsOf(costDollars) * 100) / contracts) / 100;
}

function centsOf(dollars: number): number {
  return Math.round(dollars * 100);
}

/**
 * Whether settled picks show an edge, by two measures that the same games cluster: the closing line
 * value less fees, which needs fewer games, and the profit after fees. Rules Y104 to Y106
 * (engine/RULES.md).
 *
 * The number of games still needed is the usual one of a test of a mean: (z(97.5%) + z(80%))² times
 * the variance over the square of the effect. J. Cohen, "Statistical Power Analysis for the
 * Behavioral Sciences", 2nd edition (1988), section 2.4. Two one-sided tests of 2.5% each keep the
 * chance of an edge that is none at 5% at most, by Bonferroni's inequality.
 */
import {
  clusterError,
  type GameSums,
  gamesWithInterval,
  type Interval,
  intervalOf,
  meanOfGames,
  sumsByGame,
} from './statistics.ts';

/** A settled pick. Picks of one cluster move together. */
export type VerdictPick = {
  cluster: string;
  contracts: number;
  costCents: number;
  pnlCents: number;
  pnlAfterFeesCents: number;
  /** Null: no closing line. */
  clvCents: number | null;
};

export type Basis = 'clv' | 'pnl_after_fees';

export type Verdict = {
  verdict: 'edge' | 'no_edge' | 'not_yet';
  /** The measure that decided, or that will. */
  basis: Basis;
  /** `clv`: cents a contract less fees. `pnl_after_fees`: dollars a pick. Null: no pick. */
  mean: number | null;
  interval: Interval | null;
  /** Games with a pick of the measure. */
  games: number;
  /**
   * Further games for an interval, and for a power of 80% at the spread so far; null: fewer than two
   * games.
   */
  gamesNeeded: number | null;
};

/** Smaller edges do not matter: cents a contract, and a share of the mean cost. */
const CLV_EDGE_CENTS = 1;
const PNL_EDGE_SHARE = 0.01;
/** The closing line value decides if at least this share of picks has a closing line. */
const CLOSED_SHARE_MIN = 0.5;
/** Quantiles of the normal distribution: 97.5% and 80%. */
const Z_REACH = 1.959964 + 0.841621;

type Measure = {
  basis: Basis;
  /** In units. */
  games: GameSums;
  /** The least edge that matters, in units. */
  edge: number;
  metric: 'clv' | 'pnl';
  /** How many units make one of the answered value. */
  unit: number;
};

/** Rules Y104 to Y106 (engine/RULES.md). */
export function verdictOf(picks: readonly VerdictPick[]): Verdict {
  const closed = picks.filter(({ clvCents }) => clvCents !== null);
  const isClosed = closed.length > 0 && closed.length >= CLOSED_SHARE_MIN * picks.length;
  const pnl = estimated(profits(picks));
  const measures = isClosed ? [estimated(closingValues(closed)), pnl] : [pnl];
  const loses = pnl.interval !== null && pnl.interval.high < 0;
  const winner = measures.find(({ interval }) => interval !== null && interval.low > 0);
  if (winner !== undefined && !loses) return { verdict: 'edge', ...winner.shown, gamesNeeded: 0 };
  const none = measures.find(({ interval, edge }) => interval !== null && interval.high < edge);
  if (none !== undefined) return { verdict: 'no_edge', ...none.shown, gamesNeeded: 0 };
  return { verdict: 'not_yet', ...measures[0]!.shown };
}

const gameOf = ({ cluster }: VerdictPick) => cluster;

function closingValues(picks: readonly VerdictPick[]): Measure {
  const games = sumsByGame(
    picks,
    gameOf,
    ({ clvCents, contracts, pnlCents, pnlAfterFeesCents }) => {
      return clvCents! - (pnlCents - pnlAfterFeesCents) / contracts;
    },
  );
  return { basis: 'clv', games, edge: CLV_EDGE_CENTS, metric: 'clv', unit: 1 };
}

/** Whole cents, so that profits which cancel out are zero. */
function profits(picks: readonly VerdictPick[]): Measure {
  const games = sumsByGame(picks, gameOf, ({ pnlAfterFeesCents }) => pnlAfterFeesCents);
  const costCents = picks.reduce((sum, pick) => sum + pick.costCents, 0);
  const edge = picks.length === 0 ? 0 : (PNL_EDGE_SHARE * costCents) / picks.length;
  return { basis: 'pnl_after_fees', games, edge, metric: 'pnl', unit: 100 };
}

function estimated({ basis, games, edge, metric, unit }: Measure) {
  const estimate = meanOfGames(games);
  if (estimate === null) {
    const shown = { basis, mean: null, interval: null, games: 0, gamesNeeded: null };
    return { interval: null, edge, shown };
  }
  const interval = intervalOf(metric, games, estimate);
  const { mean, games: count } = estimate;
  const error = clusterError(games, estimate);
  let gamesNeeded: number | null = null;
  if (error !== null) {
    const enough = count * ((Z_REACH * error.standardError) / Math.max(mean, edge)) ** 2;
    // With so many an edge is found in theory; without an interval no verdict says so.
    const least = gamesWithInterval(metric, estimate);
    gamesNeeded = Math.max(1, Math.ceil(enough) - count, least - count);
  }
  const shown = {
    ...{ basis, mean: mean / unit, games: count, gamesNeeded },
    interval: interval && { low: interval.low / unit, high: interval.high / unit },
  };
  return { interval, edge, shown };
}

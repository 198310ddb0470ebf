/**
 * The mean of a trader's rows with its interval of 95%, where rows of one game move together. Two
 * numbers per game are enough, so a board of a million traders is one pass over sums. Rules Y40 to
 * Y44 (engine/RULES.md).
 *
 * The standard error is CR2 with the degrees of freedom of Satterthwaite: R. M. Bell and D. F.
 * McCaffrey, "Bias reduction in standard errors for linear regression with multi-stage samples",
 * Survey Methodology 28 (2002), for a regression on a constant alone. There the projection of game
 * g is a block of ones over n, whose one eigenvalue is n_g/n. So their adjustment (I - H_gg)^(-1/2)
 * only divides the game's residual sum by the root of 1 - n_g/n, and no matrix is left.
 */
import { invariant } from '../../base/invariant.ts';
import { studentT95 } from './student-t.ts';

/** The rows of games `from` to before `end`: how many each game has, and their sum. */
export type GameSums = {
  counts: ArrayLike<number>;
  sums: ArrayLike<number>;
  from: number;
  end: number;
};

/** Rows by their games, which are equal names. */
export function sumsByGame<Row>(
  rows: readonly Row[],
  gameOf: (row: Row) => string | number,
  measureOf: (row: Row) => number,
): GameSums {
  const games = new Map<string | number, { count: number; sum: number }>();
  for (const row of rows) {
    const name = gameOf(row);
    const game = games.get(name) ?? { count: 0, sum: 0 };
    game.count++;
    game.sum += measureOf(row);
    games.set(name, game);
  }
  const all = [...games.values()];
  const counts = all.map(({ count }) => count);
  return { counts, sums: all.map(({ sum }) => sum), from: 0, end: all.length };
}

export type Interval = { low: number; high: number };

export type MeanEstimate = {
  /** Rows. */
  picks: number;
  games: number;
  mean: number;
  /** n²/Σn_g²: as many games of equal size weigh the same. Rule Y41 (engine/RULES.md). */
  effectiveGames: number;
};

export type ClusterError = { standardError: number; degrees: number };

/** The metrics of `/eval`, and of the track record. */
export const METRICS = ['brier', 'log_loss', 'clv', 'pnl'] as const;
export type Metric = (typeof METRICS)[number];

/** Whether the least value is best. Rule Y44 (engine/RULES.md). */
export const IS_ASCENDING: Readonly<Record<Metric, boolean>> = {
  brier: true,
  log_loss: true,
  clv: false,
  pnl: false,
};

/** Fewer effective games have no interval. Rule Y42 (engine/RULES.md). */
const EFFECTIVE_GAMES_MIN: Readonly<Record<Metric, number>> = {
  brier: 10,
  log_loss: 10,
  clv: 10,
  pnl: 50,
};

/** The mean of the rows; null without any. Rules Y40, Y41 (engine/RULES.md). */
export function meanOfGames({ counts, sums, from, end }: GameSums): MeanEstimate | null {
  let picks = 0;
  let sum = 0;
  let squares = 0;
  let games = 0;
  for (let game = from; game < end; game++) {
    const count = counts[game]!;
    if (count === 0) continue;
    invariant(count > 0, 'a game has fewer than no rows');
    picks += count;
    sum += sums[game]!;
    squares += count * count;
    games++;
  }
  if (picks === 0) return null;
  return { picks, games, mean: sum / picks, effectiveGames: (picks * picks) / squares };
}

/**
 * CR2 of the mean, and its degrees of freedom; null for fewer than two games, which show no
 * difference between games. Rule Y40 (engine/RULES.md).
 */
export function clusterError(games: GameSums, estimate: MeanEstimate): ClusterError | null {
  if (estimate.games < 2) return null;
  const { counts, sums, from, end } = games;
  const { picks: n, mean } = estimate;
  let variance = 0;
  // The trace of the squared matrix of the quadratic form, of games that vary alike.
  let ownSquares = 0;
  let ownCross = 0;
  let cross = 0;
  for (let game = from; game < end; game++) {
    const count = counts[game]!;
    if (count === 0) continue;
    const residual = sums[game]! - count * mean;
    const adjustment = 1 / (1 - count / n);
    variance += residual * residual * adjustment;
    const own = count * adjustment;
    ownSquares += own * own;
    ownCross += own * own * count;
    cross += own * count;
  }
  const trace = ownSquares - (2 * ownCross) / n + (cross / n) ** 2;
  invariant(trace > 0, 'the games of a mean have no degrees of freedom');
  return { standardError: Math.sqrt(variance) / n, degrees: (n * n) / trace };
}

/** Whether so many effective games have an interval. Rule Y42 (engine/RULES.md). */
function isEnough(metric: Metric, effectiveGames: number): boolean {
  return effectiveGames >= EFFECTIVE_GAMES_MIN[metric];
}

/**
 * How many games have an interval if the further ones have as many rows as those so far. Rule Y42
 * (engine/RULES.md).
 */
export function gamesWithInterval(metric: Metric, { games, effectiveGames }: MeanEstimate): number {
  return Math.ceil((games * EFFECTIVE_GAMES_MIN[metric]) / effectiveGames);
}

/** Why a mean has no interval; null: it has one. Rule Y42 (engine/RULES.md). */
export function intervalNote(metric: Metric, effectiveGames: number): string | null {
  if (isEnough(metric, effectiveGames)) return null;
  const shown = Math.floor(effectiveGames * 10) / 10;
  const games = shown === 1 ? 'game' : 'games';
  return `${shown} effective ${games}: ${EFFECTIVE_GAMES_MIN[metric]} are needed for an interval`;
}

/** The interval of 95% of a metric's mean; null: too few games. Rules Y40 to Y43 (engine/RULES.md). */
export function intervalOf(
  metric: Metric,
  games: GameSums,
  estimate: MeanEstimate,
): Interval | null {
  if (!isEnough(metric, estimate.effectiveGames)) return null;
  const interval = clusterInterval(games, estimate);
  invariant(interval !== null, 'one game counts as many');
  return interval;
}

/** The interval of 95% of a mean; null: one game shows no difference between games. Rule Y40. */
export function clusterInterval(games: GameSums, estimate: MeanEstimate): Interval | null {
  const error = clusterError(games, estimate);
  if (error === null) return null;
  const reach = studentT95(error.degrees) * error.standardError;
  return { low: estimate.mean - reach, high: estimate.mean + reach };
}

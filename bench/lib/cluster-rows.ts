/** Random rows by game for the coverage suite, and the plainer error that CR2 is compared with. */
import type {
  ClusterError,
  GameSums,
  MeanEstimate,
} from '../../engine/records/maths/statistics.ts';
import type { Random } from './random.ts';

/** A kind of rows whose true mean is 0. */
export type RowKind = {
  name: string;
  /** The sum of a game's rows. */
  sumOf(rows: number, random: Random): number;
};

/** Most games have one or two rows, a few have many. */
const ROWS_MAX = 12;
/** Cents: the shared part of a game's rows, and the own part of each. */
const GAME_CENTS = 3;
const ROW_CENTS = 2;
const LONG_SHOT_CENTS = 5;

export const ROW_KINDS: readonly RowKind[] = [
  {
    name: 'CLV',
    sumOf(rows, random) {
      let sum = rows * GAME_CENTS * normal(random);
      for (let row = 0; row < rows; row++) sum += ROW_CENTS * normal(random);
      return sum;
    },
  },
  {
    name: 'long-shot P&L',
    // All of a game's picks are on the same long shot, bought at a fair price.
    sumOf: (rows, random) =>
      rows * (random.below(100) < LONG_SHOT_CENTS ? 100 - LONG_SHOT_CENTS : -LONG_SHOT_CENTS),
  },
];

export function randomGames(kind: RowKind, games: number, random: Random): GameSums {
  const counts = new Float64Array(games);
  const sums = new Float64Array(games);
  for (let game = 0; game < games; game++) {
    counts[game] = 1 + Math.floor(ROWS_MAX * (random.word() / 2 ** 32) ** 3);
    sums[game] = kind.sumOf(counts[game]!, random);
  }
  return { counts, sums, from: 0, end: games };
}

/** CR1 of a mean: residual sums as they are, times G/(G-1), with G-1 degrees of freedom. */
export function plainError(
  { counts, sums, from, end }: GameSums,
  { picks, games, mean }: MeanEstimate,
): ClusterError {
  let squares = 0;
  for (let game = from; game < end; game++) {
    squares += (sums[game]! - counts[game]! * mean) ** 2;
  }
  const degrees = games - 1;
  return { standardError: Math.sqrt((squares * games) / degrees) / picks, degrees };
}

/** The method of Box and Muller. */
export function normal(random: Random): number {
  const radius = Math.sqrt(-2 * Math.log((random.word() + 1) / 2 ** 32));
  return radius * Math.cos((2 * Math.PI * random.word()) / 2 ** 32);
}

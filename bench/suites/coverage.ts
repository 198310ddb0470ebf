/**
 * How often an interval of 95% contains the true mean, by simulation: CR2 with Satterthwaite's
 * degrees of freedom, and CR1 beside it. And the cost of the intervals of a large board.
 */
import { rankIntervals } from '../../engine/records/boards/rank-intervals.ts';
import {
  type ClusterError,
  clusterError,
  intervalOf,
  meanOfGames,
} from '../../engine/records/maths/statistics.ts';
import { studentT95 } from '../../engine/records/maths/student-t.ts';
import { type VerdictPick, verdictOf } from '../../engine/records/maths/verdict.ts';
import { normal, plainError, ROW_KINDS, type RowKind, randomGames } from '../lib/cluster-rows.ts';
import { type Random, seededRandom } from '../lib/random.ts';
import { count, type Figures, ms, percent, type Report, type Suite } from '../lib/report.ts';

export type CoverageSizes = { samples: number; games: readonly number[]; traders: number };

const ROWS_A_TRADER = 10;
/** A trader's verdicts take many more steps than an interval. */
const SAMPLES_A_VERDICT = 10;
/** Cents a contract: the spread of closing line values, and an edge. */
const SPREAD_CENTS = 10;
const EDGE_CENTS = 2;

export const coverage: Suite<CoverageSizes> = {
  name: 'coverage',
  about: 'how often intervals of 95% have the true mean in them, and what they cost',
  full: { samples: 50_000, games: [10, 20, 50, 100, 200], traders: 1_000_000 },
  quick: { samples: 4000, games: [10, 50], traders: 100_000 },
  run,
};

async function run(sizes: CoverageSizes, progress: (line: string) => void): Promise<Report> {
  const figures: Figures = {};
  const rows = ROW_KINDS.flatMap((kind) =>
    sizes.games.map((games) => {
      progress(`coverage: ${kind.name}, ${games} games`);
      const { plain, adjusted } = covered(kind, games, sizes.samples);
      figures[`${kind.name}/${games} games/CR1`] = { unit: 'share', value: plain };
      figures[`${kind.name}/${games} games/CR2`] = { unit: 'share', value: adjusted };
      return [`${kind.name}, ${games} games`, '95.0%', percent(plain), percent(adjusted)];
    }),
  );
  const verdicts = sizes.games.map((games) => {
    progress(`coverage: verdicts of ${games} games`);
    const samples = Math.ceil(sizes.samples / SAMPLES_A_VERDICT);
    const shares = [0, EDGE_CENTS].map((mean) => verdictShare(mean, games, samples));
    figures[`verdict/${games} games/no edge`] = { unit: 'share', value: shares[0]! };
    figures[`verdict/${games} games/an edge`] = { unit: 'share', value: shares[1]! };
    return [`${games} games`, ...shares.map(percent)];
  });
  progress(`coverage: a board of ${count(sizes.traders)} traders`);
  const { estimateMs, rankMs } = board(sizes.traders);
  figures['board/means and intervals'] = { unit: 'ms', value: estimateMs };
  figures['board/rank intervals'] = { unit: 'ms', value: rankMs };
  const size = `${count(sizes.traders)} traders, ${count(sizes.traders * ROWS_A_TRADER)} rows`;
  return {
    tables: [
      {
        title: `coverage of intervals of 95%, ${count(sizes.samples)} samples each`,
        columns: ['rows', 'nominal', 'CR1', 'CR2'],
        rows,
        notes: [
          'games have 1 to 12 rows, most of them 1 or 2; so effective games are about half as many',
          'the API shows an interval from 10 effective games on, of P&L from 50 on',
        ],
      },
      {
        title: `verdicts of an edge, spread ${SPREAD_CENTS} cents a contract`,
        columns: ['picks', 'without an edge (at most 5%)', `an edge of ${EDGE_CENTS} cents`],
        rows: verdicts,
        notes: ['a power of 80% takes 196 games; both measures are tested'],
      },
      {
        title: `a board's intervals, CPU milliseconds: ${size}`,
        columns: ['step', 'ms'],
        rows: [
          ['means and intervals', ms(estimateMs)],
          ['rank intervals', ms(rankMs)],
        ],
      },
    ],
    figures,
  };
}

function covered(kind: RowKind, games: number, samples: number) {
  const random = seededRandom(games);
  let plain = 0;
  let adjusted = 0;
  for (let sample = 0; sample < samples; sample++) {
    const sums = randomGames(kind, games, random);
    const estimate = meanOfGames(sums)!;
    // The true mean is 0.
    const has = ({ standardError, degrees }: ClusterError) =>
      Math.abs(estimate.mean) <= studentT95(degrees) * standardError;
    if (has(plainError(sums, estimate))) plain++;
    if (has(clusterError(sums, estimate)!)) adjusted++;
  }
  return { plain: plain / samples, adjusted: adjusted / samples };
}

/** How often a trader with this mean is said to have an edge. */
function verdictShare(mean: number, games: number, samples: number): number {
  const random = seededRandom(games);
  let edges = 0;
  for (let sample = 0; sample < samples; sample++) {
    const picks = Array.from({ length: games }, (_, game) => pickOf(game, mean, random));
    if (verdictOf(picks).verdict === 'edge') edges++;
  }
  return edges / samples;
}

/** Bought at 50 cents. It wins as often as the closing line says. */
function pickOf(game: number, mean: number, random: Random): VerdictPick {
  const clvCents = mean + SPREAD_CENTS * normal(random);
  const hasWon = 100 * (random.word() / 2 ** 32) < 50 + clvCents;
  const pnlCents = hasWon ? 50 : -50;
  const of = { contracts: 1, costCents: 50, pnlCents, pnlAfterFeesCents: pnlCents };
  return { cluster: String(game), ...of, clvCents };
}

/** Every trader has as many games, of one row each. */
function board(traders: number) {
  const random = seededRandom(3);
  const counts = new Float64Array(traders * ROWS_A_TRADER).fill(1);
  const sums = counts.map(() => random.below(100) / 100);
  const lows = new Float64Array(traders);
  const highs = new Float64Array(traders);
  const estimateMs = cpuMs(() => {
    for (let trader = 0; trader < traders; trader++) {
      const from = trader * ROWS_A_TRADER;
      const games = { counts, sums, from, end: from + ROWS_A_TRADER };
      const interval = intervalOf('brier', games, meanOfGames(games)!);
      lows[trader] = interval?.low ?? Number.NaN;
      highs[trader] = interval?.high ?? Number.NaN;
    }
  });
  const rankMs = cpuMs(() => rankIntervals('brier', { lows, highs }));
  return { estimateMs, rankMs };
}

function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

import test from 'ava';
import fc from 'fast-check';
import { plainError } from '../../../../bench/lib/cluster-rows.ts';
import { rankIntervals, tiedWithAbove } from '../../../../engine/records/boards/rank-intervals.ts';
import {
  clusterError,
  type Interval,
  intervalNote,
  intervalOf,
  type Metric,
  meanOfGames,
} from '../../../../engine/records/maths/statistics.ts';
import { studentT95 } from '../../../../engine/records/maths/student-t.ts';
import {
  bootstrapError,
  cr2ByMatrices,
  type Games,
  gameSums,
  meanOf,
} from '../naive-statistics.ts';

const WORKED: Games = [
  [3, 1, 4],
  [-2],
  [0, 2],
  [5],
  [-1, -3],
  [2],
  [1, 0, -2, -1],
  [4],
  [2, 3],
  [-4, -2, 1],
];

function estimated(games: Games) {
  const sums = gameSums(games);
  const estimate = meanOfGames(sums)!;
  return { sums, estimate, error: clusterError(sums, estimate)! };
}

function near(actual: number, expected: number, within: number): boolean {
  return Math.abs(actual - expected) <= within * Math.max(1, Math.abs(expected));
}

test('Y40, Y43: the worked example, by CR1 and by CR2', (t) => {
  const { sums, estimate, error } = estimated(WORKED);
  t.is(estimate.mean, 0.65);
  t.is(estimate.picks, 20);
  t.is(estimate.games, 10);
  const plain = plainError(sums, estimate);
  t.true(near(plain.standardError, 0.7213509702, 1e-10));
  t.true(near(0.65 - studentT95(9) * plain.standardError, -0.9818093, 1e-7));
  t.true(near(0.65 + studentT95(9) * plain.standardError, 2.2818093, 1e-7));
  t.true(near(error.standardError, 0.7320297248, 1e-10));
  t.true(near(error.degrees, 7.0298262, 1e-8));
  const reach = studentT95(error.degrees) * error.standardError;
  t.true(near(0.65 - reach, -1.0794876, 1e-7));
  t.true(near(0.65 + reach, 2.3794876, 1e-7));
});

const anyGames = fc.array(
  fc.array(fc.integer({ min: -90, max: 90 }), { minLength: 1, maxLength: 6 }),
  {
    minLength: 2,
    maxLength: 12,
  },
);

test('Y40: sums a game give the CR2 of whole matrices, whatever the games', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(anyGames, (games) => {
        const { estimate, error } = estimated(games);
        const expected = cr2ByMatrices(games);
        return (
          near(estimate.mean, meanOf(games), 1e-12) &&
          near(error.standardError, expected.standardError, 1e-9) &&
          near(error.degrees, expected.degrees, 1e-9)
        );
      }),
    ),
  );
});

test('Y40: the games of many equal rows spread as a bootstrap of whole games says', (t) => {
  const games = Array.from({ length: 60 }, (_, game) =>
    Array.from({ length: 1 + (game % 3) }, (_, row) => Math.sin(game * 7.3) * 20 + row),
  );
  const { error } = estimated(games);
  const resampled = bootstrapError(games, 4000, 5);
  t.true(
    Math.abs(error.standardError / resampled - 1) < 0.06,
    `${error.standardError} ${resampled}`,
  );
});

test('Y40: games of equal size have one degree of freedom less than games', (t) => {
  const games = Array.from({ length: 14 }, (_, game) => [game % 5, game % 3, 1]);
  t.true(near(estimated(games).error.degrees, 13, 1e-12));
});

test('Y40: fewer than two games have no error, and no rows have no mean', (t) => {
  const sums = gameSums([[1, 2, 3]]);
  t.is(clusterError(sums, meanOfGames(sums)!), null);
  t.is(meanOfGames(gameSums([])), null);
  t.is(meanOfGames({ counts: [0, 0], sums: [0, 0], from: 0, end: 2 }), null);
});

test('Y40: a slice of a column is one trader, and games without rows count for nothing', (t) => {
  const counts = [9, 3, 0, 1, 7];
  const sums = [90, 6, 0, 5, 70];
  const estimate = meanOfGames({ counts, sums, from: 1, end: 4 })!;
  t.deepEqual([estimate.mean, estimate.games, estimate.picks], [11 / 4, 2, 4]);
});

test('Y41, Y42: effective games decide whether there is an interval, and a note says why not', (t) => {
  const of = (metric: Metric, games: Games) => {
    const { sums, estimate } = estimated(games);
    const effective = estimate.effectiveGames;
    const interval = intervalOf(metric, sums, estimate);
    const note = intervalNote(metric, effective);
    t.is(interval === null, note !== null);
    return { effective, interval, intervalNote: note };
  };
  const equal = (count: number) => Array.from({ length: count }, (_, at) => [at % 4, 1]);
  t.is(of('brier', equal(10)).effective, 10);
  t.is(of('brier', equal(10)).intervalNote, null);
  t.not(of('clv', equal(10)).interval, null);
  t.is(of('log_loss', equal(9)).interval, null);
  t.is(of('log_loss', equal(9)).intervalNote, '9 effective games: 10 are needed for an interval');
  t.is(of('clv', equal(1)).intervalNote, '1 effective game: 10 are needed for an interval');
  t.is(of('pnl', equal(49)).intervalNote, '49 effective games: 50 are needed for an interval');
  t.not(of('pnl', equal(50)).interval, null);
  t.is(of('brier', WORKED).intervalNote, '8 effective games: 10 are needed for an interval');
  const uneven = [...equal(10), [1, 2, 3]];
  t.true(of('clv', uneven).effective < 11 && of('clv', uneven).effective > 10);
});

test('Y43: the quantile of Student’s t, against published tables', (t) => {
  const table = [
    [1, 12.7062047361747],
    [2, 4.30265272974946],
    [3, 3.18244630528371],
    [5, 2.57058183563631],
    [9, 2.2621571627982],
    [10, 2.22813885198627],
    [30, 2.04227245630124],
    [100, 1.98397151852355],
    [1000, 1.96233908082641],
  ] as const;
  for (const [degrees, quantile] of table) t.true(near(studentT95(degrees), quantile, 1e-12));
  t.true(near(studentT95(1e15), 1.959963984540054, 1e-14));
  t.true(studentT95(0.5) > 100);
  // No step where the expansion takes over.
  t.true(near(studentT95(1000 - 1e-9), studentT95(1000), 1e-11));
  t.throws(() => studentT95(0), { message: /not above zero/ });
});

/** Both questions by looking at every pair of rows. */
function naiveRanks(metric: Metric, rows: readonly (Interval | null)[]) {
  const isAscending = metric === 'brier' || metric === 'log_loss';
  const isAbove = (a: Interval, b: Interval) => (isAscending ? a.high < b.low : a.low > b.high);
  return rows.map((own) => {
    if (own === null) return [0, 0];
    const above = rows.filter((other) => other !== null && isAbove(other, own)).length;
    const notBelow = rows.filter((other) => other === null || !isAbove(own, other)).length;
    return [1 + above, notBelow];
  });
}

test('Y44, Y45: where a row may stand is what every pair of rows says', (t) => {
  const bound = fc.integer({ min: 0, max: 12 });
  const row = fc.option(
    fc.tuple(bound, bound).map(([a, b]) => ({ low: Math.min(a, b), high: Math.max(a, b) })),
  );
  fc.assert(
    fc.property(
      fc.array(row),
      fc.constantFrom<Metric>('brier', 'log_loss', 'clv', 'pnl'),
      (rows, metric) => {
        const lows = Float64Array.from(rows, (own) => own?.low ?? Number.NaN);
        const highs = Float64Array.from(rows, (own) => own?.high ?? Number.NaN);
        const { best, worst } = rankIntervals(metric, { lows, highs });
        t.deepEqual(
          rows.map((_, at) => [best[at], worst[at]]),
          naiveRanks(metric, rows),
        );
      },
    ),
  );
});

test('Y46: a row is tied with the one above where their intervals meet', (t) => {
  const at = (low: number, high: number) => ({ low, high });
  t.true(tiedWithAbove(at(3, 5), at(1, 3)));
  t.true(tiedWithAbove(at(0, 9), at(1, 3)));
  t.false(tiedWithAbove(at(3, 5), at(1, 2)));
  t.false(tiedWithAbove(at(1, 2), at(3, 5)));
  t.is(tiedWithAbove(null, at(1, 2)), null);
  t.is(tiedWithAbove(at(1, 2), null), null);
});

import test from 'ava';
import { type VerdictPick, verdictOf } from '../../../../engine/records/maths/verdict.ts';

const pick = (game: number, fields: Partial<VerdictPick> = {}): VerdictPick => ({
  cluster: `game-${game}`,
  contracts: 10,
  costCents: 500,
  pnlCents: 0,
  pnlAfterFeesCents: 0,
  clvCents: null,
  ...fields,
});
/** One pick a game, whose values alternate around a mean. */
const games = (count: number, fieldsOf: (sign: 1 | -1) => Partial<VerdictPick>) =>
  Array.from({ length: count }, (_, game) => pick(game, fieldsOf(game % 2 === 0 ? 1 : -1)));

test('Y104: without a pick, and with one game, it is too early, and nothing says how many are needed', (t) => {
  t.deepEqual(verdictOf([]), {
    verdict: 'not_yet',
    ...{ basis: 'pnl_after_fees', mean: null, interval: null, games: 0, gamesNeeded: null },
  });
  const one = verdictOf([pick(1, { clvCents: 3 }), pick(1, { clvCents: 9 })]);
  t.deepEqual(one, {
    verdict: 'not_yet',
    ...{ basis: 'clv', mean: 6, interval: null, games: 1, gamesNeeded: null },
  });
});

test('Y104: an interval above zero is an edge, by closing lines before profit', (t) => {
  const found = verdictOf(games(40, (sign) => ({ clvCents: 3 + sign })));
  t.like(found, { verdict: 'edge', basis: 'clv', mean: 3, games: 40, gamesNeeded: 0 });
  t.true(found.interval!.low > 2 && found.interval!.high < 4);
  const byProfit = verdictOf(games(60, (sign) => ({ pnlAfterFeesCents: 200 + 100 * sign })));
  t.like(byProfit, { verdict: 'edge', basis: 'pnl_after_fees', mean: 2, games: 60 });
});

test('Y104: fees are part of the closing line value', (t) => {
  const fields = { clvCents: 2, pnlCents: 0, pnlAfterFeesCents: -20 };
  const found = verdictOf(games(40, (sign) => ({ ...fields, clvCents: 2 + sign })));
  t.is(found.mean, 0);
  t.is(found.verdict, 'no_edge');
});

test('Y105: an interval below the least edge that matters is no edge', (t) => {
  const small = verdictOf(games(100, (sign) => ({ clvCents: 0.1 + sign })));
  t.like(small, { verdict: 'no_edge', basis: 'clv', gamesNeeded: 0 });
  const losing = games(100, (sign) => {
    const pnlCents = -300 + 100 * sign;
    return { clvCents: 3 + sign, pnlCents, pnlAfterFeesCents: pnlCents };
  });
  t.like(verdictOf(losing), { verdict: 'no_edge', basis: 'pnl_after_fees', mean: -3 });
});

test('Y106: games still needed are those of a power of 80% at the spread so far', (t) => {
  // The spread is 10, the mean 2: (2.8016 × 10 / 2)² = 196.2 games. CR2 of 20 games adds 20/19.
  const found = verdictOf(games(20, (sign) => ({ clvCents: 2 + 10 * sign })));
  t.like(found, { verdict: 'not_yet', basis: 'clv', mean: 2, games: 20 });
  t.is(found.gamesNeeded, Math.ceil((2.801585 * 10 * 0.5) ** 2 * (20 / 19)) - 20);
  // A mean below the least edge that matters is held against that edge.
  const low = verdictOf(games(20, (sign) => ({ clvCents: -1 + 10 * sign })));
  t.is(low.gamesNeeded, Math.ceil((2.801585 * 10) ** 2 * (20 / 19)) - 20);
});

test('Y106: as many games are needed as have an interval, however little their values spread', (t) => {
  const neededOf = (picks: readonly VerdictPick[]) => {
    const { verdict, interval, gamesNeeded } = verdictOf(picks);
    t.deepEqual([verdict, interval], ['not_yet', null]);
    return gamesNeeded;
  };
  t.is(neededOf(games(2, () => ({ clvCents: 5 }))), 8);
  t.is(neededOf(games(9, (sign) => ({ clvCents: 5 + sign }))), 1);
  t.is(neededOf(games(12, () => ({ pnlAfterFeesCents: 90 }))), 38);
  // Eleven picks on ten games are 9.3 effective ones, so eleven such games are 10.2.
  const twice = [...games(10, () => ({ clvCents: 5 })), pick(0, { clvCents: 5 })];
  t.is(neededOf(twice), 1);
});

test('Y104: profits that cancel out in every game are no edge', (t) => {
  const cents = [10, 20, -30];
  const picks = Array.from({ length: 60 }, (_, game) => game).flatMap((game) =>
    cents.map((pnlAfterFeesCents) => pick(game, { pnlAfterFeesCents })),
  );
  t.like(verdictOf(picks), { verdict: 'no_edge', mean: 0, interval: { low: 0, high: 0 } });
});

test('Y104: closing lines of fewer than half of the picks do not decide', (t) => {
  const some = games(60, (sign) => ({ pnlAfterFeesCents: 10 * sign }));
  const few = some.map((one, at) => (at < 29 ? { ...one, clvCents: 5 + (at % 2) } : one));
  t.is(verdictOf(few).basis, 'pnl_after_fees');
  const half = some.map((one, at) => (at < 30 ? { ...one, clvCents: 5 + (at % 2) } : one));
  t.like(verdictOf(half), { verdict: 'edge', basis: 'clv', games: 30 });
});

test('Y104: picks of one game are one game', (t) => {
  const many = games(200, (sign) => ({ clvCents: 3 + sign })).map((one, at) => ({
    ...one,
    cluster: `game-${at % 4}`,
  }));
  t.like(verdictOf(many), { verdict: 'not_yet', games: 4, interval: null });
});

import test from 'ava';
import type { Account } from '../../../api/client/client.js';
import { equityCurve } from '../../../api/web/state/equity-curve.ts';
import {
  averageCents,
  bidOfSide,
  byMarket,
  fundsOf,
  markOf,
  markOfAll,
  totalsOf,
} from '../../../api/web/state/totals.ts';
import { positionOf } from './rows.ts';

const ACCOUNT = {
  balanceDollars: 99_980.1,
  heldDollars: 10.2,
  openStakeDollars: 9.7,
  netWorthDollars: 100_000.5,
  pnlSinceResetDollars: 0.5,
  lifetimePnlDollars: -20.1,
} as Account;

test('a side sells at its bid: the bid of no is what is left of a dollar at the ask', (t) => {
  const prices = { bidCents: 41, askCents: 43 };
  t.is(bidOfSide('yes', prices), 41);
  t.is(bidOfSide('no', prices), 57);
  t.is(bidOfSide('yes', { ...prices, bidCents: null }), null);
  t.is(bidOfSide('no', { ...prices, askCents: null }), null);
});

test('a position counts at the bid of now, at its cost without one, as it was told without a quote', (t) => {
  const position = positionOf();
  t.deepEqual(markOf(position, { bidCents: 47, askCents: 49 }), {
    ...{ markCents: 47, valueDollars: 4.7, pnlDollars: 0.4 },
  });
  t.deepEqual(markOf(position, { bidCents: null, askCents: 49 }), {
    ...{ markCents: null, valueDollars: 4.3, pnlDollars: 0 },
  });
  t.deepEqual(markOf(position, null), { markCents: 45, valueDollars: 4.5, pnlDollars: 0.2 });
  const { markCents, valueDollars, unrealizedPnlDollars, ...hidden } = position;
  t.deepEqual(markOf(hidden, null), { markCents: null, valueDollars: 4.3, pnlDollars: 0 });
  const no = positionOf({ instrumentSide: 'no', contracts: 3, costDollars: 1.11 });
  t.deepEqual(markOf(no, { bidCents: 60, askCents: 71 }), {
    ...{ markCents: 29, valueDollars: 0.87, pnlDollars: -0.24 },
  });
});

test('totals move by what the positions do, to the cent, and leave out none that is not listed', (t) => {
  const positions = [
    positionOf({ contracts: 1, costDollars: 0.1, valueDollars: 0.1, markCents: 10 }),
    positionOf({ contracts: 3, costDollars: 0.6, valueDollars: 0.6, markCents: 20 }),
    positionOf({ contracts: 10, costDollars: 9, valueDollars: 9, markCents: 90 }),
  ];
  const quotes = [{ bidCents: 20, askCents: 21 }, { bidCents: 10, askCents: 12 }, null];
  const { balanceDollars, heldDollars, openStakeDollars } = ACCOUNT;
  t.deepEqual(totalsOf({ account: ACCOUNT, positions }, quotes), {
    ...{ balanceDollars, heldDollars, openStakeDollars },
    netWorthDollars: 100_000.3,
    pnlSinceResetDollars: 0.3,
    lifetimePnlDollars: -20.3,
  });
  t.like(totalsOf({ account: ACCOUNT, positions }, []), { netWorthDollars: 100_000.5 });
  t.is(totalsOf({ account: null, positions: [] }, []), null);
});

test('the average is of what was paid, in cents with at most two decimals', (t) => {
  t.is(averageCents({ costDollars: 4.3, contracts: 10 }), 43);
  t.is(averageCents({ costDollars: 1, contracts: 3 }), 33.33);
});

const pointOf = (minute: number, netWorthDollars: number, run = 1) => ({
  ...{ balanceDollars: 0, openStakeDollars: 0, realizedPnlDollars: 0 },
  ...{ at: new Date(Date.UTC(2026, 10, 24, 10, minute)).toISOString(), netWorthDollars, run },
});

test('one run is one line, and its course a sentence', (t) => {
  const worths = [100_000, 99_950.4, 100_120, 100_020.2];
  const points = worths.map((dollars, minute) => pointOf(minute, dollars));
  const { timesMs, lines, runs, summary } = equityCurve({ points, run: 1 }, '7d');
  t.deepEqual(
    timesMs,
    points.map(({ at }) => Date.parse(at)),
  );
  t.deepEqual(lines, [{ name: 'Net worth', color: 'accent', values: worths }]);
  t.deepEqual(runs, []);
  t.is(
    summary,
    'Net worth went from $100,000.00 to $100,020.20 (+$20.20) in the last 7 days. ' +
      'Lowest $99,950.40, highest $100,120.00.',
  );
});

test('runs are apart from each other, and marked where they begin', (t) => {
  const points = [pointOf(0, 90, 1), pointOf(2, 100, 2), pointOf(4, 80, 2), pointOf(6, 100, 3)];
  const { timesMs, lines, runs, summary } = equityCurve({ points, run: 3 }, 'all');
  t.deepEqual(
    timesMs.map((ms) => new Date(ms).getUTCMinutes()),
    [0, 1, 2, 4, 5, 6],
  );
  t.deepEqual(lines, [
    { name: 'Net worth, run 3', color: 'accent', values: [null, null, null, null, null, 100] },
    { name: 'Former runs', color: 'muted', values: [90, null, 100, 80, null, null] },
  ]);
  t.deepEqual(runs, [
    { run: 2, at: points[1]!.at },
    { run: 3, at: points[3]!.at },
  ]);
  t.regex(summary, /^Net worth is \$100\.00, after 2 resets in all time\. Lowest \$80\.00/);
});

test('U38: the header has cash and net worth at the quotes of now, and before the first trade the start balance', (t) => {
  const none = { account: null, positions: [] };
  t.deepEqual(fundsOf(none, []), { cashDollars: 100_000, netWorthDollars: 100_000 });
  const position = { contracts: 10, instrumentSide: 'yes', costDollars: 4, valueDollars: 4 };
  const account = { balanceDollars: 96, netWorthDollars: 100 };
  const of = { account, positions: [position] } as unknown as Parameters<typeof fundsOf>[0];
  t.deepEqual(fundsOf(of, [{ bidCents: 50, askCents: 52 }]), {
    ...{ cashDollars: 96, netWorthDollars: 101 },
  });
  t.deepEqual(fundsOf(of, []), { cashDollars: 96, netWorthDollars: 100 });
});

test('U42: positions are one line for each side of a market, with their sums to the cent', (t) => {
  const of = (tradeId: string, change: Parameters<typeof positionOf>[0] = {}) =>
    positionOf({ tradeId, ...change });
  const positions = [
    of('1', { costDollars: 0.1 }),
    of('2', { instrumentSide: 'no' }),
    of('3', { costDollars: 0.2 }),
    of('4', { instrumentId: null }),
    of('5', { instrumentId: null }),
  ];
  const groups = byMarket(positions);
  t.deepEqual(
    groups.map(({ all }) => all.map(({ tradeId }) => tradeId)),
    [['1', '3'], ['2'], ['4'], ['5']],
  );
  t.deepEqual(groups[0]!.sum, { contracts: 20, costDollars: 0.3 });
  const quote = { bidCents: 50, askCents: 52 };
  t.deepEqual(markOfAll(groups[0]!.all, [quote, quote]), {
    ...{ markCents: 50, valueDollars: 10, pnlDollars: 9.7 },
  });
  t.deepEqual(markOfAll([], []), { markCents: null, valueDollars: 0, pnlDollars: 0 });
});

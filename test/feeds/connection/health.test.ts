import test from 'ava';
import { feedProblems } from '../../../feeds/connection/health.ts';

const NOW = Date.UTC(2026, 6, 12, 18, 0, 0);
const OPEN = {
  venue: 'venue_a',
  adapter: 'kalshi',
  host: 'api.example',
  downSinceMs: null,
  lastProblem: 'closed by the venue (1006)',
  unquoted: new Map<string, number>(),
  counts: { frames: 0, opens: 1, gaps: 0, rejected: {}, lagMs: null },
  missedStatesProblem: null,
  resultProblems: [],
  endedMs: [] as number[],
  silent: null,
} as const;

test('W9: a feed that was not open for 60 s is a problem', (t) => {
  t.deepEqual(feedProblems([], NOW), []);
  t.deepEqual(feedProblems([OPEN], NOW), []);
  t.deepEqual(feedProblems([{ ...OPEN, downSinceMs: NOW - 59_999 }], NOW), []);
  const down = { ...OPEN, downSinceMs: NOW - 75_000 };
  t.deepEqual(feedProblems([OPEN, down], NOW), [
    'feed venue_a kalshi at api.example: not open for 75 s, since 2026-07-12T17:58:45.000Z: ' +
      'closed by the venue (1006)',
  ]);
  const silent = { ...OPEN, downSinceMs: NOW - 60_000, lastProblem: null };
  t.regex(feedProblems([silent], NOW)[0]!, /: not open for 60 s, since .*: no answer yet$/);
});

test('W9: a feed that was never open says so', (t) => {
  const counts = { ...OPEN.counts, opens: 0 };
  const never = { ...OPEN, counts, downSinceMs: NOW - 60_000 };
  t.regex(feedProblems([never], NOW)[0]!, /: never connected, not open for 60 s, since /);
});

test('W9: missed results that cannot be asked for are a problem', (t) => {
  const failing = { ...OPEN, missedStatesProblem: 'answered 503' };
  t.deepEqual(feedProblems([failing], NOW), [
    'feed venue_a kalshi at api.example: missed results cannot be asked for: answered 503',
  ]);
  t.is(feedProblems([{ ...failing, downSinceMs: NOW - 75_000 }], NOW).length, 2, 'beside another');
});

test('W9: markets that were not quoted for 60 s are a problem', (t) => {
  const unquoted = (...ages: number[]) => {
    const markets = ages.map((age, index) => [`T${index}`, NOW - age] as const);
    return feedProblems([{ ...OPEN, unquoted: new Map(markets) }], NOW);
  };
  const feed = 'feed venue_a kalshi at api.example:';
  t.deepEqual(unquoted(0, 59_999), []);
  t.deepEqual(unquoted(0, 60_000), [`${feed} 1 market never quoted since it opened: T1`]);
  t.deepEqual(unquoted(60_000, 90_000), [`${feed} 2 markets never quoted since it opened: T0, T1`]);
  const many = Array<number>(7).fill(61_000);
  t.deepEqual(unquoted(...many), [
    `${feed} 7 markets never quoted since it opened: T0, T1, T2, T3, T4, ...`,
  ]);
});

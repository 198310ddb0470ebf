import test, { type ExecutionContext } from 'ava';
import { NO_PRICE } from '../../../engine/base/units.ts';
import type { Tick } from '../../../engine/rules/messages.ts';
import { quoteTick } from '../fixtures.ts';
import { after, asked, BOUND_MS, clock, record, take, temporary } from './support.ts';

const market = { source: 1, market: 0 } as const;
const quote = (ms: number, over: Partial<Parameters<typeof quoteTick>[0]> = {}) =>
  quoteTick({ ...market, atMs: after(ms), ...over });
const heartbeat = (ms: number): Tick => ({ kind: 'heartbeat', atMs: after(ms), source: 1 });
const time = (ms: number): Tick => ({ kind: 'time', atMs: after(ms) });
const down = (ms: number): Tick => ({ kind: 'down', atMs: after(ms), source: 1 });
const status = (ms: number, to: 'open' | 'paused' | 'closed'): Tick => ({
  kind: 'status',
  ...market,
  atMs: after(ms),
  status: to,
});
const result = (ms: number): Tick => ({
  kind: 'result',
  ...market,
  atMs: after(ms),
  outcome: 'yes',
  yesPayoutCents: 100,
  noPayoutCents: 0,
});

/** Rows as `time bid/ask`, gaps as `from to reason`. */
function kept(t: ExecutionContext, ...ticks: Tick[]): { rows: string[]; gaps: string[] } {
  const recorder = record(temporary(t));
  t.teardown(() => recorder.close());
  take(recorder, ...ticks);
  const { quotes, gaps } = asked(recorder).quotes();
  return {
    rows: quotes.map(({ at, yesBidCents, yesAskCents, live }) =>
      live ? `${clock(at)} ${yesBidCents}/${yesAskCents}` : `${clock(at)} not live`,
    ),
    gaps: gaps.map(({ from, to, reason }) => `${clock(from)} ${clock(to)} ${reason}`),
  };
}

test('H2: a row comes with every change of a price or a size, and with nothing else', (t) => {
  const { rows } = kept(
    t,
    quote(0),
    quote(100),
    quote(200, { yesAskContracts: 7 }),
    quote(300, { yesAskContracts: 7 }),
    quote(400, { yesBidCents: 39, yesAskContracts: 7 }),
    heartbeat(500),
  );
  t.deepEqual(rows, ['12:00:00.000 40/43', '12:00:00.200 40/43', '12:00:00.400 39/43']);
});

test('H2: a row that is not live has no price and no size', (t) => {
  const recorder = record(temporary(t));
  t.teardown(() => recorder.close());
  take(recorder, quote(0), down(1000));
  t.deepEqual(asked(recorder).quotes().quotes[1], {
    at: new Date(after(1000)).toISOString(),
    yesBidCents: null,
    yesAskCents: null,
    yesBidContracts: null,
    yesAskContracts: null,
    live: false,
  });
});

test('H3: the row of silence is at the last heartbeat plus the bound, whenever noticed', (t) => {
  const { rows, gaps } = kept(t, quote(0), heartbeat(4000), time(60_000));
  t.deepEqual(rows, ['12:00:00.000 40/43', '12:00:19.000 not live']);
  t.deepEqual(gaps, ['12:00:19.000 null stale']);
});

test('H3: at the bound itself a price is still live', (t) => {
  t.deepEqual(kept(t, quote(0), time(BOUND_MS)).rows, ['12:00:00.000 40/43']);
});

test('H3: a heartbeat after silence brings the same price back with a row', (t) => {
  const { rows, gaps } = kept(t, quote(0), heartbeat(60_000));
  t.deepEqual(rows, ['12:00:00.000 40/43', '12:00:15.000 not live', '12:01:00.000 40/43']);
  t.deepEqual(gaps, ['12:00:15.000 12:01:00.000 stale']);
});

test('H2, H3: a quote after silence gives one row, of its own price', (t) => {
  const { rows } = kept(t, quote(0), quote(60_000, { yesBidCents: 38 }));
  t.deepEqual(rows, ['12:00:00.000 40/43', '12:00:15.000 not live', '12:01:00.000 38/43']);
});

test('H3: the silence of one connection leaves the quotes of another', (t) => {
  const { rows } = kept(t, quote(0), { ...heartbeat(60_000), source: 2 } as Tick);
  t.is(rows[1], '12:00:15.000 not live');
  const other = kept(
    t,
    quote(0),
    quote(10, { source: 2, yesBidCents: 37 }),
    {
      ...heartbeat(14_000),
      source: 2,
    } as Tick,
    { ...heartbeat(20_000), source: 2 } as Tick,
  );
  t.deepEqual(other.rows, ['12:00:00.000 40/43', '12:00:00.010 37/43']);
});

test('H5: a lost connection is a gap until the market is quoted again', (t) => {
  const { rows, gaps } = kept(t, quote(0), down(1000), heartbeat(2000), quote(3000));
  t.deepEqual(rows, ['12:00:00.000 40/43', '12:00:01.000 not live', '12:00:03.000 40/43']);
  t.deepEqual(gaps, ['12:00:01.000 12:00:03.000 connection_lost']);
});

test('H5: a gap in the sequence is one from the frame that shows it, and keeps its reason', (t) => {
  const skipped: Tick = { kind: 'down', atMs: after(1000), source: 1, reason: 'sequence_gap' };
  const { rows, gaps } = kept(t, quote(0), skipped, down(1500), quote(3000));
  t.deepEqual(rows.slice(1), ['12:00:01.000 not live', '12:00:03.000 40/43']);
  t.deepEqual(gaps, ['12:00:01.000 12:00:03.000 sequence_gap']);
});

test('H5: a book that nobody knows is a gap in the sequence of its market alone', (t) => {
  const unknown = quote(1000, { yesBidCents: NO_PRICE, yesAskCents: NO_PRICE, unknown: true });
  const { rows, gaps } = kept(t, quote(0), unknown, heartbeat(2000), quote(3000));
  t.deepEqual(rows.slice(1), ['12:00:01.000 not live', '12:00:03.000 40/43']);
  t.deepEqual(gaps, ['12:00:01.000 12:00:03.000 sequence_gap']);
  const empty = kept(t, quote(0), { ...unknown, unknown: false } as Tick, quote(3000));
  t.deepEqual([empty.rows.length, empty.gaps], [3, []], 'an empty book is known');
});

test('H3, H5: paused, closed and crossed markets are not live, and that is no gap', (t) => {
  const { rows, gaps } = kept(
    t,
    quote(0),
    status(1000, 'paused'),
    status(2000, 'closed'),
    status(3000, 'open'),
    quote(4000, { yesBidCents: 43, yesAskCents: 43, crossed: true }),
    quote(5000, { yesBidCents: 45, yesAskCents: 44 }),
    quote(6000),
  );
  t.deepEqual(rows, [
    '12:00:00.000 40/43',
    '12:00:01.000 not live',
    '12:00:03.000 40/43',
    '12:00:04.000 not live',
    '12:00:06.000 40/43',
  ]);
  t.deepEqual(gaps, []);
});

test('H3: a book of one side is live, one without any is not', (t) => {
  const none = { yesBidCents: NO_PRICE, yesBidContracts: 0 };
  const { rows, gaps } = kept(
    t,
    quote(0, none),
    quote(1000, { ...none, yesAskCents: NO_PRICE, yesAskContracts: 0 }),
  );
  t.deepEqual(rows, ['12:00:00.000 null/43', '12:00:01.000 not live']);
  t.deepEqual(gaps, []);
});

test('H2, H5: what is lost while a market is paused is a gap without a row of its own', (t) => {
  const { rows, gaps } = kept(
    t,
    quote(0),
    status(1000, 'paused'),
    down(2000),
    status(3000, 'open'),
    quote(4000),
  );
  t.deepEqual(rows, ['12:00:00.000 40/43', '12:00:01.000 not live', '12:00:04.000 40/43']);
  t.deepEqual(gaps, ['12:00:02.000 12:00:04.000 connection_lost']);
});

test('H5, H31: a gap of no length is in the window that its moment is in, and in no other', (t) => {
  const recorder = record(temporary(t));
  t.teardown(() => recorder.close());
  take(recorder, quote(0), status(1000, 'paused'), down(2000), status(2000, 'open'), quote(2000));
  const gaps = (fromMs: number, toMs: number) =>
    asked(recorder).quotes({ fromMs: after(fromMs), toMs: after(toMs) }).gaps;
  const gap = { from: '2026-11-21T12:00:02.000Z', to: '2026-11-21T12:00:02.000Z' };
  t.like(gaps(0, 9000), [gap]);
  t.like(gaps(2000, 9000), [gap], 'it begins with the window');
  t.like(gaps(2000, 2001), [gap]);
  t.deepEqual(gaps(0, 2000), []);
  t.deepEqual(gaps(2001, 9000), []);
  t.deepEqual(gaps(2000, 2000), [], 'a window of no length has no moment');
});

test('H3, H5: after its result a market is never live, and has no gaps', (t) => {
  const { rows, gaps } = kept(t, quote(0), result(1000), quote(2000), down(3000), time(99_000));
  t.deepEqual(rows, ['12:00:00.000 40/43', '12:00:01.000 not live']);
  t.deepEqual(gaps, []);
});

test('H3: a cancelled game ends the prices of its venue_a markets', (t) => {
  const recorder = record(temporary(t));
  t.teardown(() => recorder.close());
  recorder.setClosings({ closings: [], games: new Map([['awy-hom', [0]]]) });
  const over = { atMs: after(1000), source: 1, game: 'awy-hom' } as const;
  take(recorder, quote(0), { kind: 'game', ...over, status: 'final' });
  t.is(asked(recorder).quotes().quotes.length, 1);
  take(recorder, { kind: 'game', ...over, status: 'cancelled' }, quote(2000));
  const { quotes, gaps } = asked(recorder).quotes();
  t.deepEqual(
    quotes.map(({ at, live }) => [clock(at), live]),
    [
      ['12:00:00.000', true],
      ['12:00:01.000', false],
    ],
  );
  t.deepEqual(gaps, []);
});

test('H3: at its closing time a market stops being live, whenever noticed', (t) => {
  const recorder = record(temporary(t));
  t.teardown(() => recorder.close());
  recorder.setClosings({ closings: [[0, after(5000)]], games: new Map() });
  take(recorder, quote(0), quote(9000, { yesBidCents: 30 }));
  const { quotes } = asked(recorder).quotes();
  t.deepEqual(
    quotes.map(({ at, live }) => [clock(at), live]),
    [
      ['12:00:00.000', true],
      ['12:00:05.000', false],
    ],
  );
});

test('H4: where ticks were left out, prices are unknown until they are quoted again', (t) => {
  const recorder = record(temporary(t));
  t.teardown(() => recorder.close());
  take(recorder, quote(0), heartbeat(1000));
  recorder.missed();
  take(recorder, heartbeat(2000), quote(3000));
  const { quotes, gaps } = asked(recorder).quotes();
  t.deepEqual(
    quotes.map(({ at, live }) => [clock(at), live]),
    [
      ['12:00:00.000', true],
      ['12:00:01.000', false],
      ['12:00:03.000', true],
    ],
  );
  t.is(gaps[0]!.reason, 'server_down');
});

test('H3: silence that a question finds out is in its answer', (t) => {
  const recorder = record(temporary(t));
  t.teardown(() => recorder.close());
  take(recorder, quote(0));
  const { rows } = asked(recorder).asOf(after(20_000), { nowMs: after(20_000) });
  t.false(rows[0]!.live);
  t.is(clock(rows[0]!.quotedAt), '12:00:15.000');
});

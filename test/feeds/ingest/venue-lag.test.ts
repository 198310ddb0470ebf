import test from 'ava';
import type { Tick } from '../../../engine/rules/messages.ts';
import { createIngest } from '../../../feeds/ingest/ingest.ts';
import type { VenueAdapter } from '../../../feeds/reading/venue.ts';
import { kalshiAdapter } from '../../../feeds/venues/kalshi/frames.ts';
import { nativeAdapter } from '../../../feeds/venues/native/frames.ts';
import { polymarketUsAdapter } from '../../../feeds/venues/polymarket-us/frames.ts';

const MAX_MS = 2_000;

/** A connection whose clock is `clock.ms`; `kinds`: the kinds of ticks since the last look. */
function world(adapter: VenueAdapter, lagMaxMs: number | null = MAX_MS) {
  const clock = { ms: 0 };
  const ticks: Tick[] = [];
  const ingest = createIngest({
    marketNumber: (_venue, name) => name.charCodeAt(0),
    sink: (tick) => ticks.push(tick),
    log: () => {},
    lagMaxMs,
    steadyMs: () => clock.ms,
  });
  adapter.subscribe(['A', 'B']);
  const connection = ingest.session('venue_a', adapter, 0);
  const kinds = () => ticks.splice(0).map(({ kind }) => kind);
  /** The frame, received at `atMs` by our clock. */
  const take = (frame: object, atMs: number) => {
    clock.ms = atMs;
    return connection.frame(frame, atMs);
  };
  const again = () => {
    connection.lost(clock.ms);
    adapter.subscribe(['A', 'B']);
    kinds();
  };
  return { take, kinds, again };
}

/** A whole state of Polymarket US, of a venue time in milliseconds since some moment. */
const state = (venueMs: number, marketSlug = 'A') => {
  const transactTime = new Date(1_783_880_000_000 + venueMs).toISOString();
  const bids = [{ px: { value: '0.4' }, qty: '5' }];
  return { marketData: { marketSlug, bids, offers: [], transactTime } };
};

test('W13: beyond the bound over the least lag there is no price, at the bound there is', (t) => {
  const { take, kinds } = world(polymarketUsAdapter());
  for (const [venueMs, atMs] of [
    [0, 5_000],
    [1_000, 5_900],
    [2_000, 8_900],
  ] as const) {
    t.is(take(state(venueMs), atMs).drop, undefined);
  }
  t.deepEqual(kinds(), ['quote', 'quote', 'quote']);
  t.is(take(state(3_000), 9_901).drop, '2001 ms later than the venue');
  t.deepEqual(kinds(), ['down']);
});

test('W13: a result in a late frame counts', (t) => {
  const { take, kinds } = world(nativeAdapter());
  const at = (ms: number) => new Date(ms).toISOString();
  const snapshot = {
    type: 'snapshot',
    market: 'A',
    status: 'open',
    yesBids: [[40, 5]],
    yesAsks: [],
  };
  take({ ...snapshot, seq: 1, at: at(0) }, 0);
  take({ ...snapshot, seq: 2, at: at(10) }, 10);
  kinds();
  const resolved = { ...snapshot, status: 'resolved', result: 'yes' };
  t.truthy(take({ ...resolved, seq: 3, at: at(20) }, 60_000).drop);
  t.deepEqual(kinds(), ['down', 'result']);
});

test("W13: a market's first state, and one that repeats its time, say nothing of lag", (t) => {
  const { take } = world(polymarketUsAdapter());
  take(state(0), 0);
  t.is(take(state(10), 10).drop, undefined);
  t.is(take(state(0, 'B'), 50_000).drop, undefined, 'the first one of B');
  t.is(take(state(10), 60_000).drop, undefined, 'as it was');
  t.truthy(take(state(20), 60_000).drop);
});

test('W13: frames without a time, and those without a price, are not judged', (t) => {
  const { take } = world(kalshiAdapter());
  const book = { market_ticker: 'A', yes_dollars_fp: [['0.4', '500.00']] };
  take({ type: 'orderbook_snapshot', sid: 1, seq: 1, msg: book }, 0);
  const delta = { market_ticker: 'A', price_dollars: '0.4', delta_fp: '-1.00', side: 'yes' };
  const change = (seq: number, ts_ms: number | null, atMs: number) =>
    take({ type: 'orderbook_delta', sid: 1, seq, msg: { ...delta, ts_ms } }, atMs).drop;
  t.is(change(2, 1_000, 0), undefined);
  t.is(change(3, null, 60_000), undefined);
  const decided = { market_ticker: 'A', event_type: 'deactivated', ts_ms: 1 };
  t.is(take({ type: 'market_lifecycle_v2', sid: 2, msg: decided }, 60_000).drop, undefined);
  const price = { market_ticker: 'A', yes_price_dollars: '0.4', count_fp: '1.00' };
  const trade = { ...price, taker_side: 'yes', ts_ms: 1 };
  t.is(take({ type: 'trade', sid: 3, seq: 1, msg: trade }, 60_000).drop, undefined);
  t.truthy(change(4, 1_001, 60_000));
});

test('W13: a new connection has a minimum of its own, except one that follows a late one', (t) => {
  const { take, again } = world(polymarketUsAdapter());
  take(state(0), 0);
  take(state(10), 10);
  again();
  take(state(20), 30_000);
  t.is(take(state(30), 30_010).drop, undefined, 'its clock may be another');
  t.truthy(take(state(40), 40_000).drop);
  again();
  take(state(50), 41_000);
  t.truthy(take(state(60), 41_010).drop, 'still as late');
  again();
  take(state(70), 100_500);
  t.is(take(state(80), 100_510).drop, undefined, 'for a minute by now: that is its clock');
});

test('W13: without a bound, and in a recording, nothing is late', (t) => {
  for (const { take } of [
    world(polymarketUsAdapter(), null),
    world(polymarketUsAdapter({}, { recorded: true })),
  ]) {
    take(state(0), 0);
    take(state(10), 10);
    t.is(take(state(20), 3_600_000).drop, undefined);
  }
});

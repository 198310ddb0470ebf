/** The time that a frame states, of every adapter, whatever becomes of the frame. */
import test from 'ava';
import type { Tick } from '../../../engine/rules/messages.ts';
import { createIngest } from '../../../feeds/ingest/ingest.ts';
import type { AdapterName, VenueAdapter } from '../../../feeds/reading/venue.ts';
import { createAdapter } from '../../../feeds/venues/create.ts';

const AT_MS = Date.UTC(2026, 7, 10, 12);
const AT = new Date(AT_MS).toISOString();

type Case = [what: string, adapter: AdapterName, frame: unknown];

const native = (what: string, fields: object): Case => [what, 'native', { ...fields, at: AT }];
const kalshi = (what: string, type: string, msg: object, place: object = {}): Case => {
  return [what, 'kalshi', { type, ...place, msg: { ...msg, ts_ms: AT_MS } }];
};
const poly = (what: string, fields: object): Case => {
  return [what, 'polymarket', { ...fields, timestamp: String(AT_MS) }];
};
const us = (what: string, data: object): Case => {
  return [what, 'polymarket_us', { marketData: { ...data, transactTime: AT } }];
};

const CASES: Case[] = [
  native('a heartbeat', { type: 'heartbeat', seq: 2 }),
  native('a game', { type: 'game', seq: 2, game: 'g', status: 'final' }),
  native('a status', { type: 'status', seq: 2, market: 'T', status: 'open' }),
  native('a trade', {
    type: 'trade',
    seq: 2,
    market: 'T',
    yesPriceCents: 4,
    contracts: 1,
    side: 'yes',
  }),
  native('a heartbeat that shows a gap', { type: 'heartbeat', seq: 9 }),
  native('a heartbeat without its place', { type: 'heartbeat' }),
  native('a refused quote', { type: 'quote', seq: 2, market: 'T', yesBidCents: 'x' }),
  native('a refused snapshot', { type: 'snapshot', seq: 2, market: 'T', yesBids: 1 }),
  native('a trade without a market', { type: 'trade', seq: 2 }),
  native('a game without a name', { type: 'game', seq: 2 }),
  native('an error', { type: 'error', message: 'no' }),
  native('an unknown type', { type: 'score', seq: 2 }),
  native('no type', { seq: 2 }),
  native('another market', { type: 'quote', seq: 2, market: 'X', yesBidCents: null }),
  kalshi('another market', 'ticker', { market_ticker: 'X' }),
  kalshi('another market', 'trade', { market_ticker: 'X' }, { sid: 1, seq: 1 }),
  kalshi('another market', 'market_lifecycle_v2', { market_ticker: 'X', event_type: 'created' }),
  kalshi('a life cycle', 'market_lifecycle_v2', { market_ticker: 'T', event_type: 'created' }),
  kalshi('an unknown event', 'market_lifecycle_v2', { market_ticker: 'T', event_type: '?' }),
  kalshi('a combination', 'multivariate_market_lifecycle', { market_ticker: 'X' }),
  kalshi('an unknown type', 'news', {}),
  kalshi('no market', 'ticker', {}),
  kalshi('a refused trade', 'trade', { market_ticker: 'T' }, { sid: 1, seq: 1 }),
  kalshi('an error', 'error', { code: 6, msg: 'no' }),
  kalshi('a delta first', 'orderbook_delta', { market_ticker: 'T' }, { sid: 1, seq: 1 }),
  kalshi('no place', 'orderbook_delta', { market_ticker: 'T' }),
  ['no type', 'kalshi', { msg: { ts_ms: AT_MS } }],
  poly('a tick size', { event_type: 'tick_size_change', asset_id: 'T' }),
  poly('another market', { event_type: 'book', asset_id: 'X', bids: [], asks: [] }),
  poly('a refused book', { event_type: 'book', asset_id: 'T', bids: 1, asks: [] }),
  poly('an unknown type', { event_type: 'news' }),
  poly('no type', {}),
  ['the newest of several', 'polymarket', [{ timestamp: '1' }, { timestamp: `${AT_MS}` }, {}]],
  ['too many messages', 'polymarket', Array(10_001).fill({ timestamp: `${AT_MS}` })],
  us('another market', { marketSlug: 'X', bids: [], offers: [] }),
  us('a refused state', { marketSlug: 'T', bids: [], offers: [], state: 'BLUE' }),
  us('refused levels', { marketSlug: 'T', bids: 1 }),
  us('no market', {}),
  ['a refused trade', 'polymarket_us', { trade: { marketSlug: 'T', tradeTime: AT } }],
];

/** An adapter that follows one market, whose sequence has begun. */
function following(name: AdapterName): VenueAdapter {
  const adapter = createAdapter(name);
  adapter.subscribe(['T']);
  if (name === 'native') adapter.read({ type: 'heartbeat', seq: 1 });
  return adapter;
}

for (const [what, name, frame] of CASES) {
  test(`W62: ${name}, ${what}: ${typeOf(frame)} has the time that it states`, (t) => {
    t.is(following(name).read(frame).venueAtMs, AT_MS);
  });

  test(`W62: ${name}, ${what}: ${typeOf(frame)} is taken at its own time`, (t) => {
    const ticks: Tick[] = [];
    const ingest = createIngest({
      marketNumber: () => undefined,
      sink: (tick) => ticks.push(tick),
      timeOf: (venueAtMs, atMs) => venueAtMs ?? atMs,
      log: () => {},
    });
    ingest.session('venue_a', following(name), 0).frame(frame, 5);
    t.true(ticks.length > 0);
    for (const { atMs } of ticks) t.is(atMs, AT_MS);
  });
}

test('W62, W13: the time of a frame that has no price says nothing of lag', (t) => {
  const adapter = following('native');
  const clock = { ms: 1_000 };
  const ingest = createIngest({
    marketNumber: () => 1,
    sink: () => {},
    log: () => {},
    lagMaxMs: 2_000,
    steadyMs: () => clock.ms,
  });
  const connection = ingest.session('venue_a', adapter, 0);
  let seq = 1;
  const take = (fields: object, venueMs: number) => {
    seq += 1;
    return connection.frame({ seq, ...fields, at: new Date(AT_MS + venueMs).toISOString() }, 0);
  };
  const quote = { type: 'quote', market: 'T', yesBidCents: 40, yesBidContracts: 5 };
  t.is(take(quote, 0).drop, undefined);
  t.is(take({ ...quote, yesBidCents: 'x' }, 90_000).drop, undefined, 'refused, far ahead');
  t.is(take({ type: 'heartbeat' }, -90_000).drop, undefined, 'far too late');
  t.is(take(quote, 1).drop, undefined, 'measured by prices alone');
  clock.ms += 5_000;
  t.is(take({ ...quote, yesBidCents: 'x' }, 2).drop, undefined);
  t.truthy(take(quote, 3).drop);
});

function typeOf(frame: unknown): string {
  const { type, event_type } = (frame ?? {}) as { type?: string; event_type?: string };
  return type ?? event_type ?? 'a frame';
}

import test from 'ava';
import { createIngest } from '../../../feeds/ingest/ingest.ts';
import type { IngestLogEvent } from '../../../feeds/ingest/ingest-counters.ts';
import type { VenueAdapter } from '../../../feeds/reading/venue.ts';
import { kalshiAdapter } from '../../../feeds/venues/kalshi/frames.ts';
import { nativeAdapter } from '../../../feeds/venues/native/frames.ts';
import { polymarketAdapter } from '../../../feeds/venues/polymarket/frames.ts';
import { polymarketUsAdapter } from '../../../feeds/venues/polymarket-us/frames.ts';

const UNWANTED = 3_000;

/** Frames of a market, each of a kind that gives a tick where the market is wanted. */
type Frames = (market: string, seq: number) => object[];

const kalshi: Frames = (market_ticker, seq) => {
  const msg = { market_ticker, yes_dollars_fp: [['0.4000', '5.00']] };
  const delta = { market_ticker, price_dollars: '0.4000', delta_fp: '5.00', side: 'yes' };
  const ticker = { market_ticker, yes_bid_dollars: '0.4000', yes_ask_dollars: '0.4200' };
  const yes_price_dollars = '0.4100';
  const trade = { market_ticker, yes_price_dollars, count_fp: '1.00', taker_side: 'yes' };
  return [
    { type: 'ticker', sid: 3, msg: ticker },
    { type: 'orderbook_snapshot', sid: 1, seq: 2 * seq, msg },
    { type: 'orderbook_delta', sid: 1, seq: 2 * seq + 1, msg: delta },
    { type: 'trade', sid: 2, seq, msg: trade },
  ];
};
const native: Frames = (market, seq) => [
  { type: 'snapshot', seq: 2 * seq, market, status: 'open', yesBids: [[41, 5]], yesAsks: [] },
  { type: 'status', seq: 2 * seq + 1, market, status: 'resolved', result: 'yes' },
];
const polymarketUs: Frames = (marketSlug) => [
  { marketData: { marketSlug, bids: [{ px: { value: '0.5' }, qty: '3' }] } },
  { marketDataLite: { marketSlug, bestBid: { value: '0.5' } } },
];

const polymarket: Frames = (asset_id) => [
  { event_type: 'best_bid_ask', asset_id, best_bid: '0.5', best_ask: '0.6' },
  { event_type: 'book', asset_id, bids: [{ price: '0.5', size: '3' }], asks: [] },
  {
    event_type: 'price_change',
    price_changes: [{ asset_id, price: '0.5', size: '4', side: 'BUY' }],
  },
  { event_type: 'last_trade_price', asset_id, price: '0.5', size: '3', side: 'BUY' },
];

const VENUES: [name: string, adapter: () => VenueAdapter, frames: Frames, books: number][] = [
  ['kalshi', kalshiAdapter, kalshi, 1],
  ['native', nativeAdapter, native, 0],
  ['polymarket_us', polymarketUsAdapter, polymarketUs, 0],
  ['polymarket', polymarketAdapter, polymarket, 1],
];

for (const [name, newAdapter, frames, books] of VENUES) {
  test(`B10: ${name} keeps nothing of markets nobody asked for`, (t) => {
    const adapter = newAdapter();
    adapter.subscribe(['T']);
    const logged: IngestLogEvent[] = [];
    const quoted = new Set<number>();
    const ingest = createIngest({
      // The catalog may name what this connection did not ask for.
      marketNumber: (_venue, market) => (market === 'T' ? 7 : 8),
      sink: (tick) => {
        if ('market' in tick) quoted.add(tick.market);
      },
      log: (event) => logged.push(event),
    });
    const connection = ingest.session('venue_a', adapter, 0);
    for (const frame of frames('T', 1)) connection.frame(frame, 0);
    for (let number = 0; number < UNWANTED; number++) {
      for (const frame of frames(`M-${number}`, 2 + number)) connection.frame(frame, 0);
    }
    t.is(adapter.books, books);
    t.deepEqual([...quoted], [7]);
    const { skippedByReason, gaps } = ingest.counts();
    t.deepEqual(skippedByReason, { 'unwanted market': UNWANTED * frames('', 0).length });
    t.is(gaps, 0);
    t.deepEqual(
      logged.map(({ reason }) => reason),
      ['unwanted market'],
    );
  });
}

test('B10: every market of a recording is wanted', (t) => {
  for (const [name, newAdapter, frames] of [
    ['kalshi', () => kalshiAdapter({}, { recorded: true }), kalshi],
    ['native', () => nativeAdapter({ recorded: true }), native],
    ['polymarket_us', () => polymarketUsAdapter({}, { recorded: true }), polymarketUs],
    ['polymarket', () => polymarketAdapter({ recorded: true }), polymarket],
  ] as const) {
    const adapter = newAdapter();
    for (const frame of frames('T', 1)) t.is(adapter.read(frame).rejected, null, name);
  }
});

test('B10: before anything is subscribed to nothing is wanted', (t) => {
  for (const [name, newAdapter, frames] of VENUES) {
    const adapter = newAdapter();
    const read = () => frames('T', 1).map((frame) => adapter.read(frame).rejected);
    t.true(
      read().every((reason) => reason === 'unwanted market'),
      name,
    );
    adapter.subscribe(['T']);
    t.true(
      read().every((reason) => reason === null),
      name,
    );
    adapter.reset();
    t.true(
      read().every((reason) => reason === 'unwanted market'),
      name,
    );
  }
});

/** What venues say of prices that cannot be right, or of trades beside the book, by adapter. */
import test from 'ava';
import type { QuoteTick, Tick } from '../../../engine/rules/messages.ts';
import { createIngest } from '../../../feeds/ingest/ingest.ts';
import type { AdapterName, AdapterOptions } from '../../../feeds/reading/venue.ts';
import { createAdapter } from '../../../feeds/venues/create.ts';

/** A connection that has subscribed to A and B, and what came of its frames. */
function connected(name: AdapterName, options: AdapterOptions = {}) {
  const ticks: Tick[] = [];
  const ingest = createIngest({
    marketNumber: (_venue, market) => ['A', 'B'].indexOf(market),
    sink: (tick) => void ticks.push(structuredClone(tick)),
    log: () => {},
  });
  const adapter = createAdapter(name, {}, options);
  const connection = ingest.session('venue_a', adapter, 0);
  connection.subscribe(['A', 'B'], 0);
  const price = () => {
    const quotes = ticks.filter((tick): tick is QuoteTick => tick.kind === 'quote');
    const { yesBidCents, yesAskCents, unknown } = quotes.at(-1)!;
    return unknown ? 'unknown' : `${yesBidCents}/${yesAskCents}`;
  };
  return { adapter, connection, ingest, ticks, price, counts: () => ingest.counts() };
}

const level = (price: string) => ({ price, size: '10' });
const book = (bids: string[], asks: string[], asset_id = 'A') => {
  return { event_type: 'book', asset_id, bids: bids.map(level), asks: asks.map(level) };
};
const change = (best_bid: string | undefined, best_ask: string | undefined, size = '1') => ({
  event_type: 'price_change',
  price_changes: [{ asset_id: 'A', price: '0.30', size, side: 'BUY', best_bid, best_ask }],
});
const REASON = 'stated best prices contradict the book';

for (const recorded of [false, true]) {
  const how = recorded ? 'played' : 'live';
  test(`B14: Polymarket's stated best prices end a book that has lost an update: ${how}`, (t) => {
    const { adapter, connection, price, counts } = connected('polymarket', { recorded });
    connection.frame(book(['0.45'], ['0.47']), 0);
    connection.frame(change('0.52', '0.53'), 1000);
    connection.frame(change('0.52', '0.53', '2'), 1249);
    t.is(price(), '45/47');
    const { send } = connection.frame(change('0.52', '0.53', '3'), 1250);
    t.is(price(), 'unknown');
    t.is(counts().skippedByReason[REASON], 1);
    t.deepEqual(
      send?.map(({ message }) => (message as { operation: string }).operation),
      recorded ? undefined : ['unsubscribe', 'subscribe'],
    );
    t.is(adapter.awaiting, recorded ? 0 : 1);
    connection.frame(change('0.52', '0.53', '4'), 2000);
    t.is(price(), 'unknown', 'a top alone is no fresh book');
    connection.frame(book(['0.52'], ['0.53']), 2100);
    t.is(price(), '52/53');
    t.is(adapter.awaiting, 0);
  });
}

test('B14: stated prices that agree, are partly stated, or of an empty side, end no book', (t) => {
  const { connection, price, counts } = connected('polymarket');
  connection.frame(book(['0.45'], []), 0);
  for (const [at, stated] of [
    ['0.45', undefined],
    ['0.45', '1'],
    [undefined, undefined],
    ['', ''],
    ['nonsense', '1'],
  ].entries()) {
    connection.frame(change(stated[0], stated[1], `${at + 1}`), 1000 * (at + 1));
  }
  t.is(price(), '45/0');
  t.is(counts().skipped, 0);
  const top = { event_type: 'best_bid_ask', asset_id: 'A', best_bid: '0.45', best_ask: '0.60' };
  connection.frame(top, 10_000);
  connection.frame(change('0.45', '1', '9'), 10_200);
  connection.frame(top, 10_400);
  t.is(price(), '45/0', 'one that agrees came between');
  connection.frame(top, 10_650);
  t.is(price(), 'unknown');
});

test('W101: best prices that are numbers are compared, and are a top without a book', (t) => {
  const { connection, price } = connected('polymarket');
  const stated = (best_bid: number, best_ask: number) => {
    return { event_type: 'best_bid_ask', asset_id: 'A', best_bid, best_ask };
  };
  connection.frame(stated(0.4, 0.45), 0);
  t.is(price(), '40/45');
  connection.frame(book(['0.45'], ['0.47']), 500);
  connection.frame(stated(0.45, 0.47), 1000);
  for (const atMs of [2000, 2250]) connection.frame(stated(0.52, 0.53), atMs);
  t.is(price(), 'unknown');
});

test('B14: the best prices of a frame are those after all of its changes', (t) => {
  const { connection, price } = connected('polymarket');
  connection.frame(book(['0.45', '0.44'], ['0.47']), 0);
  const both = (bid: string, old: string) => ({
    event_type: 'price_change',
    price_changes: [
      { asset_id: 'A', price: old, size: '0', side: 'BUY', best_bid: bid, best_ask: '0.47' },
      { asset_id: 'A', price: bid, size: '5', side: 'BUY', best_bid: bid, best_ask: '0.47' },
    ],
  });
  connection.frame(both('0.46', '0.45'), 1000);
  connection.frame(both('0.43', '0.46'), 2000);
  connection.frame({ ...both('0.43', '0.44') }, 3000);
  t.is(price(), '43/47');
});

const snapshot = (yes: string[], no: string[], seq = 1) => ({
  type: 'orderbook_snapshot',
  sid: 1,
  seq,
  msg: {
    market_ticker: 'A',
    yes_dollars_fp: yes.map((price) => [price, '10.00']),
    no_dollars_fp: no.map((price) => [price, '10.00']),
  },
});
const ticker = (fields: object) => ({
  type: 'ticker',
  sid: 9,
  msg: { market_ticker: 'A', ...fields },
});
const lifecycle = (event_type: string, fields: object) => {
  return {
    type: 'market_lifecycle_v2',
    sid: 3,
    msg: { event_type, market_ticker: 'A', ...fields },
  };
};

test("B14, W80: Kalshi's tickers end a book that they contradict, and its snapshot is asked for", (t) => {
  const { adapter, connection, price, counts } = connected('kalshi');
  connection.frame(snapshot(['0.4500'], ['0.5300']), 0);
  const right = { yes_bid_dollars: '0.4500', yes_ask_dollars: '0.4700' };
  const wrong = { yes_bid_dollars: '0.5200', yes_ask_dollars: '0.5300' };
  connection.frame(ticker(wrong), 1000);
  connection.frame(ticker(right), 1100);
  connection.frame(ticker(wrong), 1300);
  connection.frame(ticker({ yes_bid: 52, yes_ask: 53 }), 2000);
  t.is(price(), '45/47', 'whole cents alone say nothing of a finer book');
  const { send } = connection.frame(ticker(wrong), 1600);
  t.is(price(), 'unknown');
  t.like(send?.[0]?.message, {
    cmd: 'update_subscription',
    params: { sids: [1], market_tickers: ['A'], action: 'get_snapshot' },
  });
  t.is(adapter.awaiting, 1);
  connection.frame(ticker(wrong), 1700);
  t.is(price(), 'unknown', 'a ticker brings no book');
  connection.frame(snapshot(['0.5200'], ['0.4700'], 2), 1800);
  t.is(price(), '52/53');
  t.is(adapter.awaiting, 0);
  t.is(counts().skippedByReason[REASON], 1);
});

test('B16, W84: levels off a new tick size of Polymarket go, and the book is asked for', (t) => {
  const { adapter, connection, price } = connected('polymarket');
  connection.frame(book(['0.941', '0.93'], ['0.945', '0.95']), 0);
  const regrid = (size: unknown) => {
    return { event_type: 'tick_size_change', asset_id: 'A', new_tick_size: size };
  };
  const { send } = connection.frame(regrid('0.01'), 1000);
  t.is(price(), '93/95');
  t.is(send?.length, 2);
  t.is(adapter.awaiting, 1);
  connection.frame(book(['0.93'], ['0.94']), 1100);
  t.is(price(), '93/94');
  connection.frame(regrid('none'), 1200);
  t.is(price(), 'unknown', 'nobody knows the grid');
});

test('B16, W81: levels off a new grid of Kalshi go, and the book is asked for', (t) => {
  const range = (start: string, end: string, step: string) => ({ start, end, step });
  const whole = [range('0.0000', '1.0000', '0.0100')];
  const tapered = [
    range('0.0000', '0.1000', '0.0010'),
    range('0.1000', '0.9000', '0.0100'),
    range('0.9000', '1.0000', '0.0010'),
  ];
  for (const [fields, expected] of [
    [{ price_ranges: whole }, '93/96'],
    [{ price_ranges: tapered }, '94/96'],
    [{ price_level_structure: 'linear_cent' }, '93/96'],
    [{ price_level_structure: 'unheard_of' }, '94/96'],
  ] as const) {
    const { connection, price, adapter } = connected('kalshi');
    connection.frame(snapshot(['0.9410', '0.9300'], ['0.0450', '0.0400']), 0);
    const { send } = connection.frame(lifecycle('price_level_structure_updated', fields), 1000);
    t.is(price(), expected);
    t.is(send?.length, 1);
    t.is(adapter.awaiting, 1);
  }
});

test('B16, W34: a new grid is asked for even if the frame shows a gap in the life cycle', (t) => {
  const { connection } = connected('kalshi');
  connection.frame(snapshot(['0.9410'], ['0.0450']), 0);
  connection.frame({ ...lifecycle('activated', {}), seq: 1 }, 1000);
  const fields = { price_level_structure: 'linear_cent' };
  const frame = { ...lifecycle('price_level_structure_updated', fields), seq: 3 };
  const { send, missedStates } = connection.frame(frame, 2000);
  t.like(send, [{ message: { params: { action: 'get_snapshot', market_tickers: ['A'] } } }]);
  t.true(missedStates);
});

test('W82: a block trade of Kalshi is no trade of the market, and is counted', (t) => {
  const trade = (is_block_trade: boolean) => {
    const prices = { yes_price_dollars: '0.8000', no_price_dollars: '0.2000' };
    const rest = { count_fp: '50000.00', taker_side: 'yes', is_block_trade };
    return { type: 'trade', sid: 2, msg: { market_ticker: 'A', ...prices, ...rest } };
  };
  const { connection, ticks, counts } = connected('kalshi', { recorded: true });
  connection.frame(trade(true), 1000);
  t.deepEqual(
    ticks.map(({ kind }) => kind),
    ['heartbeat'],
  );
  t.is(counts().skippedByReason['block trade'], 1);
  connection.frame(trade(false), 2000);
  t.is(ticks.at(-2)?.kind, 'trade');
});

test('W83: Kalshi says when a market closes, in its life cycle and by REST', (t) => {
  const { connection, ticks, counts } = connected('kalshi', { recorded: true });
  const moved = { close_ts: 1_795_780_800 };
  connection.frame(lifecycle('close_date_updated', moved), 1000);
  t.like(ticks[0], { kind: 'closing', market: 0, closesAtMs: 1_795_780_800_000 });
  for (const close_ts of ['soon', -1, undefined, 1e15]) {
    connection.frame(lifecycle('close_date_updated', { close_ts }), 1000);
  }
  t.is(counts().skippedByReason['unreadable close_ts'], 4);
  const [request] = createAdapter('kalshi').stateRequests!(new URL('http://venue'), ['A']);
  const close_time = '2026-11-26T12:00:00Z';
  const answer = { markets: [{ ticker: 'A', status: 'active', close_time }] };
  t.deepEqual(request!.read(answer), [
    { kind: 'closing', market: 'A', closesAtMs: Date.parse(close_time) },
    { kind: 'status', market: 'A', status: 'open' },
  ]);
});

test('W85: no time closes a token of which Polymarket shows a book', (t) => {
  const { connection, ticks } = connected('polymarket');
  connection.frame(book(['0.45'], ['0.47']), 0);
  connection.frame(book(['0.46'], ['0.47']), 1);
  const top = { event_type: 'best_bid_ask', asset_id: 'B', best_bid: '0.45', best_ask: '0.60' };
  connection.frame(top, 2);
  t.deepEqual(
    ticks.flatMap((tick) => (tick.kind === 'closing' ? [[tick.market, tick.closesAtMs]] : [])),
    [
      [0, null],
      [1, null],
    ],
  );
});

test('W86: Polymarket US hears from its client every 30 s, and renews a subscription', (t) => {
  const adapter = createAdapter('polymarket_us');
  t.deepEqual(adapter.keepalive, { text: '{"keep_alive":{}}', everyMs: 30_000 });
  adapter.subscribe(['A', 'B']);
  const [ended, renewed] = adapter.ask(['A']);
  t.deepEqual(ended, { unsubscribe: { requestId: 'book-1' } });
  t.like(renewed, { subscribe: { requestId: 'book-2', marketSlugs: ['A', 'B'] } });
});

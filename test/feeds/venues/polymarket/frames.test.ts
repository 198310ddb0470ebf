import test from 'ava';
import fc from 'fast-check';
import type { FrameReading, VenueAdapter } from '../../../../feeds/reading/venue.ts';
import { polymarketAdapter } from '../../../../feeds/venues/polymarket/frames.ts';
import { openWorld } from '../../feed-world.ts';
import { goldenLines, jsonLines, sharedData } from '../../golden.ts';
import { POLYMARKET } from '../../live-venues.ts';
import { until } from '../../until.ts';
import { TIMING } from '../../venue-server.ts';

const TOP = { bid: 40, ask: 45 };
const recorded = sharedData('venue-messages');
const recordedTest = recorded.present ? test : test.skip;

function live(...tokens: string[]): VenueAdapter {
  const adapter = polymarketAdapter();
  adapter.subscribe(tokens);
  return adapter;
}

const level = (price: string, size: string) => ({ price, size });
const book = (asset_id: string, bids: object[], asks: object[]) => {
  return { event_type: 'book', asset_id, market: '0xc', timestamp: '1706000000000', bids, asks };
};

/** The top as `bid x size / ask x size`, one for each book tick. */
function topsOf({ ticks }: FrameReading): string[] {
  return ticks.flatMap((tick) => {
    if (tick.kind !== 'book') return [];
    const { market, yesBid, yesBidSize, yesAsk, yesAskSize } = tick;
    return [`${market} ${yesBid} x ${yesBidSize} / ${yesAsk} x ${yesAskSize}`];
  });
}

test('W50: the first subscription has a type, later ones an operation', (t) => {
  const adapter = polymarketAdapter();
  const feature = { custom_feature_enabled: true };
  t.deepEqual(adapter.subscribe([]), []);
  t.deepEqual(adapter.subscribe(['1']), [{ assets_ids: ['1'], type: 'market', ...feature }]);
  t.deepEqual(adapter.subscribe(['2', '3']), [
    { assets_ids: ['2', '3'], operation: 'subscribe', ...feature },
  ]);
  adapter.reset();
  t.deepEqual(adapter.subscribe(['1']), [{ assets_ids: ['1'], type: 'market', ...feature }]);
  t.deepEqual(adapter.headers(0), {});
});

test('W50, W17: more tokens than a connection may have get another one', async (t) => {
  const venue = await POLYMARKET.open(t);
  const tokens = Array.from({ length: 1_001 }, (_, number) => `${number}`);
  for (const token of tokens) venue.tops.set(token, TOP);
  const world = openWorld(t, POLYMARKET, venue);
  await until(() => tokens.every((token) => world.priceOf(token) !== null), 'every price');
  const counts = venue.received.map(({ text }) => JSON.parse(text).assets_ids.length);
  t.deepEqual(counts.sort(), [1, 500, 500]);
  t.is(world.feed.statuses().length, 3);

  world.markets = tokens.slice(0, 500);
  world.changed();
  t.is(world.feed.statuses().length, 1, 'connections without a market end');
  venue.tops.set('new', TOP);
  world.markets = [...tokens.slice(1, 500), 'new'];
  world.changed();
  await until(() => world.priceOf('new') !== null, 'a place that has become free');
  t.is(world.feed.statuses().length, 1);
});

test('W50: PING is sent as a text, and PONG is a heartbeat', async (t) => {
  const venue = await POLYMARKET.open(t);
  venue.tops.set('A', TOP);
  const adapter = Object.assign(polymarketAdapter(), {
    keepalive: { text: 'PING', everyMs: 20 },
  });
  t.deepEqual(polymarketAdapter().keepalive, { text: 'PING', everyMs: 10_000 });
  const timing = { ...TIMING, silenceMs: 2_000 };
  const world = openWorld(t, POLYMARKET, venue, { newAdapter: () => adapter, timing });
  await until(() => venue.received.filter(({ text }) => text === 'PING').length > 2, 'PINGs');
  await until(() => world.ticks.filter(({ kind }) => kind === 'heartbeat').length > 2, 'PONGs');
  t.is(world.ingest.counts().skipped, 0);
});

for (const { rule, frame, reading } of goldenLines('polymarket')) {
  test(`golden: ${rule}`, (t) => {
    const adapter = live('111', '222');
    adapter.read(book('111', [level('0.40', '10')], [level('0.45', '20')]));
    t.deepEqual(adapter.read(frame), reading);
  });
}

test('W55: whoever buys the token takes yes, who sells it takes no', (t) => {
  const trade = { event_type: 'last_trade_price', asset_id: 'A', price: '0.456', size: '2.5' };
  const taken = (side: string) => live('A').read({ ...trade, side }).ticks;
  const tick = { kind: 'trade', market: 'A', yesPrice: 4560, size: 250 } as const;
  t.deepEqual(taken('BUY'), [{ ...tick, takerSide: 'yes' }]);
  t.deepEqual(taken('SELL'), [{ ...tick, takerSide: 'no' }]);
});

test('W52: a book replaces the one before, whatever the order of its levels', (t) => {
  const adapter = live('A');
  const worstFirst = book('A', [level('0.1', '1'), level('0.41', '7.5')], [level('.45', '3')]);
  t.deepEqual(topsOf(adapter.read(worstFirst)), ['A 4100 x 750 / 4500 x 300']);
  const bestFirst = book('A', [level('0.3', '2'), level('0.1', '1')], []);
  t.deepEqual(topsOf(adapter.read(bestFirst)), ['A 3000 x 200 / null x 0']);
  t.is(adapter.books, 1);
});

test('W53: the venue takes levels away with size 0, in each of its forms', (t) => {
  const changes = [
    {
      event_type: 'price_change',
      price_changes: [{ asset_id: 'A', price: '0.40', size: '0', side: 'BUY' }],
    },
    {
      event_type: 'price_change',
      asset_id: 'A',
      changes: [{ price: '0.40', size: '0', side: 'BUY' }],
    },
    { event_type: 'price_change', asset_id: 'A', price: '0.40', size: '0', side: 'BUY' },
  ];
  for (const change of changes) {
    const adapter = live('A');
    const bids = [level('0.39', '5'), level('0.40', '10')];
    adapter.read(book('A', bids, [level('0.45', '20')]));
    t.deepEqual(topsOf(adapter.read(change)), ['A 3900 x 500 / 4500 x 2000']);
  }
});

test('W53: of both tokens in one message, those not subscribed to are passed over', (t) => {
  const adapter = live('A');
  adapter.read(book('A', [level('0.40', '10')], [level('0.45', '20')]));
  const change = (asset_id: string, side: string, price: string) => {
    return { asset_id, price, size: '7', side };
  };
  const both = [change('A', 'SELL', '0.43'), change('Z', 'BUY', '0.57')];
  const reading = adapter.read({ event_type: 'price_change', price_changes: both });
  t.deepEqual(topsOf(reading), ['A 4000 x 1000 / 4300 x 700']);
  t.is(reading.rejected, null);
  const other = { event_type: 'price_change', price_changes: [change('Z', 'BUY', '0.57')] };
  t.is(adapter.read(other).rejected, 'unwanted market');
});

test('W53: a change that cannot be read loses the book, which is subscribed to again', (t) => {
  const adapter = live('A');
  adapter.read(book('A', [level('0.40', '10')], [level('0.45', '20')]));
  const bad = [{ asset_id: 'A', price: '0.40', size: '-1', side: 'BUY' }];
  const reading = adapter.read({ event_type: 'price_change', price_changes: bad });
  t.deepEqual(topsOf(reading), ['A null x 0 / null x 0']);
  t.deepEqual(
    reading.send?.map(({ message }) => (message as { operation: string }).operation),
    ['unsubscribe', 'subscribe'],
  );
  t.is(adapter.books, 0);
  const good = [{ asset_id: 'A', price: '0.40', size: '1', side: 'BUY' }];
  const next = adapter.read({ event_type: 'price_change', price_changes: good });
  t.deepEqual([next.rejected, next.ticks], ['change before a book', []]);
});

test('W53: all that the changes of one frame say of a token counts, in any order', (t) => {
  const good = { asset_id: 'A', price: '0.41', size: '1', side: 'BUY' };
  const bad = { ...good, size: '-1' };
  const { asset_id: _, ...nameless } = good;
  for (const changes of [
    [bad, good],
    [good, bad],
    [bad, bad],
    [good, nameless],
    [null, good],
  ]) {
    const adapter = live('A', 'B');
    for (const token of ['A', 'B']) {
      adapter.read(book(token, [level('0.40', '10')], [level('0.45', '20')]));
    }
    const frame = { event_type: 'price_change', price_changes: changes };
    const reading = adapter.read(frame);
    const said = JSON.stringify(changes);
    t.deepEqual(topsOf(reading), ['A null x 0 / null x 0'], said);
    t.regex(reading.rejected ?? '', /^(unreadable|no asset_id)/, said);
    t.is(reading.send?.length, 2, said);
    t.is(adapter.books, 1, 'the book of the other token stays');
  }
  const adapter = live('A');
  const none = adapter.read({ event_type: 'price_change', price_changes: [nameless] });
  t.deepEqual([none.rejected, none.ticks, none.send], ['no asset_id', [], undefined]);
  const top = (best_bid: string) => ({ ...good, best_bid, best_ask: '0.50' });
  const tops = { event_type: 'price_change', price_changes: [top('0.41'), top('0.42')] };
  const { ticks } = adapter.read(tops);
  t.deepEqual(ticks.map(({ kind }) => kind).sort(), ['book', 'closing'], 'W85: it is kept');
  t.like(
    ticks.find(({ kind }) => kind === 'book'),
    { yesBid: 4200 },
  );
});

test('W54: a token without a book has the top that the venue states', (t) => {
  const adapter = live('A');
  const top = { event_type: 'best_bid_ask', asset_id: 'A', best_bid: '0.73', best_ask: '0.77' };
  t.deepEqual(topsOf(adapter.read(top)), ['A 7300 x 0 / 7700 x 0']);
  const change = { asset_id: 'A', price: '0.2', size: '5', side: 'BUY' };
  const stated = { ...change, best_bid: '0.74', best_ask: '0.77' };
  const message = { event_type: 'price_change', price_changes: [stated] };
  t.deepEqual(topsOf(adapter.read(message)), ['A 7400 x 0 / 7700 x 0']);
  adapter.read(book('A', [level('0.40', '10')], [level('0.45', '20')]));
  t.deepEqual(adapter.read(top).ticks, []);
});

test('W51: an array is one frame, with all that its messages say', (t) => {
  const adapter = live('A', 'B');
  const reading = adapter.read([
    book('A', [level('0.40', '10')], []),
    { ...book('B', [], [level('0.45', '20')]), timestamp: '1706000000900' },
    { event_type: 'last_trade_price', asset_id: 'A', price: '0.4', size: '2', side: 'SELL' },
  ]);
  t.deepEqual(topsOf(reading), ['A 4000 x 1000 / null x 0', 'B null x 0 / 4500 x 2000']);
  t.deepEqual(reading.ticks.at(-1), {
    kind: 'trade',
    market: 'A',
    yesPrice: 4000,
    size: 200,
    takerSide: 'no',
  });
  t.is(reading.venueAtMs, 1_706_000_000_900);
});

test('W56: a resolved market is yes for its winner, and no for the other token', (t) => {
  const adapter = live('A', 'B');
  const frame = { event_type: 'market_resolved', assets_ids: ['A', 'B'], winning_asset_id: 'B' };
  t.deepEqual(
    adapter.read(frame).ticks.map((tick) => tick.kind === 'result' && [tick.market, tick.outcome]),
    [
      ['B', 'yes'],
      ['A', 'no'],
    ],
  );
  t.deepEqual(live('Z').read(frame).ticks, []);
});

test('W71: a market that is resolved without a winner is over, and asked for', (t) => {
  const frame = { event_type: 'market_resolved', assets_ids: ['A', 'B'] };
  for (const winner of [undefined, null, '', 7, 'C']) {
    const message = { ...frame, winning_asset_id: winner };
    for (const reading of [live('A').read(message), live('A').read([message])]) {
      t.regex(reading.rejected ?? '', /winning_asset_id/);
      t.like(reading.ticks, [{ kind: 'status', market: 'A', status: 'closed' }]);
      t.deepEqual(reading.missedStates, ['A']);
    }
  }
  const { ticks, rejected } = live('A').read({ event_type: 'market_resolved' });
  t.deepEqual([ticks, rejected], [[], 'no winning_asset_id']);
});

recordedTest('W52, W55: every recorded book and trade is read', (t) => {
  const adapter = polymarketAdapter({ recorded: true });
  const books = jsonLines(new URL('polymarket_book.jsonl', recorded.dir));
  for (const frame of books) {
    const reading = adapter.read(frame);
    t.is(reading.rejected, null);
    const frames = (Array.isArray(frame) ? frame : [frame]) as {
      bids: { price: string }[];
      asks: { price: string }[];
    }[];
    const prices = (side: 'bids' | 'asks') => frames[0]![side].map(({ price }) => Number(price));
    const best = (list: number[], pick: (...all: number[]) => number) =>
      list.length === 0 ? null : Math.round(pick(...list) * 10_000);
    const [tick] = reading.ticks;
    t.like(tick, {
      kind: 'book',
      yesBid: best(prices('bids'), Math.max),
      yesAsk: best(prices('asks'), Math.min),
    });
  }
  const trades = jsonLines(new URL('polymarket_trade.jsonl', recorded.dir));
  for (const frame of trades) {
    const { ticks, rejected, venueAtMs } = adapter.read(frame);
    t.is(rejected, null);
    t.is(ticks[0]?.kind, 'trade');
    t.true(venueAtMs !== null && venueAtMs > 1_770_000_000_000);
  }
});

test('W53: the book from changes equals a naive one', (t) => {
  const change = fc.record({
    side: fc.constantFrom('BUY', 'SELL'),
    cents: fc.integer({ min: 1, max: 99 }),
    size: fc.integer({ min: 0, max: 300 }),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
      const adapter = polymarketAdapter({ recorded: true });
      adapter.read(book('A', [], []));
      const naive = { BUY: new Map<number, number>(), SELL: new Map<number, number>() };
      for (const { side, cents, size } of changes) {
        const one = { asset_id: 'A', price: String(cents / 100), size: String(size), side };
        const reading = adapter.read({ event_type: 'price_change', price_changes: [one] });
        naive[side as 'BUY'].set(cents, size);
        const there = (side: 'BUY' | 'SELL') =>
          [...naive[side]].filter(([, left]) => left > 0).map(([price]) => price);
        const bid = there('BUY').length === 0 ? null : Math.max(...there('BUY')) * 100;
        const ask = there('SELL').length === 0 ? null : Math.min(...there('SELL')) * 100;
        t.like(reading.ticks[0], { kind: 'book', yesBid: bid, yesAsk: ask });
      }
    }),
  );
});

test('B9: a timestamp that no text can be made of is no time', (t) => {
  const timestamp = { toString: 0, valueOf: 0 };
  const { venueAtMs, rejected } = live('A').read({ event_type: 'x', timestamp });
  t.deepEqual([venueAtMs, rejected === null], [null, false]);
});

test('B9: garbage frames are rejected and never throw', (t) => {
  const message = fc.record(
    {
      event_type: fc.oneof(
        fc.constantFrom('book', 'price_change', 'best_bid_ask', 'market_resolved', 'x'),
        fc.jsonValue(),
      ),
      asset_id: fc.oneof(fc.constant('A'), fc.jsonValue()),
      bids: fc.jsonValue(),
      asks: fc.array(fc.record({ price: fc.jsonValue(), size: fc.jsonValue() })),
      price_changes: fc.oneof(fc.array(fc.jsonValue()), fc.jsonValue()),
      changes: fc.jsonValue(),
      price: fc.jsonValue(),
      best_bid: fc.jsonValue(),
      assets_ids: fc.jsonValue(),
      winning_asset_id: fc.jsonValue(),
      timestamp: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  const frame = fc.oneof(fc.jsonValue(), message, fc.array(message));
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 20 }), (frames) => {
      for (const adapter of [live('A'), polymarketAdapter({ recorded: true, depth: true })]) {
        for (const one of frames) t.is(typeof adapter.read(one).type, 'string');
      }
    }),
  );
});

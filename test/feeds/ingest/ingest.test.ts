import test from 'ava';
import fc from 'fast-check';
import type { Tick } from '../../../engine/rules/messages.ts';
import { createIngest } from '../../../feeds/ingest/ingest.ts';
import type { IngestLogEvent } from '../../../feeds/ingest/ingest-counters.ts';
import type { VenueAdapter } from '../../../feeds/reading/venue.ts';
import { kalshiAdapter } from '../../../feeds/venues/kalshi/frames.ts';
import { nativeAdapter } from '../../../feeds/venues/native/frames.ts';
import { polymarketUsAdapter } from '../../../feeds/venues/polymarket-us/frames.ts';

const SOURCE = 3;
const AT = 1_783_880_000_000;
/** No subscription to answer to and no sequence to keep. */
const RECORDED = { recorded: true };

function world() {
  const ticks: Tick[] = [];
  const logged: IngestLogEvent[] = [];
  const ingest = createIngest({
    marketNumber: (venue, id) => (venue === 'venue_a' && id === 'T' ? 7 : undefined),
    sink: (tick) => ticks.push(tick),
    log: (event) => logged.push(event),
  });
  const taken = () => ticks.splice(0);
  return { ingest, taken, logged };
}

function lite(bid: string | null, ask: string | null) {
  const amount = (value: string | null) => (value === null ? null : { value });
  return { marketDataLite: { marketSlug: 'T', bestBid: amount(bid), bestAsk: amount(ask) } };
}

/** As on a live connection. */
function subscribed(adapter: VenueAdapter): VenueAdapter {
  adapter.subscribe(['T']);
  return adapter;
}

const heartbeat: Tick = { kind: 'heartbeat', atMs: AT, source: SOURCE };
const down: Tick = { kind: 'down', atMs: AT, source: SOURCE };
const place = { atMs: AT, source: SOURCE, market: 7 };

test('B2, M40: bids round down, asks up, and outside 1..99 is none', (t) => {
  const { ingest, taken } = world();
  const connection = ingest.session('venue_a', polymarketUsAdapter({}, RECORDED), SOURCE);
  const centsOf = (bid: string | null, ask: string | null) => {
    connection.frame(lite(bid, ask), AT);
    const [tick] = taken();
    return tick?.kind === 'quote' ? [tick.yesBidCents, tick.yesAskCents, tick.crossed] : tick;
  };
  t.deepEqual(centsOf('0.475', '0.48'), [47, 48, false]);
  t.deepEqual(centsOf('0.4701', '0.4799'), [47, 48, false]);
  t.deepEqual(centsOf('0.0099', '0.9901'), [0, 0, false]);
  t.deepEqual(centsOf('0.01', '0.99'), [1, 99, false]);
  t.deepEqual(centsOf(null, '0.5'), [0, 50, false]);
  t.deepEqual(centsOf('0.995', null), [99, 0, false]);
});

test("B6: crossed is judged on the venue's own prices", (t) => {
  const { ingest, taken } = world();
  const connection = ingest.session('venue_a', polymarketUsAdapter({}, RECORDED), SOURCE);
  const crossed = (bid: string | null, ask: string | null) => {
    connection.frame(lite(bid, ask), AT);
    const [tick] = taken();
    return tick?.kind === 'quote' && tick.crossed;
  };
  t.true(crossed('0.48', '0.48'));
  t.true(crossed('0.486', '0.485')); // 48 and 49 after rounding
  t.false(crossed('0.485', '0.486'));
  t.false(crossed('0.48', null));
  t.false(crossed(null, null));
});

test('B4: sizes are whole contracts, of prices that are shown', (t) => {
  const { ingest, taken } = world();
  const connection = ingest.session('venue_a', kalshiAdapter({}, RECORDED), SOURCE);
  const msg = {
    market_ticker: 'T',
    yes_dollars_fp: [['0.4050', '12.99']],
    no_dollars_fp: [['0.0010', '5.00']],
  };
  connection.frame({ type: 'orderbook_snapshot', sid: 1, seq: 1, msg }, AT);
  t.deepEqual(taken(), [
    {
      kind: 'quote',
      ...place,
      yesBidCents: 40,
      yesBidContracts: 12,
      yesAskCents: 0, // 0.999 rounds up to 100
      yesAskContracts: 0,
      crossed: false,
    },
  ]);
});

test('B3: a trade rounds against its taker', (t) => {
  const { ingest, taken } = world();
  const connection = ingest.session('venue_a', kalshiAdapter({}, RECORDED), SOURCE);
  const trade = (yes_price_dollars: string, taker_side: string) => {
    const msg = { market_ticker: 'T', yes_price_dollars, count_fp: '46.99', taker_side };
    connection.frame({ type: 'trade', msg }, AT);
    return taken();
  };
  const tick = { kind: 'trade', ...place, contracts: 46 } as const;
  t.deepEqual(trade('0.6810', 'yes'), [{ ...tick, yesPriceCents: 69, side: 'yes' }, heartbeat]);
  t.deepEqual(trade('0.6890', 'no'), [{ ...tick, yesPriceCents: 68, side: 'no' }, heartbeat]);
  t.deepEqual(trade('0.9910', 'yes'), [heartbeat]);
  t.deepEqual(ingest.counts().skippedByReason, { 'trade price outside 1..99': 1 });
});

test('B8: what one contract of each side receives', (t) => {
  const { ingest, taken } = world();
  const connection = ingest.session('venue_a', nativeAdapter(RECORDED), SOURCE);
  const payouts = (fields: object) => {
    connection.frame({ type: 'status', market: 'T', status: 'resolved', ...fields }, AT);
    const [tick, second] = taken();
    t.deepEqual(second, heartbeat);
    if (tick?.kind !== 'result') return tick;
    return [tick.outcome, tick.yesPayoutCents, tick.noPayoutCents];
  };
  t.deepEqual(payouts({ result: 'yes' }), ['yes', 100, 0]);
  t.deepEqual(payouts({ result: 'no' }), ['no', 0, 100]);
  t.deepEqual(payouts({ result: 'void' }), ['void', 0, 0]);
  t.deepEqual(payouts({ settlementValue: '0.64' }), ['scalar', 64, 36]);
  t.deepEqual(payouts({ settlementValue: '0.645' }), ['scalar', 64, 35]);
  t.deepEqual(payouts({ settlementValue: '0.0001' }), ['scalar', 0, 99]);
});

test('N7, W72: a native settlementValue has as many decimals as any venue states', (t) => {
  const { ingest, taken } = world();
  const connection = ingest.session('venue_a', nativeAdapter(RECORDED), SOURCE);
  const payouts = (fields: object) => {
    connection.frame({ type: 'status', market: 'T', status: 'resolved', ...fields }, AT);
    const [tick] = taken();
    if (tick?.kind !== 'result') return tick;
    return [tick.outcome, tick.yesPayoutCents, tick.noPayoutCents];
  };
  t.deepEqual(payouts({ settlementValue: '0.3333333333333333' }), ['scalar', 33, 66]);
  t.deepEqual(payouts({ settlementValue: '0.64555' }), ['scalar', 64, 35]);
  t.deepEqual(payouts({ settlementValue: '1.0000000000' }), ['yes', 100, 0]);
  t.deepEqual(payouts({ result: 'yes', settlementValue: '1.00000000' }), ['yes', 100, 0]);
  t.like(payouts({ settlementValue: '1.00000001' }), { kind: 'status', status: 'closed' });
});

test('T13: every frame is a sign of life', (t) => {
  const { ingest, taken } = world();
  const connection = ingest.session('venue_a', nativeAdapter(RECORDED), SOURCE);
  connection.frame('{"type":"heartbeat"}', AT);
  t.deepEqual(taken(), [heartbeat]);
  connection.frame('no json', AT);
  t.deepEqual(taken(), [heartbeat]);
  connection.frame({ type: 'game', game: 'g', status: 'final' }, AT);
  const game: Tick = { kind: 'game', atMs: AT, source: SOURCE, game: 'g', status: 'final' };
  t.deepEqual(taken(), [game, heartbeat]);
  connection.frame({ type: 'status', market: 'T', status: 'paused' }, AT);
  t.deepEqual(taken(), [{ kind: 'status', ...place, status: 'paused' }, heartbeat]);
  connection.heartbeat(AT);
  t.deepEqual(taken(), [heartbeat]);
});

test('W34: a live gap ends the quotes and books of its subscription alone', (t) => {
  const { ingest, taken } = world();
  const adapter = subscribed(kalshiAdapter());
  const connection = ingest.session('venue_a', adapter, SOURCE);
  const delta = { market_ticker: 'T', price_dollars: '0.4000', delta_fp: '5.00', side: 'yes' };
  connection.frame({ type: 'orderbook_snapshot', sid: 1, seq: 1, msg: delta }, AT);
  taken();
  const reading = connection.frame({ type: 'orderbook_delta', sid: 1, seq: 3, msg: delta }, AT);
  t.true(reading.jump);
  t.is(reading.drop, undefined);
  const none = { yesBidContracts: 0, yesAskContracts: 0, yesBidCents: 0, yesAskCents: 0 };
  t.deepEqual(taken(), [{ kind: 'quote', ...place, ...none, crossed: false, unknown: true }]);
  connection.frame({ type: 'orderbook_delta', sid: 1, seq: 4, msg: delta }, AT);
  t.deepEqual(taken(), [heartbeat]); // nothing to stand on until a fresh snapshot
  connection.frame({ type: 'orderbook_snapshot', sid: 1, seq: 5, msg: delta }, AT);
  t.is(taken()[0]?.kind, 'quote');
  t.is(ingest.counts().gaps, 1);
});

test('B12: what a gap frame says besides prices is kept', (t) => {
  const { ingest, taken } = world();
  const connection = ingest.session('venue_a', subscribed(nativeAdapter()), SOURCE);
  connection.frame({ type: 'heartbeat', seq: 1 }, AT);
  taken();
  const resolved = { type: 'status', market: 'T', status: 'resolved', result: 'yes' };
  connection.frame({ ...resolved, seq: 5 }, AT);
  const result = { kind: 'result', outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
  t.deepEqual(taken(), [
    { ...down, reason: 'sequence_gap' },
    { ...place, ...result },
  ]);
});

test('F8: jumps inside a recording are not gaps', (t) => {
  const { ingest, taken } = world();
  const connection = ingest.session('venue_a', kalshiAdapter({}, RECORDED), SOURCE);
  const delta = { market_ticker: 'T', price_dollars: '0.4000', delta_fp: '5.00', side: 'yes' };
  connection.frame({ type: 'orderbook_snapshot', sid: 1, seq: 1, msg: delta }, AT);
  connection.frame({ type: 'orderbook_delta', sid: 1, seq: 9, msg: delta }, AT);
  const kinds = taken().map(({ kind }) => kind);
  t.deepEqual(kinds, ['quote', 'quote']);
});

test('T14: a lost connection ends its quotes and books', (t) => {
  const { ingest, taken } = world();
  const connection = ingest.session('venue_a', kalshiAdapter({}, RECORDED), SOURCE);
  connection.frame({ type: 'orderbook_snapshot', msg: { market_ticker: 'T' } }, AT);
  taken();
  connection.lost(AT);
  t.deepEqual(taken(), [down]);
  const delta = { market_ticker: 'T', price_dollars: '0.4000', delta_fp: '5.00', side: 'yes' };
  const reading = connection.frame({ type: 'orderbook_delta', msg: delta }, AT);
  t.is(reading.rejected, 'delta before snapshot');
});

test('B9: unknown markets and bad frames are counted, and logged once', (t) => {
  const { ingest, taken, logged } = world();
  const connection = ingest.session('venue_b', nativeAdapter(RECORDED), SOURCE);
  const quote = { type: 'quote', market: 'U', yesBidCents: 41, yesBidContracts: 1 };
  for (let round = 0; round < 3; round++) {
    connection.frame(quote, AT);
    connection.frame('{"type":', AT);
    connection.frame({ type: 'weather' }, AT);
  }
  t.true(taken().every(({ kind }) => kind === 'heartbeat'));
  t.deepEqual(ingest.counts(), {
    frames: 9,
    framesByType: { quote: 3, unreadable: 3, weather: 3 },
    ticks: 0,
    skipped: 9,
    skippedByReason: { 'unknown market': 3, 'not JSON': 3, 'unknown type': 3 },
    unknownMarkets: 3,
    gaps: 0,
  });
  t.deepEqual(logged, [
    { level: 'warn', reason: 'unknown market', detail: 'venue_b/U' },
    { level: 'warn', reason: 'not JSON', detail: 'venue_b native unreadable' },
    { level: 'warn', reason: 'unknown type', detail: 'venue_b native weather' },
  ]);
});

test('B9: a flood of different problems fills neither log nor memory', (t) => {
  const { ingest, logged } = world();
  const connection = ingest.session('venue_a', nativeAdapter(RECORDED), SOURCE);
  for (let number = 0; number < 500; number++) {
    connection.frame({ type: `type ${number}`, market: 'T' }, AT);
    connection.frame({ type: 'status', market: `market ${number}`, status: 'open' }, AT);
  }
  t.is(logged.length, 101);
  t.is(logged.at(-1)!.detail, 'further ones are only counted');
  const { framesByType, skippedByReason, unknownMarkets } = ingest.counts();
  t.is(Object.keys(framesByType).length, 101);
  t.is(framesByType.other, 401); // all but 99 of the made-up types; `status` came among the first
  t.deepEqual(skippedByReason, { 'unknown type': 500, 'unknown market': 500 });
  t.is(unknownMarkets, 500);
});

test('B9: garbage never throws, whatever the adapter', (t) => {
  for (const adapter of [
    nativeAdapter(RECORDED),
    kalshiAdapter({}, RECORDED),
    polymarketUsAdapter({}, RECORDED),
  ]) {
    const { ingest } = world();
    const connection = ingest.session('venue_a', adapter, SOURCE);
    const garbage = fc.oneof(fc.string(), fc.json(), fc.anything());
    fc.assert(
      fc.property(garbage, (raw) => {
        connection.frame(raw, AT);
      }),
    );
    t.true(ingest.counts().skipped > 0);
  }
});

test('B5, book_depth: levels come in whole cents and contracts, best first', (t) => {
  const { ingest, taken } = world();
  const connection = ingest.session(
    'venue_a',
    kalshiAdapter({}, { ...RECORDED, depth: true }),
    SOURCE,
  );
  const depth = () => {
    const [tick] = taken();
    return tick?.kind === 'quote' ? tick.depth : tick;
  };
  const msg = {
    market_ticker: 'T',
    yes_dollars_fp: [
      ['0.3900', '7.00'],
      ['0.4050', '12.60'],
      ['0.4010', '2.50'],
      ['0.3800', '0.99'],
      ['0.0050', '100.00'],
    ],
    no_dollars_fp: [
      ['0.5500', '30.00'],
      ['0.5650', '10.00'],
    ],
  };
  connection.frame({ type: 'orderbook_snapshot', sid: 1, seq: 1, msg }, AT);
  const yesAsks = [
    [44, 10],
    [45, 30],
  ];
  t.deepEqual<unknown, unknown>(depth(), {
    // 40.5 and 40.1 are both 40, with 15.1 contracts; less than one, or below 1 cent, is nothing.
    yesBids: [
      [40, 15],
      [39, 7],
    ],
    yesAsks,
  });
  const delta = { market_ticker: 'T', price_dollars: '0.3900', delta_fp: '-7.00', side: 'yes' };
  connection.frame({ type: 'orderbook_delta', sid: 1, seq: 2, msg: delta }, AT);
  t.deepEqual<unknown, unknown>(depth(), { yesBids: [[40, 15]], yesAsks });
});

test('B5, book_depth: a tick has at most 20 levels a side', (t) => {
  const { ingest, taken } = world();
  const connection = ingest.session('venue_a', nativeAdapter({ ...RECORDED, depth: true }), SOURCE);
  const yesBids = Array.from({ length: 30 }, (_, behind) => [20 + behind, 5]);
  const snapshot = { type: 'snapshot', market: 'T', status: 'paused', yesBids, yesAsks: [] };
  connection.frame(snapshot, AT);
  const tick = taken().find(({ kind }) => kind === 'quote');
  const bids = tick?.kind === 'quote' ? tick.depth!.yesBids : [];
  t.deepEqual(
    bids.map(([cents]) => cents),
    Array.from({ length: 20 }, (_, behind) => 49 - behind),
  );
});

test('B5, book_depth: a tick has levels only where they are asked for and known', (t) => {
  const { ingest, taken } = world();
  const level = { px: { value: '0.48' }, qty: '10' };
  const whole = { marketData: { marketSlug: 'T', bids: [level], offers: [] } };
  const depths = (depth: boolean) => {
    const connection = ingest.session(
      'venue_a',
      polymarketUsAdapter({}, { ...RECORDED, depth }),
      SOURCE,
    );
    return [whole, lite('0.48', null)].map((frame) => {
      connection.frame(frame, AT);
      const tick = taken().find(({ kind }) => kind === 'quote');
      return tick?.kind === 'quote' && 'depth' in tick ? tick.depth : null;
    });
  };
  t.deepEqual(depths(false), [null, null]);
  t.deepEqual(depths(true), [{ yesBids: [[48, 10]], yesAsks: [] }, null]);
});

test('W114: a word in doubt is left out, and its market is asked for once it would be sure', (t) => {
  const ticks: Tick[] = [];
  let steadyMs = 0;
  const { session } = createIngest({
    marketNumber: () => 7,
    sink: (tick) => ticks.push(tick),
    steadyMs: () => steadyMs,
    log() {},
  });
  const adapter = subscribed(nativeAdapter());
  const connection = session('venue_a', adapter, SOURCE, () => ({ sureInMs: 500 }));
  const open = (seq: number) => ({ type: 'status', seq, market: 'T', status: 'open' });
  connection.frame(open(1), AT);
  steadyMs = 499;
  connection.frame(open(2), AT);
  t.deepEqual(connection.advance(AT), []);
  steadyMs = 500;
  t.deepEqual(connection.advance(AT), [{ op: 'subscribe', markets: ['T'] }]);
  t.deepEqual(connection.advance(AT), [], 'once');
  t.deepEqual(new Set(ticks.map(({ kind }) => kind)), new Set(['heartbeat']));
  connection.frame(open(3), AT);
  connection.lost(AT);
  steadyMs = 5000;
  t.deepEqual(connection.advance(AT), [], 'the next connection begins with its word');
});

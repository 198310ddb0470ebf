import { constants, generateKeyPairSync, verify } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import type { BookTick, FrameReading } from '../../../../feeds/reading/venue.ts';
import { kalshiAdapter } from '../../../../feeds/venues/kalshi/frames.ts';
import { longTest } from '../../../long-test.ts';
import { csvRows, goldenLines, jsonLines, sharedData } from '../../golden.ts';

const wire = sharedData('wire-examples');
const recorded = sharedData('venue-messages');
const window = sharedData('kalshi-ws-window');
const wireTest = wire.present ? test : test.skip;
const recordedTest = recorded.present ? test : test.skip;
const windowTest = window.present ? test : test.skip;

test('W23, W24, W25, W26, W27, W28, W29, W30, W31, W32, W33, B7: every frame means what the golden file says', (t) => {
  const adapter = kalshiAdapter({}, { recorded: true });
  for (const { rule, frame, reading } of goldenLines('kalshi')) {
    t.deepEqual(adapter.read(frame), reading, rule);
  }
});

wireTest('every Kalshi wire example gives its tick or is named', (t) => {
  const adapter = kalshiAdapter({}, { recorded: true });
  const examples = jsonLines(new URL('kalshi_ws.jsonl', wire.dir)) as {
    dir: string;
    message: unknown;
  }[];
  const readings = examples
    .filter(({ dir }) => dir === 's2c')
    .map(({ message }) => adapter.read(message));
  const fed = 'FED-23DEC-T3.00';
  const book = (bid: number, bidSize: number, ask: number, askSize: number) =>
    `${fed} ${bid} x ${bidSize} / ${ask} x ${askSize}`;
  const belowZero = 'delta takes a level below zero';
  t.deepEqual(readings.map(summaryOf), [
    'subscribed: no price',
    'unsubscribed: no price',
    'error: rejected, error 7: Unknown subscription ID',
    'error: rejected, error 8: Unknown channel name',
    'error: rejected, error 2: Params required',
    'error: rejected, error 9: Authentication required',
    'error: rejected, error 14: Market Ticker required',
    `orderbook_snapshot: ${book(2200, 33_300, 4400, 14_600)}`,
    // The documentation takes 54 from a level that its own snapshot does not have.
    `orderbook_delta: rejected, ${belowZero}; ${book(2200, 33_300, 4400, 14_600)}`,
    'ticker: no price', // its market has a book by now
    'trade: HIGHNY-22DEC23-B53.5 13600 at 3600 taker no',
    'market_lifecycle_v2: no price', // created
    'market_lifecycle_v2: no price', // price_level_structure_updated
    'market_lifecycle_v2: no price', // metadata_updated
  ]);
  const { message } = examples.find(
    ({ message: m }) => (m as { type?: string }).type === 'ticker',
  )!;
  const ticker = kalshiAdapter({}, { recorded: true }).read(message);
  t.is(summaryOf(ticker), `ticker: ${book(4500, 30_000, 5300, 15_000)}`);
  t.is(ticker.venueAtMs, 1_669_149_841_000);
});

recordedTest('every recorded Kalshi ticker gives its book', (t) => {
  const adapter = kalshiAdapter({}, { recorded: true });
  const frames = jsonLines(new URL('kalshi_ticker.jsonl', recorded.dir));
  const readings = frames.map((frame) => adapter.read(frame));
  t.deepEqual(readings.map(summaryOf), [
    'ticker: KXXRP-26FEB1317-B1.3899500 400 x 1400 / 9500 x 8400',
    'ticker: KXETHD-26FEB1217-T1819.99 9800 x 19500 / null x 0',
    'ticker: KXETHD-26FEB1217-T1779.99 9700 x 500000 / null x 0',
    'ticker: KXETHMINMON-ETH-26FEB28-175000 3700 x 33300 / 4200 x 33300',
    'ticker: KXETHD-26FEB1317-T1899.99 8000 x 500000 / 8600 x 500000',
    'ticker: KXSOLD-26FEB1317-T73.9999 8900 x 500000 / 9700 x 500000',
    'ticker: KXETHD-26FEB1317-T1539.99 9800 x 500000 / null x 0',
    'ticker: KXETHD-26FEB1317-T1579.99 1800 x 325000 / null x 0',
    'ticker: KXETHD-26FEB1317-T1619.99 1800 x 325000 / null x 0',
    'ticker: KXBTCD-26FEB1217-T72749.99 200 x 200 / 700 x 10000',
  ]);
  t.true(readings.every(({ venueAtMs, jump }) => venueAtMs === 1_770_897_976_000 && !jump));
});

recordedTest('every recorded Kalshi trade gives its trade', (t) => {
  const adapter = kalshiAdapter({}, { recorded: true });
  const frames = jsonLines(new URL('kalshi_trade.jsonl', recorded.dir));
  const readings = frames.map((frame) => adapter.read(frame));
  const btc = 'KXBTCD-26FEB1217-T67749.99';
  const min = 'KXBTCMINMON-BTC-26FEB28-5750000';
  t.deepEqual(readings.map(summaryOf), [
    'trade: KXSOLD-26FEB1217-T79.9999 7500 at 7700 taker yes',
    `trade: ${btc} 9000 at 5700 taker no`,
    `trade: ${btc} 10000 at 6100 taker yes`,
    `trade: ${btc} 9000 at 6100 taker yes`,
    `trade: ${btc} 2600 at 6200 taker yes`,
    `trade: ${min} 4100 at 2600 taker yes`,
    `trade: ${min} 8300 at 2700 taker yes`,
    `trade: ${min} 2600 at 2800 taker yes`,
    `trade: ${min} 8800 at 2800 taker yes`,
    `trade: ${min} 16700 at 2800 taker yes`,
  ]);
  // The recording jumps once, from 10 to 48: shown, and for a recording no loss.
  t.deepEqual(
    readings.map(({ jump }) => jump),
    readings.map((_, index) => index === 1),
  );
});

windowTest('the recorded book ends as its summary says', (t) => {
  const [summary] = csvRows(new URL('EXPECTED_summary.csv', window.dir));
  const name = 'KXGOLD15M-26AUG050000-00';
  const lines = jsonLines(new URL(`${name}.ndjson.gz`, window.dir)) as {
    recv_ms: number;
    event: unknown;
  }[];
  const adapter = kalshiAdapter({}, { recorded: true });
  let last = { at: 0, tick: null as BookTick | null };
  let rejected = 0;
  for (const { recv_ms: at, event } of lines) {
    const reading = adapter.read(event);
    if (reading.rejected !== null) rejected++;
    for (const tick of reading.ticks) {
      if (tick.kind === 'book' && tick.yesBid !== null && tick.yesAsk !== null) last = { at, tick };
    }
  }
  t.is(rejected, Number(summary!.deltas_before_snapshot));
  t.is(last.at, Number(summary!.last_two_sided_recv_ms));
  t.deepEqual(last.tick, {
    kind: 'book',
    market: name,
    yesBid: Number(summary!.last_yes_bid) * 100,
    yesBidSize: Math.round(Number(summary!.last_yes_bid_size) * 100),
    yesAsk: Number(summary!.last_yes_ask) * 100,
    yesAskSize: Math.round(Number(summary!.last_yes_ask_size) * 100),
  });
});

test('W22: books and trades by market, life cycle for all', (t) => {
  const adapter = kalshiAdapter();
  const markets = Array.from({ length: 251 }, (_, index) => `M-${index}`);
  const book = (id: number, tickers: string[]) => ({
    id,
    cmd: 'subscribe',
    params: {
      channels: ['orderbook_delta', 'trade'],
      market_tickers: tickers,
      use_yes_price: false,
    },
  });
  t.deepEqual(adapter.subscribe(markets), [
    book(1, markets.slice(0, 250)),
    book(2, ['M-250']),
    { id: 3, cmd: 'subscribe', params: { channels: ['market_lifecycle_v2'] } },
  ]);
  const activated = (market: string, reader = adapter) =>
    reader.read({
      type: 'market_lifecycle_v2',
      msg: { market_ticker: market, event_type: 'activated' },
    });
  t.is(activated('M-7').ticks.length, 1);
  t.deepEqual([activated('OTHER').ticks, activated('OTHER').rejected], [[], null]);
  const recording = kalshiAdapter({}, { recorded: true });
  t.is(activated('OTHER', recording).ticks.length, 1);
});

test('W23: seq is per sid over all markets; a reset starts over', (t) => {
  const adapter = kalshiAdapter({}, { recorded: true });
  const snapshot = (sid: number, seq: number, market: string) =>
    adapter.read({ type: 'orderbook_snapshot', sid, seq, msg: { market_ticker: market } }).jump;
  t.false(snapshot(1, 10, 'A'));
  t.false(snapshot(1, 11, 'B'));
  t.false(snapshot(2, 1, 'A'));
  t.false(snapshot(1, 12, 'A'));
  t.true(snapshot(1, 14, 'B'));
  t.true(snapshot(1, 14, 'B'));
  adapter.reset();
  t.false(snapshot(1, 1, 'A'));
});

longTest('W12: a venue cannot make books without end', (t) => {
  const adapter = kalshiAdapter({}, { recorded: true });
  const snapshot = (market: string) =>
    adapter.read({ type: 'orderbook_snapshot', msg: { market_ticker: market } }).rejected;
  for (let number = 0; number < 100_000; number++) snapshot(`M-${number}`);
  t.is(snapshot('M-0'), null);
  t.is(snapshot('one more'), 'too many markets');
});

test('W20: the handshake is signed with RSA-PSS when there is a key', (t) => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const privateKeyPem = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const headers = kalshiAdapter({ keyId: 'k1', privateKeyPem }).headers(1_783_880_000_123);
  t.is(headers['KALSHI-ACCESS-KEY'], 'k1');
  t.is(headers['KALSHI-ACCESS-TIMESTAMP'], '1783880000123');
  const signed = Buffer.from('1783880000123GET/trade-api/ws/v2');
  const key = { key: publicKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 };
  const signature = Buffer.from(headers['KALSHI-ACCESS-SIGNATURE']!, 'base64');
  t.true(verify('sha256', signed, key, signature));
  t.deepEqual(kalshiAdapter().headers(0), {});
  const message = 'adapter kalshi: privateKeyPem is not a PEM private key of type rsa';
  t.throws(() => kalshiAdapter({ keyId: 'k1', privateKeyPem: 'hush' }), { message });
});

test('W25: the book from increments equals a naive one', (t) => {
  const side = fc.constantFrom('yes' as const, 'no' as const);
  const delta = fc.record({
    side,
    cents: fc.integer({ min: 1, max: 12 }),
    size: fc.integer({ min: -300, max: 300 }),
  });
  fc.assert(
    fc.property(fc.array(delta, { maxLength: 60 }), (deltas) => {
      const adapter = kalshiAdapter({}, { recorded: true });
      adapter.read({ type: 'orderbook_snapshot', sid: 1, seq: 1, msg: { market_ticker: 'M' } });
      const naive = { yes: Array<number>(100).fill(0), no: Array<number>(100).fill(0) };
      deltas.forEach((one, index) => {
        const price_dollars = (one.cents / 100).toFixed(4);
        const delta_fp = (one.size / 100).toFixed(2);
        const msg = { market_ticker: 'M', price_dollars, delta_fp, side: one.side };
        const frame = { type: 'orderbook_delta', sid: 1, seq: index + 2, msg };
        const { ticks, rejected } = adapter.read(frame);
        const level = naive[one.side][one.cents]! + one.size;
        naive[one.side][one.cents] = Math.max(0, level);
        t.is(rejected !== null, level < 0);
        const bid = naive.yes.findLastIndex((size) => size > 0);
        const no = naive.no.findLastIndex((size) => size > 0);
        t.deepEqual(ticks, [
          {
            kind: 'book',
            market: 'M',
            yesBid: bid < 0 ? null : bid * 100,
            yesBidSize: bid < 0 ? 0 : naive.yes[bid]!,
            yesAsk: no < 0 ? null : 10_000 - no * 100,
            yesAskSize: no < 0 ? 0 : naive.no[no]!,
          },
        ]);
      });
    }),
  );
});

test('B9: garbage frames are rejected and never throw', (t) => {
  const types = ['orderbook_snapshot', 'orderbook_delta', 'ticker', 'trade', 'error', 'ok', 'x'];
  const message = fc.record({
    market_ticker: fc.oneof(fc.constant('M'), fc.jsonValue()),
    yes_dollars_fp: fc.oneof(fc.array(fc.array(fc.string())), fc.jsonValue()),
    no: fc.jsonValue(),
    price_dollars: fc.jsonValue(),
    delta_fp: fc.jsonValue(),
    side: fc.jsonValue(),
    event_type: fc.oneof(fc.constant('determined'), fc.jsonValue()),
    settlement_value: fc.jsonValue(),
    ts: fc.jsonValue(),
    code: fc.jsonValue(),
  });
  const frame = fc.oneof(
    fc.jsonValue(),
    fc.record({
      type: fc.constantFrom(...types, 'market_lifecycle_v2'),
      sid: fc.jsonValue(),
      seq: fc.jsonValue(),
      msg: fc.oneof(message, fc.jsonValue()),
    }),
  );
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 20 }), (frames) => {
      const adapter = kalshiAdapter({}, { recorded: true });
      for (const one of frames) t.is(typeof adapter.read(one).type, 'string');
    }),
  );
});

/** One line a reading, so that a list of expectations can be read. */
function summaryOf({ type, ticks, rejected }: FrameReading): string {
  const said = ticks.map((tick) => {
    if (tick.kind === 'book') {
      const { yesBid, yesBidSize, yesAsk, yesAskSize } = tick;
      return `${tick.market} ${yesBid} x ${yesBidSize} / ${yesAsk} x ${yesAskSize}`;
    }
    if (tick.kind === 'trade') {
      return `${tick.market} ${tick.size} at ${tick.yesPrice} taker ${tick.takerSide}`;
    }
    return JSON.stringify(tick);
  });
  const parts = rejected === null ? said : [`rejected, ${rejected}`, ...said];
  return `${type}: ${parts.length === 0 ? 'no price' : parts.join('; ')}`;
}

import test from 'ava';
import type { Tick } from '../../../engine/rules/messages.ts';
import { createIngest } from '../../../feeds/ingest/ingest.ts';
import { kalshiAdapter } from '../../../feeds/venues/kalshi/frames.ts';
import { nativeAdapter } from '../../../feeds/venues/native/frames.ts';

/** What is no place in a sequence; `undefined` is a frame without the field. */
const UNUSABLE = ['7', null, 1.5, 2 ** 53, {}, [2], true, -1, undefined];

const NATIVE = [
  { type: 'snapshot', market: 'T', status: 'open', yesBids: [[41, 5]], yesAsks: [[43, 5]] },
  { type: 'quote', market: 'T', yesBidCents: 41, yesBidContracts: 5 },
  { type: 'trade', market: 'T', yesPriceCents: 42, contracts: 5, side: 'yes' },
  { type: 'status', market: 'T', status: 'paused' },
  { type: 'game', game: 'g', status: 'final' },
  { type: 'heartbeat' },
];

function liveNative() {
  const adapter = nativeAdapter();
  adapter.subscribe(['T']);
  return adapter;
}

test('B12: a live frame without a usable seq is a gap', (t) => {
  for (const seq of UNUSABLE) {
    for (const frame of NATIVE) {
      const adapter = liveNative();
      t.false(adapter.read({ type: 'heartbeat', seq: 1 }).jump);
      t.true(adapter.read({ ...frame, seq }).jump, `${frame.type} ${String(seq)}`);
    }
  }
  for (const frame of NATIVE) {
    const adapter = liveNative();
    t.true(adapter.read(frame).jump, `${frame.type} as the first`);
  }
});

test('N10: what is no frame of the protocol needs no seq', (t) => {
  const adapter = liveNative();
  adapter.read({ type: 'heartbeat', seq: 1 });
  t.false(adapter.read({ type: 'error', message: 'unknown market "X"' }).jump);
  t.false(adapter.read({ type: 'heartbeat', seq: 2 }).jump);
  t.true(adapter.read({ type: 'error', seq: '3' }).jump);
});

test('B12: a frame without a usable seq gives no price', (t) => {
  for (const seq of UNUSABLE) {
    const ticks: Tick[] = [];
    const ingest = createIngest({
      marketNumber: () => 7,
      sink: (tick) => ticks.push(tick),
      log: () => {},
    });
    const connection = ingest.session('venue_a', liveNative(), 3);
    t.true(connection.frame({ ...NATIVE[0], seq }, 5).jump);
    t.false(
      ticks.some(({ kind }) => kind === 'quote'),
      String(seq),
    );
    t.deepEqual(ticks[0], { kind: 'down', atMs: 5, source: 3, reason: 'sequence_gap' });
    t.is(ingest.counts().gaps, 1);
  }
});

const KALSHI = [
  { type: 'orderbook_snapshot', msg: { market_ticker: 'T' } },
  {
    type: 'orderbook_delta',
    msg: { market_ticker: 'T', price_dollars: '0.4000', delta_fp: '5.00', side: 'yes' },
  },
  {
    type: 'trade',
    msg: { market_ticker: 'T', yes_price_dollars: '0.4', count_fp: '1.00', taker_side: 'yes' },
  },
];

function liveKalshi() {
  const adapter = kalshiAdapter();
  adapter.subscribe(['T']);
  return adapter;
}

test('B12: a live frame without a usable seq or sid is a gap', (t) => {
  for (const frame of KALSHI) {
    for (const unusable of UNUSABLE) {
      const name = `${frame.type} ${String(unusable)}`;
      t.true(liveKalshi().read({ ...frame, sid: 1, seq: unusable }).jump, `seq of ${name}`);
      t.true(liveKalshi().read({ ...frame, sid: unusable, seq: 1 }).jump, `sid of ${name}`);
    }
    t.false(liveKalshi().read({ ...frame, sid: 1, seq: 1 }).jump, frame.type);
  }
});

test('W23: tickers take no number, the life cycle may', (t) => {
  const lifecycle = {
    type: 'market_lifecycle_v2',
    sid: 4,
    msg: { market_ticker: 'T', event_type: 'activated' },
  };
  const ticker = { type: 'ticker', sid: 3, msg: { market_ticker: 'T', yes_bid_dollars: '0.4' } };
  const ack = { id: 1, type: 'subscribed', msg: { channel: 'trade', sid: 1 } };
  for (const frame of [ticker, lifecycle, ack]) t.false(liveKalshi().read(frame).jump, frame.type);
  t.false(liveKalshi().read({ ...lifecycle, seq: 1 }).jump);
  t.true(liveKalshi().read({ ...lifecycle, seq: null }).jump);
});

test('W23: an ok takes the next number or states the last one; any later one is a gap', (t) => {
  for (const [okSeq, nextSeq, jumps] of [
    [2, 3, [false, false]],
    [1, 2, [false, false]],
    [4, 5, [true, false]],
    [2, 2, [false, true]],
  ] as const) {
    const adapter = liveKalshi();
    adapter.read({ ...KALSHI[0], sid: 1, seq: 1 });
    const ok = adapter.read({ type: 'ok', id: 7, sid: 1, seq: okSeq, msg: {} });
    const next = adapter.read({ ...KALSHI[2], sid: 1, seq: nextSeq });
    t.deepEqual([ok.jump, next.jump], [...jumps], `${okSeq}, ${nextSeq}`);
  }
});

test('W12: more subscriptions than can be followed are a gap', (t) => {
  const adapter = liveKalshi();
  const gapOf = (sid: number) => adapter.read({ ...KALSHI[0], sid, seq: 1 }).jump;
  for (let sid = 0; sid < 1_000; sid++) t.false(gapOf(sid));
  t.true(gapOf(1_000));
});

test('F8: a recording needs no sequence, usable or not', (t) => {
  const native = nativeAdapter({ recorded: true });
  const kalshi = kalshiAdapter({}, { recorded: true });
  for (const seq of UNUSABLE) {
    for (const frame of NATIVE) {
      const { jump, rejected } = native.read({ ...frame, seq });
      t.deepEqual([jump, rejected], [false, null]);
    }
    for (const frame of KALSHI) {
      const { jump, rejected } = kalshi.read({ ...frame, sid: seq, seq });
      t.deepEqual([jump, rejected], [false, null]);
    }
  }
});

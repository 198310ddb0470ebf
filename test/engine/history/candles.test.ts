import test from 'ava';
import { seededRandom } from '../../../bench/lib/random.ts';
import { DAY_MS, NO_PRICE } from '../../../engine/base/units.ts';
import { INTERVAL_MS, INTERVALS } from '../../../engine/history/kinds.ts';
import type { Recorder } from '../../../engine/history/recorder.ts';
import type { Tick } from '../../../engine/rules/messages.ts';
import { quoteTick } from '../fixtures.ts';
import { naiveCandles, type PlainRow, type PlainTrade } from './naive-candles.ts';
import { after, asked, packed, record, take, temporary } from './support.ts';

const SEED = Number(process.env.SEED ?? 7);

/** A day and a half of bursts, silences, empty sides, pauses and prints. */
function randomTicks(seed: number): Tick[] {
  const random = seededRandom(seed);
  const ticks: Tick[] = [];
  let atMs = after(0);
  const endMs = atMs + 1.5 * DAY_MS;
  while (atMs < endMs) {
    const burst = random.below(40);
    for (let i = 0; i < burst; i++) {
      atMs += random.below(4000);
      ticks.push(randomTick(atMs, random));
    }
    atMs += random.below(random.below(8) === 0 ? 14_400_000 : 90_000);
    // On a boundary now and then.
    if (random.below(4) === 0) atMs = Math.ceil(atMs / 60_000) * 60_000;
  }
  return ticks;
}

function randomTick(atMs: number, random: ReturnType<typeof seededRandom>): Tick {
  const place = { source: random.below(2), market: 0, atMs };
  const kind = random.below(20);
  if (kind === 0) return { kind: 'down', atMs, source: place.source };
  if (kind === 1) return { kind: 'status', ...place, status: 'paused' };
  if (kind === 2) return { kind: 'status', ...place, status: 'open' };
  if (kind < 6) {
    const side = random.below(2) === 0 ? 'yes' : 'no';
    const contracts = random.below(50);
    return { kind: 'trade', ...place, yesPriceCents: 1 + random.below(99), contracts, side };
  }
  if (kind < 9) return { kind: 'heartbeat', atMs, source: place.source };
  const bid = 1 + random.below(97);
  const ask = bid + 1 + random.below(99 - bid);
  const hasBid = random.below(8) > 0;
  return quoteTick({
    ...place,
    yesBidCents: hasBid ? bid : NO_PRICE,
    yesAskCents: random.below(8) > 0 ? ask : NO_PRICE,
    yesBidContracts: random.below(100),
  });
}

function plainly(recorder: Recorder): { rows: PlainRow[]; trades: PlainTrade[] } {
  const { quotes } = asked(recorder).quotes({ limit: 1_000_000 });
  const lines = asked(recorder).exported({ dataset: 'trades', format: 'ndjson' });
  return {
    rows: quotes.map(({ at, yesBidCents, yesAskCents }) => {
      return { atMs: Date.parse(at), bid: yesBidCents, ask: yesAskCents };
    }),
    trades: lines
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const { at, yesPriceCents, contracts } = JSON.parse(line);
        return { atMs: Date.parse(at), priceCents: yesPriceCents, contracts };
      }),
  };
}

test('H10 to H13: candles of every interval are those that rows and prints alone give', (t) => {
  t.log(`SEED=${SEED}`);
  for (let seed = SEED; seed < SEED + 4; seed++) {
    const directory = temporary(t);
    let recorder = record(directory);
    const ticks = randomTicks(seed);
    // Stopped and started in between.
    for (let from = 0; from < ticks.length; from += 700) {
      recorder.takePacked(packed(ticks.slice(from, from + 700)));
      recorder.close();
      recorder = record(directory);
    }
    recorder.advance(recorder.nowMs + 200_000);
    const { rows, trades } = plainly(recorder);
    t.true(rows.length > 512 && trades.length > 0);
    for (const interval of INTERVALS) {
      const { candles } = asked(recorder).candles({ interval });
      const expected = naiveCandles(rows, trades, INTERVAL_MS[interval], recorder.nowMs);
      t.is(candles.length, expected.length, `seed ${seed} ${interval}`);
      for (const [i, candle] of candles.entries()) {
        t.deepEqual(candle as object, expected[i]!, `seed ${seed} ${interval} ${candle.start}`);
      }
    }
    recorder.close();
  }
});

test('H34: a market that rests keeps its records, and its candles are those of before', (t) => {
  const ticks = randomTicks(SEED);
  const recorder = record(temporary(t));
  const unrested = record(temporary(t));
  t.teardown(() => [recorder, unrested].map((one) => one.close()));
  for (let from = 0; from < ticks.length; from += 97) {
    const part = packed(ticks.slice(from, from + 97));
    recorder.takePacked(part);
    unrested.takePacked(part);
    recorder.candles.rest(0);
    recorder.store.rest(0, recorder.nowMs);
  }
  const pays = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
  const atMs = recorder.nowMs + 1;
  const late = { atMs: atMs + 1, source: 0, market: 0, yesPriceCents: 50, contracts: 2 } as const;
  for (const one of [recorder, unrested]) {
    take(one, { kind: 'result', atMs, source: 0, market: 0, ...pays });
    // A venue may tell a trade after the result.
    take(one, { kind: 'trade', ...late, side: 'yes' }, quoteTick({ atMs: atMs + 2 }));
    one.advance(atMs + 200_000);
  }
  t.deepEqual(plainly(recorder), plainly(unrested));
  for (const interval of INTERVALS) {
    const of = (one: Recorder) => asked(one).candles({ interval }).candles;
    t.deepEqual(of(recorder), of(unrested), interval);
  }
  t.deepEqual(plainly(recorder).trades.at(-1)!.atMs, atMs + 1);
  t.true(plainly(recorder).rows.at(-1)!.atMs <= atMs, 'no row follows a result');
});

test('H10: without a live price all through, bid, ask and mid are null', (t) => {
  const recorder = record(temporary(t));
  t.teardown(() => recorder.close());
  take(recorder, quoteTick({ atMs: after(0) }), { kind: 'down', atMs: after(1000), source: 0 });
  recorder.advance(after(150_000));
  const { candles } = asked(recorder).candles();
  t.is(candles.length, 3);
  t.like(candles[0], { quotes: 2, liveSeconds: 1 });
  t.like(candles[1], { bid: null, ask: null, mid: null, trades: null, quotes: 0, liveSeconds: 0 });
  t.is(candles[1]!.complete, undefined);
  t.false(candles[2]!.complete);
});

test('H11, D54: a row that was dropped is carried into no candle, before a start or after it', (t) => {
  const directory = temporary(t);
  const open = () => record(directory, { days: 1, quoteMaxAgeMs: 10 * DAY_MS });
  const first = open();
  take(first, quoteTick({ atMs: after(0), yesBidCents: 30 }));
  first.advance(after(3 * DAY_MS));
  first.flush();
  const later = (ms: number, over = {}) => quoteTick({ atMs: after(3 * DAY_MS + ms), ...over });
  take(first, later(1000, { yesBidCents: 35 }), later(61_000));
  const bids = (recorder: Recorder) =>
    asked(recorder)
      .candles({ nowMs: after(3 * DAY_MS + 62_000) })
      .candles.map(({ bid }) => bid);
  const flat = { open: 35, high: 35, low: 35, close: 35 };
  t.deepEqual(bids(first), [flat, { open: 35, high: 40, low: 35, close: 40 }]);
  first.close();
  const second = open();
  t.deepEqual(bids(second)[0], flat);
  second.close();
});

test('H12: mid is there while both sides are, and rows count whether live or not', (t) => {
  const recorder = record(temporary(t));
  t.teardown(() => recorder.close());
  take(
    recorder,
    quoteTick({ atMs: after(0), yesAskCents: NO_PRICE }),
    quoteTick({ atMs: after(10_000) }),
    { kind: 'down', atMs: after(20_500), source: 0 },
  );
  const [candle] = asked(recorder).candles().candles;
  t.deepEqual(candle!.mid, { open: 41.5, high: 41.5, low: 41.5, close: 41.5 });
  t.like(candle, { quotes: 3, liveSeconds: 20.5 });
});

test('H13: prints of less than a whole contract have no average price', (t) => {
  const recorder = record(temporary(t));
  t.teardown(() => recorder.close());
  const print = { kind: 'trade', source: 0, market: 0, side: 'yes' } as const;
  take(recorder, quoteTick({ atMs: after(0) }), {
    ...print,
    ...{ atMs: after(1000), yesPriceCents: 41, contracts: 0 },
  });
  const [first] = asked(recorder).candles().candles;
  t.is(first!.trades!.vwapCents, null);
  const more = { atMs: after(2000), contracts: 2 };
  take(recorder, { ...print, ...more, yesPriceCents: 40 });
  take(recorder, { ...print, ...more, yesPriceCents: 43, contracts: 1 });
  t.is(asked(recorder).candles().candles[0]!.trades!.vwapCents, 41);
});

test('H11: an interval opens at the price carried into it', (t) => {
  const recorder = record(temporary(t));
  t.teardown(() => recorder.close());
  take(
    recorder,
    quoteTick({ atMs: after(59_000), yesBidCents: 30 }),
    quoteTick({ atMs: after(61_000), yesBidCents: 35 }),
  );
  const [, second] = asked(recorder).candles().candles;
  t.deepEqual(second!.bid, { open: 30, high: 35, low: 30, close: 35 });
});

test('H10: candles are mirrored for an instrument of polarity -1', (t) => {
  const recorder = record(temporary(t));
  t.teardown(() => recorder.close());
  const trade = { kind: 'trade', source: 0, market: 0, yesPriceCents: 41, side: 'yes' } as const;
  take(
    recorder,
    quoteTick({ atMs: after(0), yesBidCents: 40, yesAskCents: 43 }),
    quoteTick({ atMs: after(1000), yesBidCents: 38, yesAskCents: 42 }),
    { ...trade, atMs: after(2000), contracts: 3 },
    { ...trade, atMs: after(3000), contracts: 1, yesPriceCents: 45 },
  );
  const [candle] = asked(recorder).candles({ polarity: -1 }).candles;
  t.deepEqual(candle!.bid, { open: 57, high: 58, low: 57, close: 58 });
  t.deepEqual(candle!.ask, { open: 60, high: 62, low: 60, close: 62 });
  t.deepEqual(candle!.mid, { open: 58.5, high: 60, low: 58.5, close: 60 });
  t.deepEqual(candle!.trades, {
    ...{ count: 2, contracts: 4, open: 59, high: 59, low: 55, close: 55 },
    vwapCents: 58,
  });
  const [row] = asked(recorder).quotes({ polarity: -1 }).quotes;
  t.like(row, { yesBidCents: 57, yesAskCents: 60 });
  const [print] = asked(recorder)
    .exported({ dataset: 'trades', polarity: -1 })
    .split('\n')
    .slice(1);
  t.regex(print!, /,59,3,no$/);
});

test('H14: from and to bound the starts of candles, and pages go on where one ended', (t) => {
  const recorder = record(temporary(t));
  t.teardown(() => recorder.close());
  take(recorder, quoteTick({ atMs: after(0) }), {
    kind: 'heartbeat',
    atMs: after(600_000),
    source: 0,
  });
  const window = { fromMs: after(60_001), toMs: after(300_000) };
  const all = asked(recorder).candles(window).candles;
  t.deepEqual(
    all.map(({ start }) => Date.parse(start)),
    [after(120_000), after(180_000), after(240_000)],
  );
  const first = asked(recorder).candles({ ...window, limit: 2 });
  t.deepEqual(first.candles, all.slice(0, 2));
  const cursor = Number(Buffer.from(first.nextCursor!, 'base64url').toString().slice(1));
  const second = asked(recorder).candles({ ...window, limit: 2, cursor });
  t.deepEqual(second.candles, all.slice(2));
  t.is(second.nextCursor, null);
});

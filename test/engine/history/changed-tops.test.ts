import { deepStrictEqual, strictEqual } from 'node:assert';
import test from 'ava';
import fc from 'fast-check';
import { ChangedTops } from '../../../engine/history/changed-tops.ts';
import { TickBatch } from '../../../engine/history/tick-batch.ts';
import type { Tick } from '../../../engine/rules/messages.ts';
import { shareOf } from '../../model/seeds.ts';
import { quoteTick } from '../fixtures.ts';
import { after, ticksOf } from './support.ts';

const quote = (ms: number, over = {}) => quoteTick({ atMs: after(ms), ...over });
const heartbeat = (ms: number, source = 0): Tick => ({
  kind: 'heartbeat',
  atMs: after(ms),
  source,
});

function world() {
  const batch = new TickBatch();
  const tops = new ChangedTops(batch);
  /** What is passed on of each; null: nothing. */
  const give = (...ticks: Tick[]) =>
    ticks.map((tick) => {
      tops.take(tick);
      return ticksOf(batch.take())[0] ?? null;
    });
  return { tops, give };
}

const randomTick = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .record({
        ms: fc.nat(3),
        market: fc.constantFrom(0, 1, 2000, 2 ** 20 - 1, 2 ** 20, 2 ** 30),
        source: fc.constantFrom(0, 1, 2 ** 14 - 1, 2 ** 14),
        yesBidCents: fc.constantFrom(39, 40),
        yesAskContracts: fc.constantFrom(5, 2 ** 31 - 1, 2 ** 31),
        crossed: fc.boolean(),
      })
      .map(({ ms, ...over }): Tick => quote(ms, over)),
  },
  fc
    .record({ ms: fc.nat(3), source: fc.nat(1) })
    .map(({ ms, source }): Tick => ({ kind: 'down', atMs: after(ms), source })),
);

test('H2, H4: of quotes those with another top are passed on, without levels', (t) => {
  const { give } = world();
  const deep = quote(0, { depth: { yesBids: [[40, 1]], yesAsks: [] } });
  t.deepEqual(give(deep), [quote(0)]);
  const change = { depthChange: { yesBids: [[39, 7]], yesAsks: [] } };
  t.deepEqual(give(quote(0, change)), [null], 'its connection was heard in this millisecond');
  t.deepEqual(give(quote(1, change), quote(1)), [heartbeat(1), null]);
  const moved = { yesBidCents: 39 };
  t.deepEqual(give(quote(2, { ...moved, ...change }), quote(3, moved)), [
    quote(2, moved),
    heartbeat(3),
  ]);
  t.deepEqual(give(quote(3, { ...moved, crossed: true })), [quote(3, { ...moved, crossed: true })]);
  for (const over of [{ yesBidContracts: 7 }, { yesAskContracts: 7 }, { yesAskContracts: 8 }]) {
    t.deepEqual(give(quote(4, over)), [quote(4, over)]);
  }
});

test('H2, H4: a quote after a lost connection, of another one, or after a loss is passed on', (t) => {
  const { tops, give } = world();
  const down: Tick = { kind: 'down', atMs: after(1), source: 0 };
  give(quote(0), quote(0, { market: 1, source: 1 }));
  t.deepEqual(give(down, quote(2)), [down, quote(2)]);
  t.deepEqual(give(quote(3, { market: 1, source: 1 })), [heartbeat(3, 1)]);
  t.deepEqual(give(quote(4, { source: 1 })), [quote(4, { source: 1 })]);
  tops.forget();
  t.deepEqual(give(quote(4, { source: 1 })), [quote(4, { source: 1 })]);
  const paused: Tick = { kind: 'status', atMs: after(5), source: 1, market: 0, status: 'paused' };
  const time: Tick = { kind: 'time', atMs: after(6) };
  t.deepEqual(give(paused, time, heartbeat(6)), [paused, time, heartbeat(6)]);
});

test('H2, H4: the top of a market stays known when many more come', (t) => {
  const { give } = world();
  give(quote(0, { market: 3 }), quote(1, { market: 5000 }));
  t.deepEqual(give(quote(2, { market: 3 })), [heartbeat(2)]);
});

test('H2, H4: whatever ticks come, what is passed on leads to the same tops', (t) => {
  const leadsToTheSame = fc.property(
    fc.array(randomTick, { maxLength: 60, size: 'max' }),
    (ticks) => {
      const { give } = world();
      const [all, some] = [new Map<number, Tick>(), new Map<number, Tick>()];
      const shown = (tops: Map<number, Tick>, tick: Tick | null) => {
        if (tick?.kind === 'down') {
          for (const [market, top] of tops) {
            if (top.kind === 'quote' && top.source === tick.source) tops.delete(market);
          }
        }
        if (tick?.kind === 'quote') tops.set(tick.market, { ...tick, atMs: after(0) });
      };
      for (const tick of ticks) {
        const [news] = give(tick);
        shown(all, tick);
        shown(some, news!);
        deepStrictEqual(some, all);
        strictEqual(news?.atMs ?? tick.atMs, tick.atMs);
      }
    },
  );
  t.notThrows(() => fc.assert(leadsToTheSame, { numRuns: Math.max(60, shareOf(300)) }));
});

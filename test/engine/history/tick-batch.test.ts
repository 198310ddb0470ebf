import { isDeepStrictEqual } from 'node:util';
import test from 'ava';
import fc from 'fast-check';
import { headOf, NO_HEAD, TickBatch } from '../../../engine/history/tick-batch.ts';
import type { QuoteTick, Tick } from '../../../engine/rules/messages.ts';
import { topOf } from '../../../engine/rules/quote-top.ts';
import { quoteTick } from '../fixtures.ts';
import { after, packed, ticksOf } from './support.ts';

/** Whole numbers around the bounds of what a word, or some bits of one, can hold. */
const edges = (...bounds: number[]) =>
  fc.constantFrom(...[0, 1, ...bounds.flatMap((bound) => [bound - 1, bound, bound + 1])]);
const sizes = fc.oneof(fc.nat(5000), edges(2 ** 31, 2 ** 32, 2 ** 40));
const cents = fc.oneof(fc.integer({ min: 0, max: 99 }), edges(127));
const at = {
  // Also back, and further than a word from the first.
  atMs: fc.oneof(fc.nat(5000), edges(2 ** 31, 2 ** 32)).map(after),
  source: fc.oneof(fc.nat(5), edges(2 ** 14, 2 ** 20)),
};
const market = fc.oneof(fc.nat(500), edges(2 ** 31));
const levels = fc.constantFrom(undefined, { yesBids: [[40, 1]], yesAsks: [[41, 2]] });

const quotes = fc
  .record({
    ...{ kind: fc.constant('quote' as const), ...at, market },
    ...{ yesBidCents: cents, yesBidContracts: sizes },
    ...{ yesAskCents: cents, yesAskContracts: sizes },
    crossed: fc.boolean(),
    unknown: fc.constantFrom(undefined, undefined, true),
    ...{ depth: levels, depthChange: levels },
  })
  .map((tick) => tick as QuoteTick);
const contracts = sizes;
const others = fc.oneof(
  fc.record({ kind: fc.constant('heartbeat'), ...at }),
  fc.record({ kind: fc.constant('time'), atMs: at.atMs }),
  fc.record({ kind: fc.constant('down'), ...at }),
  fc.record({ kind: fc.constant('down'), ...at, reason: fc.constant('sequence_gap') }),
  fc.record({ kind: fc.constant('status'), ...at, market, status: fc.constant('paused') }),
  fc.record({
    ...{ kind: fc.constant('trade'), ...at, market, contracts },
    ...{ yesPriceCents: fc.integer({ min: 1, max: 99 }), side: fc.constantFrom('yes', 'no') },
  }),
  fc.record({
    ...{ kind: fc.constant('result'), ...at, market, outcome: fc.constant('yes') },
    ...{ yesPayoutCents: fc.constant(100), noPayoutCents: fc.constant(0) },
  }),
  fc.record({
    ...{ kind: fc.constant('game'), ...at },
    ...{ game: fc.string(), status: fc.constant('cancelled') },
  }),
);
const ticks = fc.oneof(
  quotes,
  others.map((tick) => tick as Tick),
);

/** What a history needs of it. */
const needed = (tick: Tick): Tick => (tick.kind === 'quote' ? topOf(tick) : tick);

test('H4: a batch has the ticks that were added, of every kind, of quotes the top', (t) => {
  fc.assert(
    fc.property(fc.array(ticks, { maxLength: 40, size: 'max' }), (made) => {
      t.deepEqual(ticksOf(packed(made)), made.map(needed));
    }),
    { numRuns: 500 },
  );
});

test('H4: a batch grows as it must, and the next one has nothing of it', (t) => {
  const batch = new TickBatch();
  t.is(batch.bytes, 0);
  t.is(batch.take().byteLength, 0);
  const many = Array.from({ length: 20_000 }, (_, i) => quoteTick({ atMs: after(i), market: i }));
  for (const tick of many) batch.add(tick);
  const read = ticksOf(batch.take());
  t.is(read.length, many.length);
  t.is(
    read.find((tick, i) => !isDeepStrictEqual(tick, many[i])),
    undefined,
  );
  batch.add(many[7]!);
  t.deepEqual(ticksOf(batch.take()), [many[7]]);
});

test('H4: a usual quote takes 20 bytes, a heartbeat 8', (t) => {
  const bytes = (...list: Tick[]) => packed(list).byteLength - 8;
  const quote = quoteTick({ atMs: after(5) });
  t.is(bytes(quote, quote), 40);
  t.is(bytes({ kind: 'heartbeat', atMs: after(5), source: 3 }), 8);
});

test('H4: two tops are equal where the head and both sizes are', (t) => {
  fc.assert(
    fc.property(quotes, quotes, (a, b) => {
      const [headA, headB] = [headOf(a), headOf(b)];
      if (headA === NO_HEAD || headB === NO_HEAD) return;
      const said = ({ source, yesBidCents, yesAskCents, crossed }: QuoteTick) =>
        [source, yesBidCents, yesAskCents, crossed].join();
      t.is(headA === headB, said(a) === said(b));
      t.not(headA < 0, true);
    }),
    { numRuns: 500 },
  );
});

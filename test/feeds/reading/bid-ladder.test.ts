import test from 'ava';
import fc from 'fast-check';
import type { DepthLevel } from '../../../engine/rules/messages.ts';
import { BidLadder } from '../../../feeds/reading/bid-ladder.ts';
import { CONTRACTS_E2_MAX } from '../../../feeds/reading/decimal.ts';
import { depthOf } from '../../../feeds/reading/engine-ticks.ts';

/** What B2 to B5 show of these bids, as bids of yes or as bids of no. */
function shownOf(sizes: ReadonlyMap<number, number>, as: 'bids' | 'asks'): readonly DepthLevel[] {
  const bids = Array.from(sizes, ([price, size]) => ({ price, size }));
  const asks = bids.map(({ price, size }) => ({ price: 10_000 - price, size }));
  const [yesBids, yesAsks] = as === 'bids' ? [bids, []] : [[], asks];
  const depth = depthOf({ yesBids, yesAsks });
  return as === 'bids' ? depth.yesBids : depth.yesAsks;
}

/** Whole cents mostly, since they are most of a venue's; sizes that a delta often takes away. */
const price = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 99 }).map((cents) => cents * 100) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 9_999 }) },
);
const step = fc.record({ price, delta: fc.constantFrom(-500, -99, -1, 1, 60, 99, 500) });

for (const as of ['bids', 'asks'] as const) {
  test(`B5: ${as} kept by increments show what the same levels show whole`, (t) => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const ladder = new BidLadder(as);
        const sizes = new Map<number, number>();
        const known = new Map<number, number>();
        for (const { price, delta } of steps) {
          const before = sizes.get(price) ?? 0;
          t.is(ladder.add(price, delta), before + delta >= 0);
          if (before + delta > 0) sizes.set(price, before + delta);
          else sizes.delete(price);
          t.is(ladder.length, sizes.size);
          t.is(ladder.sizeAt(price), sizes.get(price) ?? 0);
          const best = sizes.size === 0 ? null : Math.max(...sizes.keys());
          t.deepEqual(ladder.best(), best && { price: best, size: sizes.get(best)! });
          t.deepEqual(ladder.shown(), shownOf(sizes, as));
          for (const [cents, contracts] of ladder.takeChanges()) {
            if (contracts === 0) known.delete(cents);
            else known.set(cents, contracts);
          }
          t.deepEqual(Object.fromEntries(known), Object.fromEntries(ladder.shown()));
        }
        const kept = Object.fromEntries(ladder.levels().map(({ price, size }) => [price, size]));
        t.deepEqual(kept, Object.fromEntries(sizes));
      }),
      { numRuns: 100 },
    );
  });
}

test('B5: only what is shown otherwise is a change, also at the end of the twenty', (t) => {
  const ladder = new BidLadder('bids');
  for (let cents = 30; cents <= 60; cents++) ladder.add(cents * 100, 500);
  t.is(ladder.takeChanges().length, 31);
  ladder.add(4_000, 1_000);
  ladder.add(6_000, 99);
  ladder.add(6_050, -1);
  t.deepEqual(ladder.takeChanges(), []);
  ladder.add(4_100, 100);
  t.deepEqual(ladder.takeChanges(), [[41, 6]]);
  ladder.add(6_100, 700);
  const byPrice = (changes: readonly DepthLevel[]) => changes.toSorted(([a], [b]) => a - b);
  t.deepEqual(
    byPrice(ladder.takeChanges()),
    [
      [41, 0],
      [42, 5],
      [61, 7],
    ],
    'one more goes',
  );
  ladder.add(5_000, -500);
  t.deepEqual(
    byPrice(ladder.takeChanges()),
    [
      [41, 6],
      [42, 5],
      [50, 0],
    ],
    'and is back',
  );
});

test('W12: no level is larger than a venue can show, and none is below zero', (t) => {
  const ladder = new BidLadder('bids');
  t.true(ladder.add(5_000, CONTRACTS_E2_MAX));
  t.false(ladder.add(5_000, 1));
  t.is(ladder.best(), null);
  t.false(ladder.add(5_000, -1));
  t.is(ladder.length, 0);
});

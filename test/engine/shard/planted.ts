/** Breaches planted in the store of a shard. */
import test from 'ava';
import { PLAIN } from '../../../engine/base/units.ts';
import type { OrderPlacedFact } from '../../../engine/rules/facts.ts';
import { verifyShard } from '../../../engine/verify/verify.ts';
import { orderTerms, uuidOf } from '../fixtures.ts';
import { tempDir } from './engine-process.ts';
import { ALICE, type Traded, tradedShard } from './environment.ts';

export const SECTION = 'D16, verify';

/** A planted change, and a breach that must be named. */
export type Planted = [what: string, change: (dir: string, ids: Traded) => unknown, breach: RegExp];

export const PLACED: OrderPlacedFact = {
  kind: 'order_placed',
  atMs: 0,
  account: ALICE,
  order: uuidOf(77),
  idempotencyKey: 'another',
  market: 0,
  instrument: 0,
  contracts: 1,
  ...orderTerms({ limitPriceCents: 5, placedPrivate: true }),
  side: 'yes',
  instrumentSide: 'yes',
  byTicker: false,
  fillModel: 'top_of_book',
  feeEachMicros: null,
  netting: null,
  postOnly: false,
  group: null,
  ...PLAIN,
  rests: true,
  trade: null,
};

/** A test per breach: a shard that traded, the planted change, and the found breach. */
export function testBreaches(where: string, planted: readonly Planted[]): void {
  for (const [what, change, breach] of planted) {
    test.serial(`${SECTION}, ${where.toLowerCase()}: ${what}`, async (t) => {
      const dir = tempDir(t);
      const ids = await tradedShard(dir);
      await change(dir, ids);
      const { problems } = (await verifyShard(dir, 0, 1))!;
      t.true(
        problems.some((problem) => breach.test(problem)),
        `found: ${problems.join('; ')}`,
      );
    });
  }
}

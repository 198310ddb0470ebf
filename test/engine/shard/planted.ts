/** Breaches planted in the store of a shard. */
import test from 'ava';
import { ByteWriter } from '../../../engine/format/bytes.ts';
import { writeFact } from '../../../engine/format/fact-layouts.ts';
import type { Fact, OrderPlacedFact } from '../../../engine/rules/facts.ts';
import { verifyShard } from '../../../engine/shard/verify.ts';
import { uuidOf } from '../fixtures.ts';
import { tempDir } from './engine-process.ts';
import { ALICE, lastBatch, plant, type Tables, type Traded, tradedShard } from './environment.ts';

export const SECTION = 'D16, verify';

/** What is planted, and a breach that must be named. */
export type Planted = [what: string, change: (tables: Tables, ids: Traded) => void, breach: RegExp];

export const PLACED: OrderPlacedFact = {
  kind: 'order_placed',
  atMs: 0,
  account: ALICE,
  order: uuidOf(77),
  idempotencyKey: 'another',
  market: 0,
  instrument: 0,
  contracts: 1,
  action: 'buy',
  side: 'yes',
  instrumentSide: 'yes',
  byTicker: false,
  routing: 'venue_a',
  placedVia: 'api',
  placedPrivate: true,
  rests: true,
  timeInForce: 'gtc',
  limitPriceCents: 5,
  boundPriceCents: null,
  statedProbPct: null,
  expiresAtMs: null,
  trade: null,
};

export const append = (tables: Tables, facts: Fact[]) => {
  const to = new ByteWriter();
  for (const fact of facts) writeFact(to, fact);
  tables.journal.putSync(lastBatch(tables) + 1, to.copy());
};

/** A test a breach: a shard that traded, what is planted in it, and what is found. */
export function testBreaches(where: string, planted: readonly Planted[]): void {
  for (const [what, change, breach] of planted) {
    test.serial(`${SECTION}, ${where.toLowerCase()}: ${what}`, async (t) => {
      const dir = tempDir(t);
      const ids = await tradedShard(dir);
      await plant(dir, (tables) => change(tables, ids));
      const { problems } = (await verifyShard(dir, 0, 1))!;
      t.true(
        problems.some((problem) => breach.test(problem)),
        `found: ${problems.join('; ')}`,
      );
    });
  }
}

/** Breaches planted in the store of a shard. */
import test from 'ava';
import { packEvents } from '../../../engine/format/event-layouts.ts';
import type { Event, OrderPlaced } from '../../../engine/rules/events.ts';
import { verifyShard } from '../../../engine/shard/verify.ts';
import { accountRow, orderRow, uuidOf } from '../fixtures.ts';
import { tempDir } from './engine-process.ts';
import { lastBatch, plant, type Tables, type Traded, tradedShard } from './environment.ts';

export const SECTION = 'D16, verify';

/** What is planted, and a breach that must be named. */
export type Planted = [what: string, change: (tables: Tables, ids: Traded) => void, breach: RegExp];

export const placedAgain = (tables: Tables, over: Partial<OrderPlaced>): Event[] => {
  const events = [...tables.journal.getRange({})].length;
  if (events === 0) throw new Error('the journal is empty');
  return [{ ...PLACED, ...over }];
};

export const PLACED: OrderPlaced = {
  kind: 'order_placed',
  atMs: 0,
  order: orderRow(3),
  account: accountRow(0),
  orderId: uuidOf(77),
  idempotencyKey: 'another',
  action: 'buy',
  type: 'limit',
  market: 0,
  instrument: 0,
  side: 'yes',
  instrumentSide: 'yes',
  byTicker: false,
  contracts: 1,
  position: null,
  tradeId: null,
  limitPriceCents: 5,
  boundPriceCents: null,
  timeInForce: 'gtc',
  expiresAtMs: null,
  routing: 'venue_a',
  statedProbPct: null,
  placedVia: 'api',
  placedPrivate: true,
  rests: true,
};

export const append = (tables: Tables, events: Event[]) => {
  tables.journal.putSync(lastBatch(tables) + 1, packEvents(events));
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

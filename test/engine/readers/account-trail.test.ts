/** The trail of an account, as the thread of events sends it. */
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import type { TrailEntry } from '../../../engine/readers/account-trail.ts';
import { type EventAnswer, EventReader } from '../../../engine/readers/event-reader.ts';

import { CATALOG, NOON_MS, placeOrder, quoteTick, uuidOf } from '../fixtures.ts';
import { tempDir } from '../shard/engine-process.ts';
import { openShard } from '../shard/environment.ts';

const [ALICE, BOB] = [uuidOf(1), uuidOf(2)];

test('A210: a trail has what was and what follows, each entry once, of one account alone', async (t) => {
  const dataDir = tempDir(t);
  const shard = await openShard(`${dataDir}/shard-0`);
  t.teardown(() => shard.abandon());
  shard.run([{ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG }, quoteTick()]);
  const place = (account: string, over: object) => shard.run([placeOrder({ account, ...over })]);
  place(ALICE, { limitPriceCents: 50, contracts: 3 });
  place(BOB, { limitPriceCents: 50 });
  place(ALICE, { limitPriceCents: 5, contracts: 2 });
  const log: EventAnswer[] = [];
  const reader = new EventReader(dataDir, (answer) => log.push(answer));
  const trail = { kind: 'trail', shard: 0, account: ALICE, sinceMs: 0 } as const;
  const asked = async (id: number) => {
    reader.take({ ...trail, id, from: shard.lastNumber });
    const isAnswered = () => log.some((one) => one.kind === 'trailed' && one.id === id);
    for (let waited = 0; !isAnswered() && waited < 60_000; waited += 5) await sleep(5);
  };
  const entries = (): TrailEntry[] =>
    log.flatMap((answer) => (answer.kind === 'trail_news' ? answer.entries : []));
  await asked(1);
  const kinds = () => entries().map(({ kind }) => kind);
  t.deepEqual(kinds(), ['placed', 'fill', 'placed']);
  t.like(entries()[1], { contracts: 3, priceCents: 43, cents: 129, isTaker: true, isLast: true });
  shard.run([quoteTick({ yesAskCents: 5, yesBidCents: 4 })]);
  place(BOB, { limitPriceCents: 1 });
  await asked(2);
  t.deepEqual(kinds(), ['placed', 'fill', 'placed', 'fill']);
  t.like(entries()[3], { contracts: 2, priceCents: 5, isTaker: false });
  const numbers = entries().map(({ number }) => number);
  t.deepEqual(
    numbers,
    [...new Set(numbers)].sort((a, b) => a - b),
  );
  reader.take({ kind: 'untrail', shard: 0, account: ALICE });
  const before = log.length;
  place(ALICE, { limitPriceCents: 1 });
  await asked(3);
  t.true(log.length > before);
  t.is(
    kinds().filter((kind) => kind === 'fill').length,
    4,
    'a new trail begins with the first entry',
  );
  reader.take({ kind: 'untrail', shard: 0, account: ALICE });
});

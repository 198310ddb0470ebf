/** The events of accounts, as a thread beside the shard reads them. */
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import type { Uuid } from '../../../engine/base/units.ts';
import { AccountEventSource } from '../../../engine/readers/account-event-source.ts';
import type { AccountEvent } from '../../../engine/readers/account-events.ts';
import { type EventAnswer, EventReader } from '../../../engine/readers/event-reader.ts';
import type { Shard } from '../../../engine/shard/thread/shard.ts';
import { NotLeader, Unavailable } from '../../../engine/threads/unavailable.ts';
import { CATALOG, NOON_MS, placeOrder, quoteTick, uuidOf } from '../fixtures.ts';
import { tempDir } from '../shard/engine-process.ts';
import { openShard } from '../shard/environment.ts';

const ALICE = uuidOf(1);
const BOB = uuidOf(2);
const BOUNDS = { after: 0, limit: 1000, bytesMax: 2 ** 20 };

async function start(dataDir: string): Promise<Shard> {
  const shard = await openShard(`${dataDir}/shard-0`);
  shard.run([{ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG }, quoteTick()]);
  return shard;
}

/** A resting order: one event. */
function place(shard: Shard, account: Uuid, limitPriceCents = 5): void {
  shard.run([placeOrder({ account, limitPriceCents })]);
}

const limitsOf = (events: readonly AccountEvent[]) =>
  events.map(({ on }) => JSON.parse(on).order.limitCents);

test('D60: who watches gets what was, and then what comes, each once and of that account alone', async (t) => {
  const dataDir = tempDir(t);
  const shard = await start(dataDir);
  t.teardown(() => shard.abandon());
  const log: EventAnswer[] = [];
  const reader = new EventReader(dataDir, (answer) => log.push(answer));
  place(shard, ALICE, 1);
  place(shard, BOB, 2);
  const from = shard.lastNumber;
  place(shard, ALICE, 3);
  const watch = { kind: 'watch', shard: 0, account: ALICE } as const;
  reader.take({ ...watch, id: 1, from, bounds: BOUNDS });
  for (let limit = 10; limit < 20; limit++) {
    place(shard, limit % 2 === 0 ? ALICE : BOB, limit);
    await sleep(15);
  }
  place(shard, ALICE, 20);
  const end = shard.lastNumber;
  reader.take({ ...watch, id: 2, from: end, bounds: null });
  while (!log.some((answer) => answer.kind === 'watched' && answer.id === 2)) await sleep(5);
  const [first] = log;
  t.like(first, { kind: 'watched', id: 1 });
  const all = log.flatMap((answer) => ('events' in answer ? (answer.events ?? []) : []));
  t.deepEqual(limitsOf(all), [1, 3, 10, 12, 14, 16, 18, 20]);
  t.like(log.at(-1), { kind: 'watched', id: 2, last: end }, 'once all news up to there were sent');
  reader.take({ kind: 'unwatch', shard: 0, account: ALICE });
  const before = log.length;
  place(shard, ALICE, 30);
  await sleep(100);
  t.is(log.length, before);
});

test('D60, J23: events that are not all within the bounds, or not in the log, are none', async (t) => {
  const dataDir = tempDir(t);
  const shard = await start(dataDir);
  t.teardown(() => shard.abandon());
  for (let order = 0; order < 20; order++) place(shard, ALICE);
  const from = shard.lastNumber;
  const log: EventAnswer[] = [];
  const reader = new EventReader(dataDir, (answer) => log.push(answer));
  t.teardown(() => reader.take({ kind: 'unwatch', shard: 0, account: ALICE }));
  const cases = [
    { bounds: BOUNDS, events: 20 },
    { bounds: { ...BOUNDS, limit: 20 }, events: 20 },
    { bounds: { ...BOUNDS, limit: 19 }, events: null },
    { bounds: { ...BOUNDS, bytesMax: 500 }, events: null },
    { bounds: { ...BOUNDS, after: from }, events: 0 },
    { bounds: { ...BOUNDS, after: from + 1 }, events: null },
  ];
  for (const [id, { bounds }] of cases.entries()) {
    reader.take({ kind: 'watch', id, shard: 0, account: ALICE, from, bounds });
  }
  while (log.length < cases.length) await sleep(5);
  t.deepEqual(
    log.map((answer) => (answer.kind === 'watched' ? (answer.events?.length ?? null) : undefined)),
    cases.map(({ events }) => events),
  );
});

test('Q20: a long log that is read for one account is left for the question of another', async (t) => {
  const dataDir = tempDir(t);
  const shard = await start(dataDir);
  t.teardown(() => shard.abandon());
  place(shard, BOB, 7);
  // More than 4 MiB of facts of somebody.
  for (let batch = 0; batch < 20; batch++) {
    shard.run(Array.from({ length: 1000 }, () => placeOrder({ account: ALICE, contracts: 1 })));
  }
  const answers: EventAnswer[] = [];
  const reader = new EventReader(dataDir, (answer) => answers.push(answer));
  const bounds = { after: 0, upTo: Number.POSITIVE_INFINITY, limit: 30_000, bytesMax: 2 ** 27 };
  reader.take({ kind: 'page', id: 1, shard: 0, account: ALICE, bounds });
  reader.take({ kind: 'page', id: 2, shard: 0, account: BOB, bounds: { ...bounds, limit: 0 } });
  while (answers.length < 2) await sleep(5);
  t.deepEqual(
    answers.map((answer) => ('id' in answer ? answer.id : null)),
    [2, 1],
  );
  const [bob, alice] = answers as Extract<EventAnswer, { kind: 'page' }>[];
  t.deepEqual([bob!.events.length, bob!.last < alice!.last], [0, true]);
  t.is(alice!.events.length, 20_000);
  t.is(alice!.last, shard.lastNumber);
  t.is(new Set(alice!.events.map(({ number }) => number)).size, 20_000, 'each of them once');
});

test('D10, D60: a log that cannot be read ends the thread, and another starts after a wait', async (t) => {
  // A thread that waits for its next start holds no process open.
  const alive = setInterval(() => {}, 1000);
  t.teardown(() => clearInterval(alive));
  const dataDir = tempDir(t);
  const errors: string[] = [];
  const log = { info() {}, warn() {}, error: (_: object, message: string) => errors.push(message) };
  const source = new AccountEventSource({ dataDir, shards: 1, log });
  t.teardown(() => source.close());
  let lost = 0;
  source.listen(
    () => {},
    () => lost++,
  );
  await t.throwsAsync(source.page(ALICE, 'no uuid', -1, 1), { message: /starting again/ });
  t.deepEqual([lost, errors.length], [1, 1]);
  t.regex(source.problem!, /^events: /);
  await t.throwsAsync(source.page(ALICE, ALICE, 0, 1), { message: /starting again/ });
  t.deepEqual((await oncePage(source)).events, []);
  t.is(source.problem, null, 'once is put right by a start');
  await t.throwsAsync(source.page(ALICE, 'no uuid', -1, 1), { message: /starting again/ });
  t.regex(source.problem!, /^events: failed 2 times in a row: /);
  await source.close();
  await t.throwsAsync(source.page(ALICE, ALICE, 0, 1), { message: /stopping/ });
});

/** Asks until a thread answers. */
async function oncePage(source: AccountEventSource) {
  for (;;) {
    try {
      return await source.page(ALICE, ALICE, 0, 1);
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      await sleep(10);
    }
  }
}

test('D60, J34: many questions of one account make another wait for one of them', async (t) => {
  const dataDir = tempDir(t);
  const shard = await start(dataDir);
  t.teardown(() => shard.abandon());
  for (let limit = 1; limit < 20; limit++) place(shard, ALICE, limit);
  place(shard, BOB, 2);
  const log = { info() {}, warn() {}, error() {} };
  const source = new AccountEventSource({ dataDir, shards: 1, log });
  t.teardown(() => source.close());
  const answered: string[] = [];
  const ask = async (account: Uuid, name: string) => {
    await source.page(account, account, 0, 100);
    answered.push(name);
  };
  const all = Array.from({ length: 50 }, () => ask(ALICE, 'alice'));
  all.push(ask(BOB, 'bob'));
  await Promise.all(all);
  t.true(answered.indexOf('bob') <= 2, `after ${answered.indexOf('bob')}`);
});

test('N151: in a cluster a log is read once the shard has answered, and not where another node leads', async (t) => {
  const dataDir = tempDir(t);
  const shard = await start(dataDir);
  t.teardown(() => shard.abandon());
  let leads = true;
  const confirm = async () => {
    if (!leads) throw new NotLeader('http://other');
    // As the shard may answer what came meanwhile.
    place(shard, ALICE, 5);
  };
  const log = { info() {}, warn() {}, error() {} };
  const source = new AccountEventSource({ dataDir, shards: 1, log, confirm });
  t.teardown(() => source.close());
  const { events } = await source.page(ALICE, ALICE, 0, 10);
  t.is(events.length, 1);
  t.is(await source.receipt(ALICE, ALICE, { trade: ALICE }), null);
  t.is((await source.page(ALICE, ALICE, 0, 10)).events.length, 3);
  leads = false;
  await t.throwsAsync(source.page(ALICE, ALICE, 0, 10), { instanceOf: NotLeader });
  await t.throwsAsync(source.receipt(ALICE, ALICE, { trade: ALICE }), { instanceOf: NotLeader });
});

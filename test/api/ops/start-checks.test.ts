/** What a server checks after it has started, beside requests. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { open } from 'lmdb';
import { newKey } from '../../../api/identity/keys.ts';
import { newUser } from '../../../api/identity/users.ts';
import { BackgroundTask } from '../../../api/ops/background-task.ts';
import { NOON_MS } from '../../engine/fixtures.ts';
import { tempDir } from '../../engine/shard/engine-process.ts';
import { catalogOf, game, instrument } from '../../process/catalogs.ts';
import { startOnFeedClock } from '../on-feed-clock.ts';

function* counting(until: number, seen: { steps: number; isClosed: boolean }) {
  try {
    for (; seen.steps < until; seen.steps++) yield;
    return 'done';
  } finally {
    seen.isClosed = true;
  }
}

test('long work lets others have their turn', async (t) => {
  const beside = new BackgroundTask();
  const seen = { steps: 0 };
  const turns = { taken: 0 };
  const timer = setInterval(() => turns.taken++, 1);
  t.teardown(() => clearInterval(timer));
  const running = beside.run(
    (function* () {
      for (; turns.taken <= 3 && seen.steps < 1e8; seen.steps++) yield;
      return turns.taken;
    })(),
  );
  t.is(seen.steps, 0, 'what starts it goes on first');
  t.true((await running)! > 3);
});

test('work that is stopped ends, and lets go of what it holds', async (t) => {
  const beside = new BackgroundTask();
  const seen = { steps: 0, isClosed: false };
  const running = beside.run(counting(Number.POSITIVE_INFINITY, seen));
  while (seen.steps === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  beside.stop();
  t.is(await running, null);
  t.true(seen.isClosed);
  await t.throwsAsync(
    new BackgroundTask().run(
      (function* () {
        yield;
        throw new Error('it failed');
      })(),
    ),
    { message: 'it failed' },
  );
});

test('D96: work begins when it may, and work that is stopped before never does', async (t) => {
  const { promise: begins, resolve: begin } = Promise.withResolvers<void>();
  const [beside, stopped] = [new BackgroundTask(begins), new BackgroundTask(begins)];
  const seen = { steps: 0, isClosed: false };
  const running = beside.run(counting(10, seen));
  const never = { steps: 0, isClosed: false };
  const ended = stopped.run(counting(10, never));
  await new Promise((resolve) => setTimeout(resolve, 40));
  t.is(seen.steps, 0);
  stopped.stop();
  t.is(await ended, null);
  begin();
  t.is(await running, 'done');
  t.is(never.steps, 0);
});

test('D70: a server with a damaged row starts, and says so beside what it answers', async (t) => {
  const directory = tempDir(t);
  const catalogFile = path.join(directory, 'catalog.json');
  writeFileSync(catalogFile, catalogOf([game('g1')], [instrument('i1', 'g1')]));
  const errors: string[] = [];
  const log = { info() {}, warn() {}, error: (_: object, line: string) => errors.push(line) };
  const place = { directory, catalogFile, log, env: {} };
  const { paperbook: first, dataDir } = await startOnFeedClock(t, place);
  const made = await Promise.all(
    ['ann', 'bob'].map(async (name) => {
      const user = newUser({ email: `${name}@b.c`, plan: 'basic' }, NOON_MS);
      await first.identity.addUser(user);
      const { key, token } = newKey(user.id, {}, 'cli', NOON_MS);
      await first.identity.putKey(key);
      return { id: key.id, token };
    }),
  );
  await first.close();
  const [damaged, whole] = made as [(typeof made)[0], (typeof made)[0]];
  changeByte(dataDir, 'keys', damaged.id);
  const { paperbook } = await startOnFeedClock(t, place);
  const statusOf = async (token: string) => {
    const answer = await fetch(`${paperbook.baseUrl}/me`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return { status: answer.status, text: await answer.text() };
  };
  const refused = await statusOf(damaged.token);
  t.is(refused.status, 500);
  t.notRegex(refused.text, /damaged|data\.mdb|keys|svc_sk/);
  t.is((await statusOf(whole.token)).status, 200);
  t.is((await statusOf('svc_sk_nobody')).status, 401);
  const line = `control/data.mdb is damaged: keys [${damaged.id}] has changed since it was written`;
  let problems: string[] = [];
  for (; problems.length === 0; await sleep(20)) {
    const health = await fetch(`${paperbook.adminUrl}/healthz`);
    problems = ((await health.json()) as { problems: string[] }).problems;
  }
  t.deepEqual(problems, [line]);
  t.deepEqual(
    errors.filter((error) => error === line),
    [line],
  );
});

function changeByte(dataDir: string, table: string, key: string): void {
  const root = open<Buffer, string>({
    path: path.join(dataDir, 'control'),
    maxDbs: 32,
    encoding: 'binary',
  });
  const rows = root.openDB<Buffer, string>({ name: table, encoding: 'binary' });
  const value = Buffer.from(rows.get(key)!);
  value[value.length - 1]! ^= 1;
  rows.putSync(key, value);
  void root.close();
}

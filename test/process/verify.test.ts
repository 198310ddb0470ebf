/** `paperbook verify` and `paperbook backup` beside a server that random traders trade on. */
import path from 'node:path';
import test from 'ava';
import { ask } from './client.ts';
import { runHere } from './run-here.ts';
import { run, startFor, tempDir } from './server.ts';
import { Session } from './session.ts';

const SESSION = { keys: 3, seed: 7 };
const STEPS = 40;

test.serial('D16: verify beside a server under orders, and after it', async (t) => {
  t.timeout(180_000);
  const dataDir = path.join(tempDir(t), 'data');
  const session = new Session({ ...SESSION, dataDir, env: { PAPERBOOK_SHARDS: '2' } });
  t.teardown(() => session.abandon());
  await session.start();
  await session.round(STEPS);
  const args = ['verify', '--data-dir', dataDir];
  const [found] = await Promise.all([run([...args, '--json']), session.round(4 * STEPS)]);
  t.is(found.code, 0, found.stdout + found.stderr);
  const { ok, shards, control } = JSON.parse(found.stdout);
  t.true(ok);
  t.deepEqual(control, { users: 1 + SESSION.keys, keys: 1 + SESSION.keys, problems: [] });
  const accounts = shards.map((shard: { accounts: number }) => shard.accounts);
  t.is(accounts[0] + accounts[1], SESSION.keys);
  await session.finish();
  t.deepEqual(session.breaches, []);
  const after = await runHere(args);
  t.is(after.code, 0, after.stdout + after.stderr);
  t.regex(
    after.stdout,
    /^shard-1: \d+ accounts, .*verified before.*\ncontrol: 4 users, 4 keys\nnote: records: .*\nevery invariant holds\n$/m,
  );
});

test.serial('D17: a backup of a server under orders verifies and serves', async (t) => {
  t.timeout(180_000);
  const dir = tempDir(t);
  const dataDir = path.join(dir, 'data');
  const copy = path.join(dir, 'copy');
  const session = new Session({ ...SESSION, dataDir, env: { PAPERBOOK_SHARDS: '2' } });
  t.teardown(() => session.abandon());
  await session.start();
  await session.round(3 * STEPS);
  const acknowledged = session.traders.map(({ token, memory }) => ({
    token,
    bodies: [...memory.placements.values()].map(({ body }) => body),
  }));
  const [done] = await Promise.all([
    run(['backup', copy, '--data-dir', dataDir, '--json']),
    session.round(4 * STEPS),
  ]);
  t.is(done.code, 0, done.stderr);
  t.like(JSON.parse(done.stdout), { directory: copy, shards: 2 });
  await session.finish();
  t.deepEqual(session.breaches, []);

  const verified = await runHere(['verify', '--data-dir', copy]);
  t.is(verified.code, 0, verified.stdout + verified.stderr);
  const restored = await startFor(t, 'demo', { dataDir: copy });
  for (const { token, bodies } of acknowledged) {
    t.true(bodies.length >= STEPS / 2);
    for (const body of bodies) {
      const answer = await ask(token, 'POST', `${restored.baseUrl}/portfolio/orders`, body);
      t.true(answer.replayed, `${body.idempotencyKey} was acknowledged before the backup`);
    }
  }
  const exit = await restored.command.end('SIGINT');
  t.is(exit.code, 0);
  t.is((await runHere(['verify', '--data-dir', copy])).code, 0);
  t.is((await runHere(['backup', copy, '--data-dir', dataDir])).code, 1);
});

test.serial('D16: verify of no data directory, exit code 1', async (t) => {
  const dir = tempDir(t);
  const { code, stdout, stderr } = await runHere(['verify', '--data-dir', dir]);
  t.deepEqual(
    { code, stdout, stderr },
    {
      code: 1,
      stdout: '',
      stderr: `paperbook: ${dir} is no data directory: it has no paperbook.json\n`,
    },
  );
});

/** `paperbook verify` and `paperbook backup` beside a server that random traders trade on. */
import path from 'node:path';
import test from 'ava';
import { shareOf, variantsOfRun } from '../model/seeds.ts';
import { ask } from './client.ts';
import { runHere, serveHere } from './run-here.ts';
import { tempDir } from './server.ts';
import { Session } from './session.ts';

const SESSION = { keys: 3, seed: 7 };
/** A check takes fewer; the crash and soak scripts take many more. */
const [STEPS] = variantsOfRun([10, 40]).slice(-1) as [number];

test.serial(
  'D16, D17: verify and backup beside a server under orders, and what it serves',
  async (t) => {
    t.timeout(180_000);
    const dir = tempDir(t);
    const [dataDir, copy] = [path.join(dir, 'data'), path.join(dir, 'copy')];
    const session = new Session({ ...SESSION, dataDir, env: { PAPERBOOK_SHARDS: '2' } });
    t.teardown(() => session.abandon());
    await session.start();
    await session.round(STEPS);
    const [found] = await Promise.all([
      runHere(['verify', '--data-dir', dataDir, '--json']),
      session.round(2 * STEPS),
    ]);
    t.is(found.code, 0, found.stdout + found.stderr);
    const { ok, shards, control } = JSON.parse(found.stdout);
    t.true(ok);
    t.deepEqual(control, { users: 1 + SESSION.keys, keys: 1 + SESSION.keys, problems: [] });
    const accounts = shards.map((shard: { accounts: number }) => shard.accounts);
    t.is(accounts[0] + accounts[1], SESSION.keys);

    const acknowledged = session.traders.map(({ token, memory }) => ({
      token,
      bodies: [...memory.placements.values()].map(({ body }) => body),
    }));
    const [done] = await Promise.all([
      runHere(['backup', copy, '--data-dir', dataDir, '--json']),
      session.round(2 * STEPS),
    ]);
    t.is(done.code, 0, done.stderr);
    t.like(JSON.parse(done.stdout), { directory: copy, shards: 2 });
    // A long run verifies the directory that the server leaves, too.
    await session.finish(shareOf(100) >= 100);
    t.deepEqual(session.breaches, []);

    const verified = await runHere(['verify', '--data-dir', copy]);
    t.is(verified.code, 0, verified.stdout + verified.stderr);
    t.regex(
      verified.stdout,
      /^shard-1: \d+ accounts, .*\ncontrol: 4 users, 4 keys\nevery invariant holds\n$/m,
    );
    const restored = await serveHere(t, { dataDir: copy });
    for (const { token, bodies } of acknowledged) {
      t.true(bodies.length >= STEPS / 2);
      for (const body of bodies) {
        const answer = await ask(token, 'POST', `${restored.baseUrl}/portfolio/orders`, body);
        t.true(answer.replayed, `${body.idempotencyKey} was acknowledged before the backup`);
      }
    }
    await restored.stop();
    t.is((await runHere(['backup', copy, '--data-dir', dataDir])).code, 1);
  },
);

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

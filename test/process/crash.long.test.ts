/** The soak in short: random traders, and the server killed under their requests. */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { eventually } from '../../bench/lib/eventually.ts';
import { Command, type Env, startFor, tempDir } from './server.ts';
import { createServeSession, Session, type Stop } from './session.ts';

const KEYS = 4;
const SEED = 1;
const ROUNDS_BETWEEN_STOPS = 5;
const STEPS_A_ROUND = 40;

type Case = {
  name: string;
  shards: string[] | null;
  create: (dir: string) => Promise<Session>;
  stops: Stop[];
};

const demo = (env: Env) => async (dir: string) =>
  new Session({ dataDir: path.join(dir, 'data'), keys: KEYS, seed: SEED, env });

for (const { name, shards, create, stops } of [
  {
    name: 'demo, shards by the machine',
    shards: null,
    create: demo({}),
    stops: ['SIGKILL', 'SIGINT', 'SIGKILL'],
  },
  {
    name: 'demo, two shards, durability commit',
    shards: ['shard-0', 'shard-1'],
    create: demo({ PAPERBOOK_SHARDS: '2', PAPERBOOK_DURABILITY: 'commit' }),
    stops: ['SIGKILL', 'SIGINT+SIGKILL'],
  },
  {
    name: 'serve, two shards, durability sync, killed in its start too',
    shards: ['shard-0', 'shard-1'],
    create: (dir: string) => createServeSession(dir, { keys: KEYS, seed: SEED }),
    stops: ['SIGKILL+SIGKILL', 'SIGKILL'],
  },
] satisfies Case[]) {
  const title = 'after kill -9 and a restart every acknowledged order is there once; money adds up';
  test.serial(`${title} (${name})`, async (t) => {
    t.timeout(300_000);
    const dir = tempDir(t);
    const session = await create(dir);
    t.teardown(() => session.abandon());
    try {
      await tradeAndStop(session, stops);
    } catch (error) {
      await session.abandon();
      t.log(session.breaches);
      throw error;
    }
    t.deepEqual(session.breaches, []);

    // The rules above mean something only where there was something to lose.
    const counts = session.counts();
    for (const what of ['executed', 'resting', 'canceled', 'canceled by owner', 'replayed']) {
      t.true((counts[what] ?? 0) >= 10, `${what} ${counts[what]}`);
    }
    t.true((counts['no answer'] ?? 0) >= KEYS, 'no stop hit a trader under way');
    const entries = readdirSync(path.join(dir, 'data'));
    if (shards !== null)
      t.deepEqual(
        entries.filter((name) => name.startsWith('shard-')),
        shards,
      );
  });
}

async function tradeAndStop(session: Session, stops: Stop[]): Promise<void> {
  await session.start();
  for (const stop of stops) {
    for (let round = 0; round < ROUNDS_BETWEEN_STOPS; round++) {
      await session.round(STEPS_A_ROUND);
    }
    await session.stopUnderLoad(stop);
  }
  await session.round(STEPS_A_ROUND);
  await session.finish();
}

for (const name of ['paperbook.json', 'control', 'shard-0', 'demo/catalog.json', 'demo.json']) {
  test.serial(`killed in its first start, when it makes ${name}: it starts again`, async (t) => {
    const dataDir = path.join(tempDir(t), 'data');
    const command = new Command(['demo'], { env: { PAPERBOOK_DATA_DIR: dataDir } });
    t.teardown(async () => {
      if (command.isRunning) await command.end('SIGKILL');
    });
    await eventually(name, async () => (existsSync(path.join(dataDir, name)) ? true : null), {
      everyMs: 1,
    });
    t.is((await command.end('SIGKILL')).signal, 'SIGKILL');
    const { baseUrl } = await startFor(t, 'demo', { dataDir });
    t.true((await fetch(`${baseUrl}/status`)).ok);
  });
}

/** One server at a time, whatever somebody deletes. */
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { openDataDir } from '../../../api/data-dir/data-dir.ts';
import { InUse, takeLock } from '../../../api/data-dir/directory-lock.ts';
import { foreignProblem } from '../../../api/data-dir/private-files.ts';
import { tempDir } from '../../engine/shard/engine-process.ts';
import { stoppedServer } from '../stopped-server.ts';

const NEW = { wanted: 1, byDefault: 1 };

/** Holds the directory as a server in another container does, whose sockets nobody here sees. */
async function heldElsewhere(directory: string) {
  const holder = spawn('flock', ['-x', directory, 'sh', '-c', 'echo held; exec sleep 600'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  await new Promise((resolve) => holder.stdout.once('data', resolve));
  return {
    async kill(): Promise<void> {
      const ended = new Promise((resolve) => holder.once('exit', resolve));
      process.kill(-holder.pid!, 'SIGKILL');
      await ended;
    },
  };
}

test('D80: a directory in use is not opened, whatever file of it was deleted', async (t) => {
  const directory = path.join(tempDir(t), 'data');
  await (await openDataDir(directory, NEW)).release();
  const holder = await heldElsewhere(directory);
  t.teardown(() => holder.kill().catch(() => undefined));
  rmSync(path.join(directory, 'server.lock'), { force: true });
  await t.throwsAsync(takeLock(directory), { instanceOf: InUse, message: /in another container/ });
  await t.throwsAsync(openDataDir(directory, NEW), { message: /is in use by another server/ });
});

test("D80: a holder that was killed is in nobody's way", async (t) => {
  const directory = path.join(tempDir(t), 'data');
  mkdirSync(directory);
  const holder = await heldElsewhere(directory);
  await t.throwsAsync(takeLock(directory), { instanceOf: InUse });
  await holder.kill();
  const lock = await takeLock(directory);
  await t.throwsAsync(takeLock(directory), { instanceOf: InUse });
  await lock.release();
  await (await takeLock(directory)).release();
});

test('D13: a directory that has lost its paperbook.json is named as that, and not as foreign', async (t) => {
  const directory = path.join(tempDir(t), 'data');
  await stoppedServer(directory);
  for (const name of ['history', 'records'])
    mkdirSync(path.join(directory, name), { recursive: true });
  rmSync(path.join(directory, 'paperbook.json'));
  chmodSync(directory, 0o755);
  t.is(foreignProblem(directory), null, 'each of its names is that of a server');
  await t.throwsAsync(openDataDir(directory, NEW), {
    message: /paperbook\.json is missing, and .* holds shard-0.*: restore it/,
  });
  t.true(readdirSync(directory).includes('records'));
});

test('D13: what only its paperbook.json says whose it is refuses a new directory, also without shards', async (t) => {
  for (const name of ['control', 'history', 'records']) {
    const directory = path.join(tempDir(t), 'data');
    const folder = path.join(directory, name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'data'), 'x');
    await t.throwsAsync(openDataDir(directory, NEW), {
      message: new RegExp(`paperbook\\.json is missing, and .* holds ${name}: restore it`),
    });
    rmSync(path.join(folder, 'data'));
    await (await openDataDir(directory, NEW)).release();
  }
});

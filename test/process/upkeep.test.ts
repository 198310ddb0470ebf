/** `paperbook backup` again and again, `rebuild` and `upgrade`, as an operator runs them. */
import { truncateSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { goOn, stoppedServer } from '../api/stopped-server.ts';
import { runHere, serveHere } from './run-here.ts';
import { startFor, tempDir } from './server.ts';

test.serial('D32: a backup each night, of a server that runs', async (t) => {
  t.timeout(180_000);
  const dir = tempDir(t);
  const [dataDir, copy] = [path.join(dir, 'data'), path.join(dir, 'copy')];
  const { command } = await startFor(t, 'demo', { dataDir });
  const args = ['backup', copy, '--data-dir', dataDir, '--json'];
  for (let night = 0; night < 2; night++) {
    const { code, stdout, stderr } = await runHere(args);
    t.is(code, 0, stderr);
    t.like(JSON.parse(stdout), { directory: copy });
    const verified = await runHere(['verify', '--data-dir', copy]);
    t.is(verified.code, 0, verified.stdout + verified.stderr);
  }
  await command.end('SIGINT');
  t.is((await runHere(args)).code, 0);
  const restored = await serveHere(t, { dataDir: copy });
  t.true((await fetch(`${restored.adminUrl}/readyz`)).ok);
});

test.serial('D33: rebuild says what it did, and not beside a server', async (t) => {
  const dataDir = path.join(tempDir(t), 'data');
  await stoppedServer(dataDir);
  await goOn(dataDir, 901, 2);
  const whole = await runHere(['rebuild', dataDir]);
  t.deepEqual([whole.code, whole.stdout], [0, 'shard-0: is whole and stays unchanged\n']);
  truncateSync(path.join(dataDir, 'shard-0', 'data.mdb'), 9000);
  const { code, stdout, stderr } = await runHere(['rebuild', dataDir]);
  t.is(code, 0, stderr);
  t.regex(
    stdout,
    /^shard-0: was wrong: .*was cut short.*\nshard-0: rebuilt from \d+ facts; the old file is \S+data\.mdb\.replaced-1\n$/,
  );
  const { dataDir: used } = await serveHere(t);
  const refused = await runHere(['rebuild', used]);
  t.is(refused.code, 1);
  t.regex(
    refused.stderr,
    /^paperbook: \S+ is in use by another server \(process \d+\): stop it first\n$/,
  );
});

test.serial('D34: upgrade says that there is nothing to do', async (t) => {
  const dataDir = path.join(tempDir(t), 'data');
  await stoppedServer(dataDir);
  const { code, stdout } = await runHere(['upgrade', dataDir]);
  t.deepEqual(
    [code, stdout],
    [
      0,
      `${dataDir} has version 2 of the format (1 shard and the control store), and so has this ` +
        'program: nothing to do\n',
    ],
  );
  const json = await runHere(['upgrade', dataDir, '--json']);
  t.deepEqual(JSON.parse(json.stdout), {
    ...{ directory: dataDir, version: 2, shards: 1, control: 2 },
    changed: false,
  });
  t.is((await runHere(['upgrade', path.dirname(dataDir)])).code, 1);
});

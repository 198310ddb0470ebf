/** `paperbook backup` again and again, `rebuild` and `upgrade`, as an operator runs them. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, truncateSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { openDataDir } from '../../api/data-dir/data-dir.ts';
import { goOn, stoppedServer } from '../api/stopped-server.ts';
import { longTest } from '../long-test.ts';
import { runHere, serveHere } from './run-here.ts';
import { tempDir } from './server.ts';

longTest.serial('D32: a backup each night, of a server that runs', async (t) => {
  t.timeout(180_000);
  const dir = tempDir(t);
  const [dataDir, copy] = [path.join(dir, 'data'), path.join(dir, 'copy')];
  const server = await serveHere(t, { dataDir });
  const args = ['backup', copy, '--data-dir', dataDir, '--json'];
  const backUp = async () => {
    const { code, stdout, stderr } = await runHere(args);
    t.is(code, 0, stderr);
    t.like(JSON.parse(stdout), { directory: copy });
  };
  await backUp();
  await server.stop();
  await backUp();
  const restored = await serveHere(t, { dataDir: copy });
  t.true((await fetch(`${restored.adminUrl}/readyz`)).ok);
});

test.serial(
  'O33: backup, restore and upgrade work as the page of operators prints them',
  async (t) => {
    const page = readFileSync(new URL('../../api/deploy/README.md', import.meta.url), 'utf8');
    const [section] = page.split('## Backup, restore and upgrade')[1]!.split('\n## ');
    const lines = [...section!.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block]) =>
      block!.trim().split('\n'),
    );
    t.is(lines.length, 6);
    const folder = tempDir(t);
    const [data, backups] = [path.join(folder, 'paperbook'), path.join(folder, 'backups')];
    mkdirSync(backups);
    const first = await serveHere(t, { dataDir: data });
    const keysOf = async ({ baseUrl }: { baseUrl: string }) => {
      const answer = await fetch(`${baseUrl}/track-record/keys`);
      return ((await answer.json()) as { keys: { kid: string }[] }).keys.map(({ kid }) => kid);
    };
    const token = readFileSync(path.join(data, 'admin.token'), 'utf8');
    const keys = await keysOf(first);
    for (const line of lines) {
      // As the page says, before the old directory is put aside.
      if (line.startsWith('mv ')) await first.stop();
      const local = line.replaceAll('/var/lib/paperbook', data).replaceAll('/backup', backups);
      const [program, ...args] = local.split(' ');
      if (program === 'paperbook') {
        const { code, stderr } = await runHere(args);
        t.is(code, 0, `${line}: ${stderr}`);
      } else execFileSync(program!, args);
    }
    const restored = await serveHere(t, { dataDir: data });
    t.true((await fetch(`${restored.adminUrl}/readyz`)).ok);
    t.not(readFileSync(path.join(data, 'admin.token'), 'utf8'), token);
    const now = await keysOf(restored);
    for (const key of keys) t.true(now.includes(key), 'earlier records still verify');
    t.is(now.length, keys.length + 1, 'later ones are signed with a new key');
  },
);

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
  // As a server does.
  const used = await openDataDir(dataDir, { wanted: 1, byDefault: 1 });
  const refused = await runHere(['rebuild', dataDir]);
  await used.release();
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

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { writeWhole } from '../../../api/cli/whole-file.ts';
import { eventually } from '../../../bench/lib/eventually.ts';
import { tempDir } from '../../engine/shard/engine-process.ts';

test('U81: a signal ends the process, leaves the file as it was, and nothing beside', async (t) => {
  const dir = tempDir(t);
  const file = path.join(dir, 'kept.csv');
  writeFileSync(file, 'of yesterday');
  const module = new URL('../../../api/cli/whole-file.ts', import.meta.url);
  const code = `
    const { writeWhole } = await import('${module}');
    await writeWhole('${file}', () => new Promise((_) => setTimeout(() => {}, 60_000)));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: 'ignore' });
  t.teardown(() => child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  await eventually('a file beside', async () => readdirSync(dir).length === 2 || null);
  child.kill('SIGINT');
  t.deepEqual(await ended, [null, 'SIGINT']);
  t.deepEqual(readdirSync(dir), ['kept.csv']);
  t.is(readFileSync(file, 'utf8'), 'of yesterday');
});

test('U81: what cannot be written is named and refused before the work; listeners end', async (t) => {
  const dir = tempDir(t);
  mkdirSync(path.join(dir, 'folder'));
  const listeners = process.listenerCount('SIGINT');
  for (const [name, code] of [
    ['folder', 'EISDIR'],
    ['none/file', 'ENOENT'],
  ] as const) {
    const file = path.join(dir, name);
    const work = async () => t.fail('it was refused before');
    await t.throwsAsync(writeWhole(file, work), { message: `${file} cannot be written (${code})` });
  }
  const file = path.join(dir, 'file');
  t.is(await writeWhole(file, (part) => writeFile(part, 'whole').then(() => 5)), 5);
  t.is(readFileSync(file, 'utf8'), 'whole');
  t.is(process.listenerCount('SIGINT'), listeners);
  t.deepEqual(readdirSync(dir).sort(), ['file', 'folder']);
});

/** When the use of a key reaches the disk. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import test from 'ava';
import { KeyUses } from '../../../api/identity/key-uses.ts';
import { newKey } from '../../../api/identity/keys.ts';
import { ControlStore } from '../../../api/identity/store.ts';
import { NOON_MS, uuidOf } from '../../engine/fixtures.ts';

test('I5: many keys that are used at once reach the disk one after another, the rest at the stop', async (t) => {
  const written: number[] = [];
  let isFull = true;
  const uses = new KeyUses(async (ids) => {
    if (isFull) throw new Error('the disk is full');
    written.push(ids.length);
  });
  const failures: unknown[] = [];
  for (let key = 0; key < 6250; key++) {
    uses.note(uuidOf(key), (error) => {
      failures.push(error);
      isFull = false;
    });
  }
  // Its timer keeps no process alive.
  while (failures.length === 0) await setTimeout(10);
  t.is(uses.waiting, 6250, 'what could not be written waits');
  while (written.length < 2) await setTimeout(10);
  t.deepEqual(written.slice(0, 2), [100, 100]);
  t.deepEqual(failures.length, 1);
  await uses.close();
  t.is(uses.waiting, 0);
  t.is(
    written.reduce((sum, each) => sum + each, 0),
    6250,
  );
  t.true(written.length < 10, 'a stop writes larger groups');
});

test('I5: a use that was noted is on disk after a stop', async (t) => {
  const directory = mkdtempSync(path.join(tmpdir(), 'paperbook-uses-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const store = new ControlStore(directory);
  const { key } = newKey(uuidOf(1), {}, 'cli', NOON_MS);
  await store.putKey(key);
  store.noteUse(key, NOON_MS + 5, (error) => t.fail(String(error)));
  t.is(store.keys.get(key.id)!.lastUsedAtMs, NOON_MS + 5);
  await store.close();
  const reopened = new ControlStore(directory);
  t.teardown(() => reopened.close());
  t.is(reopened.keys.get(key.id)!.lastUsedAtMs, NOON_MS + 5);
});

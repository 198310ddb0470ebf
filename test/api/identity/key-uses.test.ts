/** When the use of a key reaches the disk. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import test from 'ava';
import { open } from 'lmdb';
import { type ControlTables, openControlTables } from '../../../api/identity/control-tables.ts';
import { KeyUses } from '../../../api/identity/key-uses.ts';
import { isLastUseStale, newKey } from '../../../api/identity/keys.ts';
import { ControlStore } from '../../../api/identity/store.ts';
import { NOON_MS, uuidOf } from '../../engine/fixtures.ts';

test('I5: uses of many keys reach the disk together, and wait where it is full', async (t) => {
  const written: number[] = [];
  let isFull = true;
  const uses = new KeyUses({
    early: () => undefined,
    *readEarly() {},
    async write(rows) {
      if (isFull) throw new Error('the disk is full');
      written.push(rows.length);
    },
  });
  const failures: unknown[] = [];
  const onFailed = (error: unknown) => {
    failures.push(error);
    isFull = false;
  };
  for (let key = 0; key < 6250; key++) uses.note({ id: uuidOf(key), atMs: NOON_MS }, onFailed);
  // Its timer keeps no process alive.
  while (failures.length === 0) await setTimeout(10);
  t.is(uses.waiting, 6250, 'what could not be written waits');
  while (written.length === 0) await setTimeout(10);
  t.deepEqual(written, [6250]);
  t.is(failures.length, 1);
  uses.note({ id: uuidOf(1), atMs: NOON_MS + 1 }, onFailed);
  await uses.close();
  t.is(uses.waiting, 0);
  t.deepEqual(written, [6250, 1], 'the rest at the stop');
});

test('I5: the use of a key is written again once the last one is an hour old', (t) => {
  const { key } = newKey(uuidOf(1), {}, 'cli', NOON_MS);
  const usedAgo = (ms: number) => isLastUseStale({ ...key, lastUsedAtMs: NOON_MS - ms }, NOON_MS);
  t.true(isLastUseStale(key, NOON_MS));
  t.deepEqual([usedAgo(3_599_999), usedAgo(3_600_000)], [false, true]);
});

test('I5, Q27: a use is on disk after a stop, and the row of its key is not written for it', async (t) => {
  const directory = mkdtempSync(path.join(tmpdir(), 'paperbook-uses-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const store = new ControlStore(directory);
  const { key } = newKey(uuidOf(1), {}, 'cli', NOON_MS);
  await store.putKey(key);
  store.noteUse(key, NOON_MS + 5, (error) => t.fail(String(error)));
  t.is(store.keys.get(key.id)!.lastUsedAtMs, NOON_MS + 5);
  await store.close();
  const row = openControl(directory, ({ keys }) => keys.get(key.id)!);
  t.is((await row).lastUsedAtMs, null);
  const reopened = new ControlStore(directory);
  t.teardown(() => reopened.close());
  t.is(reopened.keys.get(key.id)!.lastUsedAtMs, NOON_MS + 5);
  t.is(reopened.keysOf(key.userId)[0]!.lastUsedAtMs, NOON_MS + 5);
  t.is(reopened.keys.before(null, 1)[0]!.lastUsedAtMs, NOON_MS + 5);
  t.false(isLastUseStale(reopened.keys.get(key.id)!, NOON_MS + 6), 'a start moves no use');
});

test('I5, A242: the uses of before the start are read into memory, and those since are newer', async (t) => {
  const directory = mkdtempSync(path.join(tmpdir(), 'paperbook-uses-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const fail = (error: unknown) => t.fail(String(error));
  const made = [1, 2].map((user) => newKey(uuidOf(user), {}, 'cli', NOON_MS).key);
  for (let start = 0; start < 2; start++) {
    const store = new ControlStore(directory);
    if (start === 0) await store.putKeys(made);
    store.noteUse(made[start]!, NOON_MS + start, fail);
    await store.close();
  }
  const store = new ControlStore(directory);
  t.teardown(() => store.close());
  store.noteUse(made[1]!, NOON_MS + 9, fail);
  for (const _ of store.keys.readUses());
  // They are made of their rows again.
  for (const { id } of made) store.keys.forget(id);
  t.deepEqual(
    made.map(({ id }) => store.keys.get(id)!.lastUsedAtMs),
    [NOON_MS, NOON_MS + 9],
  );
});

async function openControl<T>(directory: string, read: (tables: ControlTables) => T): Promise<T> {
  const root = open<Buffer, string>({
    path: path.join(directory, 'control'),
    maxDbs: 32,
    encoding: 'binary',
  });
  try {
    return read(openControlTables({ root, entries: 0 })!);
  } finally {
    await root.close();
  }
}

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { type Meta, metaOf, writeMeta } from '../../../api/data-dir/data-dir.ts';
import { DataDirError } from '../../../api/data-dir/directory-files.ts';
import { refuseLostControl, settleDirectoryId } from '../../../api/data-dir/directory-id.ts';
import { ControlStore } from '../../../api/identity/store.ts';
import { ownerlessLines } from '../../../api/ops/ownerless.ts';
import { FORMAT_VERSION } from '../../../engine/format/version.ts';
import { NOON_MS, uuidOf } from '../../engine/fixtures.ts';
import { tempDir } from '../../engine/shard/engine-process.ts';

const SECTION = 'D14, control/';
const [OWN, OTHER] = [uuidOf(1), uuidOf(2)];

/** With a paperbook.json; `control`: the id of its store, null: a store without one. */
async function dirWith(
  t: ExecutionContext,
  meta: Partial<Meta>,
  control?: string | null,
): Promise<string> {
  const dir = tempDir(t);
  writeMeta(dir, { format: 'paperbook-data', version: FORMAT_VERSION, shards: 1, ...meta });
  mkdirSync(path.join(dir, 'shard-0'));
  if (control === undefined) return dir;
  const store = new ControlStore(dir);
  if (control !== null) await store.putDirectoryId(control);
  await store.putNumbers({ marketNames: [], instrumentIds: [] });
  await store.close();
  return dir;
}

async function settle(dir: string): Promise<string | null> {
  refuseLostControl(dir);
  const store = new ControlStore(dir);
  try {
    await settleDirectoryId(dir, store, NOON_MS);
    return store.directoryId;
  } finally {
    await store.close();
  }
}

test(`${SECTION}: a directory without an id gets one, kept from then on`, async (t) => {
  const dir = await dirWith(t, {}, null);
  const id = await settle(dir);
  t.truthy(id);
  t.is(metaOf(dir).id, id!);
  t.is(await settle(dir), id);
  t.like(metaOf(dir), { format: 'paperbook-data', version: FORMAT_VERSION, shards: 1, id: id! });
});

test(`${SECTION}: a start that was cut short as it gave the id is gone on with`, async (t) => {
  const dir = await dirWith(t, {}, OWN);
  t.is(await settle(dir), OWN);
  t.is(metaOf(dir).id, OWN);
});

test(`${SECTION}: the store of another directory is refused, naming both ids`, async (t) => {
  const dir = await dirWith(t, { id: OWN }, OTHER);
  const error = await t.throwsAsync(settle(dir), { instanceOf: DataDirError });
  t.true(error!.message.includes(OWN) && error!.message.includes(OTHER), error!.message);
  t.is(metaOf(dir).id, OWN);
});

test(`${SECTION}: one from before there were ids is refused beside an id`, async (t) => {
  const dir = await dirWith(t, { id: OWN }, null);
  const message = new RegExp(`control has no id, and .*paperbook\\.json has ${OWN}`);
  await t.throwsAsync(settle(dir), { instanceOf: DataDirError, message });
});

test(`${SECTION}: a lost one beside shards is refused, and is not made again`, async (t) => {
  const lost: [string, Partial<Meta>][] = [
    ['a server has started on it', { id: OWN }],
    ['a server of an older version has', {}],
    ['a server went on from a replay', { id: OWN, fromReplay: true }],
  ];
  for (const [what, meta] of lost) {
    const dir = await dirWith(t, meta);
    for (const left of ['nothing', 'an empty file']) {
      if (left === 'an empty file') {
        mkdirSync(path.join(dir, 'control'));
        writeFileSync(path.join(dir, 'control', 'data.mdb'), '');
      }
      const message = /control is missing, and .* holds shard-0\. .* restore it/;
      await t.throwsAsync(settle(dir), { instanceOf: DataDirError, message }, `${what}, ${left}`);
    }
  }
});

test(`${SECTION}: a replay's directory has none, and a server goes on from it`, async (t) => {
  const dir = await dirWith(t, { fromReplay: true });
  const id = await settle(dir);
  t.like(metaOf(dir), { id: id!, fromReplay: true });
});

test(`${SECTION}: without shards there is nothing to lose`, async (t) => {
  const dir = await dirWith(t, { id: OWN });
  rmSync(path.join(dir, 'shard-0'), { recursive: true });
  t.is(await settle(dir), OWN);
});

test('a paperbook.json whose id is none is refused', async (t) => {
  const dir = await dirWith(t, { id: 'seven' });
  t.throws(() => metaOf(dir), { message: /does not describe a data directory/ });
});

test(`${SECTION}: of many accounts of nobody the first few are named, the others counted`, (t) => {
  const ids = Array.from({ length: 1000 }, (_, number) => uuidOf(number));
  const lines = ownerlessLines(ids, (id) => id === OWN);
  t.is(lines.length, 6);
  t.is(lines[0], `account ${uuidOf(0)} is of no user or organization`);
  t.false(lines.join().includes(OWN));
  t.is(lines[5], 'and 994 more accounts are of no user or organization');
  t.deepEqual(
    ownerlessLines(ids, () => true),
    [],
  );
});

test(`${SECTION}: two accounts of nobody whose ids are damaged alike are one line`, (t) => {
  const none = '00000000-0000-0000-0000-000000000000';
  const line = (id: string) => `account ${id} is of no user or organization`;
  const lines = ownerlessLines([none, uuidOf(7), none], (id) => id === OWN);
  t.deepEqual(lines, [line(none), line(uuidOf(7))]);
});

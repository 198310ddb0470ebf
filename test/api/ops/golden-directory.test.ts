/** The golden data directory of each version of the format: opened, upgraded, verified. */
import { cpSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { open } from 'lmdb';
import { metaOf, writeMeta } from '../../../api/data-dir/data-dir.ts';
import {
  CONTROL_FINGERPRINT,
  CONTROL_FORMAT,
  type ControlFormat,
  EARLIER_CONTROL_FINGERPRINTS,
} from '../../../api/identity/control-format.ts';
import { ControlTable } from '../../../api/identity/control-table.ts';
import { ControlStore } from '../../../api/identity/store.ts';
import { upgrade } from '../../../api/ops/upgrade.ts';
import { digest } from '../../../engine/audit/digest.ts';
import { FORMAT_VERSION } from '../../../engine/format/version.ts';
import { hashOfDigests } from '../../../engine/shard/callers/merge-reports.ts';
import { tempDir } from '../../engine/shard/engine-process.ts';
import { openShard } from '../../engine/shard/environment.ts';
import { sharedVerifier } from './shared-verifier.ts';

const verifyDataDir = sharedVerifier();

const SECTION = 'D34, a directory of format';
const GOLDEN = fileURLToPath(new URL('../../golden/', import.meta.url));
const HASHES: Record<string, string> = JSON.parse(
  readFileSync(path.join(GOLDEN, 'directories.json'), 'utf8'),
);
const BYTES_MAX = 200_000;

/** A copy of the golden directory of a version, since opening one makes lock files in it. */
function copyOf(t: ExecutionContext, version: string): string {
  const dir = path.join(tempDir(t), 'data');
  cpSync(path.join(GOLDEN, `directory-${version}`), dir, { recursive: true });
  return dir;
}

function filesIn(dir: string): string[] {
  const entries = readdirSync(dir, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name !== 'lock.mdb')
    .map((entry) => path.join(entry.parentPath, entry.name));
}

test(`${SECTION}: there is one of every version since the log, and it is small`, (t) => {
  const versions = Array.from({ length: FORMAT_VERSION - 1 }, (_, at) => String(at + 2));
  t.deepEqual(Object.keys(HASHES), versions);
  for (const version of versions) {
    const sizes = filesIn(path.join(GOLDEN, `directory-${version}`)).map((f) => statSync(f).size);
    t.true(sizes.reduce((sum, size) => sum + size, 0) < BYTES_MAX);
  }
});

test.serial(
  'D95: a control store without the added tables gets them as a server opens it',
  async (t) => {
    const dir = copyOf(t, '2');
    const before = controlOf(dir);
    t.deepEqual(await before, { fingerprint: EARLIER_CONTROL_FINGERPRINTS[0], hasUses: false });
    const store = new ControlStore(dir);
    const [key] = [...store.keys.values()];
    store.noteUse(key!, key!.createdAtMs + 1, (error) => t.fail(String(error)));
    await store.close();
    t.deepEqual(await controlOf(dir), { fingerprint: CONTROL_FINGERPRINT, hasUses: true });
    const reopened = new ControlStore(dir);
    t.is(reopened.keys.get(key!.id)!.lastUsedAtMs, key!.createdAtMs + 1);
    await reopened.close();
    t.true((await verifyDataDir(dir)).ok);
  },
);

async function controlOf(dir: string) {
  const root = open<Buffer, string>({
    path: path.join(dir, 'control'),
    ...{ maxDbs: 32, encoding: 'binary' as const, readOnly: true },
  });
  const { fingerprint } = new ControlTable<ControlFormat>(root as never, 'values').get('format')!;
  const hasUses = [...root.getKeys({})].includes('keyUses');
  await root.close();
  return { fingerprint, hasUses };
}

for (const [version, stateHash] of Object.entries(HASHES)) {
  test.serial(`${SECTION} ${version} is opened, and has the state that it had`, async (t) => {
    const dir = copyOf(t, version);
    const before = new Map(filesIn(dir).map((file) => [file, readFileSync(file)]));
    t.like(await upgrade(dir), { directory: dir, version: FORMAT_VERSION, changed: false });
    const { ok, problems, shards } = await verifyDataDir(dir);
    t.deepEqual({ ok, problems }, { ok: true, problems: [] });
    t.true(shards[0]!.closedTrades > 0 && shards[0]!.restingOrders > 0);
    for (const file of filesIn(dir)) t.true(readFileSync(file).equals(before.get(file)!), file);
    const shard = await openShard(path.join(dir, 'shard-0'));
    t.is(hashOfDigests([JSON.stringify(digest(shard.state))]), stateHash);
    await shard.abandon();
  });
}

test.serial(`${SECTION} 1, or of a later one, is refused, both named`, async (t) => {
  for (const version of [1, FORMAT_VERSION + 1]) {
    const dir = copyOf(t, String(FORMAT_VERSION));
    const meta = path.join(dir, 'paperbook.json');
    writeMeta(dir, { ...metaOf(dir), version });
    await t.throwsAsync(upgrade(dir), {
      message: `${meta} has version ${version} of the format, and this is version ${FORMAT_VERSION}`,
    });
    await t.throwsAsync(verifyDataDir(dir), { message: /has version \d of the format/ });
  }
});

test.serial(
  'D34: upgrade names the version of the control store, and refuses another one',
  async (t) => {
    const dir = copyOf(t, String(FORMAT_VERSION));
    t.like(await upgrade(dir), { shards: metaOf(dir).shards, control: FORMAT_VERSION });
    const root = open<Buffer, string>({
      path: path.join(dir, 'control'),
      maxDbs: 32,
      encoding: 'binary',
    });
    const later = { ...CONTROL_FORMAT, formatVersion: FORMAT_VERSION + 1 };
    await new ControlTable(root, 'values').put('format', later);
    await root.close();
    await t.throwsAsync(upgrade(dir), {
      message:
        `${dir}: control/data.mdb has version ${FORMAT_VERSION + 1} of the format, ` +
        `and this is version ${FORMAT_VERSION}`,
    });
    rmSync(path.join(dir, 'control'), { recursive: true });
    t.like(await upgrade(dir), { control: null });
  },
);

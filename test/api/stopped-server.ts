/** Data directories as a server leaves them, traded on without HTTP. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { writeMeta } from '../../api/data-dir/data-dir.ts';
import { ensureAdminToken } from '../../api/identity/admin-token.ts';
import { newKey } from '../../api/identity/keys.ts';
import { ControlStore } from '../../api/identity/store.ts';
import { newUser } from '../../api/identity/users.ts';
import { FORMAT_VERSION } from '../../engine/format/version.ts';
import { AWAY, CATALOG, NOON_MS, placeOrder, uuidOf } from '../engine/fixtures.ts';
import { ALICE, BOB, openShard, tradedShard } from '../engine/shard/environment.ts';

export const DIRECTORY_ID = uuidOf(77);

/** The directory of each id: it is made once, and copied for whoever asks for it. */
const made = new Map<string, Promise<void>>();
let traded: Promise<void> | null = null;
let originals: string | null = null;

/** A directory with one shard, two people and a key, at `dataDir`. */
export async function stoppedServer(dataDir: string, id = DIRECTORY_ID): Promise<void> {
  originals ??= newOriginals();
  const original = path.join(originals, id);
  const ready = made.get(id) ?? makeStopped(original, id);
  made.set(id, ready);
  await ready;
  cpSync(original, dataDir, { recursive: true });
}

/** One with a checkpoint and facts after it. */
export async function tradedServer(dataDir: string): Promise<void> {
  originals ??= newOriginals();
  const original = path.join(originals, 'traded');
  traded ??= stoppedServer(original).then(() => goOn(original, 901, 4));
  await traded;
  cpSync(original, dataDir, { recursive: true });
}

function newOriginals(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'paperbook-stopped-'));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

async function makeStopped(dataDir: string, id: string): Promise<void> {
  mkdirSync(path.join(dataDir, 'demo'), { recursive: true });
  writeMeta(dataDir, { format: 'paperbook-data', version: FORMAT_VERSION, shards: 1, id });
  ensureAdminToken(dataDir);
  writeFileSync(path.join(dataDir, 'demo', 'catalog.json'), '{}');
  await tradedShard(path.join(dataDir, 'shard-0'));
  const control = new ControlStore(dataDir);
  await control.putDirectoryId(id);
  const { marketNames, instrumentIds } = CATALOG;
  await control.putNumbers({ marketNames, instrumentIds });
  for (const user of [ALICE, BOB]) {
    await control.addUser({ ...newUser({ email: `${user}@example.com` }, NOON_MS), id: user });
  }
  await control.putKey(newKey(ALICE, {}, 'cli', NOON_MS).key);
  await control.close();
}

/** A new person signs up and places so many orders, which rest. */
export async function goOn(dataDir: string, name: number, orders: number): Promise<void> {
  const account = uuidOf(name);
  const control = new ControlStore(dataDir);
  await control.addUser({ ...newUser({ email: `${account}@example.com` }, NOON_MS), id: account });
  await control.close();
  const shard = await openShard(path.join(dataDir, 'shard-0'));
  for (let at = 0; at < orders; at++) {
    const order = { account, instrumentId: AWAY, idempotencyKey: `${name}-${at}` };
    const [reply] = shard.run([placeOrder({ ...order, limitPriceCents: 5 })]);
    if (reply?.ok !== true) throw new Error('the order was refused');
  }
  await shard.close();
}

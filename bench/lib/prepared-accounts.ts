/**
 * Users with a key and a resting order each, written straight into the directory of a stopped
 * server: half a million sign-ups by HTTP would take an hour, this takes a minute.
 */
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { open, type RootDatabase } from 'lmdb';
import { newUuid } from '../../api/base/uuid.ts';
import {
  entriesOfKey,
  entriesOfUser,
  type IndexEntry,
} from '../../api/identity/control-indexes.ts';
import { type ControlTables, openControlTables } from '../../api/identity/control-tables.ts';
import { newKey } from '../../api/identity/keys.ts';
import { ownedKey } from '../../api/identity/owned-ids.ts';
import { newUser } from '../../api/identity/users.ts';
import type { Uuid } from '../../engine/base/units.ts';
import { checkLmdbFile } from '../../engine/lmdb/lmdb-file.ts';
import { openShard } from './bench-shard.ts';
import { limitBuyOf } from './order-flow.ts';
import { seededRandom } from './random.ts';
import { PLAN, SCOPES, WIDE } from './users.ts';

const TOGETHER = 4096;
const SEED = 11;

/** The tokens of so many new users, whose orders rest on these instruments. */
export async function prepareAccounts(
  dataDir: string,
  accounts: number,
  instruments: readonly string[],
): Promise<string[]> {
  const nowMs = Date.now();
  const { tokens, ids } = await prepareUsers(dataDir, accounts, nowMs);
  await prepareOrders(dataDir, ids, instruments, nowMs);
  return tokens;
}

/** A pair of the venue's own API for each of these people: the same pair, whose ids differ. */
export async function prepareVenueKeys(
  dataDir: string,
  ids: readonly Uuid[],
  publicKeyPem: string,
): Promise<Uuid[]> {
  const createdAtMs = Date.now();
  const { root, tables } = openControl(dataDir);
  const keys = ids.map((userId) => {
    return { id: newUuid(createdAtMs), userId, label: 'bench', publicKeyPem, createdAtMs };
  });
  root.transactionSync(() => {
    for (const key of keys) {
      void tables.venueApiKeys.put(key.id, key);
      void tables.venueApiKeyOwners.put(ownedKey(key.userId, key.id), key.id);
    }
  });
  await root.close();
  return keys.map(({ id }) => id);
}

function openControl(dataDir: string) {
  const control = path.join(dataDir, 'control');
  const entries = checkLmdbFile(control)?.entries ?? 0;
  const root = open<Buffer, string>({ path: control, maxDbs: 32, encoding: 'binary' });
  const tables = openControlTables({ root, entries });
  if (tables === null) throw new Error(`${control} is not that of a server which has run`);
  return { root, tables };
}

/** Writes the tables of api/identity/store.ts, which itself waits for the disk every few writes. */
export async function prepareUsers(dataDir: string, accounts: number, nowMs: number) {
  const { root, tables } = openControl(dataDir);
  const tokens: string[] = [];
  const ids: Uuid[] = [];
  const indexed: Indexed[] = [];
  while (ids.length < accounts) {
    root.transactionSync(() => {
      for (const end = Math.min(accounts, ids.length + TOGETHER); ids.length < end; ) {
        const email = `prepared-${ids.length}@bench.local`;
        const tradeLimits = { key: WIDE, account: WIDE };
        const user = newUser({ email, plan: PLAN, tradeLimits }, nowMs);
        const { key, token } = newKey(user.id, { scopes: SCOPES }, 'cli', nowMs);
        void tables.users.put(user.id, user);
        void tables.keys.put(key.id, key);
        for (const entry of entriesOfUser(user)) indexed.push({ ...entry, id: user.id });
        for (const entry of entriesOfKey(key)) indexed.push({ ...entry, id: key.id });
        ids.push(user.id);
        tokens.push(token);
      }
    });
  }
  writeIndexes(root, tables, indexed);
  await root.close();
  return { tokens, ids };
}

type Indexed = IndexEntry & { id: Uuid };

/** In order of keys: in any other each entry would write a page of its own. */
function writeIndexes(
  root: RootDatabase<Buffer, string>,
  tables: ControlTables,
  indexed: Indexed[],
): void {
  indexed.sort((a, b) => (a.key < b.key ? -1 : 1));
  for (let first = 0; first < indexed.length; first += TOGETHER) {
    root.transactionSync(() => {
      for (const { index, key, id } of indexed.slice(first, first + TOGETHER)) {
        void tables[index].put(key, id);
      }
    });
  }
}

async function prepareOrders(
  dataDir: string,
  ids: readonly Uuid[],
  instruments: readonly string[],
  atMs: number,
): Promise<void> {
  const random = seededRandom(SEED);
  const shard = await openShard(path.join(dataDir, 'shard-0'));
  for (let first = 0; first < ids.length; first += TOGETHER) {
    const orders = ids.slice(first, first + TOGETHER).map((account) => {
      const instrument = instruments[random.below(instruments.length)]!;
      return limitBuyOf(random, atMs, account, instrument);
    });
    for (const reply of shard.run(orders)) if (!reply.ok) throw new Error(reply.message);
    if (shard.isWriting) await turn();
  }
  await shard.close();
}

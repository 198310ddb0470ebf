/**
 * Users with a key and a resting order each, written straight into the directory of a server that
 * has ended: half a million sign-ups by HTTP would take an hour, this takes a minute.
 */
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { open } from 'lmdb';
import { type Key, newKey } from '../../api/identity/keys.ts';
import { newUser, type User } from '../../api/identity/users.ts';
import type { Uuid } from '../../engine/rules/units.ts';
import { Shard } from '../../engine/shard/shard.ts';
import { CHECKPOINT_EVERY_FACTS } from './bench-shard.ts';
import { CORE_CONFIG } from './core-state.ts';
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

/** Into the tables of api/identity/store.ts, which itself waits for the disk between a few writes. */
async function prepareUsers(dataDir: string, accounts: number, nowMs: number) {
  const control = open({ path: path.join(dataDir, 'control'), maxDbs: 32 });
  const userTable = control.openDB<User, Uuid>({ name: 'users' });
  const keyTable = control.openDB<Key, Uuid>({ name: 'keys' });
  const tokens: string[] = [];
  const ids: Uuid[] = [];
  while (ids.length < accounts) {
    control.transactionSync(() => {
      for (const end = Math.min(accounts, ids.length + TOGETHER); ids.length < end; ) {
        const email = `prepared-${ids.length}@bench.local`;
        const tradeLimits = { key: WIDE, account: WIDE };
        const user = newUser({ email, plan: PLAN, tradeLimits }, nowMs);
        const { key, token } = newKey(user.id, { scopes: SCOPES }, 'cli', nowMs);
        userTable.put(user.id, user);
        keyTable.put(key.id, key);
        ids.push(user.id);
        tokens.push(token);
      }
    });
  }
  await control.close();
  return { tokens, ids };
}

async function prepareOrders(
  dataDir: string,
  ids: readonly Uuid[],
  instruments: readonly string[],
  atMs: number,
): Promise<void> {
  const random = seededRandom(SEED);
  const shard = await Shard.open({
    ...CORE_CONFIG,
    path: path.join(dataDir, 'shard-0'),
    shard: 0,
    durability: 'commit',
    checkpointEveryFacts: CHECKPOINT_EVERY_FACTS,
  });
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

/** Orders that end with a connection of the stream, over shards that start, fail and start again. */
import test from 'ava';
import type { Shards } from '../../../../engine/shard/callers/shards.ts';
import { NOON_MS, placeOrder, quoteTick, uuidOf } from '../../fixtures.ts';
import { breakShard, openShards, tempDir, untilReady } from '../engine-process.ts';

const CONNECTION = 1_763_726_400_007;
const OTHER = CONNECTION + 1;
const ACCOUNTS = [uuidOf(2), uuidOf(3)];

async function rest(engine: Shards, connection: number | null, account = ACCOUNTS[0]!) {
  const reply = await engine.call(account, placeOrder({ account, limitPriceCents: 5, connection }));
  if (!reply.ok) throw new Error(reply.message);
  return JSON.parse(reply.body).order.orderId as string;
}

/** `resting`, or why it was canceled. */
async function stateOf(engine: Shards, orderId: string, account = ACCOUNTS[0]!) {
  const query = { kind: 'order', atMs: NOON_MS, organizationSlug: null } as const;
  const reply = await engine.call(account, { ...query, account, orderId });
  if (!reply.ok) throw new Error(reply.message);
  const { status, cancelReason } = JSON.parse(reply.body).order;
  return cancelReason ?? status;
}

test('T134: the end of a connection cancels in every account that it placed in', async (t) => {
  const engine = await openShards(tempDir(t), { shards: 2 });
  engine.connections.opened(CONNECTION);
  const orders = await Promise.all(ACCOUNTS.map((account) => rest(engine, CONNECTION, account)));
  const own = await rest(engine, null);
  engine.connections.ended(CONNECTION, ACCOUNTS);
  for (const [at, id] of orders.entries()) {
    t.is(await stateOf(engine, id, ACCOUNTS[at]), 'disconnected');
  }
  t.is(await stateOf(engine, own), 'resting');
  await engine.close();
});

test('T135: a start cancels what was placed on connections of the process before it', async (t) => {
  const dir = tempDir(t);
  const before = await openShards(dir, { shards: 2 });
  before.connections.opened(CONNECTION);
  const orders = await Promise.all(ACCOUNTS.map((account) => rest(before, CONNECTION, account)));
  const own = await rest(before, null);
  await before.close();
  const after = await openShards(dir, { shards: 2 });
  for (const [at, id] of orders.entries()) {
    t.is(await stateOf(after, id, ACCOUNTS[at]), 'disconnected');
  }
  t.is(await stateOf(after, own), 'resting');
  t.deepEqual((await after.audit()).problems, []);
  await after.close();
});

test('T135: a shard that starts again keeps orders of open connections, before it fills any', async (t) => {
  const engine = await openShards(tempDir(t));
  engine.connections.opened(CONNECTION);
  engine.connections.opened(OTHER);
  const kept = await rest(engine, CONNECTION);
  const ended = await rest(engine, OTHER);
  await breakShard(engine, ACCOUNTS[0]!);
  engine.connections.ended(OTHER, [ACCOUNTS[0]!]);
  // At which both would fill.
  engine.tick(quoteTick({ yesBidCents: 2, yesAskCents: 4 }));
  await untilReady(engine);
  t.is(await stateOf(engine, ended), 'disconnected', 'it ended while the shard was down');
  t.is(await stateOf(engine, kept), 'executed');
  await engine.close();
});

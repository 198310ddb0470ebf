import test from 'ava';
import { ACCOUNT_LIMITS, KEY_LIMITS } from '../../../../engine/rules/trade-limits.ts';
import type { Shards } from '../../../../engine/shard/callers/shards.ts';
import { NOON_MS, placeOrder, quoteTick, uuidOf } from '../../fixtures.ts';
import { openShards, tempDir } from '../engine-process.ts';

const OWNER = uuidOf(4);
const KEY = uuidOf(900);

function trade(engine: Shards, account: string, keyId: string): Promise<unknown> {
  const counting = { keyId, keyLimits: KEY_LIMITS, accountLimits: ACCOUNT_LIMITS, elsewhere: null };
  const order = placeOrder({ account, contracts: 1, counting });
  return new Promise((resolve, reject) => engine.trade(OWNER, order, { resolve, reject }));
}

for (const shards of [1, 3]) {
  test(`A83, L7: what a key has used is known over all shards, ${shards} of them`, async (t) => {
    const engine = await openShards(tempDir(t), { shards });
    engine.tick(quoteTick());
    for (const account of [OWNER, OWNER, uuidOf(5), uuidOf(6)]) await trade(engine, account, KEY);
    await trade(engine, OWNER, uuidOf(901));
    const use = await engine.tradeUse(OWNER, KEY);
    t.like(use.key, { newInMinute: 4, newInDay: 4, closingInMinute: 0 });
    t.like(use.account, { newInMinute: 3, newInDay: 3 });
    t.is(use.key.atMs, NOON_MS);
    t.like((await engine.tradeUse(uuidOf(5), KEY)).account, { newInDay: 1 });
    await engine.close();
  });
}

import test from 'ava';
import { EngineBusy } from '../../../engine/shard/busy.ts';
import { NOON_MS, placeOrder, quoteTick, uuidOf } from '../fixtures.ts';
import { openShards, tempDir } from './engine-process.ts';

const portfolio = { kind: 'portfolio', atMs: NOON_MS, organizationSlug: null } as const;

test('CONTRACT.md section 2, internal_error: past the bound of its queue a shard is busy', async (t) => {
  const engine = await openShards(tempDir(t), { queueDepthMax: 2 });
  const account = uuidOf(1);
  const calls = [1, 2, 3].map(() => engine.call(account, { ...portfolio, account }));
  const busy = await t.throwsAsync(calls[2]!, { instanceOf: EngineBusy });
  t.true(busy.retryAfterSeconds >= 1);
  t.true((await calls[0]!).ok);
  t.true((await calls[1]!).ok, 'what was taken is answered');
  t.true((await engine.call(account, { ...portfolio, account })).ok, 'there is room again');
  await engine.close();
});

test('a shard that fails is busy, then back with all it acknowledged and its quotes', async (t) => {
  const engine = await openShards(tempDir(t));
  const order = placeOrder();
  engine.tick(quoteTick());
  t.true((await engine.call(order.account, order)).ok);
  const hash = await engine.stateHash();

  // A market without a number is a fault of ours, not of a venue: nothing may go on from there.
  const trade = { kind: 'trade', yesPriceCents: 40, contracts: 1, side: 'yes' } as const;
  engine.tick({ ...trade, atMs: NOON_MS, source: 0, market: 999 });
  const query = { ...portfolio, account: order.account };
  await t.throwsAsync(engine.call(order.account, query), { instanceOf: EngineBusy });
  while (engine.state() !== 'ready') await new Promise((resolve) => setTimeout(resolve, 20));

  t.is(await engine.stateHash(), hash);
  const again = placeOrder();
  t.true((await engine.call(again.account, again)).ok, 'the quote was told again');
  await engine.close();
});

test('a stopping engine is busy', async (t) => {
  const engine = await openShards(tempDir(t));
  const closing = engine.close();
  await t.throwsAsync(engine.call(uuidOf(1), { ...portfolio, account: uuidOf(1) }), {
    instanceOf: EngineBusy,
  });
  await closing;
});

/** Shards that two threads call. Here one thread has both parts, each with rings of its own. */
import { setImmediate as turn } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { ByteWriter } from '../../../../engine/format/bytes.ts';
import { type Message, writeMessage } from '../../../../engine/format/codec.ts';
import { ByteRing } from '../../../../engine/ring/byte-ring.ts';
import { Endpoint } from '../../../../engine/ring/endpoint.ts';
import type { PlaceOrder, Reply, TradingCommand } from '../../../../engine/rules/messages.ts';
import type { TradesQuery } from '../../../../engine/rules/queries.ts';
import { ACCOUNT_LIMITS, KEY_LIMITS } from '../../../../engine/rules/trade-limits.ts';
import { wallClock } from '../../../../engine/shard/callers/clock.ts';
import { FurtherEnds } from '../../../../engine/shard/callers/further-ends.ts';
import { RemoteShards } from '../../../../engine/shard/callers/remote-shards.ts';
import type { Shards, ShardsOptions } from '../../../../engine/shard/callers/shards.ts';
import { Unavailable } from '../../../../engine/threads/unavailable.ts';
import { longTest } from '../../../long-test.ts';
import { variantsOfRun } from '../../../model/seeds.ts';
import { NOON_MS, placeOrder, quoteTick, uuidOf } from '../../fixtures.ts';
import { breakShard, openShards, tempDir, untilReady } from '../engine-process.ts';

/** With four shards they live in three of them. */
const [OWNER, ACME, ZOO] = [uuidOf(4), uuidOf(5), uuidOf(6)];
const KEY = uuidOf(900);

type Trading = Pick<Shards, 'trade'>;

function trade(engine: Trading, command: TradingCommand): Promise<Reply> {
  return new Promise((resolve, reject) => engine.trade(OWNER, command, { resolve, reject }));
}

function ask(engine: Pick<Shards, 'ask'>, order: PlaceOrder): Promise<Reply> {
  return new Promise((resolve, reject) => engine.ask(order.account, order, { resolve, reject }));
}

/** An engine, and a further caller of its shards. */
async function calledTwice(t: ExecutionContext, options: Partial<ShardsOptions> = {}) {
  const further = new FurtherEnds(1);
  const engine = await openShards(tempDir(t), { queueDepthMax: 5000, further, ...options });
  const shards = options.shards ?? 1;
  let passed = 0;
  const remote = new RemoteShards({
    shards,
    queueDepthMax: 5000,
    nowMs: () => engine.nowMs(),
    pass: (owner, command, waiter) => {
      passed++;
      engine.trade(owner, command, waiter);
    },
  });
  const reach = (shard: number) => remote.reach(shard, further.of(0, shard));
  further.callers = {
    changed: reach,
    roams: (keyId) => remote.roams(keyId),
    isHome: (keyId) => remote.isHome(keyId),
    pause: async () => {
      await remote.pause();
      return () => remote.goOn();
    },
  };
  for (let shard = 0; shard < shards; shard++) reach(shard);
  return { engine, remote, further, passed: () => passed };
}

const buy = (account: string, over: Partial<PlaceOrder> = {}): PlaceOrder => {
  const counting = { keyLimits: KEY_LIMITS, accountLimits: ACCOUNT_LIMITS, elsewhere: null };
  return placeOrder({ account, contracts: 1, counting: { keyId: KEY, ...counting }, ...over });
};

for (const shards of variantsOfRun([3, 1])) {
  test(`D73: orders over two callers are decided as over one, ${shards} shards`, async (t) => {
    const one = await openShards(tempDir(t), { shards });
    const two = await calledTwice(t, { shards });
    const answers: [Reply, Reply][] = [];
    for (let step = 0; step < 60; step++) {
      const atMs = NOON_MS + step * 1000;
      const tick = quoteTick({ atMs, yesBidCents: 40 + (step % 7), yesAskCents: 43 + (step % 7) });
      one.tick(tick);
      two.engine.tick(tick);
      // Ticks come over the rings of the first caller.
      await two.engine.drained();
      const order = placeOrder({
        ...{ atMs, account: uuidOf(1 + (step % 4)), orderId: uuidOf(step + 10, atMs) },
        ...{ idempotencyKey: `${step}` },
        ...(step % 3 === 0 ? {} : { limitPriceCents: 41 + (step % 5) }),
      });
      const by = step % 2 === 0 ? two.remote : two.engine;
      answers.push([await one.call(order.account, order), await ask(by, order)]);
    }
    for (const [asked, askedOfTwo] of answers) t.deepEqual(askedOfTwo, asked);
    t.is(await two.engine.stateHash(), await one.stateHash());
    t.deepEqual((await two.engine.audit()).problems, []);
    await one.close();
    await two.engine.close();
  });
}

test('D73: what one caller was answered, the other sees', async (t) => {
  const { engine, remote } = await calledTwice(t);
  engine.tick(quoteTick({ yesAskContracts: 100_000 }));
  await engine.drained();
  const account = uuidOf(1);
  for (let n = 0; n < 50; n++) {
    const order = placeOrder({ account, contracts: 1, idempotencyKey: `${n}` });
    const [first, second] = n % 2 === 0 ? [engine, remote] : [remote, engine];
    const reply = await ask(first, order);
    const again = await ask(second, { ...order, orderId: uuidOf(n + 10_000) });
    if (!reply.ok || !again.ok) return t.fail('an order was refused');
    t.false(JSON.parse(reply.body).replayed);
    t.true(JSON.parse(again.body).replayed);
  }
  await engine.close();
});

longTest(
  'D75, L7, hard trade limits: of a key whose orders two callers send, to several shards',
  async (t) => {
    const { engine, remote, passed } = await calledTwice(t, { shards: 4 });
    engine.tick(quoteTick({ yesAskContracts: 100_000 }));
    await engine.drained();
    const perDay = 200;
    const many = { newPerMinute: 10_000, newPerDay: 10_000, closingPerMinute: 10_000 };
    const keyLimits = { ...many, newPerDay: perDay };
    const counting = { keyId: KEY, keyLimits, accountLimits: many, elsewhere: null };
    let number = 0;
    const codes = (by: Trading, accounts: readonly string[], count: number) => {
      return Promise.all(
        Array.from({ length: count }, async (_, n) => {
          const account = accounts[n % accounts.length]!;
          const order = buy(account, { counting, idempotencyKey: `${number++}` });
          const reply = await trade(by, order);
          return reply.ok ? 'ok' : reply.code;
        }),
      );
    };
    // The further caller sends the owner's own orders, and meanwhile the key leaves home.
    const known = await codes(remote, [OWNER], 20);
    t.is(passed(), 0);
    const atOnce = [codes(remote, [OWNER], 60), codes(engine, [ACME, ZOO], 60)];
    for (const some of await Promise.all(atOnce)) known.push(...some);
    known.push(...(await codes(remote, [OWNER], 150)));
    t.is(known.filter((code) => code === 'ok').length, perDay);
    t.is(known.filter((code) => code === 'rate_limited').length, known.length - perDay);
    t.true(passed() >= 150, 'passed on once the key had left home');
    t.deepEqual((await engine.audit()).problems, []);
    await engine.close();
  },
);

test('D74, D10: a shard that fails is busy for a further caller too, and then is back', async (t) => {
  const { engine, remote } = await calledTwice(t);
  const order = placeOrder();
  engine.tick(quoteTick());
  await engine.drained();
  t.true((await ask(remote, order)).ok);
  void breakShard(engine, order.account);
  const [asked] = await Promise.allSettled([ask(remote, placeOrder())]);
  await untilReady(engine);
  if (asked!.status === 'rejected') t.true(asked!.reason instanceof Unavailable);
  while (remote.refusal() !== null) await turn();
  const again = await ask(remote, { ...order, orderId: uuidOf(77) });
  if (!again.ok) return t.fail(again.message);
  t.true(JSON.parse(again.body).replayed, 'what it had acknowledged is kept');
  await engine.close();
  await t.throwsAsync(ask(remote, placeOrder()), { instanceOf: Unavailable });
});

test('D74: a further caller that is gone, with answers that nobody reads, holds nobody up', async (t) => {
  const { engine, remote, further } = await calledTwice(t);
  engine.tick(quoteTick({ yesAskContracts: 1_000_000 }));
  await engine.drained();
  remote.reach(0, null);
  const { channel } = further.of(0, 0)!;
  // A caller that never reads: more answers than its ring has room for.
  const gone = new Endpoint(channel, 'caller');
  const send = (...messages: Message[]) => {
    const writer = new ByteWriter();
    for (const message of messages) writeMessage(writer, message);
    gone.send(writer.view(0, writer.length));
  };
  const account = uuidOf(1);
  const orders = Array.from({ length: 100 }, (_, n) =>
    placeOrder({ account, contracts: 1, idempotencyKey: `${n}` }),
  );
  send(...orders);
  const page = { atMs: NOON_MS, account, organizationSlug: null, limit: 100, before: null };
  const trades = { kind: 'trades', ...page, status: null, tag: null } as unknown as TradesQuery;
  send(...Array.from({ length: 100 }, () => trades));
  while (new ByteRing(channel.answers).room > 0) await turn();
  const own = ask(engine, placeOrder({ account: uuidOf(2) }));
  await engine.renewEnds(0);
  t.true((await own).ok, 'and goes on');
  t.deepEqual((await engine.audit()).problems, []);

  // Another thread uses the same rings.
  remote.reach(0, further.of(0, 0));
  const first = await ask(remote, { ...orders[0]!, orderId: uuidOf(88) });
  if (!first.ok) return t.fail(first.message);
  t.true(JSON.parse(first.body).replayed, 'what was decided stays');
  await engine.close();
});

test('D75, C6: while the time is set back a further caller sends nothing, and then no time before', async (t) => {
  const laterMs = NOON_MS + 3_600_000;
  let machineMs = laterMs;
  const clock = wallClock({ machine: { wallMs: () => machineMs, steadyMs: () => 0 } });
  const { engine, remote, further } = await calledTwice(t, { clock });
  engine.tick(quoteTick({ atMs: laterMs }));
  await engine.drained();
  const order = (atMs: number) => placeOrder({ atMs, account: uuidOf(3) });
  t.true((await ask(remote, order(laterMs))).ok);
  machineMs = NOON_MS;
  const waiting: Promise<Reply>[] = [];
  const callers = further.callers!;
  const { pause } = callers;
  callers.pause = async () => {
    const goOn = await pause();
    return () => {
      // Made at the time before, when every shard has the new one.
      waiting.push(ask(remote, order(laterMs)));
      goOn();
    };
  };
  await engine.acceptMachineTime();
  for (const reply of await Promise.all(waiting)) t.true(reply.ok);
  const made = await ask(engine, order(NOON_MS));
  if (!made.ok) return t.fail(made.message);
  t.is(JSON.parse(made.body).trade.openedAt, new Date(NOON_MS).toISOString());
  await engine.close();
});

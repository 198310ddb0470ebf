import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { eventually } from '../../../../bench/lib/eventually.ts';
import { FILL_MODELS, type SourceNumber } from '../../../../engine/base/units.ts';
import type { Reply } from '../../../../engine/rules/messages.ts';
import type { Shards } from '../../../../engine/shard/callers/shards.ts';
import { Unavailable } from '../../../../engine/threads/unavailable.ts';
import { verifyShard } from '../../../../engine/verify/verify.ts';
import { variantsOfRun } from '../../../model/seeds.ts';
import { AWAY, CATALOG, NOON_MS, placeOrder, quoteTick, ROUTED, uuidOf } from '../../fixtures.ts';
import { crashedCopy, hashOnDisk, openShards, stoppedShards, tempDir } from '../engine-process.ts';
import { openShard } from '../environment.ts';

const body = (reply: Reply) => {
  if (!reply.ok) throw new Error(reply.message);
  return JSON.parse(reply.body);
};

async function tradeAbit(engine: Shards): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (let step = 0; step < 30; step++) {
    const atMs = NOON_MS + step * 1000;
    const [yesBidCents, yesAskCents] = [40 + (step % 7), 43 + (step % 7)];
    const depth = {
      yesBids: [[yesBidCents, 100]] as const,
      yesAsks: [
        [yesAskCents, 6],
        [yesAskCents + 1, 7 + (step % 2)],
      ] as const,
    };
    engine.tick(quoteTick({ atMs, yesBidCents, yesAskCents, depth }));
    for (let account = 1; account <= 4; account++) {
      const common = {
        atMs,
        account: uuidOf(account),
        orderId: uuidOf(step * 100 + account * 2, atMs),
      };
      const key = { idempotencyKey: `${account}-${step}` };
      const order =
        step % 3 === 0
          ? placeOrder({ ...common, ...key })
          : placeOrder({ ...common, ...key, limitPriceCents: 41 + (step % 5) });
      answers.push(await engine.call(order.account, order));
    }
  }
  for (let account = 1; account <= 4; account++) {
    const atMs = engine.nowMs();
    const query = {
      kind: 'portfolio',
      atMs,
      account: uuidOf(account),
      organizationSlug: null,
    } as const;
    answers.push(await engine.call(query.account, query));
  }
  return answers;
}

for (const fillModel of variantsOfRun(FILL_MODELS.toReversed())) {
  test(`A51, D3, D5, D12, Q18, Q19: two shards and one give the same answers and state hash, a restart finds it, reads then share answers and take turns, and who takes bytes gets the JSON so, ${fillModel}`, async (t) => {
    const dir = tempDir(t);
    const one = await openShards(tempDir(t), { fillModel });
    const two = await openShards(dir, { shards: 2, fillModel });
    t.deepEqual(await tradeAbit(two), await tradeAbit(one));
    const hash = await two.stateHash();
    t.is(await one.stateHash(), hash);
    t.deepEqual((await one.audit()).problems, []);
    t.deepEqual((await two.audit()).problems, []);
    await one.close();
    t.is(
      await hashOnDisk(crashedCopy(t, dir), fillModel),
      hash,
      'a checkpoint, and facts after it',
    );
    await two.close();
    const again = await openShards(dir, { shards: 2, fillModel });
    t.is(await again.stateHash(), hash);
    t.deepEqual((await again.audit()).problems, []);
    const order = placeOrder({ account: uuidOf(1), idempotencyKey: '1-0', orderId: uuidOf(9) });
    const replayed = body(await again.call(order.account, order));
    t.true(replayed.replayed);
    t.is(replayed.status, 'executed');
    await readsInTurns(t, again);
    await quotesTogether(t, again);
    await takesBytes(t, again);
    await again.close();
  });
}

const TRADERS = [1, 2, 3, 4, 5, 6];
const YES = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
const SCALAR = { outcome: 'scalar', yesPayoutCents: 37, noPayoutCents: 63 } as const;

/** Everyone has open trades and resting orders of two markets. */
const QUOTES = [quoteTick(), quoteTick({ market: 1 })];
const MANY = TRADERS.flatMap((number) =>
  Array.from({ length: 16 }, (_, at) => {
    const limits = [null, 20, null, 41];
    return placeOrder({
      ...{ account: uuidOf(number), orderId: uuidOf(at * 100 + number * 2) },
      ...{ idempotencyKey: `${at}`, instrumentId: at < 12 ? AWAY : ROUTED },
      limitPriceCents: limits[at % 4]!,
    });
  }),
);
async function openMany(engine: Shards): Promise<void> {
  for (const quote of QUOTES) engine.tick(quote);
  for (const order of MANY) body(await engine.call(order.account, order));
}

/** How many trades are open right after a result, and what is answered from then on. */
async function settleAndAsk(engine: Shards): Promise<{ open: number; answers: unknown[] }> {
  const atMs = NOON_MS + 1000;
  const answers: unknown[] = [];
  const ask = async (number: number, query: object) => {
    const of = { atMs, account: uuidOf(number), organizationSlug: null };
    answers.push(body(await engine.call(of.account, { ...of, ...query } as never)));
  };
  const lists = { limit: 50, before: null, status: null };
  engine.tick({ kind: 'result', atMs, source: 0, market: 0, ...YES });
  // In the batch of the result.
  const { openPositions: open } = await engine.audit();
  await ask(1, { kind: 'cancel_all', instrumentId: null, counting: null });
  const bought = { instrumentId: ROUTED, orderId: uuidOf(9000, atMs), idempotencyKey: 'later' };
  await ask(2, placeOrder({ ...bought, atMs, account: uuidOf(2) }));
  // What reaches the orders of the other market fills some of accounts that are half settled.
  engine.tick(quoteTick({ atMs, market: 1, yesBidCents: 15, yesAskCents: 18 }));
  engine.tick({ kind: 'result', atMs, source: 0, market: 1, ...SCALAR });
  for (const number of TRADERS) {
    await ask(number, { kind: 'orders', ...lists });
    await ask(number, { kind: 'trades', ...lists });
    await ask(number, { kind: 'portfolio' });
  }
  return { open, answers };
}

test('S15, D5: in slices, two shards and one give the answers and the state hash of one that settles at once', async (t) => {
  const seen = [];
  const sliced = variantsOfRun([{ settledAtOnce: 1, shards: 2 }, { settledAtOnce: 1 }]);
  for (const options of [{}, ...sliced]) {
    const engine = await openShards(tempDir(t), options);
    await openMany(engine);
    const { open, answers } = await settleAndAsk(engine);
    seen.push({ open, answers, hash: await engine.stateHash() });
    t.deepEqual((await engine.audit()).problems, []);
    await engine.close();
  }
  const [atOnce, ...inSlices] = seen;
  t.is(atOnce!.open, 2 * TRADERS.length, 'those of the other market');
  for (const { open, answers, hash } of inSlices) {
    t.true(open > atOnce!.open, 'the result has left something');
    t.deepEqual(answers, atOnce!.answers);
    t.is(hash, atOnce!.hash);
  }
});

test('S15: a start goes on with what a stop amid a settlement has left', async (t) => {
  const left = 2 * TRADERS.length;
  const result = { kind: 'result', atMs: NOON_MS, source: 0, market: 0, ...YES } as const;
  const atOnce = tempDir(t);
  await stoppedShards(atOnce, 1, [...QUOTES, ...MANY, result]);
  t.is((await verifyShard(path.join(atOnce, 'shard-0'), 0, 1))!.openPositions, left);

  const dir = tempDir(t);
  const first = await openShards(dir, { settledAtOnce: 1 });
  await openMany(first);
  first.tick(result);
  await first.close();
  const stopped = await verifyShard(path.join(dir, 'shard-0'), 0, 1);
  t.deepEqual(stopped!.problems, []);
  t.true(stopped!.openPositions > left);
  const second = await openShards(dir, { settledAtOnce: 1 });
  await eventually('a settlement that nobody asked for', async () => {
    return (await second.audit()).openPositions === left;
  });
  await second.close();
  t.is(await hashOnDisk(dir), await hashOnDisk(atOnce));
});

/** Who asks in the same turn of the event loop shares an answer, until a venue says more. */
async function quotesTogether(t: ExecutionContext, engine: Shards): Promise<void> {
  const replies: Reply[] = [];
  const ask = async () => replies.push(await engine.quote(AWAY, engine.nowMs()));
  const tick = (yesBidCents: number, yesAskCents: number) =>
    engine.tick(quoteTick({ atMs: engine.nowMs(), yesBidCents, yesAskCents }));
  tick(40, 43);
  const asked = [ask(), ask()];
  tick(44, 46);
  asked.push(ask());
  await Promise.all(asked);
  await ask();
  t.deepEqual(
    replies.map((reply) => body(reply).venues[0].yesAskCents),
    [43, 43, 46, 46],
  );
  t.is(new Set(replies).size, 3, 'the first two asked in one coalescer');
  t.is(replies[1], replies[0]);
}

/** Who takes bytes gets the JSON of an answer so, and refusals as all others do. */
async function takesBytes(t: ExecutionContext, engine: Shards): Promise<void> {
  const atMs = engine.nowMs();
  const placed = placeOrder({ atMs, account: uuidOf(1), limitPriceCents: 5 });
  const cancel = {
    ...({ kind: 'cancel', atMs, account: placed.account } as const),
    ...{ orderId: uuidOf(99), counting: null },
  } as const;
  const heard = await new Promise<string[]>((resolve, reject) => {
    const heard: string[] = [];
    const waiter = {
      resolve: (reply: Reply) => resolve([...heard, reply.ok ? 'as text' : reply.code]),
      resolveBytes: (json: Uint8Array) => void heard.push(Buffer.from(json).toString()),
      reject,
    };
    engine.trade(uuidOf(1), placed, waiter);
    engine.trade(uuidOf(1), cancel, waiter);
  });
  t.deepEqual(heard.slice(1), ['order_not_found']);
  const again = body(await engine.call(placed.account, placed));
  t.deepEqual(JSON.parse(heard[0]!).order, again.order);
}

/** Reads of an account take turns with reads of others, and are bounded. */
async function readsInTurns(t: ExecutionContext, engine: Shards): Promise<void> {
  const order: string[] = [];
  const read = (number: number, name: string) => {
    const account = uuidOf(number);
    const query = { kind: 'account', atMs: engine.nowMs(), account } as const;
    return engine.call(account, query).then(() => void order.push(name));
  };
  const asked = Promise.allSettled(Array.from({ length: 260 }, (_, n) => read(1, `a${n}`)));
  // In the same shard.
  await read(3, 'b');
  t.deepEqual(order, [...Array.from({ length: 8 }, (_, n) => `a${n}`), 'b']);
  const refused = (await asked).filter(({ status }) => status === 'rejected');
  t.is(refused.length, 4);
  t.true((refused[0] as PromiseRejectedResult).reason instanceof Unavailable);
}

test('S11: a result that a crash kept from one shard settles there after the next start', async (t) => {
  for (const result of variantsOfRun([SCALAR, YES])) {
    const dir = tempDir(t);
    await stoppedShards(dir, 2, [quoteTick(), ...[1, 2].map(buyOf)]);
    // What the crash left: one shard has the result in its log.
    const alone = await openShard(path.join(dir, 'shard-0'));
    alone.run([{ kind: 'result', atMs: NOON_MS, source: 0 as SourceNumber, market: 0, ...result }]);
    await alone.close();

    const after = await openShards(dir, { shards: 2 });
    const balances = await Promise.all([1, 2].map((account) => balanceOf(after, account)));
    t.is(balances[0], balances[1], result.outcome);
    t.deepEqual((await after.audit()).problems, []);
    const hash = await after.stateHash();
    await after.close();
    t.is(await hashOnDisk(dir), hash);
  }
});

const buyOf = (account: number) =>
  placeOrder({ account: uuidOf(account), idempotencyKey: `${account}`, contracts: 10 });

async function balanceOf(engine: Shards, account: number): Promise<number> {
  const query = {
    kind: 'portfolio',
    atMs: engine.nowMs(),
    account: uuidOf(account),
    organizationSlug: null,
  } as const;
  const { positionsCount, account: shown } = body(await engine.call(query.account, query));
  if (positionsCount > 0) throw new Error('the market is still open');
  return shown.balanceDollars;
}

test('T122, instrument_dropped: so does a start with another catalog, in every shard', async (t) => {
  const instruments = CATALOG.instruments.filter(({ id }) => id !== AWAY);
  const hashes: string[] = [];
  for (const shards of variantsOfRun([2, 1])) {
    const dir = tempDir(t);
    const orders = [2, 3].flatMap((number) =>
      [AWAY, AWAY, ROUTED].map((instrumentId, key) => {
        const of = { account: uuidOf(number), orderId: uuidOf(key * 100 + number * 2) };
        return placeOrder({ ...of, instrumentId, limitPriceCents: 41, idempotencyKey: `${key}` });
      }),
    );
    await stoppedShards(dir, shards, orders);

    const after = await openShards(dir, { shards }, { ...CATALOG, instruments });
    for (const account of [uuidOf(2), uuidOf(3)]) {
      const query = { atMs: NOON_MS, account, organizationSlug: null } as const;
      const portfolio = body(await after.call(account, { kind: 'portfolio', ...query }));
      t.is(portfolio.account.heldDollars, 4.1, 'of the order that rests on');
      const page = { ...query, limit: 9, before: null, status: 'canceled' } as const;
      const { orders } = body(await after.call(account, { kind: 'orders', ...page }));
      t.deepEqual(
        orders.map(({ cancelReason }: { cancelReason: string }) => cancelReason),
        ['instrument_dropped', 'instrument_dropped'],
      );
    }
    t.deepEqual((await after.audit()).problems, []);
    const hash = await after.stateHash();
    await after.close();
    t.is(await hashOnDisk(dir), hash, 'what the disk has is what was');
    hashes.push(hash);
  }
  t.is(new Set(hashes).size, 1);
});

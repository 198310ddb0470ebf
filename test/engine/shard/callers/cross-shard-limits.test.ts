/** One key that trades accounts of several shards. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import type { TradeUse } from '../../../../engine/base/units.ts';
import { awayIdOf } from '../../../../engine/memory/trade-counts.ts';
import type {
  CancelOrder,
  Command,
  PlaceOrder,
  Reply,
  TradeCounting,
} from '../../../../engine/rules/messages.ts';
import type { Query } from '../../../../engine/rules/queries.ts';
import { ACCOUNT_LIMITS, KEY_LIMITS } from '../../../../engine/rules/trade-limits.ts';
import { CrossShardLimits } from '../../../../engine/shard/callers/cross-shard-limits.ts';
import type { ReplyHandler } from '../../../../engine/shard/callers/send-queue.ts';
import type { Shards } from '../../../../engine/shard/callers/shards.ts';
import { Unavailable } from '../../../../engine/threads/unavailable.ts';
import { variantsOfRun } from '../../../model/seeds.ts';
import { NOON_MS, placeOrder, quoteTick, uuidOf } from '../../fixtures.ts';
import { breakShard, openShards, tempDir, untilReady } from '../engine-process.ts';

const OWNER = uuidOf(4);
const KEY = uuidOf(900);
const DAY_MS = 24 * 3_600_000;

/** Somebody with accounts of their own, in three different shards, and with a key of their own. */
function scene(number: number) {
  const [owner, acme, zoo] = [0, 1, 2].map((at) => uuidOf(4 + 3 * number + at)) as [
    string,
    string,
    string,
  ];
  return { owner, acme, zoo, accounts: [owner, acme, zoo], key: uuidOf(900 + number) };
}
type Scene = ReturnType<typeof scene>;

const counting = (keyId = KEY): TradeCounting => {
  return { keyId, keyLimits: KEY_LIMITS, accountLimits: ACCOUNT_LIMITS, elsewhere: null };
};
const buy = (account: string, over: Partial<PlaceOrder> = {}) => {
  return placeOrder({ account, contracts: 1, counting: counting(), ...over });
};
const cancelOf = (account: string, keyId: string): CancelOrder => {
  const by = counting(keyId);
  return { kind: 'cancel', atMs: NOON_MS, account, orderId: uuidOf(1), counting: by };
};
const codeOf = (reply: Reply) => (reply.ok ? 'ok' : reply.code);

/** Three shards for the tests that begin with somebody new; one of these tests opens them again. */
let shared: Promise<{ engine: Shards; dir: string }> | null = null;
function sharedShards() {
  shared ??= (async () => {
    const dir = mkdtempSync(path.join(tmpdir(), 'paperbook-shared-'));
    return { engine: await openShards(dir, { shards: 3 }), dir };
  })();
  return shared;
}
test.after.always(async () => {
  const { engine, dir } = await sharedShards();
  await engine.close();
  rmSync(dir, { recursive: true });
});

function trade(engine: Shards, owner: string, command: PlaceOrder | CancelOrder): Promise<Reply> {
  return new Promise((resolve, reject) => engine.trade(owner, command, { resolve, reject }));
}

/** One after another, over the accounts in turn. */
async function codesInTurn(
  engine: Shards,
  { owner, key }: Scene,
  accounts: readonly string[],
  count: number,
  over = {},
) {
  const codes: string[] = [];
  for (let n = 0; n < count; n++) {
    const order = buy(accounts[n % accounts.length]!, { counting: counting(key), ...over });
    codes.push(codeOf(await trade(engine, owner, order)));
  }
  return codes;
}

const firstOk = (ok: number, count: number) =>
  Array.from({ length: count }, (_, n) => (n < ok ? 'ok' : 'rate_limited'));

for (const shards of variantsOfRun([3, 1, 2])) {
  test.serial(
    `L7, T133, hard trade limits: of a key, over all accounts that it trades, and a preview counts so, ${shards} shards`,
    async (t) => {
      const isShared = shards === 3;
      const engine = isShared
        ? (await sharedShards()).engine
        : await openShards(tempDir(t), { shards });
      const { owner, accounts, key } = scene(0);
      engine.tick(quoteTick());
      t.deepEqual(await codesInTurn(engine, scene(0), accounts, 30), firstOk(10, 30));
      for (let n = 0; n < 20; n++) {
        const cancel = cancelOf(accounts[n % 3]!, key);
        t.is(codeOf(await trade(engine, owner, cancel)), 'order_not_found');
      }
      for (const account of accounts) {
        t.is(codeOf(await trade(engine, owner, cancelOf(account, key))), 'rate_limited');
        const other = buy(account, { counting: counting(uuidOf(801)) });
        t.is(codeOf(await trade(engine, owner, other)), 'ok', 'another key of the owner');
      }

      const by = { counting: counting(uuidOf(802)) };
      const previewed = async (order: PlaceOrder) => {
        const reply = await new Promise<Reply>((resolve, reject) => {
          engine.preview(owner, { kind: 'preview', atMs: NOON_MS, order }, { resolve, reject });
        });
        const { would, code } = JSON.parse(reply.ok ? reply.body : '{}');
        return would === 'execute' ? 'ok' : code;
      };
      const codes: string[] = [];
      for (let n = 0; n < 12; n++) {
        const account = accounts[n % 3]!;
        const others = accounts.map((other) => previewed(buy(other, by)));
        t.deepEqual(await Promise.all(others), Array(3).fill(n < 10 ? 'ok' : 'rate_limited'));
        codes.push(codeOf(await trade(engine, owner, buy(account, by))));
      }
      t.deepEqual(codes, firstOk(10, 12), 'and a preview counts nothing itself');
      if (!isShared) await engine.close();
    },
  );
}

test.serial('L13: a reply has what is left of the limits, of a key over all shards', async (t) => {
  const { engine } = await sharedShards();
  const { owner, acme, accounts, key } = scene(1);
  const by = { counting: counting(key) };
  for (let n = 0; n < 11; n++) {
    const { ok, limits } = await trade(engine, owner, buy(accounts[n % 3]!, by));
    t.is(ok, n < 10);
    t.deepEqual(limits, {
      ...{ atMs: NOON_MS, closing: false },
      ...{ keyPerMinute: 10, keyLeftInMinute: Math.max(0, 9 - n) },
      ...{ keyPerDay: 50, keyLeftInDay: Math.max(40, 49 - n) },
      ...{ accountPerMinute: 20, accountLeftInMinute: n < 10 ? 19 - Math.floor(n / 3) : 17 },
      ...{ accountPerDay: 100, accountLeftInDay: n < 10 ? 99 - Math.floor(n / 3) : 97 },
    });
  }
  const { limits } = await trade(engine, owner, cancelOf(acme, key));
  t.like(limits, { closing: true, keyLeftInMinute: 19, accountLeftInMinute: 39, keyPerDay: 0 });
  const free = await trade(engine, owner, { ...buy(acme), counting: null });
  t.false('limits' in free, 'what counts towards none has none');
});

test.serial('L10, hard trade limits: of a key, after its shards have failed', async (t) => {
  const { engine } = await sharedShards();
  const failing = scene(2);
  const { owner, acme, zoo, accounts, key } = failing;
  const by = { counting: counting(key) };
  t.deepEqual(await codesInTurn(engine, failing, accounts, 7), firstOk(7, 7));
  await breakShard(engine, acme);
  await t.throwsAsync(trade(engine, owner, buy(acme, by)), { instanceOf: Unavailable });
  await t.throwsAsync(trade(engine, owner, buy(zoo, by)), { instanceOf: Unavailable });
  await untilReady(engine);
  t.deepEqual(await codesInTurn(engine, failing, [zoo, owner, acme], 6), firstOk(3, 6));
});

/** Who has traded before a restart, and who goes on after it: by the place of an account. */
const RESTARTS: [used: number[], next: number[]][] = [
  [
    [1, 2],
    [2, 0],
  ],
  [[0], [1]],
  [[0, 1, 2], [0]],
  [[1], [0]],
];

test.serial('L10, hard trade limits: of a key, over a restart, wherever it goes on', async (t) => {
  const opened = await sharedShards();
  const { engine, dir } = opened;
  const scenes = RESTARTS.map((_, number) => scene(3 + number));
  const of = ({ accounts }: Scene, places: number[]) => places.map((place) => accounts[place]!);
  for (const [number, [used]] of RESTARTS.entries()) {
    const one = scenes[number]!;
    t.deepEqual(await codesInTurn(engine, one, of(one, used), 7), firstOk(7, 7));
  }
  await engine.close();
  const after = await openShards(dir, { shards: 3 });
  opened.engine = after;
  after.tick(quoteTick());
  for (const [number, [, next]] of RESTARTS.entries()) {
    const one = scenes[number]!;
    t.deepEqual(await codesInTurn(after, one, of(one, next), 6), firstOk(3, 6));
  }
});

test.serial(
  'L7, hard trade limits: of a key, exact with orders sent at once; by the day, and again on the next',
  async (t) => {
    const { engine } = await sharedShards();
    const one = scene(7);
    const { owner, accounts, key } = one;
    engine.tick(quoteTick());
    const by = { counting: counting(key) };
    const placed = [...accounts, owner].map((account) => buy(account, by));
    for (const order of placed) t.is(codeOf(await trade(engine, owner, order)), 'ok');
    const replies = await Promise.all(
      Array.from({ length: 40 }, async (_, n) => {
        const isAgain = n % 2 === 0;
        const order = isAgain ? placed[(n / 2) % 4]! : buy(accounts[n % 3]!, by);
        return { isAgain, reply: await trade(engine, owner, order) };
      }),
    );
    const again = replies.filter(({ isAgain }) => isAgain).map(({ reply }) => reply);
    for (const reply of again) t.like(JSON.parse(reply.ok ? reply.body : '{}'), { replayed: true });
    const others = replies.filter(({ isAgain }) => !isAgain).map(({ reply }) => codeOf(reply));
    t.deepEqual(others, firstOk(6, 20), 'the first ones sent; replays do not count');

    // Another key: its day has 50 orders.
    const daily = scene(8);
    for (let minute = 0; minute < 5; minute++) {
      const atMs = NOON_MS + minute * 60_000;
      engine.tick(quoteTick({ atMs }));
      t.deepEqual(await codesInTurn(engine, daily, daily.accounts, 11, { atMs }), firstOk(10, 11));
    }
    const atMs = NOON_MS + 3_600_000;
    engine.tick(quoteTick({ atMs }));
    t.deepEqual(await codesInTurn(engine, daily, daily.accounts, 3, { atMs }), firstOk(0, 3));
    const tomorrow = { atMs: NOON_MS + DAY_MS / 2 };
    engine.tick(quoteTick(tomorrow));
    t.deepEqual(await codesInTurn(engine, daily, daily.accounts, 12, tomorrow), firstOk(10, 12));
  },
);

/** Answers when the test says so. */
class FakeShard {
  readonly asked: { request: Command | Query; waiter: ReplyHandler }[] = [];
  use: TradeUse = { atMs: NOON_MS, newInMinute: 1, newInDay: 2, closingInMinute: 3 };

  ask(request: Command | Query, waiter: ReplyHandler): undefined {
    this.asked.push({ request, waiter });
  }

  call(request: Command | Query): Promise<Reply> {
    return new Promise((resolve, reject) => this.ask(request, { resolve, reject }));
  }

  /** What it has been asked since the last time, answered. */
  async answer(): Promise<(Command | Query)[]> {
    const answered = this.asked.splice(0);
    for (const { waiter } of answered) {
      waiter.resolve({ ok: true, body: JSON.stringify(this.use) });
    }
    await settled();
    return answered.map(({ request }) => request);
  }
}

/** Long enough for what waits for promises alone. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

function roamingScene() {
  const [home, away, third] = [new FakeShard(), new FakeShard(), new FakeShard()];
  const clock = { nowMs: NOON_MS };
  const keys = new CrossShardLimits(() => clock.nowMs);
  const refused: Error[] = [];
  const waiter = { resolve() {}, reject: (error: Error) => refused.push(error) };
  const send = (to: FakeShard, keyId = KEY) => {
    const command = buy(OWNER, { atMs: clock.nowMs });
    keys.send({ command, counting: counting(keyId), home, to, waiter });
  };
  return { home, away, third, clock, keys, refused, send };
}

const countingsOf = (requests: (Command | Query)[]) =>
  requests.map((request) => ('counting' in request ? request.counting : request.kind));

test('a key that trades at home alone costs no question and no memory', async (t) => {
  const { home, keys, send } = roamingScene();
  for (let n = 0; n < 5; n++) send(home);
  t.deepEqual(countingsOf(await home.answer()), Array(5).fill(counting()));
  t.is(keys.size, 0);
});

test('a key is asked about when it moves, and not while it stays', async (t) => {
  const { home, away, third, send } = roamingScene();
  const { use } = home;
  send(home);
  send(away);
  send(away);
  t.deepEqual(countingsOf(await home.answer()), [counting(), 'key_use'], 'after its orders');
  const there = { ...counting(), keyId: awayIdOf(KEY), elsewhere: use };
  t.deepEqual(countingsOf(await away.answer()), [there, there]);
  send(away);
  t.deepEqual(countingsOf(await away.answer()), [there]);
  t.deepEqual(home.asked, []);

  send(third);
  t.is(third.asked.length, 0, 'not before the others have answered');
  await home.answer();
  t.is(third.asked.length, 0);
  t.deepEqual(await away.answer(), [{ kind: 'key_use', atMs: NOON_MS, keyId: awayIdOf(KEY) }]);
  const twice = { atMs: NOON_MS, newInMinute: 2, newInDay: 4, closingInMinute: 6 };
  t.deepEqual(countingsOf(await third.answer()), [{ ...there, elsewhere: twice }]);

  send(home);
  await away.answer();
  await third.answer();
  t.deepEqual(countingsOf(await home.answer()), [{ ...counting(), elsewhere: twice }]);
});

test('L12: a thousand orders of a key wait for its move, in order', async (t) => {
  const { home, away, refused, send } = roamingScene();
  for (let n = 0; n < 1000; n++) send(n < 990 ? away : home);
  t.deepEqual(refused, []);
  send(away);
  t.true(refused[0] instanceof Unavailable);
  send(home, uuidOf(901));
  t.is(home.asked.length, 2, 'the question, and another key`s order');
  await home.answer();
  t.is((await away.answer()).length, 991, 'the orders, and the question after them');
  t.is((await home.answer()).length, 10);
});

test('a key that left home yesterday is forgotten', async (t) => {
  const { home, away, clock, keys, send } = roamingScene();
  send(away);
  send(away, uuidOf(901));
  await home.answer();
  await away.answer();
  t.is(keys.size, 2);
  clock.nowMs += DAY_MS;
  send(home);
  t.is(keys.size, 0);
  t.deepEqual(countingsOf(await home.answer()), [counting()]);
});

test('L11: orders of a key are refused while a shard that may have counted it cannot answer', async (t) => {
  const { home, away, refused, send } = roamingScene();
  send(away);
  send(home);
  home.asked.splice(0)[0]!.waiter.reject(new Unavailable('the engine is restarting'));
  await settled();
  t.deepEqual(
    refused.map(({ message }) => message),
    Array(2).fill('the engine is restarting'),
  );
  t.deepEqual([...home.asked, ...away.asked], []);
  send(away);
  await home.answer();
  t.is((await away.answer()).length, 1, 'asked again');
});

test('L11: what a shard that comes back has counted of a key counts from then on', async (t) => {
  const { home, away, third, keys, send } = roamingScene();
  send(away);
  // While the key moves, and again once it is there.
  keys.found(third, { awayKeys: [KEY], nowMs: NOON_MS });
  await home.answer();
  t.is(away.asked.length, 0);
  await home.answer();
  await third.answer();
  const sum = { atMs: NOON_MS, newInMinute: 2, newInDay: 4, closingInMinute: 6 };
  t.like(countingsOf(await away.answer())[0], { elsewhere: sum });
  const fourth = new FakeShard();
  keys.found(fourth, { awayKeys: [KEY], nowMs: NOON_MS });
  send(away);
  t.is(away.asked.length, 0);
  for (const shard of [home, third, fourth]) await shard.answer();
  t.like(countingsOf(await away.answer())[0], { elsewhere: { newInDay: 6 } });
});

test('an order that waited is placed at the time when it goes on', async (t) => {
  const { home, away, clock, send } = roamingScene();
  send(away);
  clock.nowMs += 60_000;
  await home.answer();
  t.like(await away.answer(), [{ atMs: NOON_MS + 60_000 }]);
});

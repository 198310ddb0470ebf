import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { mock } from 'node:test';
import test, { type ExecutionContext } from 'ava';
import type { Reply } from '../../../../engine/rules/messages.ts';
import { feedClock, type MachineClock, wallClock } from '../../../../engine/shard/callers/clock.ts';
import type { Shards } from '../../../../engine/shard/callers/shards.ts';
import { Unavailable } from '../../../../engine/threads/unavailable.ts';
import { verifyShard } from '../../../../engine/verify/verify.ts';
import { NOON_MS, placeOrder, quoteTick, uuidOf } from '../../fixtures.ts';
import { crashedCopy, openShards, stoppedShards, tempDir } from '../engine-process.ts';
import { openShard } from '../environment.ts';

const MINUTE_MS = 60_000;
const TEN_YEARS_MS = 3650 * 86_400_000;

/** A machine whose clock somebody sets; `pass` is time that goes by. */
class TestMachine implements MachineClock {
  #wallMs = NOON_MS;
  #steadyMs = 5000;

  wallMs(): number {
    return this.#wallMs;
  }

  steadyMs(): number {
    return this.#steadyMs;
  }

  pass(ms: number): void {
    this.#wallMs += ms;
    this.#steadyMs += ms;
  }

  set(byMs: number): void {
    this.#wallMs += byMs;
  }
}

function machineWith(jumpMaxMs?: number) {
  const lines: string[] = [];
  const keep = (fields: object, line: string) => lines.push(`${line} ${JSON.stringify(fields)}`);
  const log = { info: keep, error: keep };
  const machine = new TestMachine();
  const clock = wallClock({ machine, log, ...(jumpMaxMs !== undefined && { jumpMaxMs }) });
  return { clock, machine, lines };
}

test('C7, PAPERBOOK_CLOCK: on the feed clock time is the newest fed', (t) => {
  const clock = feedClock();
  t.is(clock.nowMs(), 0);
  clock.heartbeat(2000);
  clock.heartbeat(1000);
  t.is(clock.nowMs(), 2000);
  clock.heartbeat(2000 + TEN_YEARS_MS);
  t.is(clock.nowMs(), 2000 + TEN_YEARS_MS, 'section 18: no bound on its jumps');
  t.is(clock.problem(), null);
});

test('C2: the wall clock never goes back and feeds do not move it', (t) => {
  const clock = wallClock();
  const before = clock.nowMs();
  clock.heartbeat(before + 1e9);
  t.true(clock.nowMs() < before + 1e9);
  t.true(clock.nowMs() >= before);
});

test('C2: time follows the machine, and goes on where the machine is set back', (t) => {
  const { clock, machine, lines } = machineWith();
  machine.pass(10);
  t.is(clock.nowMs(), NOON_MS + 10);
  machine.set(-500);
  machine.pass(10);
  t.is(clock.nowMs(), NOON_MS + 20);
  t.is(clock.problem(), null, 'half a second is no problem');
  machine.set(-MINUTE_MS);
  machine.pass(10);
  t.is(clock.nowMs(), NOON_MS + 30);
  t.regex(clock.problem()!, /^clock: the engine's time .*12:00:00\.030Z is ahead of the machine's/);
  t.is(lines.length, 1);
  machine.set(MINUTE_MS + 500);
  t.is(clock.nowMs(), NOON_MS + 30);
  t.is(clock.problem(), null);
});

test('C3, PAPERBOOK_CLOCK_JUMP_MAX_MS: a jump for a moment moves nothing', (t) => {
  const { clock, machine, lines } = machineWith();
  machine.set(TEN_YEARS_MS);
  for (let passed = 250; passed <= 1500; passed += 250) {
    machine.pass(250);
    t.is(clock.nowMs(), NOON_MS + passed);
    t.regex(clock.problem()!, /^clock: the machine's time jumped to 2036-.* goes on from 2026-/);
  }
  machine.set(-TEN_YEARS_MS);
  machine.pass(250);
  t.is(clock.nowMs(), NOON_MS + 1750);
  t.is(clock.problem(), null);
  t.is(lines.length, 2);
  t.regex(lines[0]!, /a jump of the clock is refused/);
  t.regex(lines[1]!, /back from its jump/);
});

test('C3, PAPERBOOK_CLOCK_JUMP_MAX_MS: up to the bound time follows', (t) => {
  const { clock, machine } = machineWith(5000);
  machine.set(5000);
  t.is(clock.nowMs(), NOON_MS + 5000);
  machine.set(5001);
  t.is(clock.nowMs(), NOON_MS + 5000);
});

test('C3: a jump that has lasted a minute counts', (t) => {
  const { clock, machine, lines } = machineWith();
  machine.set(2 * 3_600_000);
  t.is(clock.nowMs(), NOON_MS);
  machine.pass(MINUTE_MS - 1);
  t.is(clock.nowMs(), NOON_MS + MINUTE_MS - 1);
  machine.pass(1);
  t.is(clock.nowMs(), NOON_MS + 2 * 3_600_000 + MINUTE_MS);
  t.is(clock.problem(), null);
  t.is(lines.length, 2);
  t.regex(lines[1]!, /has lasted: accepted/);
});

test('C3: a jump that goes on to yet another time must last a minute there', (t) => {
  const { clock, machine } = machineWith();
  machine.set(TEN_YEARS_MS);
  clock.nowMs();
  machine.pass(MINUTE_MS - 10);
  machine.set(TEN_YEARS_MS);
  t.is(clock.nowMs(), NOON_MS + MINUTE_MS - 10);
  machine.pass(MINUTE_MS - 1);
  t.is(clock.nowMs(), NOON_MS + 2 * MINUTE_MS - 11);
  machine.pass(1);
  t.is(clock.nowMs(), machine.wallMs());
});

test('C4: a start after a long stop is no jump, and one before the last stop says so', (t) => {
  const { clock, machine, lines } = machineWith();
  clock.startFrom(NOON_MS - TEN_YEARS_MS);
  t.is(clock.nowMs(), NOON_MS);
  t.deepEqual(lines, []);
  clock.startFrom(NOON_MS + TEN_YEARS_MS);
  machine.pass(20);
  t.is(clock.nowMs(), NOON_MS + TEN_YEARS_MS + 20);
  t.is(lines.length, 1);
  t.regex(lines[0]!, /ahead of the machine's.*see paperbook admin clock/);
  t.regex(clock.problem()!, /^clock: the engine's time 2036-.* is ahead of the machine's, 2026-/);
});

test("C6: the machine's time is accepted at once, back and on", (t) => {
  const { clock, machine } = machineWith();
  clock.startFrom(NOON_MS + TEN_YEARS_MS);
  t.is(clock.acceptMachine(), TEN_YEARS_MS);
  t.is(clock.nowMs(), NOON_MS);
  t.is(clock.problem(), null);
  machine.set(TEN_YEARS_MS);
  t.is(clock.nowMs(), NOON_MS);
  t.is(clock.acceptMachine(), -TEN_YEARS_MS);
  t.is(clock.nowMs(), NOON_MS + TEN_YEARS_MS);
  t.is(clock.problem(), null);
});

test('C6: a machine whose clock was set back over a restart still has live prices; its time is on disk in every shard once accepted, and the limits of a key in several shards begin again', async (t) => {
  const dir = tempDir(t);
  const aheadMs = NOON_MS + TEN_YEARS_MS;
  await tradeAt(dir, aheadMs, 2);
  const machine = new TestMachine();
  const second = await openShards(dir, { shards: 2, clock: wallClock({ machine }) });
  t.is(second.nowMs(), aheadMs, 'the engine goes on from where it was');
  t.regex(second.clockProblem()!, /ahead of the machine's/);
  second.tick(quoteTick({ atMs: aheadMs }));
  const next = placeOrder({ atMs: aheadMs, account: uuidOf(2) });
  t.true((await second.call(next.account, next)).ok);

  await second.acceptMachineTime();
  t.is(second.nowMs(), NOON_MS);
  t.is(second.clockProblem(), null);
  await timeIn(t, crashedCopy(t, dir));
  await limitsBeginAgain(t, second, machine);
  t.deepEqual((await second.audit()).problems, []);
  await second.close();
  // A start goes on from it, as the one above did.
  await timeIn(t, dir);
});

/** Of each shard's start. */
async function timeIn(t: ExecutionContext, dir: string): Promise<void> {
  for (const name of ['shard-0', 'shard-1']) {
    const shard = await openShard(path.join(dir, name));
    t.is(shard.report.nowMs, NOON_MS, name);
    await shard.abandon();
  }
}

async function limitsBeginAgain(t: ExecutionContext, engine: Shards, machine: TestMachine) {
  machine.set(MINUTE_MS);
  engine.tick(quoteTick({ atMs: engine.nowMs() }));
  machine.set(-MINUTE_MS);
  const twice = { newPerMinute: 9, newPerDay: 2, closingPerMinute: 9 };
  const counting = { keyId: uuidOf(9), keyLimits: twice, accountLimits: twice, elsewhere: null };
  const [owner, other] = [uuidOf(4), uuidOf(5)];
  const place = (account: string): Promise<Reply> => {
    const order = placeOrder({ atMs: engine.nowMs(), account, counting });
    return new Promise((resolve, reject) => engine.trade(owner, order, { resolve, reject }));
  };
  t.true((await place(owner)).ok);
  t.true((await place(other)).ok);
  t.like(await place(other), { ok: false, code: 'rate_limited' });
  await engine.acceptMachineTime();
  t.true((await place(other)).ok);
  t.true((await place(other)).ok);
  t.like(await place(other), { ok: false, code: 'rate_limited' });
}

/** One shard of the serial tests, on a machine whose clock they set. The last of them ends it. */
const machine = new TestMachine();
let opened: Promise<Shards> | null = null;
const SHARED = mkdtempSync(path.join(tmpdir(), 'paperbook-shared-'));
const shared = (): Promise<Shards> => {
  opened ??= openShards(SHARED, { clock: wallClock({ machine }) });
  return opened;
};
test.after.always(() => rmSync(SHARED, { recursive: true }));

/** The clock was a minute ahead while a price came. */
async function quoteAhead(engine: Shards): Promise<void> {
  machine.set(MINUTE_MS);
  engine.tick(quoteTick({ atMs: engine.nowMs() }));
  machine.set(-MINUTE_MS);
  await engine.acceptMachineTime();
}

for (const [isBroken, title] of [
  [false, ''],
  [true, ', also in a shard that failed and gets them again'],
] as const) {
  test.serial(`C6: quotes keep their age when time goes back${title}`, async (t) => {
    const engine = await shared();
    await quoteAhead(engine);
    if (isBroken) {
      breakShard(engine);
      await untilRestarted(engine);
    }
    machine.pass(14_000);
    const fresh = placeOrder({ atMs: engine.nowMs() });
    t.true((await engine.call(fresh.account, fresh)).ok, 'as fresh as it was');
    machine.pass(2000);
    const late = placeOrder({ atMs: engine.nowMs(), account: uuidOf(2) });
    t.like(await engine.call(late.account, late), { ok: false, code: 'no_liquidity' });
  });
}

test.serial('C6: hard trade limits begin again when time goes back', async (t) => {
  const engine = await shared();
  machine.set(MINUTE_MS);
  engine.tick(quoteTick({ atMs: engine.nowMs() }));
  machine.set(-MINUTE_MS);
  const once = { newPerMinute: 1, newPerDay: 1, closingPerMinute: 1 };
  const counting = { keyId: uuidOf(9), keyLimits: once, accountLimits: once, elsewhere: null };
  const place = () => {
    const order = placeOrder({ atMs: engine.nowMs(), account: uuidOf(3), counting });
    return engine.call(order.account, order);
  };
  t.true((await place()).ok);
  t.like(await place(), { ok: false, code: 'rate_limited' });
  await engine.acceptMachineTime();
  t.true((await place()).ok);
  t.like(await place(), { ok: false, code: 'rate_limited' });
});

test.serial('C6: expiries stay as they are when time goes back', async (t) => {
  const engine = await shared();
  const nowMs = engine.nowMs();
  machine.set(MINUTE_MS);
  const aheadMs = engine.nowMs();
  t.is(aheadMs, nowMs + MINUTE_MS);
  machine.set(-MINUTE_MS);
  engine.tick(quoteTick({ atMs: aheadMs }));
  const order = placeOrder({
    atMs: aheadMs,
    account: uuidOf(4),
    limitPriceCents: 10,
    timeInForce: 'gtc',
    expiresAtMs: aheadMs + 1000,
  });
  t.true((await engine.call(order.account, order)).ok);
  await engine.acceptMachineTime();
  t.is(engine.nowMs(), nowMs);
  const asked = { kind: 'order', account: order.account, organizationSlug: null } as const;
  const found = await engine.call(order.account, {
    ...asked,
    atMs: engine.nowMs(),
    orderId: order.orderId,
  });
  t.true(found.ok);
  const shown = JSON.parse((found as { body: string }).body);
  t.is(shown.order.status, 'resting');
  t.is(Date.parse(shown.order.expiresAt), aheadMs + 1000);
  // Placed later than it ends: nothing that an audit or verify calls broken.
  const { account, orderId } = order;
  const cancel = {
    kind: 'cancel',
    atMs: engine.nowMs(),
    account,
    orderId,
    counting: null,
  } as const;
  t.true((await engine.call(account, cancel)).ok);
  t.deepEqual((await engine.audit()).problems, []);
  await engine.close();
  t.deepEqual((await verifyShard(path.join(SHARED, 'shard-0'), 0, 1))!.problems, []);
});

test('a shard that fails before it has taken the time takes it when it is back', async (t) => {
  const dir = tempDir(t);
  await tradeAt(dir, NOON_MS + TEN_YEARS_MS);
  const machine = new TestMachine();
  const second = await openShards(dir, { clock: wallClock({ machine }) });
  breakShard(second);
  await t.throwsAsync(second.acceptMachineTime(), { instanceOf: Unavailable });
  await untilRestarted(second);
  await second.close();
  const shard = await openShard(path.join(dir, 'shard-0'));
  t.is(shard.report.nowMs, NOON_MS);
  await shard.abandon();
});

test("a shard that is out of order keeps the machine's time from being accepted", async (t) => {
  const dir = tempDir(t);
  await tradeAt(dir, NOON_MS + TEN_YEARS_MS, 2);
  const file = path.join(dir, 'shard-0', 'data.mdb');
  renameSync(file, `${file}.away`);
  const clock = wallClock({ machine: new TestMachine() });
  const second = await openShards(dir, { shards: 2, wereMade: true, clock });
  t.teardown(() => second.close());
  await t.throwsAsync(second.acceptMachineTime(), { message: /shard-0.data\.mdb is missing/ });
  t.is(second.nowMs(), NOON_MS + TEN_YEARS_MS);
});

test.serial('C9: without messages four times a second orders expire', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] });
  t.teardown(() => mock.timers.reset());
  const machine = new TestMachine();
  const engine = await openShards(tempDir(t), { clock: wallClock({ machine }) });
  t.teardown(() => engine.close());
  const account = uuidOf(1);
  for (const expiresAtMs of [250, 500, 750, 1000].map((ms) => NOON_MS + ms)) {
    const order = placeOrder({ limitPriceCents: 10, expiresAtMs });
    t.true((await engine.call(account, order)).ok);
  }
  const resting = async () => {
    const query = { kind: 'portfolio', account, organizationSlug: null } as const;
    const reply = await engine.call(account, { ...query, atMs: engine.nowMs() });
    return JSON.parse((reply as { body: string }).body).ordersCount;
  };
  for (const left of [3, 2, 1, 0]) {
    machine.pass(250);
    mock.timers.tick(249);
    t.is(await resting(), left + 1, 'a query moves no time');
    mock.timers.tick(1);
    t.is(await resting(), left);
  }
});

/** A trade in a market without a number ends the thread of every shard. */
function breakShard(engine: Shards): void {
  const trade = { kind: 'trade', yesPriceCents: 40, contracts: 1, side: 'yes' } as const;
  engine.tick({ ...trade, atMs: engine.nowMs(), source: 0, market: 999 });
}

async function untilRestarted(engine: Shards): Promise<void> {
  const pause = () => new Promise((resolve) => setTimeout(resolve, 20));
  while (engine.state() === 'ready') await pause();
  while (engine.state() !== 'ready') await pause();
  await engine.drained();
}

/** What a stop leaves of a trade at that time. */
function tradeAt(dir: string, atMs: number, shards = 1): Promise<void> {
  return stoppedShards(dir, shards, [quoteTick({ atMs }), placeOrder({ atMs })]);
}

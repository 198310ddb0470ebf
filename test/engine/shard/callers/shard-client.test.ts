import { renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { ByteWriter } from '../../../../engine/format/bytes.ts';
import { writeMessage } from '../../../../engine/format/codec.ts';
import type { Tick } from '../../../../engine/rules/messages.ts';
import type { Shards } from '../../../../engine/shard/callers/shards.ts';
import { Unavailable } from '../../../../engine/threads/unavailable.ts';
import { AWAY, CATALOG, NOON_MS, placeOrder, quoteTick, uuidOf } from '../../fixtures.ts';
import { breakShard, openShards, tempDir, untilReady } from '../engine-process.ts';
import { flipByte } from '../environment.ts';

const portfolio = { kind: 'portfolio', atMs: NOON_MS, organizationSlug: null } as const;

test('D6, internal_error: past the bound of its queue a shard is busy', async (t) => {
  const engine = await openShards(tempDir(t), { queueDepthMax: 2 });
  const account = uuidOf(1);
  // One account has one question under way.
  const calls = [1, 2, 3].map((number) => {
    return engine.call(uuidOf(number), { ...portfolio, account: uuidOf(number) });
  });
  const busy = await t.throwsAsync(calls[2]!, { instanceOf: Unavailable });
  t.true(busy.retryAfterSeconds >= 1);
  t.true((await calls[0]!).ok);
  t.true((await calls[1]!).ok, 'what was taken is answered');
  t.true((await engine.call(account, { ...portfolio, account })).ok, 'there is room again');
  await engine.close();
});

test('an engine of several shards refuses beforehand only when all of them are busy', async (t) => {
  const engine = await openShards(tempDir(t), { shards: 2, queueDepthMax: 1 });
  const ask = (account: string) => engine.call(account, { ...portfolio, account });
  t.is(engine.refusal(), null);
  const first = ask(uuidOf(2));
  t.is(engine.refusal(), null, 'the other one has room');
  const second = ask(uuidOf(3));
  t.true(engine.refusal() instanceof Unavailable);
  await Promise.all([first, second]);
  t.is(engine.refusal(), null);
  await engine.close();
  t.regex(engine.refusal()!.message, /closed/);
});

test('D10: a shard that fails is busy, then back with all it acknowledged and its quotes', async (t) => {
  const engine = await openShards(tempDir(t));
  const order = placeOrder();
  engine.tick(quoteTick());
  t.true((await engine.call(order.account, order)).ok);
  const hash = await engine.stateHash();

  await breakShard(engine, order.account);
  t.is(engine.state(), 'starting');
  const query = { ...portfolio, account: order.account };
  await t.throwsAsync(engine.call(order.account, query), { instanceOf: Unavailable });
  await untilReady(engine);

  t.is(await engine.stateHash(), hash);
  const again = placeOrder();
  t.true((await engine.call(again.account, again)).ok, 'the quote came again');
  await engine.close();
});

test('D46, D47: ticks that came packed come again to a shard that fails, as fresh as they were', async (t) => {
  const engine = await openShards(tempDir(t), { quoteMaxAgeMs: 15_000 });
  const ticks = [
    quoteTick(),
    { kind: 'heartbeat', atMs: NOON_MS + 14_000, source: 0 },
  ] satisfies Tick[];
  const writer = new ByteWriter();
  for (const tick of ticks) writeMessage(writer, tick);
  engine.packedTicks(writer.view(0, writer.length), NOON_MS + 14_000, ticks);
  const order = (afterMs: number) => placeOrder({ atMs: NOON_MS + afterMs });
  const first = order(20_000);
  t.true((await engine.call(first.account, first)).ok);
  await breakShard(engine, first.account);
  await untilReady(engine);
  const second = order(29_000);
  t.true((await engine.call(second.account, second)).ok);
  const late = order(29_001);
  t.false((await engine.call(late.account, late)).ok);
  await engine.close();
});

test('D6: when a thread ends amid a flood, everybody is answered or busy, and what was answered is kept', async (t) => {
  const engine = await openShards(tempDir(t), { queueDepthMax: 5000, checkpointEveryFacts: 500 });
  engine.tick(quoteTick({ yesAskContracts: 10_000 }));
  const orders = Array.from({ length: 1500 }, () => placeOrder({ contracts: 1 }));
  const outcomes: Promise<'kept' | 'busy'>[] = [];
  for (const [at, order] of orders.entries()) {
    if (at % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    if (at === 700) void breakShard(engine, order.account);
    const busy = (error: unknown) => {
      if (error instanceof Unavailable) return 'busy' as const;
      throw error;
    };
    outcomes.push(engine.call(order.account, order).then(() => 'kept' as const, busy));
  }
  const known = await Promise.all(outcomes);
  t.true(known.includes('busy'));
  await untilReady(engine);
  for (const [at, order] of orders.entries()) {
    if (known[at] === 'busy') continue;
    const again = await engine.call(order.account, order);
    t.true(again.ok && JSON.parse(again.body).replayed);
  }
  t.deepEqual(
    engine.statuses().map(({ queued }) => queued),
    [0],
  );
  await engine.close();
});

test('a catalog larger than the rings between the threads arrives whole', async (t) => {
  const engine = await openShards(tempDir(t));
  const [one] = CATALOG.instruments;
  const more = Array.from({ length: 3000 }, (_, at) => `ins_${String(at).padStart(12, '0')}`);
  await engine.setCatalog({
    ...CATALOG,
    instruments: [
      ...CATALOG.instruments,
      ...more.map((id) => ({ ...one!, id, slug: id, yesMeans: id.repeat(50), listings: [] })),
    ],
    instrumentIds: [...CATALOG.instrumentIds, ...more],
  });
  const quote = await engine.quote(more.at(-1)!, NOON_MS);
  t.like(JSON.parse(quote.ok ? quote.body : '{}'), { instrumentId: more.at(-1)! });
  await engine.close();
});

for (const left of ['no file', 'an empty file']) {
  test(`D9: of a shard that an earlier start made ${left} is damage, not a new shard`, async (t) => {
    const dir = tempDir(t);
    const first = await openShards(dir, { shards: 2 });
    first.tick(quoteTick());
    const order = placeOrder({ account: uuidOf(2) });
    t.true((await first.call(order.account, order)).ok);
    await first.close();
    const file = path.join(dir, 'shard-0', 'data.mdb');
    renameSync(file, `${file}.away`);
    if (left === 'an empty file') writeFileSync(file, '');

    const engine = await openShards(dir, { shards: 2, wereMade: true });
    const problem = 'shard-0/data.mdb is missing or empty, and was not before';
    t.deepEqual(engine.problems(), [`shard 0: ${problem}`]);
    const query = { ...portfolio, account: order.account };
    await t.throwsAsync(engine.call(order.account, query), { message: problem });
    t.true((await engine.call(uuidOf(3), { ...portfolio, account: uuidOf(3) })).ok);
    renameSync(`${file}.away`, file);
    await untilReady(engine);
    const reply = await engine.call(order.account, query);
    t.is(JSON.parse(reply.ok ? reply.body : '{}').positionsCount, 1);
    await engine.close();
  });
}

test('D9: a shard whose log is damaged is out of order, and the others are served', async (t) => {
  const dir = tempDir(t);
  const first = await openShards(dir, { shards: 2 });
  for (const n of [2, 4]) {
    const order = placeOrder({ account: uuidOf(n), limitPriceCents: 3 });
    t.true((await first.call(order.account, order)).ok);
  }
  await first.close();
  flipByte(path.join(dir, 'shard-0'), 'log/00000000.log', 300);
  const engine = await openShards(dir, { shards: 2, wereMade: true });
  const [problem] = engine.problems();
  t.regex(problem!, /^shard 0: 00000000\.log is damaged at byte \d+: /);
  const asked = (account: string) => engine.call(account, { ...portfolio, account });
  await t.throwsAsync(asked(uuidOf(2)), { instanceOf: Unavailable });
  t.true((await asked(uuidOf(3))).ok);
  await engine.close();
});

test('D6: a stopping engine is busy', async (t) => {
  const engine = await openShards(tempDir(t));
  const closing = engine.close();
  await t.throwsAsync(engine.call(uuidOf(1), { ...portfolio, account: uuidOf(1) }), {
    instanceOf: Unavailable,
  });
  await closing;
});

test('D11: a result that comes while a shard restarts settles its market all the same', async (t) => {
  const engine = await openShards(tempDir(t));
  const order = placeOrder();
  engine.tick(quoteTick());
  t.true((await engine.call(order.account, order)).ok);
  await breakShard(engine, order.account);

  const from = { atMs: NOON_MS, source: 0 };
  const pays = { yesPayoutCents: 100, noPayoutCents: 0 };
  engine.tick({ kind: 'result', ...from, market: 0, outcome: 'yes', ...pays });
  engine.tick({ kind: 'game', ...from, game: 'awy-hom', status: 'final' });
  await untilReady(engine);

  const answer = await engine.call(order.account, { ...portfolio, account: order.account });
  t.like(JSON.parse(answer.ok ? answer.body : ''), {
    account: { openPositions: 0, balanceDollars: 100_000 - 4.3 + 10 },
  });
  await engine.close();
});

test('D11: a shard that restarts settles by what came first, a result or the end of the game', async (t) => {
  const engine = await openShards(tempDir(t));
  engine.tick(quoteTick());
  const order = placeOrder();
  t.true((await engine.call(order.account, order)).ok);
  await breakShard(engine, order.account);
  const at = { atMs: NOON_MS, source: 0 };
  engine.tick({ ...at, kind: 'game', game: CATALOG.games[0]!.slug, status: 'cancelled' });
  const pays = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
  engine.tick({ ...at, kind: 'result', market: 0, ...pays });
  await untilReady(engine);
  const reply = await engine.call(order.account, { ...portfolio, account: order.account });
  t.like(JSON.parse(reply.ok ? reply.body : ''), { account: { balanceDollars: 100_000 } });
  await engine.close();
});

test('D11: a game status that a catalog has put right does not come again to a shard that restarts', async (t) => {
  const engine = await openShards(tempDir(t));
  const [game] = CATALOG.games;
  engine.tick({ kind: 'game', atMs: NOON_MS, source: 0, game: game!.slug, status: 'cancelled' });
  const listings = CATALOG.instruments[0]!.listings.map((one) => ({
    ...one,
    venueMarketId: 'T3',
  }));
  await engine.setCatalog({
    games: [{ ...game!, status: 'postponed' }],
    instruments: [{ ...CATALOG.instruments[0]!, listings }],
    marketNames: [...CATALOG.marketNames, 'venue_a/T3'],
    instrumentIds: CATALOG.instrumentIds,
  });
  const market = CATALOG.marketNames.length;
  engine.tick(quoteTick({ market }));
  const order = placeOrder();
  t.true((await engine.call(order.account, order)).ok);
  await breakShard(engine, order.account);
  await untilReady(engine);
  const report = await engine.audit();
  t.is(report.openPositions, 1, 'the market of the game as it is now was not voided');
  await engine.close();
});

test('D11: a catalog and switches sent while a shard is busy or restarts are taken by it', async (t) => {
  const engine = await openShards(tempDir(t), { queueDepthMax: 1 });
  const account = uuidOf(1);
  const waiting = engine.call(account, { ...portfolio, account });
  await engine.setCatalog({ ...CATALOG, games: [] });
  t.true((await waiting).ok);
  await breakShard(engine, account);
  await engine.setCatalog(CATALOG);
  await engine.broadcast({ kind: 'switches', atMs: NOON_MS, venueData: false, selfReset: false });
  await untilReady(engine);
  const answer = await engine.call(account, { ...portfolio, account });
  t.like(JSON.parse(answer.ok ? answer.body : ''), { venueData: false });
  engine.tick(quoteTick());
  const quote = await engine.quote(AWAY, NOON_MS);
  t.like(JSON.parse(quote.ok ? quote.body : ''), { matchup: 'Away at Home' });
  await engine.close();
});

test('D10: a shard that fails at every start is listed with its reason', async (t) => {
  const lines: string[] = [];
  const note = (_details: object, line: string) => lines.push(line);
  const engine = await openShards(tempDir(t), { log: { info: note, error: note } });
  const { account } = placeOrder();
  // Sent again at every start, and a fault of ours each time.
  engine.tick({ kind: 'status', atMs: NOON_MS, source: 0, market: 3, status: 'open' });
  const [line] = await untilListed(engine);
  t.regex(line!, /^shard 0 failed [2-9] times in a row: InvariantError: /);
  t.not(engine.state(), 'starting');
  await t.throwsAsync(engine.call(account, { ...portfolio, account }), { instanceOf: Unavailable });
  t.false(lines.includes('shard is back'), 'it never was');

  // A catalog that numbers the market puts it right.
  await engine.setCatalog({ ...CATALOG, marketNames: [...CATALOG.marketNames, 'venue_a/T9'] });
  await untilReady(engine);
  t.true((await engine.call(account, { ...portfolio, account })).ok);
  t.regex(engine.problems()[0]!, /^shard 0 failed/, 'whether it lasts is not known yet');
  await engine.close();
});

async function untilListed(engine: Shards): Promise<string[]> {
  while (engine.problems().length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  return engine.problems();
}

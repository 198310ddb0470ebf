import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { ByteWriter } from '../../../../engine/format/bytes.ts';
import { writeMessage } from '../../../../engine/format/codec.ts';
import type { Tick } from '../../../../engine/rules/messages.ts';
import { ShardClient } from '../../../../engine/shard/callers/shard-client.ts';
import type { Shards } from '../../../../engine/shard/callers/shards.ts';
import { Unavailable } from '../../../../engine/threads/unavailable.ts';
import { longTest } from '../../../long-test.ts';
import { AWAY, CATALOG, NOON_MS, placeOrder, quoteTick, ROUTED, uuidOf } from '../../fixtures.ts';
import { breakShard, openShards, stoppedShards, tempDir, untilReady } from '../engine-process.ts';
import { flipByte } from '../environment.ts';

/** One shard of the serial tests, which begin with somebody new. The last of them ends it. */
let opened: Promise<Shards> | null = null;
const SHARED = mkdtempSync(path.join(tmpdir(), 'paperbook-shared-'));
const shared = (): Promise<Shards> => {
  opened ??= openShards(SHARED);
  return opened;
};
test.after.always(() => rmSync(SHARED, { recursive: true }));

const portfolio = { kind: 'portfolio', atMs: NOON_MS, organizationSlug: null } as const;

test('D6, internal_error: past the bound of its queue a shard is busy; an engine of several refuses beforehand only when all of them are', async (t) => {
  const engine = await openShards(tempDir(t), { shards: 2, queueDepthMax: 1 });
  const ask = (account: string) => engine.call(account, { ...portfolio, account });
  t.is(engine.refusal(), null);
  const first = ask(uuidOf(2));
  t.is(engine.refusal(), null, 'the other one has room');
  // In the same shard.
  const busy = await t.throwsAsync(ask(uuidOf(4)), { instanceOf: Unavailable });
  t.true(busy.retryAfterSeconds >= 1);
  t.true((await first).ok, 'what was taken is answered');
  t.true((await ask(uuidOf(4))).ok, 'there is room again');
  const both = [ask(uuidOf(2)), ask(uuidOf(3))];
  t.true(engine.refusal() instanceof Unavailable);
  await Promise.all(both);
  t.is(engine.refusal(), null);
  await engine.close();
  t.regex(engine.refusal()!.message, /closed/);
});

test.serial(
  'D10: a shard that fails is busy, then back with all it acknowledged and its quotes',
  async (t) => {
    const engine = await shared();
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
  },
);

test.serial(
  'D46, D47: ticks that came packed come again to a shard that fails, as fresh as they were',
  async (t) => {
    const engine = await shared();
    const ticks = [
      quoteTick(),
      { kind: 'heartbeat', atMs: NOON_MS + 14_000, source: 0 },
    ] satisfies Tick[];
    const writer = new ByteWriter();
    for (const tick of ticks) writeMessage(writer, tick);
    engine.packedTicks(writer.view(0, writer.length), NOON_MS + 14_000, ticks);
    const order = (afterMs: number) => {
      return placeOrder({ atMs: NOON_MS + afterMs, account: uuidOf(2) });
    };
    const first = order(20_000);
    t.true((await engine.call(first.account, first)).ok);
    await breakShard(engine, first.account);
    await untilReady(engine);
    const second = order(29_000);
    t.true((await engine.call(second.account, second)).ok);
    const late = order(29_001);
    t.false((await engine.call(late.account, late)).ok);
  },
);

longTest(
  'D6: when a thread ends amid a flood, everybody is answered or busy, and what was answered is kept',
  async (t) => {
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
  },
);

test.serial('a catalog larger than the rings between the threads arrives whole', async (t) => {
  const engine = await shared();
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
});

test('D9: a shard whose file is gone or empty, or whose log is damaged, is out of order, and the others are served', async (t) => {
  const dir = tempDir(t);
  // In this order they live in shards 0 to 3.
  const [one, two, three, four] = [4, 5, 6, 7].map((number) => uuidOf(number)) as string[];
  const orders = [one, two, three].map((account) => placeOrder({ account: account! }));
  await stoppedShards(dir, 4, [quoteTick(), ...orders]);
  const files = [0, 1].map((shard) => path.join(dir, `shard-${shard}`, 'data.mdb'));
  for (const file of files) renameSync(file, `${file}.away`);
  writeFileSync(files[1]!, '');
  flipByte(path.join(dir, 'shard-2'), 'log/00000000.log', 300);

  const engine = await openShards(dir, { shards: 4, wereMade: true });
  const problem = (shard: number) =>
    `shard-${shard}/data.mdb is missing or empty, and was not before`;
  const found = engine.problems();
  t.deepEqual(found.slice(0, 2), [`shard 0: ${problem(0)}`, `shard 1: ${problem(1)}`]);
  t.regex(found[2]!, /^shard 2: 00000000\.log is damaged at byte \d+: /);
  const asked = (account: string) => engine.call(account, { ...portfolio, account });
  await t.throwsAsync(asked(one!), { message: problem(0) });
  await t.throwsAsync(asked(two!), { message: problem(1) });
  await t.throwsAsync(asked(three!), { instanceOf: Unavailable });
  t.true((await asked(four!)).ok);

  for (const file of files) renameSync(`${file}.away`, file);
  while (engine.problems().length > 1) await new Promise((resolve) => setTimeout(resolve, 20));
  await engine.drained();
  for (const account of [one!, two!]) {
    const reply = await asked(account);
    t.is(JSON.parse(reply.ok ? reply.body : '{}').positionsCount, 1);
  }
  await engine.close();
});

test.serial('K62: a shard that did not take a catalog gets the next one whole', async (t) => {
  const engine = await openShards(tempDir(t));
  const { deliver } = ShardClient.prototype;
  t.teardown(() => {
    ShardClient.prototype.deliver = deliver;
  });
  const kinds: string[] = [];
  const take = async (name: string, isTaken: boolean) => {
    ShardClient.prototype.deliver = function (command) {
      kinds.push('change' in command ? 'change' : 'whole');
      // As with a full disk.
      return isTaken ? deliver.call(this, command) : Promise.resolve(null);
    };
    const marketNames = [...catalog.marketNames, `venue_a/${name}`];
    catalog = { ...catalog, marketNames };
    await engine.setCatalog(catalog);
  };
  let catalog = CATALOG;
  await take('T10', true);
  await take('T11', false);
  await take('T12', true);
  await take('T13', true);
  t.deepEqual(kinds, ['change', 'change', 'whole', 'change']);
  const [account, market] = [uuidOf(1), CATALOG.marketNames.length + 3];
  engine.tick({ kind: 'status', atMs: NOON_MS, source: 0, market, status: 'open' });
  t.true((await engine.call(account, { ...portfolio, account })).ok);
  await engine.close();
});

test.serial('D6: a stopping engine is busy', async (t) => {
  const engine = await shared();
  const closing = engine.close();
  await t.throwsAsync(engine.call(uuidOf(1), { ...portfolio, account: uuidOf(1) }), {
    instanceOf: Unavailable,
  });
  await closing;
});

test('D11: a shard that restarts settles by what came first meanwhile, a result or the end of the game, unless a catalog has put it right', async (t) => {
  const engine = await openShards(tempDir(t));
  const account = uuidOf(1);
  for (const market of [0, 1]) engine.tick(quoteTick({ market }));
  for (const instrumentId of [AWAY, ROUTED]) {
    const order = placeOrder({ account, instrumentId, idempotencyKey: instrumentId });
    t.true((await engine.call(account, order)).ok);
  }
  await breakShard(engine, account);
  const at = { atMs: NOON_MS, source: 0 };
  const pays = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
  engine.tick({ ...at, kind: 'result', market: 1, ...pays });
  engine.tick({ ...at, kind: 'game', game: CATALOG.games[0]!.slug, status: 'cancelled' });
  engine.tick({ ...at, kind: 'result', market: 0, ...pays });
  await untilReady(engine);
  const reply = await engine.call(account, { ...portfolio, account });
  t.like(JSON.parse(reply.ok ? reply.body : ''), {
    // Market 1 pays ten dollars, and the cost of market 0 comes back.
    account: { openPositions: 0, balanceDollars: 100_000 - 4.3 + 10 },
  });
  // As a catalog puts the status of the game right, it does not come again.
  const [game] = CATALOG.games;
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

longTest('D10: a shard that fails at every start is listed with its reason', async (t) => {
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

/** A verification that goes on from the last one: what it checks, and what it finds. */
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import type { AccountRow } from '../../../engine/base/units.ts';
import type { Fact } from '../../../engine/rules/facts.ts';
import { type KeptAudit, readKept, writeKept } from '../../../engine/verify/kept-audit.ts';
import { verifyShard } from '../../../engine/verify/verify.ts';
import { CATALOG, NOON_MS, placeOrder, quoteTick, uuidOf } from '../fixtures.ts';
import { tempDir } from '../shard/engine-process.ts';
import {
  ALICE,
  appendFacts,
  flipByte,
  openShard,
  rewriteLog,
  tradedShard,
} from '../shard/environment.ts';

const SECTION = 'D97, verify goes on';
const SEGMENT = path.join('log', '00000000.log');

/** A verified shard, and how it is verified again. */
async function verified(t: ExecutionContext) {
  const dir = tempDir(t);
  await tradedShard(dir);
  const file = path.join(dir, 'verified', 'shard-0');
  const verify = async (isWhole = false) => (await verifyShard(dir, 0, 1, { file, isWhole }))!;
  const first = await verify();
  t.deepEqual([first.verifiedBefore, first.problems, first.notes], [0, [], []]);
  return { dir, file, verify, first };
}

/** Sells an open trade, cancels a resting order, places others; a result settles what is left. */
async function tradeOn(dir: string): Promise<void> {
  const shard = await openShard(dir);
  const atMs = NOON_MS + 1000;
  const { counting } = placeOrder({ account: ALICE });
  const [sold] = [...shard.state.positions.rows()];
  const { positions, positionIds, accountIds, orders, orderIds } = shard.state;
  const ownerOf = (account: AccountRow) => accountIds.idOf(account);
  const [resting] = [...shard.state.orders.rows()];
  const replies = shard.run([
    quoteTick({ atMs }),
    placeOrder({ atMs, account: ALICE, idempotencyKey: 'later' }),
    placeOrder({
      ...{ atMs, account: ownerOf(positions.col.account.get(sold!)), action: 'sell' },
      ...{ idempotencyKey: 'later-sold', instrumentId: null, tradeId: positionIds.idOf(sold!) },
    }),
    placeOrder({ atMs, account: uuidOf(3), idempotencyKey: 'rests', limitPriceCents: 20 }),
    {
      kind: 'cancel',
      atMs,
      account: ownerOf(orders.col.account.get(resting!)),
      orderId: orderIds.idOf(resting!),
      counting,
    },
  ]);
  for (const reply of replies) if (!reply.ok) throw new Error(reply.message);
  await shard.close();
}

test.serial(
  `${SECTION}: what came since is checked, and the same is found as by a whole one`,
  async (t) => {
    const { dir, file, verify, first } = await verified(t);
    const again = await verify();
    t.deepEqual(again, {
      ...first,
      verifiedBefore: first.facts,
      verified: { before: first.verified.now, now: first.verified.now },
    });
    await tradeOn(dir);
    const later = await verify();
    t.deepEqual(later.problems, []);
    t.true(later.facts > first.facts && later.closedTrades > first.closedTrades);
    t.is(later.verifiedBefore, first.facts);
    const kept = readKept<KeptAudit>(file)!;
    const whole = await verify(true);
    t.deepEqual(whole, {
      ...later,
      verifiedBefore: 0,
      verified: { ...later.verified, before: null },
    });
    t.deepEqual(readKept<KeptAudit>(file), kept, 'and the same is kept');
  },
);

test.serial(
  `${SECTION}: a breach in what came since is found, and nothing of it is kept`,
  async (t) => {
    const { dir, verify, first } = await verified(t);
    const end = { kind: 'account_reset' as const, atMs: NOON_MS + 9000, account: ALICE, run: 7 };
    appendFacts(dir, [end]);
    for (let times = 0; times < 2; times++) {
      const { problems, verifiedBefore } = await verify();
      t.is(verifiedBefore, first.facts);
      t.true(
        problems.some((line) => line.includes('(account_reset)')),
        problems.join('\n'),
      );
    }
  },
);

test.serial(
  `${SECTION}: a first checkpoint names keys otherwise, and all is verified`,
  async (t) => {
    const dir = tempDir(t);
    const file = path.join(dir, 'verified', 'shard-0');
    const verify = async () => (await verifyShard(dir, 0, 1, { file, isWhole: false }))!;
    const shard = await openShard(dir);
    shard.run([{ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG }, quoteTick()]);
    shard.run([placeOrder({ account: ALICE })]);
    await shard.abandon();
    t.like(await verify(), { checkpointFacts: 0, problems: [] });
    t.true((await verify()).verifiedBefore > 0);
    await (await openShard(dir)).close();
    t.like(await verify(), { verifiedBefore: 0, problems: [], notes: [] });
    const again = await verify();
    t.true(again.checkpointFacts > 0);
    t.is(again.verifiedBefore, again.facts);
  },
);

test.serial(`${SECTION}: a shard without a fact is verified again`, async (t) => {
  const dir = tempDir(t);
  const file = path.join(dir, 'verified', 'shard-0');
  await (await openShard(dir)).close();
  for (let times = 0; times < 2; times++) {
    t.like(await verifyShard(dir, 0, 1, { file, isWhole: false }), { facts: 0, problems: [] });
  }
  t.is(readKept<KeptAudit>(file)?.facts, 0);
});

test.serial(`${SECTION}: an order that rested before and is gone is missed`, async (t) => {
  const { file, verify } = await verified(t);
  const kept = readKept<KeptAudit>(file)!;
  writeKept(file, { ...kept, resting: kept.resting + 1 });
  const { problems } = await verify();
  t.true(
    problems.some((line) => /rested before, 0 ended/.test(line)),
    problems.join('\n'),
  );
});

test.serial(`${SECTION}: a log that was changed, cut off, or replaced is found`, async (t) => {
  const { dir, verify } = await verified(t);
  const log = path.join(dir, SEGMENT);
  const bytes = readFileSync(log);
  const used = bytes.findLastIndex((byte) => byte !== 0);
  let found = 0;
  for (let at = 4096; at < used; at += Math.ceil((used - 4096) / 12)) {
    flipByte(dir, SEGMENT, at);
    const { problems } = await verify();
    t.true(problems.length > 0, `byte ${at}`);
    found++;
    writeFileSync(log, bytes);
  }
  t.true(found > 8);
  truncateSync(log, Math.floor(used * 0.9));
  t.true((await verify()).problems.length > 0);
  writeFileSync(log, bytes);
  t.deepEqual((await verify()).problems, []);
  // Each of its records has a valid checksum.
  rewriteLog(dir, (records) => {
    const last = records.at(-1)!;
    records[records.length - 1] = {
      ...last,
      facts: last.facts.map((fact) => ({ ...fact, atMs: 1 })),
    };
  });
  t.regex((await verify()).problems.join('\n'), /log: has other facts up to \d+ than those/);
  rewriteLog(dir, (records) => records.pop());
  t.regex(
    (await verify()).problems.join('\n'),
    /log: ends with fact \d+, and fact \d+ was verified/,
  );
});

test.serial(`${SECTION}: what was kept is used whole, or everything is verified`, async (t) => {
  const { file, verify, first } = await verified(t);
  const bytes = readFileSync(file);
  const kept = readKept<KeptAudit>(file);
  for (let at = 0; at < bytes.length; at += 7) {
    const flipped = Buffer.from(bytes);
    flipped[at]! ^= 1 << (at % 8);
    writeFileSync(file, flipped);
    t.throws(
      () => readKept<KeptAudit>(file),
      { message: /does not have its checksum/ },
      `byte ${at}`,
    );
  }
  const again = await verify();
  t.is(again.verifiedBefore, 0);
  t.regex(again.notes.join('\n'), /shard-0 is damaged: .* everything was verified/);
  t.deepEqual(again.problems, []);
  t.deepEqual(readKept<KeptAudit>(file), kept, 'it is kept again');
  t.is((await verify()).verifiedBefore, first.facts);
});

test.serial(`${SECTION}: what other versions of the checks have kept is not used`, async (t) => {
  const { file, verify, first } = await verified(t);
  const bytes = readFileSync(file);
  for (const at of [4, 8, 12, 16]) {
    const other = Buffer.from(bytes);
    other.writeUInt32BE(other.readUInt32BE(at) + 1, at);
    other.writeUInt32BE(crc32(other.subarray(4)), 0);
    writeFileSync(file, other);
    const { verifiedBefore, notes, problems } = await verify();
    t.deepEqual([verifiedBefore, problems], [0, []], `version at byte ${at}`);
    t.regex(notes.join('\n'), /shard-0 is of another version; so everything was verified/);
  }
  t.is((await verify()).verifiedBefore, first.facts);
});

test.serial('D97, D99: entries of the index that lead to earlier facts are compared', async (t) => {
  const { file, verify } = await verified(t);
  const kept = readKept<KeptAudit>(file)!;
  for (const changed of [{ one: kept.index.one ^ 1 }, { two: kept.index.two ^ 1 }]) {
    writeKept(file, { ...kept, index: { ...kept.index, ...changed } });
    const { problems, verified: marks } = await verify();
    t.regex(problems.join('\n'), /^index: has other entries than the log has facts/);
    t.is(marks.now, null, 'nothing is kept');
  }
});

test.serial(`${SECTION}: a second end of what ended before is found`, async (t) => {
  const { dir, verify } = await verified(t);
  let facts: Fact[] = [];
  rewriteLog(dir, (records) => {
    facts = records.flatMap((record) => record.facts);
  });
  const ends = (['order_ended', 'trade_closed', 'order_placed'] as const).map((kind) => {
    return facts.findLast((fact) => fact.kind === kind)!;
  });
  for (const end of ends) {
    t.truthy(end);
    const log = readFileSync(path.join(dir, SEGMENT));
    appendFacts(dir, [end]);
    const { problems } = await verify();
    t.true(
      problems.some((line) => line.includes(`(${end.kind})`)),
      `${end.kind}: ${problems.join('\n')}`,
    );
    writeFileSync(path.join(dir, SEGMENT), log);
  }
  t.deepEqual((await verify()).problems, []);
});

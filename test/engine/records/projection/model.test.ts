/** The records of random facts against a naive calculation, over crashes and numbers of shards. */
import { copyFileSync, cpSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Uuid } from '../../../../engine/base/units.ts';
import {
  BOARD_KINDS,
  type LeaderboardPage,
  type LeaderboardQuestion,
} from '../../../../engine/records/boards/leaderboard.ts';
import {
  differentTables,
  rebuildRecords,
  recordsProblems,
} from '../../../../engine/records/projection/check.ts';
import { RecordsModel } from '../../../../engine/records/projection/model.ts';
import { connected, recordsFile } from '../../../../engine/records/store/database.ts';
import type { AnswerOf } from '../../../../engine/records/thread/questions.ts';
import { createRandomSource } from '../../../model/random-source.ts';
import { seedsOfRun } from '../../../model/seeds.ts';
import { tempDir } from '../../shard/engine-process.ts';
import {
  isListed,
  isPick,
  leaderboard,
  resultOf,
  type Shown,
  sumsOf,
  worthOf,
} from '../naive-records.ts';
import { GAMES, type NaiveTrade, randomWorld, type World, writeLogs } from '../random-facts.ts';
import { type OpenRecords, openRecordsOf, readAll } from '../support.ts';

const STEPS = 400;
const WINDOWS = [null, 1, 7, 30];
const DAY_MS = 86_400_000;

/** Everyone shows something else, and no two seeds the same. */
function profilesOf({ accounts }: World, seed: number): Map<Uuid, Shown> {
  return new Map(
    accounts.map(({ id }, at) => {
      return [id, { isPublic: (at + seed) % 4 !== 0, showsEarlier: (at + seed) % 2 === 0 }];
    }),
  );
}

/** A bid for either side of each market, or none. */
function bidsOf(seed: number): Uint8Array {
  const random = createRandomSource(seed);
  return Uint8Array.from({ length: 2 * GAMES }, () => (random.oneIn(4) ? 0 : random.int(1, 99)));
}

function opened(t: ExecutionContext, world: World, seed: number, shards: number) {
  const dataDir = tempDir(t);
  writeLogs(dataDir, world, shards);
  const records = openRecordsOf(dataDir, shards, () => 0);
  t.teardown(() => records.close());
  for (const [id, shown] of profilesOf(world, seed)) records.profiles.set({ id, ...shown });
  records.bids.set(bidsOf(seed));
  readAll(records);
  return { records, dataDir };
}

for (const shards of [1, 2]) {
  test(`Y10, Y12, Y20, Y22, Y24, Y25, Y88, Y97: boards are what a naive calculation gives, from ${shards} shards`, (t) => {
    for (const seed of seedsOfRun(3)) {
      const world = randomWorld(seed, STEPS);
      t.true(world.corrected.size > 0, 'some results were corrected');
      const { records } = opened(t, world, seed, shards);
      const shown = profilesOf(world, seed);
      const bids = bidsOf(seed);
      const bidOf = ({ market, side }: NaiveTrade) =>
        bids[2 * market + (side === 'yes' ? 0 : 1)] || null;
      for (const kind of BOARD_KINDS) {
        for (const days of WINDOWS) {
          const nowMs = days === 7 ? middleEndMs(world, shown) + 7 * DAY_MS : world.nowMs;
          const then = { ...world, nowMs };
          const expected = leaderboard(then, shown, { kind, days, bidOf });
          const asked = { board: kind, days, nowMs };
          t.deepEqual(pagesOf(records, asked), expected);
          if (days === null) t.not(expected.length, 0);
          const fills = 'realistic';
          const realistic = leaderboard(then, shown, { kind, days, bidOf, fills });
          t.deepEqual(pagesOf(records, { ...asked, fills }), realistic);
          if (days === null) t.notDeepEqual(realistic, expected);
        }
      }
    }
  });

  test(`Y11, Y13, Y14, Y15, Y26: traders and their picks, from ${shards} shards`, (t) => {
    for (const seed of seedsOfRun(3)) {
      const world = randomWorld(seed, STEPS);
      const { records } = opened(t, world, seed, shards);
      const shown = profilesOf(world, seed);
      const asked = { markets: [], bids: null };
      const board = leaderboard(world, shown, { kind: 'pnl', days: null, bidOf: () => null });
      for (const { id, busts, resets } of world.accounts) {
        const showsEarlier = shown.get(id)!.showsEarlier;
        const { closed, pnlCents, costCents, ...all } = sumsOf(world, id, Number.NEGATIVE_INFINITY);
        const counts = showsEarlier ? all : publicCounts(world, id);
        t.deepEqual(records.reader.answer('trader', { ...asked, trader: id, showsEarlier }), {
          ...{ pnlCents, costCents, busts, resets, counts },
          worthCents: worthOf(world, id, () => null),
          rank: board.find(({ trader }) => trader === id)?.rank ?? null,
          hasPrivateTrades: world.trades.some((each) => each.trader === id && each.placedPrivate),
        });
        for (const seesPrivate of [true, false]) {
          t.deepEqual(picksOf(records, id, seesPrivate), naivePicks(world, id, seesPrivate));
        }
      }
      t.true(world.accounts.some(({ busts }) => busts > 0));
      t.true(world.accounts.some(({ id }) => !isListed(world, id, shown)));
    }
  });
}

/** A window that begins at this moment is without the trade that ended then. Rule Y20. */
function middleEndMs(world: World, shown: ReturnType<typeof profilesOf>): number {
  const ends = world.trades.flatMap(({ end, trader }) => {
    return end === null || !isListed(world, trader, shown) ? [] : [end.atMs];
  });
  return ends.sort((a, b) => a - b)[ends.length >> 1]!;
}

function pagesOf(
  { reader }: OpenRecords,
  asked: Pick<LeaderboardQuestion, 'board' | 'days' | 'fills' | 'nowMs'>,
) {
  const rows = [];
  let after: LeaderboardPage['next'] = null;
  do {
    const page: LeaderboardPage = reader.answer('leaderboard', { ...asked, limit: 2, after });
    rows.push(...page.rows);
    after = page.next;
  } while (after !== null);
  return rows;
}

function publicCounts(world: World, trader: Uuid) {
  const seen = world.trades.filter((trade) => {
    return trade.trader === trader && isPick(trade, world) && !trade.placedPrivate;
  });
  const count = (result: string) => seen.filter((trade) => resultOf(trade) === result).length;
  return { won: count('won'), lost: count('lost'), void: count('void') };
}

function picksOf({ reader }: OpenRecords, trader: Uuid, seesPrivate: boolean) {
  const ids: Uuid[] = [];
  let after: Uuid | null = null;
  do {
    const page: AnswerOf<'picks'> = reader.answer('picks', {
      trader,
      seesPrivate,
      limit: 7,
      after,
    });
    for (const { pickId } of page.picks!) ids.push(pickId);
    after = page.next;
  } while (after !== null);
  return ids;
}

function naivePicks(world: World, trader: Uuid, seesPrivate: boolean): Uuid[] {
  const seen = world.trades.filter((trade) => {
    return trade.trader === trader && isPick(trade, world) && (seesPrivate || !trade.placedPrivate);
  });
  return seen
    .reverse()
    .slice(0, 100)
    .map(({ id }) => id);
}

test('Y20, Y21: windows that move on are equal to new windows', (t) => {
  for (const seed of seedsOfRun(3)) {
    const world = randomWorld(seed, STEPS);
    const shown = profilesOf(world, seed);
    const dataDir = tempDir(t);
    writeLogs(dataDir, world, 1);
    let clockMs = 0;
    const records = openRecordsOf(dataDir, 1, () => clockMs);
    t.teardown(() => records.close());
    const profile = () => {
      for (const [id, each] of shown) records.profiles.set({ id, ...each });
    };
    profile();
    const end = world.facts.length;
    for (let upTo = 0; upTo < end; upTo += 61) {
      records.model.advance(0, end, upTo);
      const { atMs } = world.facts[Math.max(0, records.model.fold.positions[0]!.fact - 1)]!;
      clockMs += 10_000;
      const of = (shownBy: OpenRecords) => {
        const asked = { board: 'pnl', days: 7, nowMs: atMs } as const;
        return [pagesOf(shownBy, asked), pagesOf(shownBy, { ...asked, fills: 'realistic' })];
      };
      const moved = of(records);
      records.model.commit();
      const rebuilt = openRecordsOf(dataDir, 1, () => 0);
      for (const [id, each] of shown) rebuilt.profiles.set({ id, ...each });
      t.deepEqual(moved, of(rebuilt), `${seed} ${upTo}`);
      rebuilt.close();
    }
  }
});

test('Y25: a trader’s rank is the rank of the moment, whatever has changed since the ranking', (t) => {
  let ranks = 0;
  const seeds = seedsOfRun(3);
  for (const seed of seeds) {
    const world = randomWorld(seed, STEPS, 15);
    const random = createRandomSource(seed);
    const dataDir = tempDir(t);
    writeLogs(dataDir, world, 2);
    const limits = seed % 2 === 0 ? {} : { changedMax: 4 };
    const records = openRecordsOf(dataDir, 2, () => 0, limits);
    t.teardown(() => records.close());
    const shown = profilesOf(world, seed);
    const name = ({ profiles }: OpenRecords, id: Uuid) => profiles.set({ id, ...shown.get(id)! });
    for (const id of shown.keys()) name(records, id);
    const { positions } = records.model.fold;
    for (let step = 0; step < 25; step++) {
      for (const [shard, { fact }] of positions.entries()) {
        records.model.advance(shard, STEPS, fact + 15);
      }
      const { id: changed } = random.pick(world.accounts);
      shown.set(changed, { isPublic: random.oneIn(2), showsEarlier: random.oneIn(2) });
      name(records, changed);
      records.model.commit();
      const rebuilt = openRecordsOf(dataDir, 2, () => 0);
      for (const id of shown.keys()) name(rebuilt, id);
      const board = pagesOf(rebuilt, { board: 'pnl', days: null, nowMs: world.nowMs });
      rebuilt.close();
      for (const { id } of world.accounts) {
        const asked = { trader: id, showsEarlier: true, markets: [], bids: null };
        const rank = records.reader.answer('trader', asked)?.rank ?? null;
        t.is(rank, board.find(({ trader }) => trader === id)?.rank ?? null, `${seed} ${step}`);
        ranks += Number(rank !== null);
      }
    }
  }
  t.true(ranks > 60 * seeds.length, String(ranks));
});

test('Y2, Y93, Y95: each fact counts once, whatever ends the reading', (t) => {
  for (const seed of seedsOfRun(3)) {
    const world = randomWorld(seed, STEPS);
    const random = createRandomSource(seed);
    const dataDir = tempDir(t);
    writeLogs(dataDir, world, 2);
    let crashes = 0;
    for (let isEnd = false; !isEnd; ) {
      let left = random.int(1, 60);
      const directory = path.join(dataDir, 'records');
      const model = RecordsModel.open({
        ...{ dataDir, directory, shards: 2, factsTogether: random.int(1, 300) },
        onChange: () => {
          left--;
          if (left === 0) throw new Error('a crash in the midst of a transaction');
        },
      });
      try {
        const shard = random.int(0, 1);
        isEnd = model.advance(shard, random.int(1, 200)) && model.advance(1 - shard, STEPS * 9);
      } catch {
        crashes++;
      }
      // A crash rolls back what was not committed.
      model.close();
    }
    t.not(crashes, 0);
    t.deepEqual(recordsProblems(dataDir, 2), [], String(seed));
    const file = recordsFile(path.join(dataDir, 'records'));
    copyFileSync(file, `${file}.before`);
    const { facts, trades } = rebuildRecords(dataDir, 2);
    const [before, after] = [`${file}.before`, file].map((each) => connected(each));
    t.deepEqual(differentTables(before!, after!), []);
    before!.exec('UPDATE settled SET entry_cents = 100 - entry_cents');
    t.deepEqual(differentTables(before!, after!), ['settled']);
    before!.close();
    after!.close();
    t.is(trades, world.trades.length);
    t.true(facts > world.facts.length);
  }
});

test('Y95: answers have facts that are in no transaction yet; a kill loses none', (t) => {
  const world = randomWorld(3, STEPS);
  const dataDir = tempDir(t);
  writeLogs(dataDir, world, 1);
  const records = openRecordsOf(dataDir, 1, () => 0);
  readAll(records);
  const facts = (where: string) => {
    const file = connected(recordsFile(path.join(where, 'records')));
    const fact = file.prepare('SELECT total(fact) FROM positions').pluck().get();
    file.close();
    return fact;
  };
  t.is(records.model.fold.positions[0]!.fact, world.facts.length);
  t.is(facts(dataDir), 0, 'nothing is written');
  const [account] = world.accounts;
  const asked = { trader: account!.id, showsEarlier: true, markets: [], bids: null };
  const answer = records.reader.answer('trader', asked);
  t.is(
    answer!.worthCents,
    worthOf(world, account!.id, () => null),
  );
  // As a kill leaves the directory, the next start has the same answer.
  const killed = tempDir(t);
  cpSync(dataDir, killed, { recursive: true });
  records.close();
  t.is(facts(dataDir), world.facts.length, 'a start goes on from the end');
  t.is(facts(killed), 0);
  const again = openRecordsOf(killed, 1, () => 0);
  readAll(again);
  t.deepEqual(again.reader.answer('trader', asked), answer);
  again.close();
  t.deepEqual(recordsProblems(killed, 1), []);
  const databases = [dataDir, killed].map((each) => {
    return connected(recordsFile(path.join(each, 'records')));
  });
  t.deepEqual(differentTables(databases[0]!, databases[1]!), []);
  for (const database of databases) database.close();
});

test('Y93: an order rested if its end is in a later record, or its placement says so', (t) => {
  const world = randomWorld(4, STEPS);
  const dataDir = tempDir(t);
  writeLogs(dataDir, world, 1);
  const records = openRecordsOf(dataDir, 1, () => 0);
  // A fact at a time, so that reading begins within a record again and again.
  const { positions, traders } = records.model.fold;
  while (positions[0]!.fact < world.facts.length) {
    records.model.advance(0, 1, positions[0]!.fact + 1);
    for (const resting of traders.col.resting) if (resting < 0) t.fail();
  }
  for (const { id, resting } of world.accounts) {
    t.is(traders.col.resting[traders.find(id)!], resting.length, id);
  }
  t.true(world.accounts.some(({ resting }) => resting.length > 0));
  t.true(world.facts.some((fact) => fact.kind === 'order_placed' && !fact.rests));
  records.close();
});

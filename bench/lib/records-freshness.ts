/**
 * How long after a settled trade's fact is on disk boards show it. The thread of the records runs
 * as in a server, over prepared records and an empty log, while boards are asked for all the time.
 */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Uuid } from '../../engine/base/units.ts';
import { ByteWriter } from '../../engine/format/bytes.ts';
import { writeFact } from '../../engine/format/fact-layouts.ts';
import { LogWriter } from '../../engine/log/log-writer.ts';
import { Records } from '../../engine/records/thread/records.ts';
import type { Fact } from '../../engine/rules/facts.ts';
import { USUAL_TERMS } from '../../engine/rules/order-terms.ts';
import { identityOf } from '../../engine/shard/store/data-format.ts';
import { logIn } from '../../engine/shard/store/shard-log.ts';
import { Unavailable } from '../../engine/threads/unavailable.ts';
import { NOW_MS, type RecordsSizes } from './prepared-records.ts';
import { seededRandom } from './random.ts';
import { seededUuid } from './uuid.ts';

export type Freshness = { leaderboardMs: number[]; evalMs: number[] };

const ASK_EVERY_MS = 10;
const NAMED_AT_ONCE = 5000;
const CONTRACTS = 1_000_000;
const ENTRY_CENTS = 1;
const HOUR_MS = 3_600_000;

/** @param directory has `records` and, afterwards, a log */
export async function freshness(
  directory: string,
  ids: readonly Uuid[],
  { instruments, spareInstruments }: RecordsSizes,
): Promise<Freshness> {
  const log = LogWriter.open(logIn(path.join(directory, 'shard-0')), {
    ...identityOf(0),
    durability: 'sync',
  });
  const records = openRecords(directory, ids);
  const board: Asked = { records, trader: ids[0]! };
  const result: Freshness = { leaderboardMs: [], evalMs: [] };
  let before: Rows = { won: 0, evalPicks: 0 };
  for (let at = 0; at < spareInstruments; at++) {
    append(log, settledTrade(board.trader, instruments + at));
    const { now, leaderboardMs, evalMs } = await untilShown(board, before);
    before = now;
    // The first one makes the boards, and the trader the first on them.
    if (at === 0) continue;
    result.leaderboardMs.push(leaderboardMs);
    result.evalMs.push(evalMs);
  }
  await records.close();
  log.close();
  return result;
}

function openRecords(directory: string, ids: readonly Uuid[]): Records {
  return new Records({
    ...{ dataDir: directory, directory: path.join(directory, 'records'), shards: 1 },
    nowMs: () => NOW_MS,
    log: { info() {}, error: (fields, message) => fail(message, fields) },
    everyone: async function* () {
      for (let at = 0; at < ids.length; at += NAMED_AT_ONCE) {
        const some = ids.slice(at, at + NAMED_AT_ONCE);
        yield some.map((id) => ({ id, isPublic: true, showsEarlier: true }));
      }
    },
    closingOf: async () => null,
  });
}

function fail(message: string, fields: object): never {
  throw new Error(`${message}: ${JSON.stringify(fields)}`);
}

type Asked = { records: Records; trader: Uuid };
/** The trader in the first rows of both boards, whose trades each pay millions. */
type Rows = { won: number; evalPicks: number };

async function untilShown(board: Asked, before: Rows) {
  const beganMs = performance.now();
  let [leaderboardMs, evalMs] = [Number.NaN, Number.NaN];
  for (;;) {
    const now = await rowsNow(board);
    const tookMs = performance.now() - beganMs;
    if (Number.isNaN(leaderboardMs) && now.won > before.won) leaderboardMs = tookMs;
    if (Number.isNaN(evalMs) && now.evalPicks > before.evalPicks) evalMs = tookMs;
    if (leaderboardMs > 0 && evalMs > 0) return { now, leaderboardMs, evalMs };
    await sleep(ASK_EVERY_MS);
  }
}

async function rowsNow({ records, trader }: Asked): Promise<Rows> {
  const first = { limit: 1, after: null, nowMs: NOW_MS };
  for (;;) {
    try {
      const [board, evalBoard] = await Promise.all([
        records.ask('server', 'leaderboard', { ...first, board: 'pnl', days: 30 }),
        records.ask('server', 'eval', { ...first, metric: 'pnl', days: 90, fees: [] }),
      ]);
      const [row, evalRow] = [board.rows[0]!, evalBoard.rows[0]!];
      return {
        won: row.trader === trader ? row.won : 0,
        evalPicks: evalRow.trader === trader ? evalRow.picks : 0,
      };
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      await sleep(10 * ASK_EVERY_MS);
    }
  }
}

const random = seededRandom(11);

function settledTrade(account: Uuid, instrument: number): Fact[] {
  const [trade, order] = [seededUuid(random, NOW_MS), seededUuid(random, NOW_MS)];
  const sides = { side: 'yes', instrumentSide: 'yes' } as const;
  const of = {
    ...{ account, trade, market: instrument, instrument, contracts: CONTRACTS, venue: 0 },
    ...sides,
    fillModel: 'top_of_book' as const,
    realistic: false,
    ...USUAL_TERMS,
  };
  const opened: Fact = {
    ...{ kind: 'trade_opened', atMs: NOW_MS - HOUR_MS, order, priceCents: ENTRY_CENTS },
    ...{ cents: CONTRACTS * ENTRY_CENTS, feeCents: null },
    ...of,
  };
  const settled: Fact = {
    ...{ kind: 'trade_settled', atMs: NOW_MS, outcome: 'yes', parlay: null },
    ...{ costCents: CONTRACTS * ENTRY_CENTS, entryPriceCents: ENTRY_CENTS },
    ...{ proceedsCents: CONTRACTS * 100, feesCents: null, ...of },
  };
  return [opened, settled];
}

/** On disk on return. */
function append(log: LogWriter, facts: readonly Fact[]): void {
  const to = new ByteWriter();
  for (const fact of facts) writeFact(to, fact);
  const { nextNumber: firstNumber } = log;
  log.append({ firstNumber, count: facts.length, atMs: NOW_MS, payload: to.copy() }, false);
  log.sync();
}

/**
 * Checks every promise of one shard's files, at one moment: the log, the checkpoint, the state that
 * both replay to, the index, and every fact. Rules D16, D35, D97, D106 (engine/RULES.md).
 */

import { crc32 } from 'node:zlib';
import { audit } from '../audit/audit.ts';
import { auditRows } from '../audit/audit-rows.ts';
import { Problems } from '../audit/problems.ts';
import type { Uuid } from '../base/units.ts';
import { FactBuffer } from '../format/facts.ts';
import { ChunkCache } from '../index/chunk-cache.ts';
import { EntrySums } from '../index/entry.ts';
import { RecordIndex } from '../index/record-index.ts';
import {
  type LogIdentity,
  type LogPosition,
  RECORD_HEADER_BYTES,
  SEGMENT_HEADER_BYTES,
} from '../log/log-format.ts';
import type { PlacedRecord } from '../log/log-reader.ts';
import { uuidWord } from '../memory/uuid-words.ts';
import type { MarketOutcome } from '../rules/messages.ts';
import type { CoreConfig } from '../rules/reference-data.ts';
import { tablesOf } from '../rules/state.ts';
import { createState, type StoredState } from '../shard/core/create-state.ts';
import { ShardRecords } from '../shard/core/shard-records.ts';
import { rebuildDerived } from '../shard/store/checkpoint-state.ts';
import type { CheckpointHead } from '../shard/store/checkpoint-values.ts';
import { identityOf } from '../shard/store/data-format.ts';
import { checkReach, loadTables, replay } from '../shard/store/recover.ts';
import { openSnapshot, type Snapshot } from '../shard/store/snapshot.ts';
import { auditFacts, type FactsReport } from './audit-facts.ts';
import { type KeptAudit, readKept, type VerifiedFacts, writeKept } from './kept-audit.ts';

export type ShardVerification = {
  accounts: number;
  restingOrders: number;
  openPositions: number;
  limitOrders: number;
  marketOrders: number;
  closedTrades: number;
  /** Facts in the log, facts that the newest checkpoint covers, and records after it. */
  facts: number;
  checkpointFacts: number;
  recordsBehind: number;
  /** Facts of the log that an earlier verification has checked, and this one has not; 0: none. */
  verifiedBefore: number;
  /** What the last verification has found right, and this one, if it is kept. */
  verified: { before: VerifiedFacts | null; now: VerifiedFacts | null };
  /** Worth knowing, but not a problem. */
  notes: string[];
  /** One line per problem. */
  problems: string[];
  /** The accounts that the control store must contain. */
  accountIds: Uuid[];
  marketNames: string[];
  instrumentIds: string[];
  /** By market number: results on which the shards must agree. */
  outcomes: (MarketOutcome | null)[];
  /** Markets in which an account has a position or an order. */
  openMarkets: number[];
  /** What the checked facts have taken of displays that accounts share (taken-sizes.ts). */
  taken: Float64Array;
};

/** Of 16 KB: each fact is looked up, and those of an account lie together. */
const CHUNKS_MAX = 4096;

/** A replay does not use these limits. */
const CONFIG: CoreConfig = {
  quoteMaxAgeMs: 15_000,
  routingBandCents: 10,
  fillModel: 'top_of_book',
};

/** Where a verification is kept for the next one; `isWhole`: this one uses nothing of the last. */
export type Keeping = { file: string; isWhole: boolean };

/**
 * Verifies shard `shard` of `shards` in the directory at `path`; null: there is none yet. Reading a
 * damaged file can end the process, so call it in a separate process.
 */
export async function verifyShard(
  path: string,
  shard: number,
  shards: number,
  keeping: Keeping | null = null,
): Promise<ShardVerification | null> {
  const identity = identityOf(shard);
  const snapshot = openSnapshot(path, identity);
  if (snapshot === null) return null;
  try {
    return new ShardVerifier(snapshot, identity, keeping).run(shard, shards);
  } finally {
    await snapshot.close();
  }
}

class ShardVerifier {
  readonly #snapshot: NonNullable<Snapshot>;
  readonly #identity: LogIdentity;
  readonly #state: StoredState;
  readonly #buffer = new FactBuffer();
  readonly #problems = new Problems();
  readonly #notes: string[] = [];
  readonly #keeping: Keeping | null;
  /** Of the last verification, and of this one. */
  #before: KeptAudit | null = null;
  #digest = 0;
  #audited: FactsReport['kept'] | null = null;
  /** Results of earlier checks. */
  readonly #indexed = new EntrySums();
  #head: CheckpointHead | null = null;
  /** The record whose facts are being checked. */
  #read: PlacedRecord | null = null;
  #lastNumber = 0;
  #tail: LogPosition = SEGMENT_HEADER_BYTES;
  #recordsBehind = 0;

  constructor(snapshot: NonNullable<Snapshot>, identity: LogIdentity, keeping: Keeping | null) {
    this.#keeping = keeping;
    this.#snapshot = snapshot;
    this.#identity = identity;
    const { log, runs } = snapshot;
    const index = new RecordIndex(runs, new Uint32Array(4), new ChunkCache(CHUNKS_MAX));
    const records = new ShardRecords(index, {
      payload: (record) =>
        record === this.#read?.position ? this.#read.payload : log.record(record).payload,
      recordsFrom: (record) => this.#records(0, record === 0 ? null : record),
    });
    this.#state = createState(CONFIG, records);
  }

  /** Each step builds on the previous one. The state they load is then checked as a whole. */
  run(shard: number, shards: number): ShardVerification {
    const counts = { limitOrders: 0, marketOrders: 0, closedTrades: 0, taken: new Float64Array(0) };
    this.#before = this.#readKept();
    const hasTables = this.#passes('tables', () => this.#checkTables());
    const hasHead = hasTables && this.#passes('checkpoint', () => this.#readHead());
    const hasLog = hasTables && this.#passes('log', () => this.#checkLog());
    const isBack =
      hasHead &&
      hasLog &&
      this.#passes('checkpoint', () => this.#loadCheckpoint()) &&
      this.#passes('pages', () => this.#checkPages()) &&
      this.#passes('tables', () => auditRows(this.#state, this.#problems)) &&
      this.#passes('tables', () => rebuildDerived(this.#state)) &&
      this.#passes('log', () => this.#replay());
    if (isBack) {
      this.#forgetOtherNames();
      this.#passes('accounts', () => this.#checkState(shard, shards));
      if (this.#passes('index', () => this.#checkIndex())) {
        this.#passes('facts', () => Object.assign(counts, this.#checkFacts()));
      }
    }
    this.#passes('log', () => this.#checkReserve());
    const now = this.#keep();
    const { accounts, orders, positions, accountIds } = this.#state;
    return {
      accounts: accounts.live,
      restingOrders: orders.live,
      openPositions: positions.live,
      ...counts,
      facts: this.#lastNumber,
      checkpointFacts: this.#head?.facts ?? 0,
      recordsBehind: this.#recordsBehind,
      verifiedBefore: this.#before?.facts ?? 0,
      verified: { before: this.#before === null ? null : verifiedBy(this.#before), now },
      notes: this.#notes,
      problems: this.#problems.lines(),
      accountIds: [...accounts.rows()].map((row) => accountIds.idOf(row)),
      marketNames: this.#state.catalog.marketNames,
      instrumentIds: this.#state.catalog.instrumentIds,
      outcomes: this.#state.markets.map(({ outcome }) => outcome),
      openMarkets: [
        ...new Set([
          ...Array.from(orders.rows(), (row) => orders.col.market.get(row)),
          ...Array.from(positions.rows(), (row) => positions.col.market.get(row)),
        ]),
      ],
    };
  }

  /** Whether the check found no problem. */
  #passes(name: string, check: () => void): boolean {
    const { count } = this.#problems;
    try {
      check();
    } catch (error) {
      this.#problems.add(`${name}: cannot be checked: ${(error as Error).message}`);
    }
    return this.#problems.count === count;
  }

  /** An interrupted start may have created some tables, still empty. */
  #checkTables(): void {
    const { missing, read } = this.#snapshot;
    read.checkFormat(this.#identity);
    if (missing.length === 0) return;
    const isUsed = read.readHead() !== null;
    for (const table of missing) this.#problems.check(!isUsed, table, 'the table is missing');
  }

  #readHead(): void {
    this.#head = this.#snapshot.read.readHead();
  }

  /** Checks every header and record. */
  #checkLog(): void {
    const { log } = this.#snapshot;
    // No record ends with fact 0.
    let isSame = this.#before === null || this.#before.facts === 0;
    let lastNumber = 0;
    const reaches = this.#head?.tail ?? 0;
    const problems = log.problems(reaches, ({ firstNumber, count, payload }, position) => {
      lastNumber = firstNumber + count - 1;
      this.#tail = position + RECORD_HEADER_BYTES + payload.length;
      this.#digest = crc32(payload, this.#digest);
      if (lastNumber === this.#before?.facts) isSame = this.#digest === this.#before.digest;
    });
    for (const { message } of problems) this.#problems.add(`log: ${message}`);
    if (problems.length > 0) return;
    this.#lastNumber = lastNumber;
    if (isSame) return;
    const { facts } = this.#before!;
    this.#before = null;
    const what =
      this.#lastNumber < facts
        ? `ends with fact ${this.#lastNumber}, and fact ${facts} was verified`
        : `has other facts up to ${facts} than those that were verified`;
    this.#problems.add(`log: ${what}; --whole checks all of it as it is`);
  }

  /** No other check reads it. */
  #checkReserve(): void {
    const problem = this.#snapshot.log.reserveProblem();
    if (problem !== null) this.#problems.add(`log: ${problem.message}`);
  }

  #readKept(): KeptAudit | null {
    if (this.#keeping === null || this.#keeping.isWhole) return null;
    try {
      return readKept<KeptAudit>(this.#keeping.file);
    } catch (error) {
      this.#notes.push(`${(error as Error).message}; so everything was verified`);
      return null;
    }
  }

  /**
   * The first checkpoint, or a rebuild, gives the index its seed. Sums over the names of keys from
   * before then say nothing about it.
   */
  #forgetOtherNames(): void {
    if (this.#before?.seedSum !== this.#state.records.index.seedSum) this.#before = null;
  }

  /** Only what has no problem is kept. */
  #keep(): VerifiedFacts | null {
    if (this.#keeping === null || this.#audited === null || !this.#problems.isEmpty) return null;
    const verified = { facts: this.#lastNumber, digest: this.#digest };
    try {
      const kept: KeptAudit = { ...verified, tail: this.#tail, ...this.#audited };
      writeKept(this.#keeping.file, kept);
      return verified;
    } catch (error) {
      this.#notes.push(`what was verified cannot be kept: ${(error as Error).message}`);
      return null;
    }
  }

  /** A server may still write; later records are ignored. */
  *#records(afterNumber: number, from: LogPosition | null): Generator<PlacedRecord> {
    for (const record of this.#snapshot.log.records(afterNumber, from ?? undefined)) {
      if (record.firstNumber > this.#lastNumber) return;
      yield record;
    }
  }

  #loadCheckpoint(): void {
    checkReach(this.#head, { lastNumber: this.#lastNumber, tail: this.#tail });
    loadTables(this.#state, this.#snapshot.read);
  }

  /** Loading has read every valid page; the others are of unknown tables or other checkpoints. */
  #checkPages(): void {
    const tables = new Set<string>(tablesOf(this.#state).map(({ name }) => name));
    const counts = new Map(
      this.#head?.written.map(({ checkpoint, pages }) => [checkpoint, pages] as const),
    );
    for (const [name, checkpoint, page] of this.#snapshot.pages.getKeys({})) {
      const subject = `pages [${name}, ${checkpoint}, ${page}]`;
      this.#problems.check(tables.has(name), subject, 'is of no table');
      const pages = counts.get(checkpoint);
      const isCounted = pages === undefined || page < (pages[name] ?? 0);
      this.#problems.check(isCounted, subject, 'is one more than its checkpoint has');
    }
  }

  #replay(): void {
    const source = {
      lastNumber: this.#lastNumber,
      tail: this.#tail,
      records: (after: number, from: LogPosition | null) => this.#records(after, from),
    };
    const { records } = replay(this.#state, this.#head, source, this.#buffer);
    this.#recordsBehind = records;
  }

  #checkState(shard: number, shards: number): void {
    for (const problem of audit(this.#state).problems) this.#problems.add(problem);
    for (const row of this.#state.accounts.rows()) {
      const id = this.#state.accountIds.idOf(row);
      const home = uuidWord(id, 3) % shards;
      this.#problems.check(home === shard, `account ${id}`, `belongs into shard ${home}`);
    }
  }

  #checkIndex(): void {
    const each = (words: Uint32Array, at: number) => this.#indexed.add(words, at);
    for (const problem of this.#state.records.index.problems(each)) {
      if (problem !== null) this.#problems.add(problem);
    }
  }

  #checkFacts() {
    const records = { [Symbol.iterator]: () => this.#recordsAfterKept() };
    const { problems, kept, ...counts } = auditFacts(
      this.#state,
      records,
      this.#before,
      this.#indexed,
    );
    this.#audited = kept;
    for (const problem of problems) this.#problems.add(problem);
    return counts;
  }

  *#recordsAfterKept(): Generator<PlacedRecord> {
    for (const record of this.#records(this.#before?.facts ?? 0, null)) {
      this.#read = record;
      yield record;
    }
  }
}

function verifiedBy({ facts, digest }: VerifiedFacts): VerifiedFacts {
  return { facts, digest };
}

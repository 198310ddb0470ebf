/**
 * Checks everything that must hold of one shard's environment, at one moment: the journal, the
 * pages, what both replay to, and the archive. Rule D16 (engine/RULES.md).
 */

import { audit } from '../audit/audit.ts';
import { auditRecords } from '../audit/audit-records.ts';
import { auditRows } from '../audit/audit-rows.ts';
import { Problems } from '../audit/problems.ts';
import { FactBuffer } from '../format/facts.ts';
import { uuidWord } from '../memory/uuid-words.ts';
import type { Event } from '../rules/events.ts';
import type { MarketOutcome } from '../rules/messages.ts';
import type { CoreConfig } from '../rules/reference-data.ts';
import { tablesOf } from '../rules/state.ts';
import type { Uuid } from '../rules/units.ts';
import { rebuildDerived } from './checkpoint-state.ts';
import { createState, type StoredState } from './create-state.ts';
import { loadTables } from './recover.ts';
import { replayFacts } from './replay.ts';
import { openSnapshot, type Snapshot } from './snapshot.ts';
import { STAMP_BYTES, stampOf } from './store.ts';
import type { Archive } from './unarchived-records.ts';

export type ShardVerification = {
  accounts: number;
  restingOrders: number;
  openPositions: number;
  limitOrders: number;
  marketOrders: number;
  closedTrades: number;
  /** The journal sequence that the newest checkpoint covers, and batches behind it. */
  checkpointSequence: number;
  journalBatches: number;
  /** One line a breach. */
  problems: string[];
  /** What the control store must cover. */
  accountIds: Uuid[];
  marketNames: string[];
  instrumentIds: string[];
  /** By market number: what the shards must agree on. */
  outcomes: (MarketOutcome | null)[];
  /** Markets in which somebody has a position or an order. */
  openMarkets: number[];
};

/** Rules and prices do not matter to a replay. */
const CONFIG: CoreConfig = {
  quoteMaxAgeMs: 15_000,
  routingBandCents: 10,
  fillModel: 'top_of_book',
};

/**
 * Verifies shard `shard` of `shards` in the environment at `path`; null: there is none yet. A file
 * that is damaged inside can end the process, so call it in one that may end.
 */
export async function verifyShard(
  path: string,
  shard: number,
  shards: number,
): Promise<ShardVerification | null> {
  const snapshot = openSnapshot(path);
  if (snapshot === null) return null;
  try {
    return new ShardVerifier(snapshot).run(shard, shards);
  } finally {
    await snapshot.close();
  }
}

class ShardVerifier {
  readonly #snapshot: NonNullable<Snapshot>;
  readonly #state: StoredState;
  readonly #problems = new Problems();
  /** What the checks in their order have found of the environment. */
  #checkpointSequence = 0;
  #lastSequence = 0;
  #journalBatches = 0;

  constructor(snapshot: NonNullable<Snapshot>) {
    this.#snapshot = snapshot;
    this.#state = createState(CONFIG, snapshot.archive as Archive);
  }

  /** Each step builds on the one before. The state that they load is then checked as a whole. */
  run(shard: number, shards: number): ShardVerification {
    const counts = { limitOrders: 0, marketOrders: 0, closedTrades: 0 };
    const isBack =
      this.#passes('tables', () => this.#checkMissing()) &&
      this.#passes('journal', () => this.#checkSequence()) &&
      this.#passes('checkpoint', () => this.#loadCheckpoint()) &&
      this.#passes('pages', () => this.#checkPages()) &&
      this.#passes('tables', () => auditRows(this.#state, this.#problems)) &&
      this.#passes('tables', () => rebuildDerived(this.#state)) &&
      this.#passes('journal', () => this.#replay());
    if (isBack) {
      this.#passes('accounts', () => this.#checkState(shard, shards));
      this.#passes('archive', () => Object.assign(counts, this.#checkRecords()));
    }
    const { accounts, orders, positions, accountIds } = this.#state;
    return {
      accounts: accounts.live,
      restingOrders: orders.live,
      openPositions: positions.live,
      ...counts,
      checkpointSequence: this.#checkpointSequence,
      journalBatches: this.#journalBatches,
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

  #passes(name: string, check: () => void): boolean {
    try {
      check();
    } catch (error) {
      this.#problems.add(`${name}: cannot be checked: ${(error as Error).message}`);
    }
    return this.#problems.isEmpty;
  }

  /** A start that was cut off has made some tables and put nothing into them. */
  #checkMissing(): void {
    const { missing, journal } = this.#snapshot;
    if (missing.length === 0) return;
    const isUsed = this.#snapshot.readHead() !== null || !isEmpty(journal.getKeys({ limit: 1 }));
    for (const table of missing) this.#problems.check(!isUsed, table, 'the table is missing');
  }

  /** Batches are numbered without a hole, from where the checkpoint ends or before it. */
  #checkSequence(): void {
    const head = this.#snapshot.readHead();
    const covered = head === null ? 0 : head.journalSequence;
    if (!Number.isSafeInteger(covered)) throw new Error('the head names no batch');
    this.#checkpointSequence = covered;
    let last: number | null = null;
    for (const sequence of this.#snapshot.journal.getKeys({})) {
      if (last === null && sequence > this.#checkpointSequence + 1) {
        this.#missing(this.#checkpointSequence + 1, sequence);
      }
      if (last !== null && sequence !== last + 1) this.#missing(last + 1, sequence);
      last = sequence;
    }
    this.#lastSequence = last ?? this.#checkpointSequence;
    if (this.#lastSequence < this.#checkpointSequence) {
      this.#problems.add(
        `journal: ends with batch ${last}, before the checkpoint of batch ${this.#checkpointSequence}`,
      );
    }
  }

  #missing(from: number, before: number): void {
    const batches = before - from === 1 ? `${from} is` : `${from} to ${before - 1} are`;
    this.#problems.add(`journal: batch ${batches} missing before batch ${before}`);
  }

  #loadCheckpoint(): void {
    loadTables(this.#state, this.#snapshot);
  }

  /** Every page that has rows is there, as long as its columns, from a checkpoint that was. */
  #checkPages(): void {
    const tables = new Map(tablesOf(this.#state).map((table) => [table.name as string, table]));
    const found = new Set<string>();
    for (const { key, value } of this.#snapshot.pages.getRange({})) {
      const [name, page, copy] = key;
      const subject = `pages [${name}, ${page}, ${copy}]`;
      const table = tables.get(name);
      if (table === undefined) {
        this.#problems.add(`${subject}: is of no table`);
        continue;
      }
      const stamp = stampOf(value);
      const isStamp = Number.isSafeInteger(stamp) && stamp >= 1 && stamp <= this.#lastSequence;
      const bytes = value.length - STAMP_BYTES;
      this.#problems.check(isStamp, subject, `its stamp ${stamp} is of no batch`);
      this.#problems.check(bytes === table.pageBytes, subject, `has ${bytes} bytes`);
      // What an unfinished checkpoint wrote does not count.
      if (stamp > this.#checkpointSequence) continue;
      this.#problems.check(page < table.pages, subject, 'is behind the last row');
      found.add(`${name}/${page}`);
    }
    for (const table of tables.values()) {
      for (let page = 0; page < table.pages; page++) {
        const isThere = found.has(`${table.name}/${page}`);
        this.#problems.check(isThere, `pages [${table.name}, ${page}]`, 'the page is missing');
      }
    }
  }

  #replay(): void {
    const buffer = new FactBuffer();
    for (const { sequence, facts } of this.#snapshot.journalAfter(this.#checkpointSequence)) {
      this.#journalBatches++;
      buffer.begin(sequence, 1);
      const subject = `journal batch ${sequence}`;
      try {
        replayFacts(this.#state, buffer, facts, (event) => this.#checkPlacedOnce(event, subject));
      } catch (error) {
        this.#problems.add(`${subject}: ${(error as Error).message}`);
        return;
      }
    }
  }

  #checkPlacedOnce(event: Event, subject: string): void {
    if (event.kind !== 'order_placed') return;
    const { records } = this.#state;
    const { orderId, account, idempotencyKey } = event;
    const isNew = records.current.orders.byId(orderId) === undefined;
    this.#problems.check(isNew, subject, `order ${orderId} is placed twice`);
    const isInJournal = records.current.placementByKey(account, idempotencyKey) !== undefined;
    // An unfinished checkpoint may have written it already.
    const archived = this.#snapshot.archive.placementByKey(account, idempotencyKey);
    const isKeyFree = !isInJournal && (archived === undefined || archived.orderId === orderId);
    this.#problems.check(isKeyFree, subject, `key ${idempotencyKey} is used twice`);
  }

  #checkState(shard: number, shards: number): void {
    for (const problem of audit(this.#state).problems) this.#problems.add(problem);
    for (const row of this.#state.accounts.rows()) {
      const id = this.#state.accountIds.idOf(row);
      const home = uuidWord(id, 3) % shards;
      this.#problems.check(home === shard, `account ${id}`, `belongs into shard ${home}`);
    }
  }

  #checkRecords() {
    const { problems, ...counts } = auditRecords(this.#state, this.#snapshot.archiveRows);
    for (const problem of problems) this.#problems.add(problem);
    return counts;
  }
}

function isEmpty(rows: Iterable<unknown>): boolean {
  for (const _ of rows) return false;
  return true;
}

/**
 * The records of a data directory: the SQLite file, and how it follows the logs of all shards.
 * Facts are folded some at a time, hundreds of thousands in one transaction, with the positions
 * after them. So each counts once, however the thread ends, and a row that changes often is written
 * rarely. Questions read the transaction that is open. Rules Y1 to Y5, Y83, Y95 (engine/RULES.md).
 */

import { invariant } from '../../base/invariant.ts';
import { bufferOf, InPlaceReader } from '../../format/bytes.ts';
import { LogDamage, LogMismatch, type LogPosition, type LogRecord } from '../../log/log-format.ts';
import type { LogReader, PlacedRecord } from '../../log/log-reader.ts';
import { openLog } from '../../readers/read-facts.ts';
import {
  createTables,
  type Database,
  damageText,
  isDamage,
  isOfMachine,
  type Opened,
  openRecords,
  type Remade,
  recordsFile,
  removeRecords,
} from '../store/database.ts';
import { WriteAhead } from '../store/write-ahead.ts';
import { Fold, type FoldListeners } from './fold.ts';

export type ModelOptions = FoldListeners & {
  dataDir: string;
  /** Where the file is: `DATA_DIR/records`. */
  directory: string;
  shards: number;
  /** Another number of facts in one transaction, for tests. */
  factsTogether?: number;
};

/**
 * Facts of a transaction: a second of CPU or two, which the thread of a killed server spends again.
 * With half as many, each of 200,000 accounts is written twice as often.
 */
const FACTS_TOGETHER = 500_000;
const FACTS_AT_ONCE = 20_000;

export class RecordsModel {
  readonly database: Database;
  readonly fold: Fold;
  /** Why the file was made again; null: it was continued, or there was none. */
  readonly remade: Remade | null;
  readonly #logs: LogReader[];
  /** Of the last record that was read of each log, where the next reading begins. */
  readonly #places: (LogPosition | undefined)[] = [];
  readonly #writeAhead: WriteAhead;
  readonly #from = new InPlaceReader(new Uint8Array(0));
  readonly #factsTogether: number;
  /** Facts that were folded since the last transaction. */
  #uncommitted = 0;
  /** An exception left memory ahead of what can be written. */
  #isTorn = false;

  private constructor(options: ModelOptions, opened: Opened) {
    const { dataDir, shards, factsTogether = FACTS_TOGETHER } = options;
    this.#factsTogether = factsTogether;
    this.database = opened.database;
    this.remade = opened.remade;
    this.#writeAhead = new WriteAhead(opened.database);
    // A torn write at its end is now gone.
    this.copy();
    this.fold = new Fold(opened.database, shards, options);
    this.#logs = Array.from({ length: shards }, (_, shard) => openLog({ dataDir, shard }));
  }

  /** Opens the file. If it is damaged or not of these logs, it is made again. */
  static open(options: ModelOptions): RecordsModel {
    const { directory } = options;
    const opened = openRecords(directory);
    const tried = RecordsModel.#tried(options, opened);
    if (tried instanceof RecordsModel) return tried;
    opened.database.close();
    removeRecords(directory);
    return new RecordsModel(options, { ...openRecords(directory), remade: tried });
  }

  /** Opens the file, or returns why it cannot be continued. */
  static #tried(options: ModelOptions, opened: Opened): RecordsModel | Remade {
    try {
      const model = new RecordsModel(options, opened);
      const foreign = model.#foreign();
      if (foreign === null) return model;
      for (const log of model.#logs) log.close();
      return { why: foreign, isDamage: false };
    } catch (error) {
      if (!isDamage(error)) throw error;
      return { why: damageText(recordsFile(options.directory), error), isDamage: true };
    }
  }

  /** The same in a database that has no tables yet. */
  static within(database: Database, options: Omit<ModelOptions, 'directory'>): RecordsModel {
    createTables(database);
    return new RecordsModel({ ...options, directory: '' }, { database, remade: null });
  }

  /**
   * Folds about so many facts of a shard. Throws `LogDamage`, `LogMismatch`, and SQLite's errors.
   *
   * @param upTo facts with a higher number are left out; 0: none is @returns whether the end of the
   * log was reached
   */
  advance(shard: number, limit: number, upTo = Number.POSITIVE_INFINITY): boolean {
    const position = this.fold.positions[shard];
    const log = this.#logs[shard];
    invariant(position !== undefined && log !== undefined, 'records of a shard that there is not');
    invariant(!this.#isTorn, 'records go on after they have failed');
    const from = position.fact;
    let isEnd = true;
    let damage: LogDamage | null = null;
    this.#isTorn = true;
    try {
      for (const record of log.records(from, this.#places[shard])) {
        if (position.fact - from >= limit || position.fact >= upTo) {
          isEnd = false;
          break;
        }
        if (!this.database.inTransaction) this.database.exec('BEGIN');
        this.#takeRecord(shard, record, upTo);
        this.#places[shard] = record.position;
      }
    } catch (error) {
      // The damage is between two records: the records before it count.
      if (!(error instanceof LogDamage)) throw error;
      damage = error;
    }
    if (position.fact > from) this.fold.writeBlocks();
    this.#isTorn = false;
    this.#uncommitted += position.fact - from;
    if (this.#uncommitted >= this.#factsTogether) this.commit();
    if (damage !== null) throw damage;
    return isEnd;
  }

  /** Writes what was folded. An exception leaves memory ahead of the file. */
  commit(): void {
    invariant(!this.#isTorn, 'records are written after they have failed');
    if (this.#uncommitted === 0) return;
    this.#isTorn = true;
    this.fold.write();
    this.database.exec('COMMIT');
    this.#isTorn = false;
    this.#uncommitted = 0;
    this.#writeAhead.copyFrom();
  }

  /**
   * Folds up to these facts, by shard, or to the ends of the logs, and writes them. An error about a
   * log names its shard.
   */
  advanceTo(positions: readonly number[]): void {
    for (const [shard, upTo] of positions.entries()) {
      try {
        while (this.fold.positions[shard]!.fact < upTo) {
          if (this.advance(shard, FACTS_AT_ONCE, upTo)) break;
        }
      } catch (error) {
        if (!(error instanceof LogDamage || error instanceof LogMismatch)) throw error;
        throw new Error(`shard ${shard}: ${error.message}`, { cause: error });
      }
    }
    this.commit();
  }

  /** Copies the written frames into the file, as far as other readers allow. */
  copy(): void {
    this.#writeAhead.copyFrom(0);
  }

  close(): void {
    for (const log of this.#logs) log.close();
    try {
      if (!this.#isTorn) this.commit();
    } catch (error) {
      // Without room nothing is lost: the next start folds these facts again.
      if (!isOfMachine(error)) throw error;
    } finally {
      if (this.database.inTransaction) this.database.exec('ROLLBACK');
    }
    this.copy();
    this.database.close();
  }

  #takeRecord(shard: number, record: PlacedRecord, upTo: number): void {
    const position = this.fold.positions[shard]!;
    const { firstNumber, count, payload } = record;
    const from = this.#from;
    from.begin(bufferOf(payload), 0, payload.length);
    this.fold.beginRecord(record.position);
    let number = firstNumber;
    for (; !from.isAtEnd && number <= upTo; number++) this.fold.take(shard, number, from);
    const isWhole = number === firstNumber + count || number > upTo;
    invariant(isWhole, 'a record has as many facts as its header says');
    position.factAtMs = record.atMs;
  }

  /** Why the file does not belong to these logs: a log ends before its position, or is another. */
  #foreign(): string | null {
    for (const [shard, { fact, factAtMs }] of this.fold.positions.entries()) {
      if (fact === 0) continue;
      const record = this.#recordOf(shard, fact);
      if (record === null) return `the records are ahead of the log of shard ${shard}`;
      if (record.atMs !== factAtMs) return `the records are of another log than shard ${shard}'s`;
    }
    return null;
  }

  #recordOf(shard: number, fact: number): LogRecord | null {
    try {
      for (const record of this.#logs[shard]!.records(fact - 1)) return record;
      return null;
    } catch (error) {
      // The shard is out of order, and its records stay unchanged.
      if (error instanceof LogDamage)
        return { atMs: this.fold.positions[shard]!.factAtMs } as never;
      throw error;
    }
  }
}

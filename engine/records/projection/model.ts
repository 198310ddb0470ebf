/**
 * The records of a data directory: the SQLite file, and how it follows the logs of all shards.
 * Facts are folded in groups, each in one transaction with the positions after them. So each counts
 * once, however the thread ends. Rules Y1 to Y5, Y83 (engine/RULES.md).
 */

import { invariant } from '../../base/invariant.ts';
import { LogDamage, type LogRecord } from '../../log/log-format.ts';
import type { LogReader } from '../../log/log-reader.ts';
import { factsIn, openLog } from '../../readers/read-facts.ts';
import {
  createTables,
  type Database,
  damageText,
  isDamage,
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
};

const FACTS_AT_ONCE = 20_000;

export class RecordsModel {
  readonly database: Database;
  readonly fold: Fold;
  /** Why the file was made again; null: it was continued, or there was none. */
  readonly remade: Remade | null;
  readonly #logs: LogReader[];
  readonly #writeAhead: WriteAhead;

  private constructor(options: ModelOptions, opened: Opened) {
    const { dataDir, shards } = options;
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
   * Folds about so many facts of a shard, in one transaction. Throws `LogDamage`, `LogMismatch`,
   * and SQLite's errors.
   *
   * @param upTo facts with a higher number are left out; 0: none is @returns whether the end of the
   * log was reached
   */
  advance(shard: number, limit: number, upTo = Number.POSITIVE_INFINITY): boolean {
    const position = this.fold.positions[shard];
    const log = this.#logs[shard];
    invariant(position !== undefined && log !== undefined, 'records of a shard that there is not');
    const from = position.fact;
    let isEnd = true;
    this.#transaction(
      () => {
        for (const record of log.records(from)) {
          if (position.fact - from >= limit || position.fact >= upTo) {
            isEnd = false;
            break;
          }
          this.#takeRecord(shard, record, upTo);
        }
      },
      () => position.fact > from,
    );
    return isEnd;
  }

  /** Folds up to these facts, by shard, or to the ends of the logs. */
  advanceTo(positions: readonly number[]): void {
    for (const [shard, upTo] of positions.entries()) {
      while (this.fold.positions[shard]!.fact < upTo) {
        if (this.advance(shard, FACTS_AT_ONCE, upTo)) break;
      }
    }
  }

  /** Copies the written frames into the file, as far as other readers allow. */
  copy(): void {
    this.#writeAhead.copyFrom(0);
  }

  close(): void {
    for (const log of this.#logs) log.close();
    if (this.database.inTransaction) this.database.exec('ROLLBACK');
    this.copy();
    this.database.close();
  }

  #takeRecord(shard: number, record: LogRecord, upTo: number): void {
    const position = this.fold.positions[shard]!;
    const before = position.fact;
    for (const { number, fact } of factsIn(record)) {
      if (number <= before) continue;
      if (number > upTo) break;
      this.fold.take(shard, number, fact);
    }
    position.factAtMs = record.atMs;
  }

  /** An exception leaves memory ahead of the file, so its catcher opens the model again. */
  #transaction(run: () => void, hasChanged: () => boolean): void {
    let damage: LogDamage | null = null;
    this.database.exec('BEGIN');
    try {
      run();
    } catch (error) {
      // The damage is between two records, and the records before it count.
      if (!(error instanceof LogDamage)) throw error;
      damage = error;
    }
    if (hasChanged()) this.fold.write();
    this.database.exec('COMMIT');
    this.#writeAhead.copyFrom();
    if (damage !== null) throw damage;
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

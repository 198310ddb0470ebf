/**
 * The records made from zero, and whether a file has the same rows: for `paperbook records rebuild`
 * and `verify`. Rules D106, Y4, Y8 (engine/RULES.md).
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { invariant } from '../../base/invariant.ts';
import {
  connected,
  type Database,
  damageText,
  isUnsealed,
  pagesProblem,
  readRecords,
  recordsFile,
  removeRecords,
  versionProblem,
} from '../store/database.ts';
import { openRowsIn } from '../store/open-chunks.ts';
import { TABLE_ORDER } from '../store/tables.ts';
import { writeAheadDamage } from '../store/write-ahead.ts';
import { closingsProblems } from './closing-lines.ts';
import { RecordsModel } from './model.ts';

export type RecordsCounts = { facts: number; traders: number; trades: number };

const FACTS_AT_ONCE = 20_000;

/** Makes the file from all facts. Nobody else may have it open. Throws `LogDamage`. */
export function rebuildRecords(dataDir: string, shards: number): RecordsCounts {
  const directory = path.join(dataDir, 'records');
  removeRecords(directory);
  const model = RecordsModel.open({ dataDir, directory, shards });
  try {
    for (let shard = 0; shard < shards; shard++) {
      while (!model.advance(shard, FACTS_AT_ONCE));
    }
    model.commit();
    return countsOf(model.database);
  } finally {
    model.close();
  }
}

function countsOf(database: Database): RecordsCounts {
  const count = (sql: string) => database.prepare(sql).pluck().get() as number;
  return {
    facts: count('SELECT total(fact) FROM positions'),
    traders: count('SELECT count(*) FROM traders'),
    trades: count('SELECT total(trades) FROM positions'),
  };
}

/**
 * The problems of a directory's records, one per line; a server may be running. The next start
 * makes a file that is missing or of another version.
 */
export function recordsProblems(
  dataDir: string,
  shards: number,
  fold: ComparedFold = new ScratchFold(dataDir, shards),
): string[] {
  const directory = path.join(dataDir, 'records');
  const problems = closingsProblems(dataDir);
  const file = recordsFile(directory);
  if (!existsSync(file) || isUnsealed(file)) return problems;
  try {
    const torn = writeAheadDamage(file);
    if (torn !== null) problems.push(torn);
    problems.push(...differences(directory, shards, fold));
  } catch (error) {
    problems.push(damageText(file, error));
  }
  return problems;
}

/** Makes the rows that the first facts of each shard lead to. */
export interface ComparedFold {
  /** The rows after so many facts of each shard. The caller closes it, and then calls `release`. */
  at(positions: readonly number[]): RecordsModel;
  release(): void;
}

/** From the first fact on, in a directory that nothing is kept of. */
export class ScratchFold implements ComparedFold {
  readonly #dataDir: string;
  readonly #shards: number;
  #scratch: string | null = null;

  constructor(dataDir: string, shards: number) {
    this.#dataDir = dataDir;
    this.#shards = shards;
  }

  at(positions: readonly number[]): RecordsModel {
    this.#scratch = mkdtempSync(path.join(tmpdir(), 'paperbook-records-'));
    const database = connected(path.join(this.#scratch, 'records.db'));
    const place = { dataDir: this.#dataDir, shards: this.#shards };
    return advanced(RecordsModel.within(database, place), positions);
  }

  release(): void {
    if (this.#scratch !== null) rmSync(this.#scratch, { recursive: true });
    this.#scratch = null;
  }
}

/** Folds a model up to these facts, or closes it. */
export function advanced(model: RecordsModel, positions: readonly number[]): RecordsModel {
  try {
    model.advanceTo(positions);
    return model;
  } catch (error) {
    model.close();
    throw error;
  }
}

function differences(directory: string, shards: number, fold: ComparedFold): string[] {
  const database = readRecords(directory);
  try {
    const otherwise = versionProblem(database, recordsFile(directory));
    if (otherwise !== null) return otherwise.isDamage ? [otherwise.why] : [];
    const damage = pagesProblem(database, recordsFile(directory));
    if (damage !== null) return [damage];
    const positions = positionsOf(database, shards);
    let rebuilt: RecordsModel;
    try {
      rebuilt = fold.at(positions);
    } catch (error) {
      // The file itself is whole so far.
      return [incomparable(directory, (error as Error).message)];
    }
    try {
      const short = shortLogs(positions, rebuilt);
      if (short.length > 0) return [incomparable(directory, short.join(', '))];
      return differentTables(database, rebuilt.database).map((table) => {
        return `${recordsFile(directory)}: table ${table} differs from the facts`;
      });
    } finally {
      rebuilt.close();
    }
  } finally {
    fold.release();
    database.close();
  }
}

const incomparable = (directory: string, why: string): string =>
  `${recordsFile(directory)} cannot be compared with the facts: ${why}`;

/** The shards whose logs end before the facts that the records have. */
function shortLogs(positions: readonly number[], { fold }: RecordsModel): string[] {
  return positions.flatMap((fact, shard) => {
    const last = fold.positions[shard]!.fact;
    return last >= fact
      ? []
      : [`it has fact ${fact} of shard ${shard}, whose log ends with ${last}`];
  });
}

function positionsOf(database: Database, shards: number): number[] {
  const rows = database.prepare('SELECT shard, fact FROM positions').raw().all() as number[][];
  const positions = new Array<number>(shards).fill(0);
  for (const [shard, fact] of rows) {
    invariant(fact !== undefined && fact >= 0, 'a position of the records is no number');
    positions[shard!] = fact;
  }
  return positions;
}

/** The tables whose rows differ, each compared in its order. */
export function differentTables(a: Database, b: Database): string[] {
  const open = openRowsIn(a).bytes.equals(openRowsIn(b).bytes) ? [] : ['open_chunks'];
  const tables = Object.entries(TABLE_ORDER).flatMap(([table, order]) => {
    const sql = `SELECT * FROM ${table} ORDER BY ${order}`;
    const [rows, others] = [a, b].map((one) => one.prepare(sql).raw().iterate());
    return haveSameRows(rows as Rows, others as Rows) ? [] : [table];
  });
  return [...open, ...tables];
}

type Rows = IterableIterator<unknown[]>;

function haveSameRows(rows: Rows, others: Rows): boolean {
  try {
    for (;;) {
      const [row, other] = [rows.next(), others.next()];
      if (row.done || other.done) return row.done === other.done;
      if (!isSame(row.value, other.value)) return false;
    }
  } finally {
    rows.return?.();
    others.return?.();
  }
}

function isSame(row: unknown[], other: unknown[]): boolean {
  return row.every((value, at) => {
    const another = other[at];
    if (!Buffer.isBuffer(value)) return value === another;
    return Buffer.isBuffer(another) && value.equals(another);
  });
}

/**
 * The SQLite file of the records: opened where it is whole and of this version, made anew where it
 * is not. Nothing in it is anywhere's only copy. Rules Y1, Y4, Y5 (engine/RULES.md).
 */
import { closeSync, existsSync, mkdirSync, openSync, rmSync } from 'node:fs';
import path from 'node:path';
import Sqlite from 'better-sqlite3';
import { invariant } from '../rules/invariant.ts';
import { APPLICATION_ID, RECORDS_VERSION, TABLES } from './tables.ts';

export type Database = Sqlite.Database;
export type Statement<Row = unknown[]> = Sqlite.Statement<unknown[], Row>;

/** The file as it is: to go on with, or why it is made anew. */
export type Opened = { database: Database; remade: string | null };

export const recordsFile = (directory: string): string => path.join(directory, 'records.db');

/** Opens or makes the file. A missing one is made without a reason. */
export function openRecords(directory: string): Opened {
  makePrivate(directory);
  const file = recordsFile(directory);
  const why = existsSync(file) ? whyRemade(file) : null;
  if (why !== null) removeRecords(directory);
  return { database: existsSync(file) ? connected(file) : made(file), remade: why };
}

/** The file as another process sees it: one moment of it, and unchanged. Throws what SQLite throws. */
export function readRecords(directory: string): Database {
  const database = new Sqlite(recordsFile(directory), { readonly: true, fileMustExist: true });
  database.exec('BEGIN');
  return database;
}

/** Takes the file away, with what SQLite keeps beside it. */
export function removeRecords(directory: string): void {
  const file = recordsFile(directory);
  for (const ending of ['', '-wal', '-shm']) rmSync(file + ending, { force: true });
}

/** Why a file cannot be gone on with; null: it can. */
export function whyRemade(file: string): string | null {
  try {
    const database = new Sqlite(file, { fileMustExist: true });
    try {
      return versionProblem(database, file);
    } finally {
      database.close();
    }
  } catch (error) {
    return damageText(file, error);
  }
}

/** What is wrong with the version of a file; null: nothing. */
export function versionProblem(database: Database, file: string): string | null {
  const id = database.pragma('application_id', { simple: true });
  const version = database.pragma('user_version', { simple: true });
  if (id !== APPLICATION_ID) return `${file} is no file of records`;
  if (version === RECORDS_VERSION) return null;
  return `${file} has version ${version} of the records, and this is version ${RECORDS_VERSION}`;
}

/** Rule Y5 (engine/RULES.md). */
export function damageText(file: string, error: unknown): string {
  return `${file} is damaged: ${(error as Error).message}`;
}

/** Whether an error of SQLite says that its file is not what was written. */
export function isDamage(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code !== undefined && /^SQLITE_(CORRUPT|NOTADB)/.test(code);
}

/** A file that others of the machine cannot read. */
export function makePrivate(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
}

export function connected(file: string): Database {
  closeSync(openSync(file, 'a', 0o600));
  const database = new Sqlite(file);
  database.pragma('journal_mode = WAL');
  // A crash of the machine loses the newest transactions whole, and the facts are still there.
  database.pragma('synchronous = NORMAL');
  return database;
}

function made(file: string): Database {
  const database = connected(file);
  createTables(database);
  return database;
}

/** In an empty database. */
export function createTables(database: Database): void {
  invariant(!database.inTransaction, 'tables are made within a transaction');
  database.transaction(() => {
    database.exec(TABLES);
    database.pragma(`application_id = ${APPLICATION_ID}`);
    database.pragma(`user_version = ${RECORDS_VERSION}`);
  })();
}

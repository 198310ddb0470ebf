/**
 * The SQLite file of the records. If it is whole and of this version, it is opened, otherwise it is
 * made again. Nothing in it is the only copy. Rules Y1, Y4, Y5, Y82 (engine/RULES.md).
 */
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import path from 'node:path';
import Sqlite from 'better-sqlite3-multiple-ciphers';
import { invariant } from '../../base/invariant.ts';
import { APPLICATION_ID, RECORDS_VERSION, TABLES } from './tables.ts';
import { BESIDE, writeAheadDamage } from './write-ahead.ts';

export type Database = Sqlite.Database;
export type Statement<Row = unknown[]> = Sqlite.Statement<unknown[], Row>;

/** Why a file is made again: it is damaged, or it is whole and cannot be continued. */
export type Remade = { why: string; isDamage: boolean };
/** The existing file, or why it is made again. */
export type Opened = { database: Database; remade: Remade | null };

/**
 * SQLite alone does not check the bytes of a page. This cipher puts a tag of 16 bytes on each page,
 * over its bytes and its number. A page whose tag does not hold is never read. The key hides
 * nothing and is needed only for the tags. Another key is another `RECORDS_VERSION`.
 */
const SEALED_PAGES = [
  "cipher = 'aegis'",
  "algorithm = 'aegis-128l'",
  `key = "raw:${Buffer.from('paperbook: pages').toString('hex')}"`,
];
/**
 * A start reads a smaller file whole, in less than a second. Of a larger file it reads the used
 * parts.
 */
const READ_AT_START_BYTES = 64 * 2 ** 20;
/** SQLite's codes for such an error: all of its input and output errors except a failed read. */
const NO_ROOM_OR_ACCESS =
  /^SQLITE_(FULL|CANTOPEN|BUSY|LOCKED|NOMEM|READONLY|PERM|PROTOCOL|IOERR_(?!READ|SHORT_READ|DATA|CORRUPTFS))/;
/** A file without a seal begins with this. */
const UNSEALED = Buffer.from('SQLite format 3\0');

export const recordsFile = (directory: string): string => path.join(directory, 'records.db');

/** Opens or makes the file. A missing one is made without a reason. */
export function openRecords(directory: string): Opened {
  makePrivate(directory);
  const file = recordsFile(directory);
  const why = existsSync(file) ? whyRemade(file) : null;
  if (why !== null) removeRecords(directory);
  return { database: existsSync(file) ? connected(file) : made(file), remade: why };
}

/** The file for another process: one moment of it, read-only. Throws SQLite's errors. */
export function readRecords(directory: string): Database {
  const database = sealed(recordsFile(directory), { readonly: true, fileMustExist: true });
  database.exec('BEGIN');
  return database;
}

/** Removes the file and its companion files. */
export function removeRecords(directory: string): void {
  const file = recordsFile(directory);
  for (const ending of BESIDE) rmSync(file + ending, { force: true });
}

/** Why a file cannot be continued; null: it can. */
export function whyRemade(file: string): Remade | null {
  if (isUnsealed(file)) return { why: `${file} is of an earlier version`, isDamage: false };
  try {
    const torn = writeAheadDamage(file);
    if (torn !== null) return { why: torn, isDamage: true };
    const database = sealed(file, { fileMustExist: true });
    try {
      const otherwise = versionProblem(database, file);
      if (otherwise !== null || statSync(file).size > READ_AT_START_BYTES) return otherwise;
      const why = pagesProblem(database, file);
      return why === null ? null : { why, isDamage: true };
    } finally {
      database.close();
    }
  } catch (error) {
    if (isOfMachine(error)) throw error;
    return { why: damageText(file, error), isDamage: true };
  }
}

/** The problem of any page of a file; null: there is none. It reads all pages. */
export function pagesProblem(database: Database, file: string): string | null {
  const found = database.pragma('quick_check(1)', { simple: true }) as string;
  if (found === 'ok') return null;
  const page = /page (\d+): unable to get the page/.exec(found)?.[1];
  return damageText(
    file,
    new Error(page ? `page ${page} has changed since it was written` : found),
  );
}

/** The problem of a file's version; null: there is none. */
export function versionProblem(database: Database, file: string): Remade | null {
  const id = database.pragma('application_id', { simple: true });
  const version = database.pragma('user_version', { simple: true });
  if (id !== APPLICATION_ID) return { why: `${file} is no file of records`, isDamage: true };
  if (version === RECORDS_VERSION) return null;
  const why = `${file} has version ${version} of the records, and this is ${RECORDS_VERSION}`;
  return { why, isDamage: false };
}

/** Rule Y5 (engine/RULES.md). */
export function damageText(file: string, error: unknown): string {
  return `${file} is damaged: ${(error as Error).message}`;
}

/** Whether an error of SQLite means that its file is damaged. */
export function isDamage(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code !== undefined && /^SQLITE_(CORRUPT|NOTADB)/.test(code);
}

/**
 * Whether an error means that the machine gave no room, memory or access. It tells nothing about
 * the content of the file. Rule Y82.
 */
export function isOfMachine(error: unknown): boolean {
  const { code = '' } = error as { code?: string };
  return code.startsWith('SQLITE_') ? NO_ROOM_OR_ACCESS.test(code) : code !== '';
}

/** A file that other users of the machine cannot read. */
export function makePrivate(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
}

/** For the thread that writes. It copies the write-ahead file into the database by `WriteAhead`. */
export function connected(file: string): Database {
  closeSync(openSync(file, 'a', 0o600));
  const database = sealed(file);
  const mode = database.pragma('journal_mode = WAL', { simple: true });
  invariant(mode === 'wal', 'the records are written without a write-ahead file');
  // A crash of the machine loses only whole new transactions, whose facts are still there.
  database.pragma('synchronous = NORMAL');
  database.pragma('wal_autocheckpoint = 0');
  return database;
}

function sealed(file: string, options: Sqlite.Options = {}): Database {
  const database = new Sqlite(file, options);
  for (const pragma of SEALED_PAGES) database.pragma(pragma);
  return database;
}

/** Whether a version before the seals wrote the file. */
export function isUnsealed(file: string): boolean {
  const start = Buffer.alloc(UNSEALED.length);
  const fd = openSync(file, 'r');
  try {
    readSync(fd, start, 0, start.length, 0);
  } finally {
    closeSync(fd);
  }
  return start.equals(UNSEALED);
}

function made(file: string): Database {
  makeWhole(file, sealed, createTables);
  return connected(file);
}

/**
 * Makes a file of SQLite. It gets its name once its tables are in it. So a start that fails half
 * way, or has no room, leaves no file that looks damaged.
 */
export function makeWhole(
  file: string,
  open: (file: string) => Database,
  fill: (database: Database) => void,
): void {
  const unfinished = `${file}.new`;
  for (const ending of ['', '-journal']) rmSync(unfinished + ending, { force: true });
  closeSync(openSync(unfinished, 'a', 0o600));
  const database = open(unfinished);
  try {
    fill(database);
  } finally {
    database.close();
  }
  renameSync(unfinished, file);
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

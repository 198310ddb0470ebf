/**
 * Closing lines: venue_a's last live two-sided quote before a start. They are read from the
 * history, which drops old quotes, and no fact could restore them. So they are kept forever, in two
 * files: one beside the records and one beside the shards. Each row has a checksum. A row that one
 * file lost is in the other. A damaged file is set aside, never removed. Rules Y6, Y52, Y84
 * (engine/RULES.md).
 */
import { chmodSync, existsSync, readdirSync, renameSync } from 'node:fs';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import Sqlite from 'better-sqlite3-multiple-ciphers';
import { invariant } from '../../base/invariant.ts';
import type { EpochMs, MarketNumber, PriceCents } from '../../base/units.ts';
import {
  type Database,
  isOfMachine,
  makePrivate,
  makeWhole,
  type Statement,
} from '../store/database.ts';

/** In the market's terms. */
export type ClosingQuote = { yesBidCents: PriceCents; yesAskCents: PriceCents; atMs: EpochMs };
export type WantedClosing = { market: MarketNumber; startsAtMs: EpochMs };
/** Null: there was no such quote. */
export type Closing = WantedClosing & { quote: ClosingQuote | null };

const CLOSINGS_ID = 0x5042434c;
export const CLOSINGS_VERSION = 1;
const TABLE = `CREATE TABLE closings (
  market INTEGER NOT NULL,
  starts_at_ms INTEGER NOT NULL,
  yes_bid INTEGER,
  yes_ask INTEGER,
  quoted_at_ms INTEGER,
  checksum INTEGER NOT NULL,
  PRIMARY KEY (market, starts_at_ms)
) STRICT, WITHOUT ROWID`;

type Row = [
  market: number,
  startsAtMs: number,
  bid: number | null,
  ask: number | null,
  quotedAtMs: number | null,
  checksum: number,
];

const CLOSINGS = 'closings.db';
const CLOSINGS_COPY = 'closings-copy.db';
const SET_ASIDE = /^closings(-copy)?\.db\.damaged-\d+$/;
const BESIDE = ['', '-wal', '-shm'];
/** Of 4 KiB each, in the file beside it. */
const WAL_PAGES = 64;

export const closingsFile = (dataDir: string): string => path.join(dataDir, 'records', CLOSINGS);
const copyFile = (dataDir: string): string => path.join(dataDir, CLOSINGS_COPY);

/** A file of closing lines is damaged or of another version, and cannot be restored. */
export class ClosingsDamage extends Error {
  /** Whether another version may have written it this way. */
  readonly isVersion: boolean;

  constructor(file: string, what: string, isVersion = false) {
    super(`${file} ${what}`);
    this.name = 'ClosingsDamage';
    this.isVersion = isVersion;
  }
}

export class Closings {
  /** The problems of the files and their remedies, one per line. */
  readonly problems: readonly string[];
  readonly #files: OpenFile[];
  readonly #known = new Map<string, Closing>();

  /**
   * Opens or makes both files of a data directory. Each gets all lines of both. Throws
   * `ClosingsDamage` if another version wrote them.
   */
  constructor(dataDir: string) {
    const files = [closingsFile(dataDir), copyFile(dataDir)] as const;
    for (const file of files) makePrivate(path.dirname(file));
    const found = files.map(lookInto);
    for (const { closings } of found) {
      for (const closing of closings) this.#known.set(keyOf(closing), closing);
    }
    const repairs = repairsOf(found);
    for (const { file, isSetAside } of repairs) if (isSetAside) setAside(file);
    this.problems = [...repairs.map(({ problem }) => problem), ...setAsideLines(dataDir)];
    this.#files = files.map((file) => openFile(file));
    for (const [at, { closings, damage }] of found.entries()) {
      const has = new Set(damage === null ? closings.map(keyOf) : []);
      const missing = [...this.#known.values()].filter((closing) => !has.has(keyOf(closing)));
      this.#write(this.#files[at]!, missing);
    }
  }

  /** Undefined: not known yet. */
  get(market: MarketNumber, startsAtMs: EpochMs): Closing | undefined {
    return this.#known.get(keyOf({ market, startsAtMs }));
  }

  /** The first line of a market counts. Throws `ClosingsDamage`. */
  put(closing: Closing): void {
    const key = keyOf(closing);
    if (this.#known.has(key)) return;
    for (const file of this.#files) this.#write(file, [closing]);
    this.#known.set(key, closing);
  }

  close(): void {
    for (const { database } of this.#files) database.close();
  }

  #write({ file, database, put }: OpenFile, closings: Closing[]): void {
    try {
      database.transaction(() => {
        for (const closing of closings) {
          const fields = fieldsOf(closing);
          const { changes } = put.run(...fields, checksumOf(fields));
          invariant(changes === 1, 'a closing line is not one row');
        }
      })();
    } catch (error) {
      throw new ClosingsDamage(file, `cannot be written: ${(error as Error).message}`);
    }
  }
}

type OpenFile = { file: string; database: Database; put: Statement };

/** All whole lines of a file. `damage`: the problem of the others. */
type Found = { file: string; isThere: boolean; closings: Closing[]; damage: ClosingsDamage | null };

function lookInto(file: string): Found {
  if (!existsSync(file)) return { file, isThere: false, closings: [], damage: null };
  const closings: Closing[] = [];
  try {
    for (const closing of rowsOf(file)) closings.push(closing);
    return { file, isThere: true, closings, damage: null };
  } catch (error) {
    if (!(error instanceof ClosingsDamage)) throw error;
    return { file, isThere: true, closings, damage: error };
  }
}

/** The problems of either file. A missing copy is made without a line. Throws `ClosingsDamage`. */
function repairsOf([own, copy]: readonly Found[]): Repair[] {
  invariant(own !== undefined && copy !== undefined, 'closing lines are in one file');
  const repairs: Repair[] = [];
  for (const [one, other] of [
    [own, copy],
    [copy, own],
  ] as const) {
    const isKept = other.isThere && other.damage === null;
    if (one.damage !== null) {
      if (one.damage.isVersion && !isKept) throw one.damage;
      const became = isKept
        ? `it was made again from ${other.file}, and nothing is lost`
        : 'its lost lines are read from the history, if that still has them';
      const problem = `${one.damage.message}: it was set aside, ${became}`;
      repairs.push({ file: one.file, isSetAside: true, problem });
    } else if (!one.isThere && one === own && other.isThere) {
      const problem = `${one.file} was missing: it was made again from ${other.file}`;
      repairs.push({ file: one.file, isSetAside: false, problem });
    }
  }
  return repairs;
}

type Repair = { file: string; isSetAside: boolean; problem: string };

function setAside(file: string): void {
  for (let at = 1; ; at++) {
    const to = `${file}.damaged-${at}`;
    if (existsSync(to)) continue;
    for (const ending of BESIDE) {
      if (existsSync(file + ending)) renameSync(file + ending, to + ending);
    }
    return;
  }
}

/** Files that a start has set aside and an operator has not removed yet. */
function setAsideLines(dataDir: string): string[] {
  return [path.join(dataDir, 'records'), dataDir].flatMap((directory) => {
    if (!existsSync(directory)) return [];
    const names = readdirSync(directory).filter((name) => SET_ASIDE.test(name));
    return names.sort().map((name) => {
      return `${path.join(directory, name)} was set aside as damaged: remove it once you saw it`;
    });
  });
}

/** The problems of a directory's closing lines, one per line; a server may be running. */
export function closingsProblems(dataDir: string): string[] {
  const files = [closingsFile(dataDir), copyFile(dataDir)].map(lookInto);
  const [own, copy] = files as [Found, Found];
  const problems = files.flatMap(({ damage }) => (damage === null ? [] : [damage.message]));
  if (!own.isThere && copy.isThere) {
    problems.push(`${own.file} is missing: a start makes it again from ${copy.file}`);
  }
  return [...problems, ...setAsideLines(dataDir)];
}

function openFile(file: string): OpenFile {
  if (!existsSync(file)) makeWhole(file, (unfinished) => new Sqlite(unfinished), createTable);
  const database = new Sqlite(file);
  database.pragma('journal_mode = WAL');
  // A crash of the machine loses the newest lines, which the history still has.
  database.pragma('synchronous = NORMAL');
  // Each line is a write of its own, and changes two pages. So the file beside it stays small.
  database.pragma(`wal_autocheckpoint = ${WAL_PAGES}`);
  return {
    file,
    database,
    put: database.prepare('INSERT INTO closings VALUES (?, ?, ?, ?, ?, ?)'),
  };
}

function createTable(database: Database): void {
  database.exec(`BEGIN; ${TABLE}; PRAGMA application_id = ${CLOSINGS_ID};
    PRAGMA user_version = ${CLOSINGS_VERSION}; COMMIT`);
}

/** Whether a file of that name has closing lines. */
export const isClosings = (name: string): boolean => name === CLOSINGS || name === CLOSINGS_COPY;

/** A whole copy of a file that may be in use. Throws `ClosingsDamage`, so no damage is copied. */
export async function copyClosings(from: string, to: string): Promise<void> {
  const database = new Sqlite(from, { readonly: true });
  try {
    await database.backup(to);
  } finally {
    database.close();
  }
  chmodSync(to, 0o600);
  for (const _ of rowsOf(to));
}

/** Every closing line of a file. Throws `ClosingsDamage`, first or after the whole lines. */
export function* rowsOf(file: string): Generator<Closing> {
  let database: Database | null = null;
  try {
    database = new Sqlite(file, { readonly: true });
    const id = database.pragma('application_id', { simple: true });
    const version = database.pragma('user_version', { simple: true });
    if (id !== CLOSINGS_ID || version !== CLOSINGS_VERSION) {
      throw new ClosingsDamage(file, `is of another version than ${CLOSINGS_VERSION}`, true);
    }
    const rows = database.prepare('SELECT * FROM closings').raw().iterate();
    let changed: ClosingsDamage | null = null;
    for (const row of rows as Iterable<Row>) {
      const closing = closingOf(row);
      if (closing !== null) yield closing;
      else changed ??= new ClosingsDamage(file, `is damaged: the closing line of market ${row[0]}`);
    }
    if (changed !== null) throw changed;
    const found = database.pragma('integrity_check', { simple: true });
    if (found !== 'ok') throw new ClosingsDamage(file, `is damaged: ${found}`);
  } catch (error) {
    if (error instanceof ClosingsDamage || isOfMachine(error)) throw error;
    throw new ClosingsDamage(file, `is damaged: ${(error as Error).message}`);
  } finally {
    database?.close();
  }
}

/** Null: it is damaged. */
function closingOf(row: Row): Closing | null {
  const [market, startsAtMs, yesBidCents, yesAskCents, atMs, checksum] = row;
  if (checksumOf(row.slice(0, 5)) !== checksum) return null;
  const isNone = yesBidCents === null || yesAskCents === null || atMs === null;
  return { market, startsAtMs, quote: isNone ? null : { yesBidCents, yesAskCents, atMs } };
}

function fieldsOf({ market, startsAtMs, quote }: Closing): (number | null)[] {
  invariant(quote === null || quote.yesBidCents > 0, 'a closing line has one side');
  const { yesBidCents = null, yesAskCents = null, atMs = null } = quote ?? {};
  return [market, startsAtMs, yesBidCents, yesAskCents, atMs];
}

const checksumOf = (fields: readonly (number | null)[]) => crc32(fields.join(' '));
const keyOf = ({ market, startsAtMs }: WantedClosing) => `${market} ${startsAtMs}`;

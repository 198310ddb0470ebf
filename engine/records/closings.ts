/**
 * Closing lines: what venue_a's last live two-sided quote before a start was. They come from the
 * history, which drops what is old, so that they are kept here for good, in a file of their own that
 * no rebuild touches. Each row has a checksum, as no fact could make it anew. Rules Y6, Y52
 * (engine/RULES.md).
 */
import { chmodSync, existsSync } from 'node:fs';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import Sqlite from 'better-sqlite3';
import { invariant } from '../rules/invariant.ts';
import type { EpochMs, MarketNumber, PriceCents } from '../rules/units.ts';
import { connected, type Database, makePrivate, type Statement } from './database.ts';

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

export const closingsFile = (directory: string): string => path.join(directory, 'closings.db');

/** A file of closing lines is damaged, or is of another version: it cannot be made anew. */
export class ClosingsDamage extends Error {
  constructor(file: string, what: string) {
    super(`${file} ${what}`);
    this.name = 'ClosingsDamage';
  }
}

export class Closings {
  readonly #database: Database;
  readonly #put: Statement;
  readonly #known = new Map<string, Closing>();

  /** Opens or makes the file. Throws `ClosingsDamage`. */
  constructor(directory: string) {
    makePrivate(directory);
    const file = closingsFile(directory);
    const isNew = !existsSync(file);
    for (const closing of isNew ? [] : closingsIn(file)) this.#known.set(keyOf(closing), closing);
    this.#database = connected(file);
    if (isNew) {
      this.#database.exec(`BEGIN; ${TABLE}; PRAGMA application_id = ${CLOSINGS_ID};
        PRAGMA user_version = ${CLOSINGS_VERSION}; COMMIT`);
    }
    this.#put = this.#database.prepare('INSERT INTO closings VALUES (?, ?, ?, ?, ?, ?)');
  }

  /** Undefined: not known yet. */
  get(market: MarketNumber, startsAtMs: EpochMs): Closing | undefined {
    return this.#known.get(keyOf({ market, startsAtMs }));
  }

  /** The first one counts. */
  put(closing: Closing): void {
    const key = keyOf(closing);
    if (this.#known.has(key)) return;
    const fields = fieldsOf(closing);
    this.#put.run(...fields, checksumOf(fields));
    this.#known.set(key, closing);
  }

  close(): void {
    this.#database.close();
  }
}

/** A whole copy of a file that may be in use. */
export async function copyClosings(from: string, to: string): Promise<void> {
  const database = new Sqlite(from, { readonly: true });
  try {
    await database.backup(to);
  } finally {
    database.close();
  }
  chmodSync(to, 0o600);
}

/** Every closing line of a file. Throws `ClosingsDamage`. */
export function closingsIn(file: string): Closing[] {
  let database: Database | null = null;
  try {
    database = new Sqlite(file, { readonly: true });
    const id = database.pragma('application_id', { simple: true });
    const version = database.pragma('user_version', { simple: true });
    if (id !== CLOSINGS_ID || version !== CLOSINGS_VERSION) {
      throw new ClosingsDamage(file, `is of another version than ${CLOSINGS_VERSION}`);
    }
    const rows = database.prepare('SELECT * FROM closings').raw().all() as Row[];
    return rows.map((row) => closingOf(file, row));
  } catch (error) {
    if (error instanceof ClosingsDamage) throw error;
    throw new ClosingsDamage(file, `is damaged: ${(error as Error).message}`);
  } finally {
    database?.close();
  }
}

function closingOf(file: string, row: Row): Closing {
  const [market, startsAtMs, yesBidCents, yesAskCents, atMs, checksum] = row;
  if (checksumOf(row.slice(0, 5)) !== checksum) {
    throw new ClosingsDamage(file, `is damaged: the closing line of market ${market}`);
  }
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

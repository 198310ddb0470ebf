/**
 * The small JSON files that a server keeps in its data directory, each with a checksum of its
 * content. Rule D36 (engine/RULES.md).
 */
import path from 'node:path';
import { crc32 } from 'node:zlib';
import type { Log } from '../base/logger.ts';
import { DataDirError, readJsonFile, replaceFile, replaceFileLater } from './directory-files.ts';

/** By file name: the fields that the file may have beside its checksum. */
const FIELDS = {
  'paperbook.json': [
    ...['format', 'version', 'shards', 'id', 'fromReplay'],
    ...['historyMadeAtMs', 'hasPositions', 'trackRecordKeys'],
  ],
  'auth-key.json': ['kty', 'crv', 'x', 'y', 'd'],
  'track-record-key.json': ['kty', 'crv', 'x', 'd'],
  'track-record-keys.json': ['publicKeys'],
  'positions.json': ['facts'],
  'contradicted.json': ['said'],
  'market-states.json': ['markets'],
  'demo.json': ['baseUrl', 'adminUrl', 'email', 'password', 'key', 'bots'],
  'demo/simulator.json': ['seed', 'firstStartMs', 'longGames', 'expressSinceMs'],
} as const;

export type CheckedName = keyof typeof FIELDS;
export const CHECKED_NAMES = Object.keys(FIELDS) as CheckedName[];

export function writeChecked(dataDir: string, name: CheckedName, value: object): void {
  replaceFile(path.join(dataDir, name), checkedText(value));
}

/** The text of a file with this content, one field per line, which scripts can read. */
export function checkedText(value: object): string {
  const checked = { ...value, crc32: crc32(JSON.stringify(value)) };
  return `${JSON.stringify(checked, null, 2)}\n`;
}

/**
 * The content of the file; undefined: it is missing. A person who edits it removes its checksum.
 * Throws `DataDirError` if the checksum does not match.
 */
export function readChecked(dataDir: string, name: CheckedName): object | undefined {
  const file = path.join(dataDir, name);
  const stored = readJsonFile(file);
  if (stored === undefined) return undefined;
  const { crc32: checksum, ...value } = (stored ?? {}) as Record<string, unknown>;
  if (checksum !== undefined && crc32(JSON.stringify(value)) !== checksum) {
    throw new DataDirError(`${file} is damaged: it does not have its checksum`);
  }
  const foreign = Object.keys(value).find((field) => !FIELDS[name].includes(field as never));
  if (foreign === undefined) return value;
  throw new DataDirError(
    `${file} is damaged: it has no field of the name ${JSON.stringify(foreign)}`,
  );
}

/** Many changes cost a write in so much time, and its text at most a fiftieth of the time. */
const WRITE_EVERY_MS = 1000;
/** A change that a crash should not take waits only so long. */
const WRITE_SOON_MS = 50;
const TEXT_PARTS = 50;

export type KeptFileParts = {
  dataDir: string;
  name: CheckedName;
  /** What is known now. */
  content(): object;
  log: Pick<Log, 'warn'>;
};

/**
 * A checked file of what a server learns while it runs. A first change is written at once, beside
 * requests, and further ones a second later, or soon if a crash should not take them. A write that
 * fails is tried again a second later.
 */
export class KeptFile {
  readonly #parts: KeptFileParts;
  #isChanged = false;
  /** What has changed should be written soon. */
  #isUrgent = false;
  #isClosed = false;
  #isFailing = false;
  #writing: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #nextMs = Number.NEGATIVE_INFINITY;
  #soonMs = Number.NEGATIVE_INFINITY;

  constructor(parts: KeptFileParts) {
    this.#parts = parts;
  }

  /** The content has changed. `isUrgent`: a crash should not take it. */
  changed(isUrgent = false): void {
    this.#isChanged = true;
    const isSooner = isUrgent && !this.#isUrgent;
    this.#isUrgent ||= isUrgent;
    if (this.#isClosed || this.#writing !== null || (this.#timer !== null && !isSooner)) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    const waitMs = (this.#isUrgent ? this.#soonMs : this.#nextMs) - performance.now();
    if (waitMs <= 0) void this.#write();
    else this.#timer = setTimeout(() => void this.#write(), waitMs);
  }

  /** Resolves once what has changed is on disk. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#writing;
    if (this.#isChanged) await this.#write();
  }

  async #write(): Promise<void> {
    const { dataDir, name, content } = this.#parts;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#isChanged = false;
    this.#isUrgent = false;
    const beganMs = performance.now();
    const text = checkedText(content());
    const endedMs = performance.now();
    const restMs = TEXT_PARTS * (endedMs - beganMs);
    this.#nextMs = endedMs + Math.max(WRITE_EVERY_MS, restMs);
    this.#soonMs = endedMs + Math.max(WRITE_SOON_MS, restMs);
    this.#writing = replaceFileLater(path.join(dataDir, name), text).then(
      () => {
        this.#isFailing = false;
      },
      (error: Error) => this.#failed(error),
    );
    await this.#writing;
    this.#writing = null;
    if (this.#isChanged) this.changed(this.#isUrgent);
  }

  #failed({ message }: Error): void {
    this.#isChanged = true;
    const { name, log } = this.#parts;
    if (!this.#isFailing) log.warn({ file: name, reason: message }, 'a file is not written now');
    this.#isFailing = true;
  }
}

/** The most recently used records of a log, with their checksums verified. */
import { invariant } from '../base/invariant.ts';
import type { LogPosition, LogRecord } from './log-format.ts';

const BYTES_MAX = 2 ** 23;
/** The settlement of a market with a hundred thousand trades takes some 20 MB. */
const LARGE_BYTES_MAX = 2 ** 26;
/** The size of a record besides its payload. */
const RECORD_BYTES = 256;

export class RecordCache {
  readonly #records = new Map<LogPosition, LogRecord>();
  #bytes = 0;
  /** A list of settled trades asks for the same one many times over. */
  #large: { at: LogPosition; record: LogRecord } | null = null;

  get(at: LogPosition): LogRecord | undefined {
    if (this.#large?.at === at) return this.#large.record;
    const record = this.#records.get(at);
    if (record === undefined) return undefined;
    this.#records.delete(at);
    this.#records.set(at, record);
    return record;
  }

  /** Of the records that are as large as the cache itself the last one is kept. */
  put(at: LogPosition, record: LogRecord): void {
    invariant(!this.#records.has(at), 'a record is added twice to the cache');
    if (sizeOf(record) > BYTES_MAX / 2) {
      if (sizeOf(record) <= LARGE_BYTES_MAX) this.#large = { at, record };
      return;
    }
    this.#records.set(at, record);
    this.#bytes += sizeOf(record);
    for (const [oldest, { payload }] of this.#records) {
      if (this.#bytes <= BYTES_MAX) break;
      this.#records.delete(oldest);
      this.#bytes -= payload.length + RECORD_BYTES;
      invariant(this.#bytes >= 0, 'the size of a cache went below zero');
    }
  }
}

const sizeOf = ({ payload }: LogRecord): number => payload.length + RECORD_BYTES;

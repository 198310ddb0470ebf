/** The most recently used records of a log, with their checksums verified. */
import { invariant } from '../rules/invariant.ts';
import type { LogPosition, LogRecord } from './log-format.ts';

const BYTES_MAX = 2 ** 23;
/** The size of a record besides its payload. */
const RECORD_BYTES = 256;

export class RecordCache {
  readonly #records = new Map<LogPosition, LogRecord>();
  #bytes = 0;

  get(at: LogPosition): LogRecord | undefined {
    const record = this.#records.get(at);
    if (record === undefined) return undefined;
    this.#records.delete(at);
    this.#records.set(at, record);
    return record;
  }

  /** A record that is as large as the cache itself is not kept. */
  put(at: LogPosition, record: LogRecord): void {
    invariant(!this.#records.has(at), 'a record is added twice to the cache');
    if (sizeOf(record) > BYTES_MAX / 2) return;
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

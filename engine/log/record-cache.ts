/** Records of a log whose checksum was looked at, the latest used ones. */
import { invariant } from '../rules/invariant.ts';
import type { LogPosition, LogRecord } from './log-format.ts';

const BYTES_MAX = 2 ** 23;
/** What a record takes beside its payload. */
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
    invariant(!this.#records.has(at), 'a record is counted twice in the cache');
    if (sizeOf(record) > BYTES_MAX / 2) return;
    this.#records.set(at, record);
    this.#bytes += sizeOf(record);
    for (const [oldest, { payload }] of this.#records) {
      if (this.#bytes <= BYTES_MAX) break;
      this.#records.delete(oldest);
      this.#bytes -= payload.length + RECORD_BYTES;
      invariant(this.#bytes >= 0, 'a cache gives back more than it has');
    }
  }
}

const sizeOf = ({ payload }: LogRecord): number => payload.length + RECORD_BYTES;

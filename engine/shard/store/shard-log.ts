/**
 * One shard's log as the shard uses it: the record of the current batch, and the written
 * ones. Rules D1, D2, N101, N102 (engine/RULES.md).
 */
import path from 'node:path';
import { invariant } from '../../base/invariant.ts';
import type { EpochMs } from '../../base/units.ts';
import { FactBuffer } from '../../format/facts.ts';
import type { LogIdentity, LogPosition, LogRecord } from '../../log/log-format.ts';
import { LogReader, type PlacedRecord } from '../../log/log-reader.ts';
import { LogWriter } from '../../log/log-writer.ts';
import type { FactLog } from '../core/shard-records.ts';
import type { Durability } from './checkpoints.ts';

export type ShardLogOptions = {
  identity: LogIdentity;
  durability: Durability;
  segmentBytes?: number;
  /** Where the log ended when its checkpoint was taken. */
  reaches?: LogPosition;
};

/** Where a shard that leads in a cluster stores its records, before its own log has them. */
export interface RecordStore {
  /** The record is stored on return. */
  append(record: LogRecord & { position: LogPosition }): void;
}

/** The log's directory in the shard's directory. */
export const logIn = (directory: string): string => path.join(directory, 'log');

export class ShardLog implements FactLog {
  /** Collects the facts of the current batch. */
  readonly facts = new FactBuffer();
  /** Null: this log is the only place. */
  store: RecordStore | null = null;
  readonly #writer: LogWriter;
  readonly #reader: LogReader;

  /** Cuts off an incomplete last record. Throws `LogDamage`, `LogMismatch`, `DiskFull`. */
  constructor(directory: string, { identity, ...options }: ShardLogOptions) {
    const log = logIn(directory);
    this.#writer = LogWriter.open(log, { ...identity, ...options });
    const settledTail = () => this.#writer.tail;
    this.#reader = LogReader.open(log, { ...identity, settledTail });
    this.begin();
  }

  /** The number of the last fact written; 0: there is none. */
  get lastNumber(): number {
    return this.#writer.nextNumber - 1;
  }

  /** The last fact that is on disk for certain, whatever the durability. */
  get durableNumber(): number {
    return this.#writer.durableNumber;
  }

  /** Of all segments, up to the last record. */
  get bytes(): number {
    return this.#writer.bytes;
  }

  /** The position of the next record. */
  get tail(): LogPosition {
    return this.#writer.tail;
  }

  /** Reserves space for a record of so many bytes. Throws `DiskFull`. */
  ensureRoom(bytes: number): void {
    this.#writer.ensureRoom(bytes);
  }

  /** Starts the record of the next batch. */
  begin(): void {
    this.facts.begin(this.#writer.tail, this.#writer.nextNumber);
  }

  /** Writes the record of the current batch, as durably as the setting demands. */
  commit(atMs: EpochMs): void {
    const { facts } = this;
    invariant(facts.record === this.#writer.tail, 'a record is written where it was begun');
    const { firstNumber, count, hasCatalog } = facts;
    const record = { firstNumber, count, atMs, payload: facts.payload() };
    this.store?.append({ ...record, position: facts.record });
    this.#writer.append(record, hasCatalog);
    this.#writer.sync();
    invariant(this.lastNumber === firstNumber + count - 1, 'the numbers of facts jump');
    invariant(this.tail > facts.record, 'a log does not grow by a record');
    this.begin();
  }

  /** The payload of the last record; null: there is none. */
  lastPayload(): Uint8Array | null {
    let last: Uint8Array | null = null;
    if (this.lastNumber === 0) return last;
    for (const { payload } of this.records(this.lastNumber - 1, null)) last = payload;
    invariant(last !== null, 'the log has no record of its last fact');
    return last;
  }

  payload(record: number): Uint8Array {
    const isAtHand = record === this.facts.record && this.facts.count > 0;
    return isAtHand ? this.facts.payload() : this.#reader.record(record).payload;
  }

  /** Records with facts after this number, which begin at or after `from`. */
  records(afterNumber: number, from: LogPosition | null): Generator<PlacedRecord> {
    return this.#reader.records(afterNumber, from ?? undefined);
  }

  /** `from`: where a record begins, maybe the record of the current batch; 0: at the beginning. */
  *recordsFrom(from: LogPosition): Generator<{ position: LogPosition; payload: Uint8Array }> {
    const { facts } = this;
    if (from !== facts.record) yield* this.#reader.records(0, from === 0 ? undefined : from);
    if (facts.count === 0) return;
    yield { position: facts.record, payload: Uint8Array.from(facts.payload()) };
  }

  close(): void {
    this.#reader.close();
    this.#writer.close();
  }
}

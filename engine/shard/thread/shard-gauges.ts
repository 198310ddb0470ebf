/**
 * The progress of a shard's log and checkpoints, the times of its batches, and its counts of orders,
 * in memory that its thread shares with the callers' thread. It outlives the thread. So an operator
 * still sees the progress of a shard that has failed. Rules O18, O34 (api/RULES.md).
 */
import { invariant } from '../../base/invariant.ts';
import type { EpochMs } from '../../base/units.ts';
import type { CheckpointHead } from '../store/checkpoint-values.ts';
import { BATCH_TIMES_BYTES, BatchTimes } from './batch-times.ts';
import { ORDER_COUNTS_BYTES, OrderCounts } from './order-counts.ts';

export type ShardProgress = {
  /** The number of the last fact in the log; 0: there is none. */
  lastNumber: number;
  /** Of all segments, up to the last record. */
  logBytes: number;
  /** The last fact that the checkpoint on disk covers; 0: there is no checkpoint. */
  checkpointNumber: number;
  /** The engine's time of that checkpoint; 0: there is none. */
  checkpointAtMs: EpochMs;
};

/** The version, padded to the size of the numbers after it. */
const HEADER_BYTES = Float64Array.BYTES_PER_ELEMENT;
const NUMBERS = 4;
const NUMBERS_BYTES = NUMBERS * Float64Array.BYTES_PER_ELEMENT;
const BYTES = HEADER_BYTES + NUMBERS_BYTES + ORDER_COUNTS_BYTES + BATCH_TIMES_BYTES;

/** The shown numbers of a log. */
type Shown = { lastNumber: number; bytes: number };
type Covered = Pick<CheckpointHead, 'facts' | 'nowMs'>;

export class ShardGauges {
  readonly memory: SharedArrayBuffer;
  readonly batches: BatchTimes;
  readonly orders: OrderCounts;
  /** Odd while the numbers are being written; 0: they never were. */
  readonly #version: Int32Array;
  /** As in `ShardProgress`. */
  readonly #numbers: Float64Array;

  constructor(memory = new SharedArrayBuffer(BYTES)) {
    this.memory = memory;
    this.#version = new Int32Array(memory, 0, 1);
    this.#numbers = new Float64Array(memory, HEADER_BYTES, NUMBERS);
    this.orders = new OrderCounts(memory, HEADER_BYTES + NUMBERS_BYTES);
    this.batches = new BatchTimes(memory, BYTES - BATCH_TIMES_BYTES);
  }

  /** The shard is open. `head`: of the checkpoint on disk; null: there is none. */
  opened(log: Shown, head: Covered | null): void {
    this.#write(log, head ?? { facts: 0, nowMs: 0 });
  }

  /** A batch is on disk. */
  committed(log: Shown, tookMs: number): void {
    this.#write(log, null);
    this.batches.note(tookMs, Date.now());
  }

  /** A checkpoint is on disk. */
  checkpointed(log: Shown, head: Covered): void {
    this.#write(log, head);
  }

  /** `covered` null: by the same checkpoint as before. */
  #write({ lastNumber, bytes }: Shown, covered: Covered | null): void {
    const version = Atomics.load(this.#version, 0) | 1;
    Atomics.store(this.#version, 0, version);
    this.#numbers[0] = lastNumber;
    this.#numbers[1] = bytes;
    if (covered !== null) {
      invariant(covered.facts <= lastNumber, 'a checkpoint covers facts that are not in the log');
      this.#numbers[2] = covered.facts;
      this.#numbers[3] = covered.nowMs;
    }
    // After the highest number it begins again, and leaves out the number that means never.
    Atomics.store(this.#version, 0, (version + 1) | 0 || 2);
  }

  /** Null: the shard was never open, or is written at this moment. */
  read(): ShardProgress | null {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const version = Atomics.load(this.#version, 0);
      if (version === 0) return null;
      const [lastNumber, logBytes, checkpointNumber, checkpointAtMs] = this.#numbers;
      const isWhole = version % 2 === 0 && Atomics.load(this.#version, 0) === version;
      if (!isWhole) continue;
      return {
        lastNumber: lastNumber!,
        logBytes: logBytes!,
        checkpointNumber: checkpointNumber!,
        checkpointAtMs: checkpointAtMs!,
      };
    }
    return null;
  }
}

/** A write takes nanoseconds; a thread that ended inside one leaves the numbers unreadable. */
const TRIES_MAX = 1000;

/**
 * Until when a leader may answer reads by itself, in memory that its shard's thread and its
 * replicator share. Rule N112 (engine/RULES.md).
 */

/** Milliseconds of a clock that nobody sets, the same in all threads of the machine. */
export const steadyMs = (): number => Number(process.hrtime.bigint()) / 1e6;

export class Lease {
  readonly memory: SharedArrayBuffer;
  readonly #untilNs: BigInt64Array;

  constructor(memory = new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#untilNs = new BigInt64Array(memory);
  }

  /** @param untilMs of `steadyMs`; in the past: there is no lease */
  set(untilMs: number): void {
    const nanoseconds = BigInt(Math.floor(Math.max(0, untilMs) * 1e6));
    Atomics.store(this.#untilNs, 0, nanoseconds);
  }

  get isValid(): boolean {
    return process.hrtime.bigint() < Atomics.load(this.#untilNs, 0);
  }
}

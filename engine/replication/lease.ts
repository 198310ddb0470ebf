/**
 * Leases of etcd, as their holder counts them, and until when a leader may answer reads by itself, in
 * memory that its shard's thread and its replicator share. Rules N112, N135 (engine/RULES.md).
 */

/** Clocks may differ in speed by so much of a lease. */
const MARGIN = 0.1;
/** A renewal that fails once or twice must not end a lease. */
const RENEWALS_A_LEASE = 5;

/** A lease that was asked for, or renewed, at that moment lasts until then, at least. */
export const leaseEndMs = (sentMs: number, leaseSeconds: number): number =>
  sentMs + leaseSeconds * 1000 * (1 - MARGIN);

/** Milliseconds from one renewal to the next. */
export const renewalEveryMs = (leaseSeconds: number): number =>
  (leaseSeconds * 1000) / RENEWALS_A_LEASE;

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

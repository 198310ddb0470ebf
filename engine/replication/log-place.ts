/**
 * How far a shard's own log is, in memory that its thread and its replicator share. Rules N111, N161
 * (engine/RULES.md).
 */

export class LogPlace {
  readonly memory: SharedArrayBuffer;
  readonly #numbers: BigInt64Array;

  constructor(memory = new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#numbers = new BigInt64Array(memory);
  }

  /** The last fact that the log and the state of the shard have. */
  get applied(): number {
    return Number(Atomics.load(this.#numbers, 0));
  }

  /** The last fact that the log's disk has for certain. */
  get onDisk(): number {
    return Number(Atomics.load(this.#numbers, 1));
  }

  note(applied: number, onDisk: number): void {
    Atomics.store(this.#numbers, 0, BigInt(applied));
    Atomics.store(this.#numbers, 1, BigInt(onDisk));
  }
}

/**
 * The last fact that a shard's own disk has for certain, in memory that its thread and its replicator
 * share. Rule N161 (engine/RULES.md).
 */
export class OnDisk {
  readonly memory: SharedArrayBuffer;
  readonly #number: BigInt64Array;

  constructor(memory = new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#number = new BigInt64Array(memory);
  }

  get number(): number {
    return Number(Atomics.load(this.#number, 0));
  }

  note(number: number): void {
    Atomics.store(this.#number, 0, BigInt(number));
  }
}

/**
 * Why the thread of a shard ended, in shared memory: a message may be lost when its thread ends,
 * and an operator needs the reason. Rule D10 (engine/RULES.md).
 */

const TEXT_BYTES = 500;
const LENGTH_BYTES = Int32Array.BYTES_PER_ELEMENT;

export class FaultNote {
  readonly memory: SharedArrayBuffer;
  /** Bytes of the text; 0: there is none. */
  readonly #length: Int32Array;
  readonly #text: Uint8Array;

  constructor(memory = new SharedArrayBuffer(LENGTH_BYTES + TEXT_BYTES)) {
    this.memory = memory;
    this.#length = new Int32Array(memory, 0, 1);
    this.#text = new Uint8Array(memory, LENGTH_BYTES);
  }

  /** Writes the reason, truncated to the room. */
  write(reason: string): void {
    const bytes = new TextEncoder().encode(reason).subarray(0, TEXT_BYTES);
    this.#text.set(bytes);
    Atomics.store(this.#length, 0, bytes.length);
  }

  /** Returns and clears the reason. Null: none was written since. */
  take(): string | null {
    const length = Atomics.exchange(this.#length, 0, 0);
    return length === 0 ? null : new TextDecoder().decode(this.#text.slice(0, length));
  }
}

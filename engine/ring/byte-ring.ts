/**
 * Bytes from one thread to another through shared memory, in the order in which they were written.
 * One thread writes and one reads. Nothing here waits: bell.ts does.
 */
import { invariant } from '../base/invariant.ts';

/**
 * Words of 32 bits, each in a separate cache line, because the two threads write them all the time.
 */
const HEAD = 0;
const TAIL = 16;
const WANTED = 32;
const HEADER_BYTES = 192;

export function ringMemory(capacityBytes: number): SharedArrayBuffer {
  return new SharedArrayBuffer(HEADER_BYTES + capacityBytes);
}

export class ByteRing {
  readonly #words: Int32Array;
  readonly #bytes: Buffer;
  /** The capacity less one: positions grow modulo 2^32, and this masks their offset. */
  readonly #mask: number;
  /** The writer's position: after its last byte, published or not. */
  #head: number;
  #published: number;
  /** The reader's position. */
  #tail: number;

  /**
   * Each of the two threads creates one over the same `ringMemory`, whose size is a power of two.
   */
  constructor(memory: SharedArrayBuffer) {
    const capacity = memory.byteLength - HEADER_BYTES;
    invariant(
      capacity > 0 && (capacity & (capacity - 1)) === 0,
      'the size of a ring is no power of two',
    );
    this.#words = new Int32Array(memory, 0, HEADER_BYTES / Int32Array.BYTES_PER_ELEMENT);
    this.#bytes = Buffer.from(memory, HEADER_BYTES);
    this.#mask = capacity - 1;
    this.#head = Atomics.load(this.#words, HEAD);
    this.#published = this.#head;
    this.#tail = Atomics.load(this.#words, TAIL);
    const used = (this.#head - this.#tail) | 0;
    invariant(
      used >= 0 && used <= capacity,
      'the positions of a ring differ by more than its size',
    );
  }

  /** For the writer: bytes that it may write now. */
  get room(): number {
    const used = (this.#head - Atomics.load(this.#words, TAIL)) | 0;
    invariant(used >= 0 && used <= this.#mask + 1, 'a ring contains more than its size');
    return this.#mask + 1 - used;
  }

  /** Writes as many of these bytes as fit. The reader sees them once they are published. */
  write(from: Buffer, start: number, end: number): number {
    invariant(
      start >= 0 && start <= end && end <= from.length,
      'a range to write lies outside its bytes',
    );
    const bytes = Math.min(this.room, end - start);
    const at = this.#head & this.#mask;
    const beforeEdge = Math.min(bytes, this.#mask + 1 - at);
    from.copy(this.#bytes, at, start, start + beforeEdge);
    if (beforeEdge < bytes) from.copy(this.#bytes, 0, start + beforeEdge, start + bytes);
    this.#head = (this.#head + bytes) | 0;
    return bytes;
  }

  /** Makes all written bytes visible to the reader. False: there were no new ones. */
  publish(): boolean {
    if (this.#head === this.#published) return false;
    invariant(((this.#head - this.#published) | 0) > 0, 'the published position moved back');
    this.#published = this.#head;
    Atomics.store(this.#words, HEAD, this.#head);
    return true;
  }

  /** Notes that the writer waits for room. `takeWanted` returns that once. */
  wantRoom(): void {
    Atomics.store(this.#words, WANTED, 1);
  }

  /** For the reader: bytes that it may read now. */
  get waiting(): number {
    const waiting = (Atomics.load(this.#words, HEAD) - this.#tail) | 0;
    invariant(waiting >= 0 && waiting <= this.#mask + 1, 'a ring has published more than its size');
    return waiting;
  }

  /** Moves published bytes to `to` from `at` on, as many as fit. @returns how many bytes. */
  read(to: Buffer, at: number): number {
    invariant(at >= 0 && at < to.length, 'a ring is read to a place outside the buffer');
    const bytes = Math.min(this.waiting, to.length - at);
    const from = this.#tail & this.#mask;
    const beforeEdge = Math.min(bytes, this.#mask + 1 - from);
    this.#bytes.copy(to, at, from, from + beforeEdge);
    if (beforeEdge < bytes) this.#bytes.copy(to, at + beforeEdge, 0, bytes - beforeEdge);
    this.#tail = (this.#tail + bytes) | 0;
    Atomics.store(this.#words, TAIL, this.#tail);
    return bytes;
  }

  /** For the reader, after `read`: whether the writer waits for room. True once per `wantRoom`. */
  takeWanted(): boolean {
    return (
      Atomics.load(this.#words, WANTED) === 1 && Atomics.exchange(this.#words, WANTED, 0) === 1
    );
  }
}

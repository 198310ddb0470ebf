/**
 * Bytes from one thread to another through memory that both have, in the order in which they were
 * written. One thread writes and one reads. Nobody waits in here: bell.ts does.
 */
import { invariant } from '../rules/invariant.ts';

/** Words of 32 bits, each in a cache line of its own: the two threads write them all the time. */
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
  /** The capacity less one: positions count on for ever, modulo 2^32, and this finds their place. */
  readonly #mask: number;
  /** The writer's position: behind what it has written, published or not. */
  #head: number;
  #published: number;
  /** The reader's position. */
  #tail: number;

  /** Each of the two threads makes one over the same `ringMemory`, of a power of two bytes. */
  constructor(memory: SharedArrayBuffer) {
    const capacity = memory.byteLength - HEADER_BYTES;
    invariant(capacity > 0 && (capacity & (capacity - 1)) === 0, 'a ring is no power of two');
    this.#words = new Int32Array(memory, 0, HEADER_BYTES / Int32Array.BYTES_PER_ELEMENT);
    this.#bytes = Buffer.from(memory, HEADER_BYTES);
    this.#mask = capacity - 1;
    this.#head = Atomics.load(this.#words, HEAD);
    this.#published = this.#head;
    this.#tail = Atomics.load(this.#words, TAIL);
    const used = (this.#head - this.#tail) | 0;
    invariant(used >= 0 && used <= capacity, 'the ends of a ring are apart by more than it holds');
  }

  /** For the writer: bytes that it may write now. */
  get room(): number {
    const used = (this.#head - Atomics.load(this.#words, TAIL)) | 0;
    invariant(used >= 0 && used <= this.#mask + 1, 'a ring holds more than it has room for');
    return this.#mask + 1 - used;
  }

  /** Takes as many of these bytes as there is room for. The reader sees them once published. */
  write(from: Buffer, start: number, end: number): number {
    invariant(start >= 0 && start <= end && end <= from.length, 'a ring is given bytes of nobody');
    const bytes = Math.min(this.room, end - start);
    const at = this.#head & this.#mask;
    const beforeEdge = Math.min(bytes, this.#mask + 1 - at);
    from.copy(this.#bytes, at, start, start + beforeEdge);
    if (beforeEdge < bytes) from.copy(this.#bytes, 0, start + beforeEdge, start + bytes);
    this.#head = (this.#head + bytes) | 0;
    return bytes;
  }

  /** Shows the reader all that was written. False: there was nothing more to show. */
  publish(): boolean {
    if (this.#head === this.#published) return false;
    invariant(((this.#head - this.#published) | 0) > 0, 'what was published is taken back');
    this.#published = this.#head;
    Atomics.store(this.#words, HEAD, this.#head);
    return true;
  }

  /** The writer has more than there is room for: `read` answers that once. */
  wantRoom(): void {
    Atomics.store(this.#words, WANTED, 1);
  }

  /** For the reader: bytes that it may read now. */
  get waiting(): number {
    const waiting = (Atomics.load(this.#words, HEAD) - this.#tail) | 0;
    invariant(waiting >= 0 && waiting <= this.#mask + 1, 'a ring shows more than it has room for');
    return waiting;
  }

  /** Moves what is published, as much as `to` has space for behind `at`. @returns how many bytes. */
  read(to: Buffer, at: number): number {
    invariant(at >= 0 && at < to.length, 'a ring is read into no place');
    const bytes = Math.min(this.waiting, to.length - at);
    const from = this.#tail & this.#mask;
    const beforeEdge = Math.min(bytes, this.#mask + 1 - from);
    this.#bytes.copy(to, at, from, from + beforeEdge);
    if (beforeEdge < bytes) this.#bytes.copy(to, at + beforeEdge, 0, bytes - beforeEdge);
    this.#tail = (this.#tail + bytes) | 0;
    Atomics.store(this.#words, TAIL, this.#tail);
    return bytes;
  }

  /** For the reader, behind `read`: whether the writer waits for room. It is asked to go on once. */
  takeWanted(): boolean {
    return (
      Atomics.load(this.#words, WANTED) === 1 && Atomics.exchange(this.#words, WANTED, 0) === 1
    );
  }
}

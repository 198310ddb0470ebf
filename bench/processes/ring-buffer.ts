/**
 * Frames from one thread to another through shared memory: one writes, one reads, in order. Written
 * frames become visible at `publish`. The reader sleeps, and is woken, only when there are none.
 */

/** Indexes of the control words: words written and read so far, and whether the reader sleeps. */
const WRITTEN = 0;
const READ = 1;
const ASLEEP = 2;
const CONTROL_BYTES = 64;
/** A power of two. Frames in flight must fit. */
const WORDS = 2 ** 20;
/** Marks that the next frame would not fit before the end and is at the start instead. */
const WRAP = -1;

export type RingMemory = SharedArrayBuffer;

export function ringMemory(): RingMemory {
  return new SharedArrayBuffer(CONTROL_BYTES + WORDS * 4);
}

class Ring {
  protected readonly control: Int32Array<SharedArrayBuffer>;
  protected readonly words: Int32Array;
  protected readonly bytes: Buffer;

  constructor(memory: RingMemory) {
    this.control = new Int32Array(memory, 0, CONTROL_BYTES / 4);
    this.words = new Int32Array(memory, CONTROL_BYTES);
    this.bytes = Buffer.from(memory, CONTROL_BYTES);
  }
}

export class RingWriter extends Ring {
  #written = 0;

  /** Writes a frame: its kind, a byte, and a text of one byte per character. */
  write(kind: number, text: string): void {
    const length = text.length + 1;
    const needed = 1 + ((length + 3) >> 2);
    let at = this.#written & (WORDS - 1);
    const skipped = at + needed > WORDS ? WORDS - at : 0;
    const waiting = (this.#written - Atomics.load(this.control, READ)) | 0;
    if (waiting + skipped + needed > WORDS) throw new Error('the ring of the bench is too small');
    if (skipped > 0) {
      this.words[at] = WRAP;
      this.#written = (this.#written + skipped) | 0;
      at = 0;
    }
    this.words[at] = length;
    this.bytes[at * 4 + 4] = kind;
    this.bytes.write(text, at * 4 + 5, 'latin1');
    this.#written = (this.#written + needed) | 0;
  }

  /** Publishes the frames written since the last call, and wakes a sleeping reader. */
  publish(): void {
    Atomics.store(this.control, WRITTEN, this.#written);
    if (Atomics.exchange(this.control, ASLEEP, 0) === 1) Atomics.notify(this.control, WRITTEN);
  }
}

export class RingReader extends Ring {
  #read = 0;

  /** Each available frame: `bytes` from `start` to `end` are its text. */
  drain(take: (kind: number, bytes: Buffer, start: number, end: number) => void): void {
    const written = Atomics.load(this.control, WRITTEN);
    while (this.#read !== written) {
      const at = this.#read & (WORDS - 1);
      const length = this.words[at]!;
      if (length === WRAP) {
        this.#read = (this.#read + WORDS - at) | 0;
        continue;
      }
      const start = at * 4 + 4;
      take(this.bytes[start]!, this.bytes, start + 1, start + length);
      this.#read = (this.#read + 1 + ((length + 3) >> 2)) | 0;
    }
    Atomics.store(this.control, READ, this.#read);
  }

  /** Blocks this thread until there is a frame. */
  wait(): void {
    if (this.#isEmpty()) Atomics.store(this.control, ASLEEP, 1);
    // Returns at once if a frame arrived in between.
    Atomics.wait(this.control, WRITTEN, this.#read);
  }

  /** The same without blocking. */
  async arrival(): Promise<void> {
    if (this.#isEmpty()) Atomics.store(this.control, ASLEEP, 1);
    await Atomics.waitAsync(this.control, WRITTEN, this.#read).value;
  }

  #isEmpty(): boolean {
    return Atomics.load(this.control, WRITTEN) === this.#read;
  }
}

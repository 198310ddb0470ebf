/**
 * Ends a thread that uses more heap than it may, from outside. Node's own limit cannot: it gives a
 * full heap 16 MiB more, and a single array or map that grows by more ends the whole process. Rule
 * D105 (engine/RULES.md).
 */
import type { ResourceLimits, Worker } from 'node:worker_threads';

/** A look costs the caller 43 µs, so a thread that works costs a thousandth of a core. */
const EVERY_MS = 50;
/**
 * How much further away Node's own limit is: the watch needs time, and an array that grows needs up to
 * two and a half times its memory. V8 collects garbage later below a higher limit, and much later from
 * 2 GiB on.
 */
const NODE_MORE_MIB = 1000;
/**
 * At Node's limit, the thread ends alone if its young objects fit in the 16 MiB. At most two thirds
 * of these survive a collection.
 */
const YOUNG_MIB = 12;
const HEAP_CODE = 'ERR_WORKER_OUT_OF_MEMORY';

/** The limits that Node itself gives to a thread whose heap is watched. @param mib what it may use */
export function nodeLimits(mib: number): ResourceLimits {
  return {
    maxOldGenerationSizeMb: mib + NODE_MORE_MIB,
    maxYoungGenerationSizeMb: YOUNG_MIB,
  };
}

export class HeapWatch {
  readonly #worker: Worker;
  readonly #bytesMax: number;
  readonly #isOver: (error: Error) => void;
  #timer: NodeJS.Timeout | null = null;
  /** A look waits for the thread, which collects garbage perhaps. */
  #isLooking = false;

  /**
   * @param mib the heap that it may use, garbage included
   * @param isOver called at each look that sees more
   */
  constructor(worker: Worker, mib: number, isOver: (error: Error) => void) {
    this.#worker = worker;
    this.#bytesMax = mib * 2 ** 20;
    this.#isOver = isOver;
  }

  begin(): void {
    this.#timer ??= setInterval(() => void this.#look(), EVERY_MS).unref();
  }

  end(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const { used_heap_size: bytes } = await this.#worker.getHeapStatistics();
      if (bytes > this.#bytesMax && this.#timer !== null) this.#isOver(overHeap(bytes));
    } catch (error) {
      // It loads its first module, or has ended.
      if ((error as NodeJS.ErrnoException).code !== 'ERR_WORKER_NOT_RUNNING') throw error;
    } finally {
      this.#isLooking = false;
    }
  }
}

/** As Node's own error at a full heap. */
function overHeap(bytes: number): Error {
  const error = new Error(`the thread uses ${Math.round(bytes / 2 ** 20)} MiB of heap`);
  return Object.assign(error, { code: HEAP_CODE });
}

/** Whether a thread ended because its heap was full. */
export function isOfHeap(error: Error): boolean {
  return (error as NodeJS.ErrnoException).code === HEAP_CODE;
}

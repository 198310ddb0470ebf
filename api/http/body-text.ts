/** The body of a request as its chunks arrive, joined within a size limit. */

/** The outcome of reading a body. */
export type BodyText = { ok: true; text: string } | { ok: false; fault: 'too_large' | 'not_utf8' };

const FIRST_BUFFER_BYTES = 4096;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export class BodyBytes {
  readonly #maxBytes: number;
  #partial: Buffer | null = null;
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The whole body, or its fault; null while chunks are missing. Copies the chunk. */
  take(chunk: ArrayBuffer, isLast: boolean): BodyText | null {
    const end = this.#size + chunk.byteLength;
    if (end > this.#maxBytes) return { ok: false, fault: 'too_large' };
    if (isLast && this.#partial === null) return textOf(chunk);
    this.#partial = roomFor(this.#partial, this.#size, end);
    this.#partial.set(new Uint8Array(chunk), this.#size);
    this.#size = end;
    return isLast ? textOf(this.#partial.subarray(0, end)) : null;
  }
}

/** More of a body than any route reads. */
const EARLY_BYTES_MAX = 2 * 2 ** 20;

type TakeChunk = (chunk: ArrayBuffer, isLast: boolean) => void;

/**
 * The body that arrives before its request is looked at, because uWebSockets.js keeps none of it.
 */
export class EarlyBody {
  readonly #chunks: ArrayBuffer[] = [];
  #size = 0;
  #isWhole = false;
  #take: TakeChunk = (chunk, isLast) => {
    this.#isWhole = isLast;
    this.#size += chunk.byteLength;
    // A reader with a smaller limit refuses it by its size.
    if (this.#size - chunk.byteLength <= EARLY_BYTES_MAX) this.#chunks.push(chunk.slice());
  };

  constructor(response: { onData(take: TakeChunk): unknown }) {
    response.onData((chunk, isLast) => this.#take(chunk, isLast));
  }

  /** Passes on the chunks so far, and each later chunk. */
  passTo(take: TakeChunk): void {
    this.#take = take;
    const last = this.#chunks.length - 1;
    for (const [at, chunk] of this.#chunks.entries()) take(chunk, this.#isWhole && at === last);
  }
}

/** A buffer with `size` bytes of `partial` and space up to `end`. */
function roomFor(partial: Buffer | null, size: number, end: number): Buffer {
  if (partial !== null && end <= partial.length) return partial;
  const bytes = Math.max(FIRST_BUFFER_BYTES, 2 ** Math.ceil(Math.log2(end)));
  const grown = Buffer.allocUnsafe(bytes);
  partial?.copy(grown, 0, 0, size);
  return grown;
}

function textOf(bytes: ArrayBuffer | Uint8Array): BodyText {
  try {
    return { ok: true, text: utf8.decode(bytes) };
  } catch {
    return { ok: false, fault: 'not_utf8' };
  }
}

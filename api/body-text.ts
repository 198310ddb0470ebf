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

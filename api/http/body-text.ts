/** The body of a request as its chunks arrive, joined within a size limit. Rules A9, A243 (api/RULES.md). */

/** The outcome of reading a body. */
export type BodyText = { ok: true; text: string } | { ok: false; fault: BodyFault };
export type BodyFault = 'too_large' | 'not_utf8' | 'no_room';

/** The most that unfinished bodies of a listener take, of one caller and of all. Rule A243 (api/RULES.md). */
const CALLER_BYTES_MAX = 64 * 2 ** 20;
const ALL_BYTES_MAX = 2 * CALLER_BYTES_MAX;

/** How much memory the unfinished bodies of a listener take, by caller. */
export class UnfinishedBodies {
  readonly #byCaller = new Map<string, number>();
  #bytes = 0;

  /**
   * Counts so many bytes more; false, and nothing is counted: there is no room.
   *
   * @param by the caller, by credential or address
   */
  take(by: string, bytes: number): boolean {
    const ofCaller = (this.#byCaller.get(by) ?? 0) + bytes;
    if (ofCaller > CALLER_BYTES_MAX || this.#bytes + bytes > ALL_BYTES_MAX) return false;
    this.#byCaller.set(by, ofCaller);
    this.#bytes += bytes;
    return true;
  }

  release(by: string, bytes: number): void {
    if (bytes === 0) return;
    const ofCaller = this.#byCaller.get(by)! - bytes;
    if (ofCaller === 0) this.#byCaller.delete(by);
    else this.#byCaller.set(by, ofCaller);
    this.#bytes -= bytes;
  }
}

const FIRST_BUFFER_BYTES = 4096;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export class BodyBytes {
  readonly #maxBytes: number;
  readonly #unfinished: UnfinishedBodies;
  readonly #by: string;
  #partial: Buffer | null = null;
  #size = 0;

  /** @param by the caller, by credential or address */
  constructor(maxBytes: number, unfinished: UnfinishedBodies, by: string) {
    this.#maxBytes = maxBytes;
    this.#unfinished = unfinished;
    this.#by = by;
  }

  /** The whole body, or its fault; null while chunks are missing. Copies the chunk. */
  take(chunk: ArrayBuffer, isLast: boolean): BodyText | null {
    const end = this.#size + chunk.byteLength;
    if (end > this.#maxBytes) return this.#fault('too_large');
    if (isLast && this.#partial === null) return textOf(chunk);
    if (!this.#makeRoom(end)) return this.#fault('no_room');
    this.#partial!.set(new Uint8Array(chunk), this.#size);
    this.#size = end;
    if (!isLast) return null;
    const text = textOf(this.#partial!.subarray(0, end));
    this.drop();
    return text;
  }

  /** Nobody reads it any more. */
  drop(): void {
    if (this.#partial !== null) this.#unfinished.release(this.#by, this.#partial.length);
    this.#partial = null;
  }

  #fault(fault: BodyFault): BodyText {
    this.drop();
    return { ok: false, fault };
  }

  /** A buffer of at least `bytes`, with the chunks so far; false: there is no room. */
  #makeRoom(bytes: number): boolean {
    const partial = this.#partial;
    if (partial !== null && bytes <= partial.length) return true;
    const needs = Math.max(FIRST_BUFFER_BYTES, 2 ** Math.ceil(Math.log2(bytes)));
    if (!this.#unfinished.take(this.#by, needs - (partial?.length ?? 0))) return false;
    this.#partial = Buffer.allocUnsafe(needs);
    partial?.copy(this.#partial, 0, 0, this.#size);
    return true;
  }
}

type TakeChunk = (chunk: ArrayBuffer, isLast: boolean) => void;

/**
 * The body that arrives before its request is looked at, because uWebSockets.js keeps none of it.
 */
export class EarlyBody {
  readonly #unfinished: UnfinishedBodies;
  readonly #by: string;
  #chunks: ArrayBuffer[] = [];
  #kept = 0;
  #isWhole = false;
  #isCut = false;
  #take: TakeChunk = (chunk, isLast) => {
    this.#isWhole = isLast;
    if (this.#isCut) return;
    this.#isCut = !this.#unfinished.take(this.#by, chunk.byteLength);
    if (this.#isCut) return;
    this.#kept += chunk.byteLength;
    this.#chunks.push(chunk.slice());
  };

  /** @param by the caller, by credential or address */
  constructor(
    response: { onData(take: TakeChunk): unknown },
    unfinished: UnfinishedBodies,
    by: string,
  ) {
    this.#unfinished = unfinished;
    this.#by = by;
    response.onData((chunk, isLast) => this.#take(chunk, isLast));
  }

  /** Chunks of it are lost, because there was no room. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** Passes on the chunks so far, and each later chunk. */
  passTo(take: TakeChunk): void {
    this.#take = take;
    const chunks = this.#chunks;
    this.drop();
    const last = chunks.length - 1;
    for (const [at, chunk] of chunks.entries()) take(chunk, this.#isWhole && at === last);
  }

  /** Nobody reads it any more: it keeps nothing of what still comes. */
  drop(): void {
    this.#unfinished.release(this.#by, this.#kept);
    this.#kept = 0;
    this.#chunks = [];
    this.#isCut = true;
  }
}

function textOf(bytes: ArrayBuffer | Uint8Array): BodyText {
  try {
    return { ok: true, text: utf8.decode(bytes) };
  } catch {
    return { ok: false, fault: 'not_utf8' };
  }
}

/**
 * Frames out of a ring, one behind the other. The ring carries bytes, so a frame may be larger than
 * the ring.
 */
import { EXTENSION, FRAME_BYTES_MAX, FRAME_HEADER_BYTES, type Frame } from '../format/frame.ts';
import { invariant } from '../rules/invariant.ts';
import type { ByteRing } from './byte-ring.ts';

/** What is taken out of the ring in one go. */
const CHUNK_BYTES = 64 * 1024;

export class FrameReader {
  readonly #ring: ByteRing;
  #bytes = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  /** What was taken out of the ring, and belongs to no frame that `next` has shown. */
  #start = 0;
  #end = 0;
  readonly #frame: Frame = { type: 0, bytes: this.#bytes, at: 0, end: 0 };

  constructor(ring: ByteRing) {
    this.#ring = ring;
  }

  /** Whether a frame is there whole; takes what it needs for that out of the ring. */
  isReady(): boolean {
    while (this.#missing() > 0) {
      if (this.#ring.waiting === 0) return false;
      this.#makeSpace();
      const read = this.#ring.read(this.#bytes, this.#end);
      invariant(read > 0, 'a ring shows bytes and gives none');
      this.#end += read;
    }
    return true;
  }

  /** Shows the next frame, which `isReady` has found; it stays as it is until `isReady`. */
  next(): Frame {
    const start = this.#start;
    const bytes = this.#bytes;
    const frame = this.#frame;
    invariant(bytes[start] === EXTENSION, 'a ring holds something that is no frame');
    this.#start = start + FRAME_HEADER_BYTES + bytes.readUInt32BE(start + 1);
    invariant(this.#start <= this.#end, 'a frame is read before all of it is there');
    frame.type = bytes[start + 5]!;
    frame.bytes = bytes;
    frame.at = start + FRAME_HEADER_BYTES;
    frame.end = this.#start;
    return frame;
  }

  /** Bytes that the next frame still needs. */
  #missing(): number {
    const have = this.#end - this.#start;
    return have < FRAME_HEADER_BYTES ? FRAME_HEADER_BYTES - have : this.#frameBytes() - have;
  }

  #frameBytes(): number {
    const bytes = this.#bytes.readUInt32BE(this.#start + 1);
    invariant(bytes <= FRAME_BYTES_MAX, 'a frame is longer than any may be');
    return FRAME_HEADER_BYTES + bytes;
  }

  /** Moves what is left to the front of a buffer that the next frame fits into. */
  #makeSpace(): void {
    const have = this.#end - this.#start;
    const needed = have < FRAME_HEADER_BYTES ? FRAME_HEADER_BYTES : this.#frameBytes();
    const size = Math.max(CHUNK_BYTES, needed);
    if (size === this.#bytes.length && this.#start === 0) return;
    const to = size === this.#bytes.length ? this.#bytes : Buffer.allocUnsafeSlow(size);
    this.#bytes.copy(to, 0, this.#start, this.#end);
    this.#bytes = to;
    this.#start = 0;
    this.#end = have;
  }
}

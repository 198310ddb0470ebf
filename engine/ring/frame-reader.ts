/**
 * Reads frames from a ring, one after another. The ring carries bytes, so a frame may be larger
 * than the ring.
 */

import { invariant } from '../base/invariant.ts';
import { EXTENSION, FRAME_BYTES_MAX, FRAME_HEADER_BYTES, type Frame } from '../format/frame.ts';
import type { ByteRing } from './byte-ring.ts';

/** Bytes read from the ring at once. */
const CHUNK_BYTES = 64 * 1024;

export class FrameReader {
  readonly #ring: ByteRing;
  #bytes = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  /** Bytes read from the ring that belong to frames not yet returned by `next`. */
  #start = 0;
  #end = 0;
  readonly #frame: Frame = { type: 0, bytes: this.#bytes, at: 0, end: 0 };

  constructor(ring: ByteRing) {
    this.#ring = ring;
  }

  /** Whether a whole frame has arrived; reads the bytes that it needs from the ring. */
  isReady(): boolean {
    while (this.#missing() > 0) {
      if (this.#ring.waiting === 0) return false;
      this.#makeSpace();
      const read = this.#ring.read(this.#bytes, this.#end);
      invariant(read > 0, 'a ring with bytes to read returned none');
      this.#end += read;
    }
    return true;
  }

  /** Returns the next frame, which `isReady` has found; valid until `isReady`. */
  next(): Frame {
    const start = this.#start;
    const bytes = this.#bytes;
    const frame = this.#frame;
    invariant(bytes[start] === EXTENSION, 'a ring contains something that is no frame');
    this.#start = start + FRAME_HEADER_BYTES + bytes.readUInt32BE(start + 1);
    invariant(this.#start <= this.#end, 'a frame is read before all of it has arrived');
    frame.type = bytes[start + 5]!;
    frame.bytes = bytes;
    frame.at = start + FRAME_HEADER_BYTES;
    frame.end = this.#start;
    return frame;
  }

  /** Bytes read from the ring that `next` has not returned. */
  get unreadBytes(): number {
    return this.#end - this.#start;
  }

  /** Bytes that the next frame still needs. */
  #missing(): number {
    const have = this.#end - this.#start;
    return have < FRAME_HEADER_BYTES ? FRAME_HEADER_BYTES - have : this.#frameBytes() - have;
  }

  #frameBytes(): number {
    const bytes = this.#bytes.readUInt32BE(this.#start + 1);
    invariant(bytes <= FRAME_BYTES_MAX, 'a frame is longer than allowed');
    return FRAME_HEADER_BYTES + bytes;
  }

  /** Moves the unread bytes to the front of a buffer into which the next frame fits. */
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

/**
 * A frame between two threads: an extension value of msgpack with its length in 32 bits. So a
 * stream of frames is a stream of msgpack, which any msgpack reader can split.
 */
import { invariant } from '../base/invariant.ts';
import type { ByteWriter } from './bytes.ts';

/** The first byte of a frame; its length and its type follow. */
export const EXTENSION = 0xc9;
export const FRAME_HEADER_BYTES = 6;
const TYPE_MAX = 255;
/** Far larger than any message. A larger length was read from the wrong place. */
export const FRAME_BYTES_MAX = 2 ** 30;

/** A frame in place: its bytes are `bytes` from `at` to `end`. */
export type Frame = { type: number; bytes: Buffer; at: number; end: number };

/** @returns where it begins. */
export function beginFrame(to: ByteWriter, type: number): number {
  invariant(type >= 0 && type <= TYPE_MAX, 'a frame has a type that is no byte');
  const start = to.claim(FRAME_HEADER_BYTES);
  to.memory.setUint8(start, EXTENSION);
  to.memory.setUint8(start + FRAME_HEADER_BYTES - 1, type);
  return start;
}

/** Changes the type of the frame. */
export function setFrameType(to: ByteWriter, start: number, type: number): void {
  const at = start + FRAME_HEADER_BYTES - 1;
  invariant(at < to.length, 'a frame gets a type before it is begun');
  to.memory.setUint8(at, type);
}

export function endFrame(to: ByteWriter, start: number): void {
  const bytes = to.length - start - FRAME_HEADER_BYTES;
  invariant(bytes >= 0, 'a frame ends before it begins');
  invariant(bytes <= FRAME_BYTES_MAX, 'a message is longer than a frame may be');
  to.setU32(start + 1, bytes);
}

/** Consecutive frames. */
export function* framesIn(bytes: Buffer): Generator<Frame> {
  for (let start = 0; start < bytes.length; ) {
    const frame = frameAt(bytes, start);
    yield frame;
    start = frame.end;
  }
}

export function frameAt(bytes: Buffer, start: number): Frame {
  invariant(bytes[start] === EXTENSION, 'bytes between frames are no frame');
  const at = start + FRAME_HEADER_BYTES;
  const end = at + bytes.readUInt32BE(start + 1);
  return { type: bytes[at - 1]!, bytes, at, end };
}

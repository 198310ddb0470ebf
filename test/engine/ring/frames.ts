/** Frames of any size whose bytes say which one it is, for tests of the rings. */

import { ByteWriter } from '../../../engine/format/bytes.ts';
import { beginFrame, endFrame, type Frame } from '../../../engine/format/frame.ts';

const writer = new ByteWriter();

/** The frame number `number` of `bytes` bytes after its header; valid until the next call. */
export function numberedFrame(number: number, bytes: number): Buffer {
  writer.begin();
  const start = beginFrame(writer, number & 127);
  writer.packed(Buffer.alloc(bytes, number & 255));
  endFrame(writer, start);
  return writer.view(0, writer.length);
}

/** The problem of a frame that should be number `number`; null: there is none. */
export function faultOf({ type, bytes, at, end }: Frame, number: number): string | null {
  if (type !== (number & 127)) return `frame ${number} has the type ${type}`;
  const isWhole = bytes.subarray(at, end).every((byte) => byte === (number & 255));
  return isWhole ? null : `frame ${number} has bytes of another one`;
}

/** Numbers from 0 up to, without, `max`; the same ones for the same seed. */
export function randomNumbers(seed: number): (max: number) => number {
  let state = seed;
  return (max) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * max);
  };
}

/** Messages and replies on their way between two threads, without the threads. */

import { ByteWriter } from '../../../engine/format/bytes.ts';
import {
  FrameDecoder,
  type Message,
  writeMessage,
  writeReply,
} from '../../../engine/format/codec.ts';
import { FRAME_HEADER_BYTES, type Frame } from '../../../engine/format/frame.ts';
import type { Reply } from '../../../engine/rules/messages.ts';

/** The frames that lie one after the other in `bytes`. */
export function framesOf(bytes: Buffer): Frame[] {
  const frames: Frame[] = [];
  for (let start = 0; start < bytes.length; ) {
    const at = start + FRAME_HEADER_BYTES;
    const end = at + bytes.readUInt32BE(start + 1);
    frames.push({ type: bytes[at - 1]!, bytes, at, end });
    start = end;
  }
  return frames;
}

/** As a shard gets them. */
export function messagesThrough(messages: readonly Message[]): Message[] {
  const decoder = new FrameDecoder();
  const frames = written((to) => {
    for (const message of messages) writeMessage(to, message);
  });
  return frames.map((frame) => decoder.message(frame) as Message);
}

/** As a shard's callers get them. */
export function repliesThrough<T extends Reply | null>(replies: readonly T[]): T[] {
  const decoder = new FrameDecoder();
  const frames = written((to) => {
    for (const reply of replies) writeReply(to, reply);
  });
  return frames.map((frame) => decoder.reply(frame) as T);
}

function written(write: (to: ByteWriter) => void): Frame[] {
  const writer = new ByteWriter();
  writer.begin();
  write(writer);
  return framesOf(writer.copy());
}

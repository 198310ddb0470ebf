/**
 * Messages to a shard and its replies as frames. The most frequent messages have a fixed layout, an
 * answer is its own text, and all others are msgpack.
 */
import { Packr } from 'msgpackr';
import { invariant } from '../base/invariant.ts';
import type { TradeLimitsLeft } from '../rules/limits-left.ts';
import type { Command, Refusal, Reply, Tick } from '../rules/messages.ts';
import type { Query } from '../rules/queries.ts';
import { ByteReader, type ByteWriter, bufferOf } from './bytes.ts';
import {
  beginFrame,
  endFrame,
  FRAME_HEADER_BYTES,
  type Frame,
  frameAt,
  framesIn,
  setFrameType,
} from './frame.ts';
import { type Compiled, compile, type Layout } from './layout.ts';
import { LIMITS_BYTES, readLimits, writeLimits } from './limits-layout.ts';
import { MESSAGE_LAYOUTS } from './message-layouts.ts';

/** Messages to a shard. Ticks are not answered. */
export type Message = Tick | Command | Query;

/**
 * For the shard's thread. Answered in the order of the requests, so all earlier messages are done.
 */
export type Control = { kind: 'barrier' } | { kind: 'close' };
/**
 * Ticks that `writeMessage` has packed already. `ticks` is their number. If it is null, the sender
 * waits until they are taken, so that no queue of them needs a bound.
 */
export type Packed = { kind: 'packed'; bytes: Uint8Array; ticks: number | null };
export type Sent = Message | Control | Packed;

// A writer must not learn the shapes of objects: another reader would not know them.
const packr = new Packr({ structures: [], maxSharedStructures: 0 });

/** The small state that a checkpoint keeps beside its pages. */
export const headCodec = {
  pack: (value: object): Uint8Array<ArrayBuffer> => Uint8Array.from(packr.pack(value)),
  unpack: (bytes: Uint8Array): object => packr.unpack(bytes),
};

const AS_MSGPACK = 0;
type Kind = keyof typeof MESSAGE_LAYOUTS;
const KINDS = Object.keys(MESSAGE_LAYOUTS) as Kind[];
/** By the type of their frame. */
const LAYOUTS: (Compiled<Sent> | null)[] = [
  null,
  ...KINDS.map((kind) => compile(MESSAGE_LAYOUTS[kind] as unknown as Layout<Sent>)),
];
const TYPES = new Map<string, number>(KINDS.map((kind, at) => [kind, at + 1]));

const QUOTE = TYPES.get('quote')!;
const DEEP_QUOTE = TYPES.get('deep_quote')!;
const CHANGED_QUOTE = TYPES.get('changed_quote')!;

function typeOf(message: Sent): number {
  if (message.kind !== 'quote') return TYPES.get(message.kind) ?? AS_MSGPACK;
  if (message.unknown || message.sinceMs !== undefined) return AS_MSGPACK;
  if (message.depth !== undefined) return DEEP_QUOTE;
  return message.depthChange === undefined ? QUOTE : CHANGED_QUOTE;
}

export function writeMessage(to: ByteWriter, message: Sent): void {
  const type = typeOf(message);
  const layout = LAYOUTS[type] ?? null;
  if (message.kind === 'packed') return to.packed(message.bytes);
  const start = beginFrame(to, type);
  if (layout === null) to.packed(packr.pack(message));
  else layout.write(to, message);
  endFrame(to, start);
}

/** The ticks in bytes that `writeMessage` has written. */
export function ticksIn(bytes: Uint8Array): Tick[] {
  const decoder = new FrameDecoder();
  const ticks: Tick[] = [];
  const buffer = bufferOf(bytes);
  for (let start = 0; start < buffer.length; ) {
    const frame = frameAt(buffer, start);
    ticks.push(decoder.message(frame) as Tick);
    start = frame.end;
  }
  return ticks;
}

/** Each end has its own instance, because reading has state. */
export class FrameDecoder {
  readonly #reader = new ByteReader(Buffer.alloc(0));

  message({ type, bytes, at, end }: Frame): Message | Control {
    const layout = LAYOUTS[type];
    invariant(layout !== undefined, 'a shard received a frame that is no message');
    if (layout === null) return packr.unpack(bytes.subarray(at, end));
    this.#reader.begin(bytes, at, end);
    const message = layout.read(this.#reader) as Message | Control;
    invariant(this.#reader.isAtEnd, 'a message is longer than its layout');
    return message;
  }

  reply({ type, bytes, at, end }: Frame): Reply | null {
    if (type === ANSWERED || type === ANSWERED_WITH_LIMITS) {
      const jsonEnd = jsonEndOf(type, end);
      const body = bytes.toString(undefined, at, jsonEnd);
      if (type === ANSWERED) return { ok: true, body };
      return { ok: true, body, limits: readLimits(bytes, jsonEnd) };
    }
    if (type === NOT_TAKEN) return null;
    invariant(type === REFUSED, 'a shard sent a frame that is no reply');
    return packr.unpack(bytes.subarray(at, end));
  }
}

/** The JSON of an answer that `isAnswered`, as a view of the frame. */
export function answerBytes({ type, bytes, at, end }: Frame): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset + at, jsonEndOf(type, end) - at);
}

/** The limits of an answer that `isAnswered`; null: it has none. */
export function answerLimits({ type, bytes, end }: Frame): TradeLimitsLeft | null {
  return type === ANSWERED_WITH_LIMITS ? readLimits(bytes, jsonEndOf(type, end)) : null;
}

const ANSWERED = 1;
const REFUSED = 2;
const NOT_TAKEN = 3;
/** The limits follow the JSON. */
const ANSWERED_WITH_LIMITS = 4;

const jsonEndOf = (type: number, end: number) =>
  type === ANSWERED_WITH_LIMITS ? end - LIMITS_BYTES : end;

/** All bytes until `endAnswer` are an answer's JSON. @returns where its frame begins. */
export function beginAnswer(to: ByteWriter): number {
  return beginFrame(to, ANSWERED);
}

/** A refusal replaces the JSON that was written. `limits`: the remaining limits that apply. */
export function endAnswer(
  to: ByteWriter,
  start: number,
  refusal: Refusal | null,
  limits: TradeLimitsLeft | null,
): void {
  if (refusal !== null) {
    to.backTo(start);
    return writeReply(to, limits === null ? refusal : { ...refusal, limits });
  }
  invariant(to.length > start + FRAME_HEADER_BYTES, 'an answer has no text');
  if (limits !== null) {
    setFrameType(to, start, ANSWERED_WITH_LIMITS);
    writeLimits(to, limits);
  }
  endFrame(to, start);
}

/** False: a refusal, or a command that was not taken. */
export function isAnswered({ type }: Frame): boolean {
  return type === ANSWERED || type === ANSWERED_WITH_LIMITS;
}

/** The replies in whole frames. */
export function repliesIn(frames: Buffer): (Reply | null)[] {
  const decoder = new FrameDecoder();
  return Array.from(framesIn(frames), (frame) => decoder.reply(frame));
}

/** Null: the disk has no room for the command. */
export function writeReply(to: ByteWriter, reply: Reply | null): void {
  const start = beginFrame(to, typeOfReply(reply));
  if (reply?.ok) {
    to.rest(reply.body);
    if (reply.limits !== undefined) writeLimits(to, reply.limits);
  } else if (reply !== null) to.packed(packr.pack(reply));
  endFrame(to, start);
}

function typeOfReply(reply: Reply | null): number {
  if (reply === null) return NOT_TAKEN;
  if (!reply.ok) return REFUSED;
  return reply.limits === undefined ? ANSWERED : ANSWERED_WITH_LIMITS;
}

/**
 * The main loop of a shard's thread. It reads the messages that have arrived, answers them once
 * that is safe, and sleeps when there are none. Messages of several callers share a batch. Its event
 * loop turns only while a checkpoint is being written. Otherwise a sleep blocks the thread, and no
 * timer fires in it. Rules D73, D74, D110 (engine/RULES.md).
 */
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { invariant } from '../../base/invariant.ts';
import { type Control, FrameDecoder, type Message } from '../../format/codec.ts';
import type { ShardEnds } from '../../ring/shard-ends.ts';
import type { Batch } from '../core/batch.ts';
import { isTick } from '../core/message-kinds.ts';
import { ReplyEncoder } from '../core/reply-encoder.ts';

/** The parts of a shard that the loop uses. */
export type Served = {
  answer(messages: Batch, answers: ReplyEncoder): void;
  /** Work is in progress that ends only while the thread's event loop turns. */
  readonly isWriting: boolean;
  /** It accepts no batch until `caughtUp` (D43). */
  readonly isBehind: boolean;
  caughtUp(): Promise<void>;
  /**
   * Settles some remaining trades of markets with results; false: none are left, or not now (S15).
   */
  settleSlice(): boolean;
  /** Settling continues once the checkpoint is further. */
  readonly isSettlingPaused: boolean;
  /** 0: it can write. The other end is notified of a change at once. */
  readonly diskErrno: number;
};

/** With larger batches the two threads would take turns rather than work at the same time. */
const BATCH_MAX = 256;
/** How often the loop checks whether settling may continue. */
const PAUSE_MS = 1;
/** After a batch with so many answers, their callers are about to ask again. */
const BUSY_ANSWERS = 32;
/** How long the shard then waits for them: a record, a sync and a wake-up carry more orders. */
const GATHER_MS = 2;
/** Of messages that have come meanwhile: with so many bytes it does not wait. */
const GATHERED_BYTES = 16 * 1024;
const NOTHING = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
const pauseThread = (ms: number) => void Atomics.wait(NOTHING, 0, 0, ms);

/**
 * Returns at a request to close, once all earlier messages are answered. Throws the shard's errors.
 * `pause`: blocks the thread for so many milliseconds.
 */
export async function serve(
  shard: Served,
  ends: ShardEnds,
  pause: (ms: number) => void = pauseThread,
): Promise<void> {
  const server = new Server(shard, ends);
  for (;;) {
    if (shard.isBehind) await shard.caughtUp();
    const hasTaken = server.takeBatch();
    if (server.isClosed) return;
    // By turns with messages, so that neither waits for all of the other.
    const hasSettled = server.settleSlice();
    if (hasSettled || hasTaken) {
      if (shard.isWriting) await turn();
      else if (!hasSettled && server.mayGather) pause(GATHER_MS);
      continue;
    }
    if (shard.isSettlingPaused) await sleep(PAUSE_MS);
    else if (shard.isWriting) await ends.sleepAsync();
    else ends.sleep();
  }
}

class Server {
  isClosed = false;
  readonly #shard: Served;
  readonly #ends: ShardEnds;
  readonly #decoder = new FrameDecoder();
  readonly #answers = new ReplyEncoder();
  /** By turns of the ends within a batch: the end, and where its answers begin. */
  readonly #parts: { end: number; from: number }[] = [];
  /** The end that is read first in the next batch. */
  #first = 0;
  /** Messages of one end before those of the next are taken. */
  readonly #turn: number;
  /** The control message that ended the batch early. */
  #control: Control | null = null;
  #diskErrno = 0;
  /** Messages of the batch that expect an answer. */
  #asked = 0;

  constructor(shard: Served, ends: ShardEnds) {
    this.#shard = shard;
    this.#ends = ends;
    this.#turn = Math.ceil(BATCH_MAX / ends.count);
  }

  /** False: no message has arrived. */
  takeBatch(): boolean {
    if (!this.#ends.isReady()) return false;
    const answers = this.#answers;
    answers.begin();
    this.#parts.length = 0;
    this.#asked = 0;
    this.#shard.answer(this.#batch, answers);
    // The other end has a queue of waiters, so an extra reply would reach the wrong one.
    invariant(answers.count === this.#asked, 'a batch has more answers than questions, or fewer');
    if (this.#control !== null) this.#obey(this.#control);
    if (answers.count > 0) this.#send();
    this.#showDisk();
    return true;
  }

  /** Whether the last batch was large, and little has come since. */
  get mayGather(): boolean {
    return this.#asked >= BUSY_ANSWERS && this.#ends.unreadBytes < GATHERED_BYTES;
  }

  settleSlice(): boolean {
    const hasSettled = this.#shard.settleSlice();
    this.#showDisk();
    return hasSettled;
  }

  readonly #batch: Batch = {
    length: BATCH_MAX,
    [Symbol.iterator]: () => this.#messages(),
  };

  /** The ends take turns, so that a flood at one of them does not hold up the others. */
  *#messages(): Generator<Message> {
    const { count } = this.#ends;
    const first = this.#first;
    this.#first = (first + 1) % count;
    for (let taken = 0, idle = 0, at = first; idle < count; at = (at + 1) % count) {
      const end = this.#ends.at(at);
      idle++;
      this.#parts.push({ end: at, from: this.#answers.length });
      for (let turn = 0; turn < this.#turn && end.isReady(); turn++) {
        if (taken === BATCH_MAX) return;
        const sent = this.#decoder.message(end.next());
        if (sent.kind === 'barrier' || sent.kind === 'close') {
          invariant(sent.kind === 'barrier' || at === 0, 'a shard is closed by another thread');
          this.#control = sent;
          return;
        }
        if (!isTick(sent)) this.#asked++;
        taken++;
        idle = 0;
        yield sent;
      }
    }
  }

  #obey({ kind }: Control): void {
    this.#control = null;
    if (kind === 'close') this.isClosed = true;
    else this.#answers.reply({ ok: true, body: '' });
  }

  /** Each end gets the answers to its own messages, in their order. */
  #send(): void {
    const { frames } = this.#answers;
    for (const [place, { end, from }] of this.#parts.entries()) {
      const to = this.#parts[place + 1]?.from ?? frames.length;
      if (to > from) this.#ends.at(end).sendBlocking(frames.subarray(from, to));
    }
  }

  #showDisk(): void {
    const { diskErrno } = this.#shard;
    if (diskErrno === this.#diskErrno) return;
    this.#diskErrno = diskErrno;
    this.#ends.at(0).wakeOther();
  }
}

/**
 * The main loop of a shard's thread. It reads the messages that have arrived, answers them once
 * that is safe, and sleeps when there are none. Its event loop turns only while a checkpoint is
 * being written. Otherwise a sleep blocks the thread, and no timer fires in it.
 */
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { invariant } from '../../base/invariant.ts';
import { type Control, FrameDecoder, type Message } from '../../format/codec.ts';
import type { Endpoint } from '../../ring/endpoint.ts';
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

/**
 * Returns at a request to close, once all earlier messages are answered. Throws the shard's errors.
 */
export async function serve(shard: Served, end: Endpoint): Promise<void> {
  const server = new Server(shard, end);
  for (;;) {
    if (shard.isBehind) await shard.caughtUp();
    const hasTaken = server.takeBatch();
    if (server.isClosed) return;
    // By turns with messages, so that neither waits for all of the other.
    if (server.settleSlice() || hasTaken) {
      if (shard.isWriting) await turn();
      continue;
    }
    if (shard.isSettlingPaused) await sleep(PAUSE_MS);
    else if (shard.isWriting) await end.sleepAsync();
    else end.sleep();
  }
}

class Server {
  isClosed = false;
  readonly #shard: Served;
  readonly #end: Endpoint;
  readonly #decoder = new FrameDecoder();
  readonly #answers = new ReplyEncoder();
  /** The control message that ended the batch early. */
  #control: Control | null = null;
  #diskErrno = 0;
  /** Messages of the batch that expect an answer. */
  #asked = 0;

  constructor(shard: Served, end: Endpoint) {
    this.#shard = shard;
    this.#end = end;
  }

  /** False: no message has arrived. */
  takeBatch(): boolean {
    if (!this.#end.isReady()) return false;
    const answers = this.#answers;
    answers.begin();
    this.#asked = 0;
    this.#shard.answer(this.#batch, answers);
    // The other end has a queue of waiters, so an extra reply would reach the wrong one.
    invariant(answers.count === this.#asked, 'a batch has more answers than questions, or fewer');
    if (this.#control !== null) this.#obey(this.#control);
    if (answers.count > 0) this.#end.sendBlocking(answers.frames);
    this.#showDisk();
    return true;
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

  *#messages(): Generator<Message> {
    for (let taken = 0; taken < BATCH_MAX && this.#end.isReady(); taken++) {
      const sent = this.#decoder.message(this.#end.next());
      if (sent.kind === 'barrier' || sent.kind === 'close') {
        this.#control = sent;
        return;
      }
      if (!isTick(sent)) this.#asked++;
      yield sent;
    }
  }

  #obey({ kind }: Control): void {
    this.#control = null;
    if (kind === 'close') this.isClosed = true;
    else this.#answers.reply({ ok: true, body: '' });
  }

  #showDisk(): void {
    const { diskErrno } = this.#shard;
    if (diskErrno === this.#diskErrno) return;
    this.#diskErrno = diskErrno;
    this.#end.wakeOther();
  }
}

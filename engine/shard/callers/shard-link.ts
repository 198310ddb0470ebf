/**
 * The callers' end of the rings to a shard's thread, from its start to its end. Answers arrive in
 * the order of the requests, so waiters are in a queue, without numbers and promises.
 */

import { Fifo } from '../../base/fifo.ts';
import { invariant } from '../../base/invariant.ts';
import { ByteWriter } from '../../format/bytes.ts';
import { FrameDecoder, type Sent, writeMessage } from '../../format/codec.ts';
import type { Frame } from '../../format/frame.ts';
import type { Endpoint } from '../../ring/endpoint.ts';
import type { ReplyHandler } from './send-queue.ts';

/** Answers passed on before the event loop serves other callers. */
const ANSWERS_A_TURN = 512;

/** Passes on the answer to one request: a frame, which is valid until it returns. */
type Answer = (waiter: ReplyHandler, frame: Frame, decoder: FrameDecoder) => void;

export class ShardLink {
  readonly #end: Endpoint;
  readonly #waiting = new Fifo<ReplyHandler>();
  readonly #writer = new ByteWriter();
  readonly #decoder = new FrameDecoder();
  /** Called when the shard has news: answers, room, or another state of its disk. */
  readonly #onNews: () => void;
  #isEnded = false;

  constructor(end: Endpoint, onNews: () => void) {
    this.#end = end;
    this.#onNews = onNews;
    this.#end.whenNews(this.#wake);
  }

  /** True: no message is accepted until the shard makes room. */
  get isFull(): boolean {
    return this.#end.isFull;
  }

  /** `waiters`: of the requests among the messages, in their order. */
  send(messages: readonly Sent[], waiters: readonly ReplyHandler[]): void {
    invariant(!this.#isEnded, 'a message is sent to a thread that has ended');
    invariant(!this.#end.isFull, 'a shard was sent more than there is room for');
    this.#writer.begin();
    for (const message of messages) writeMessage(this.#writer, message);
    for (const waiter of waiters) this.#waiting.push(waiter);
    this.#end.send(this.#writer.view(0, this.#writer.length));
  }

  /** Sends waiting bytes, then passes answers on. @returns how many. */
  receive(answer: Answer): number {
    this.#end.flush();
    let answers = 0;
    for (; answers < ANSWERS_A_TURN && this.#end.isReady(); answers++) {
      const frame = this.#end.next();
      const waiter = this.#waiting.shift();
      invariant(waiter !== undefined, 'a shard answered more than it was asked');
      answer(waiter, frame, this.#decoder);
    }
    return answers;
  }

  /** The thread has ended: passes on its last answers. @returns the waiters that get no answer. */
  end(answer: Answer): ReplyHandler[] {
    invariant(!this.#isEnded, 'a thread ends twice');
    this.#isEnded = true;
    while (this.receive(answer) > 0);
    // A sleeper would keep the memory of the rings forever.
    this.#end.wakeOwn();
    return this.#waiting.clear();
  }

  readonly #wake = (): void => {
    if (this.#isEnded) return;
    this.#onNews();
    this.#end.whenNews(this.#wake);
  };
}

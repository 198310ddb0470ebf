/**
 * The threads that verify signatures. A verification takes 20 to 50 µs of a thread that does nothing
 * else. The signatures of one turn of the event loop go together, because a message of its own costs
 * the callers' thread as much. Rule A202 (api/RULES.md).
 */
import { availableParallelism } from 'node:os';
import { Fifo } from '../../../engine/base/fifo.ts';
import type { ReplyHandler } from '../../../engine/shard/callers/send-queue.ts';
import { type Answered, type Asked, takeAnswer } from '../../../engine/threads/answer-questions.ts';
import type { Log } from '../../../engine/threads/logger.ts';
import { SupervisedWorker } from '../../../engine/threads/supervised-worker.ts';
import { Unavailable } from '../../../engine/threads/unavailable.ts';
import { workerUrl } from '../../../engine/threads/worker-url.ts';
import type { Signed } from './verifier-thread.ts';

/** One thread verifies what two cores can trade. */
const THREADS = Math.min(4, Math.max(1, Math.floor(availableParallelism() / 2)));
/** A thread has the next signatures before it has answered the last ones. */
const MESSAGES_EACH = 2;
const TOGETHER_MAX = 32;
const DOWN = new Unavailable('the thread that verifies signatures is starting again');
const CLOSED = new Unavailable('the server is stopping');

/** RSA-PSS with SHA-256, and a salt as long as the digest. */
type Verification = ReplyHandler<boolean> & {
  publicKeyPem: string;
  text: string;
  /** In base64. */
  signature: string;
};

type Thread = { worker: SupervisedWorker<Asked<Signed>, Answered<boolean[]>>; messages: number };

export class Verifiers {
  readonly #threads: Thread[];
  readonly #waiting = new Fifo<Verification>();
  #isScheduled = false;

  constructor(log: Log) {
    this.#threads = Array.from({ length: THREADS }, () => ({ worker: verifier(log), messages: 0 }));
  }

  /** It resolves with whether the holder of the key signed the text, and rejects with `Unavailable`. */
  verify(verification: Verification): void {
    this.#waiting.push(verification);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#send();
    });
  }

  /** What waits is refused. */
  async close(): Promise<void> {
    await Promise.all(this.#threads.map(({ worker }) => worker.close(null)));
  }

  #send(): void {
    while (this.#waiting.length > 0) {
      const thread = this.#threads.reduce((a, b) => (b.messages < a.messages ? b : a));
      if (thread.messages === MESSAGES_EACH) return;
      const share = Math.ceil(this.#waiting.length / this.#threads.length);
      const taken = Array.from({ length: Math.min(TOGETHER_MAX, share) }, () => {
        return this.#waiting.shift()!;
      });
      void this.#verify(thread, taken);
    }
  }

  async #verify(thread: Thread, taken: readonly Verification[]): Promise<void> {
    const { worker } = thread;
    thread.messages++;
    try {
      worker.startOnce();
      const question: Signed = {
        publicKeys: taken.map(({ publicKeyPem }) => publicKeyPem),
        texts: taken.map(({ text }) => text),
        signatures: taken.map(({ signature }) => signature),
      };
      const good = await worker.ask<boolean[]>((id) => ({ kind: 'ask', id, question }));
      for (const [at, { resolve }] of taken.entries()) resolve(good[at]!);
    } catch (error) {
      for (const { reject } of taken) reject(error as Error);
    }
    thread.messages--;
    this.#send();
  }
}

function verifier(log: Log): Thread['worker'] {
  const worker: Thread['worker'] = new SupervisedWorker({
    name: 'verifier',
    module: workerUrl(import.meta.url, './verifier-thread'),
    workerData: () => null,
    log,
    down: DOWN,
    closed: CLOSED,
    isUnref: true,
    take: (message) => takeAnswer(worker, message),
  });
  return worker;
}

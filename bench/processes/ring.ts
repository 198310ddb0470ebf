/**
 * Sends a request to a thread and back through rings in shared memory. The far end only appends to
 * a file and syncs it: the cost of a hop without tasks, promises and LMDB.
 */
import { Worker } from 'node:worker_threads';
import { RingReader, RingWriter, ringMemory } from './ring-buffer.ts';
import type { RingData } from './ring-worker.ts';

type Waiter = (answer: string) => void;

export class RingHop {
  readonly #kinds: readonly string[];
  readonly #requests: RingWriter;
  readonly #answers: RingReader;
  readonly #waiters: Waiter[] = [];
  #isScheduled = false;

  /** Answers by name; `orders` are answered once the request is on disk. `dir` must exist. */
  constructor(dir: string, texts: Readonly<Record<string, string>>, orders: readonly string[]) {
    const others = Object.keys(texts).filter((name) => !orders.includes(name));
    this.#kinds = [...orders, ...others];
    const data: RingData = {
      dir,
      texts: this.#kinds.map((name) => texts[name]!),
      orderKinds: orders.length,
      requests: ringMemory(),
      answers: ringMemory(),
    };
    this.#requests = new RingWriter(data.requests);
    this.#answers = new RingReader(data.answers);
    const worker = new Worker(new URL('./ring-worker.ts', import.meta.url), { workerData: data });
    worker.on('error', endProcess);
    this.#listen().catch(endProcess);
  }

  /** `request`: the kind of answer, and the data sent with it. */
  ask([answer, ...rest]: [answer: string, ...unknown[]], waiter: Waiter): void {
    this.#requests.write(this.#kinds.indexOf(answer), rest.join(' '));
    this.#waiters.push(waiter);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#requests.publish();
    });
  }

  /** Answers arrive in the order of the requests. */
  async #listen(): Promise<never> {
    for (;;) {
      await this.#answers.arrival();
      let answered = 0;
      this.#answers.drain((_kind, bytes, start, end) => {
        this.#waiters[answered++]!(bytes.toString('latin1', start, end));
      });
      this.#waiters.splice(0, answered);
    }
  }
}

function endProcess(error: Error): never {
  process.stderr.write(`${error}\n`);
  process.exit(1);
}

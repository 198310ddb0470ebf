/**
 * Sends a request to a thread and back, with no work at its end: msgpack batches through one
 * Piscina thread, sent as engine/shard/callers/shard-client.ts sends them. Measures the cost of this design
 * without any rule, key or book.
 */
import { Packr } from 'msgpackr';
import { Piscina } from 'piscina';
import type { HopData } from './hop-worker.ts';

const BATCH_FULL = 96;
const BATCH_MAX = 256;
const IN_FLIGHT_MAX = 32;

const packr = new Packr({ useRecords: false });

type Waiter = (answer: string) => void;

export class Hop {
  readonly #pool: Piscina<Uint8Array, Uint8Array>;
  #requests: unknown[][] = [];
  #waiters: Waiter[] = [];
  #inFlight = 0;
  #isScheduled = false;

  constructor(data: HopData) {
    this.#pool = new Piscina({
      filename: new URL('./hop-worker.ts', import.meta.url).href,
      workerData: data,
      minThreads: 1,
      maxThreads: 1,
      concurrentTasksPerWorker: IN_FLIGHT_MAX,
      idleTimeout: 2 ** 31 - 1,
      atomics: 'disabled',
    });
  }

  /** `request`: the kind of answer, and the data sent with it. */
  ask(request: [answer: string, ...unknown[]], answer: Waiter): void {
    this.#requests.push(request);
    this.#waiters.push(answer);
    if (this.#isScheduled || !this.#maySend()) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#send();
    });
  }

  #maySend(): boolean {
    if (this.#inFlight === 0) return true;
    return this.#inFlight < IN_FLIGHT_MAX && this.#requests.length >= BATCH_FULL;
  }

  #send(): void {
    while (this.#requests.length > 0 && this.#maySend()) {
      const requests = this.#requests.splice(0, BATCH_MAX);
      const waiters = this.#waiters.splice(0, BATCH_MAX);
      this.#inFlight++;
      this.#deliver(requests).then((answers) => {
        this.#inFlight--;
        this.#send();
        for (const [at, waiter] of waiters.entries()) waiter(answers[at]!);
      }, endProcess);
    }
  }

  async #deliver(requests: unknown[][]): Promise<string[]> {
    const bytes = new Uint8Array(packr.pack(requests));
    return packr.unpack(await this.#pool.run(bytes, { transferList: [bytes.buffer] })) as string[];
  }
}

function endProcess(error: Error): never {
  process.stderr.write(`${error}\n`);
  process.exit(1);
}

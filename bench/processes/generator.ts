/**
 * The load generator, in its own process. Closed loop: every connection sends its next request as
 * soon as it is answered. Open loop: requests are due at a rate, independent of the answers. A
 * request that finds no idle connection is counted and dropped.
 */
import { type FrameLane, FrameSocket } from '../lib/frame-socket.ts';
import { type Answer, HttpConnection } from '../lib/http-connection.ts';
import {
  type Caller,
  createCaller,
  isGood,
  type LoadOptions,
  SignedRequests,
} from '../lib/load.ts';
import { Latencies, type LatencySummary } from '../lib/stats.ts';

export type LoadJob = {
  load: LoadOptions;
  /** Of frames: how many are outstanding, over `sockets` connections with a key each. */
  connections: number;
  sockets?: number;
  warmupMs: number;
  measureMs: number;
  /** Null: closed loop. */
  ratePerSecond: number | null;
};

export type LoadResult = {
  seconds: number;
  /** Answers by status; a batch counts the answers of its orders. */
  statuses: Record<string, number>;
  /** Answers of 503 with Retry-After. */
  retryAfters: number;
  /** Of answers with status 200. */
  latency: LatencySummary;
  /** Open loop: requests that were due while every connection waited. */
  notSent: number;
  /** Mean bytes of a body: the length of the whole answer less its head. */
  bodyBytes: number;
  /** Message and count of answers that were neither 200 nor 503. */
  refusals: Record<string, number>;
};

export type ToGenerator = LoadJob;
export type FromGenerator =
  | { kind: 'measuring' }
  | { kind: 'measured' }
  | { kind: 'result'; result: LoadResult }
  | { kind: 'failed'; message: string };

const OPENING_AT_ONCE = 200;
const TICK_MS = 1;

process.on('message', (job: ToGenerator) => {
  runJob(job).catch((error: unknown) => send({ kind: 'failed', message: String(error) }));
});
process.on('disconnect', () => process.exit(0));

function send(message: FromGenerator): void {
  process.send!(message);
}

async function runJob(job: LoadJob): Promise<void> {
  const load = new Load(job);
  await load.prepare();
  await load.open();
  try {
    load.start();
    await load.wait(job.warmupMs);
    load.reset();
    send({ kind: 'measuring' });
    const startedMs = performance.now();
    await load.wait(job.measureMs);
    const seconds = (performance.now() - startedMs) / 1000;
    send({ kind: 'measured' });
    send({ kind: 'result', result: load.result(seconds) });
  } finally {
    load.close();
  }
}

class Load {
  readonly #job: LoadJob;
  readonly #connections: (HttpConnection | FrameLane)[] = [];
  readonly #callers: Caller[] = [];
  readonly #idle = new Queue();
  readonly #latencies = new Latencies();
  #statuses: Record<string, number> = {};
  #refusals: Record<string, number> = {};
  #retryAfters = 0;
  #notSent = 0;
  #bytes = 0;
  #answers = 0;
  #isRunning = false;
  #timer: NodeJS.Timeout | undefined;
  #lost: string | null = null;
  #signed: SignedRequests | null = null;
  #onSpent: () => void = () => {};
  readonly #spent = new Promise<void>((resolve) => {
    this.#onSpent = resolve;
  });

  constructor(job: LoadJob) {
    this.#job = job;
  }

  async prepare(): Promise<void> {
    const { signing } = this.#job.load;
    if (signing === undefined) return;
    this.#signed = new SignedRequests();
    await this.#signed.sign(signing);
  }

  async open(): Promise<void> {
    const { connections, load } = this.#job;
    if (load.kind === 'frames') {
      await this.#openSockets(this.#job.sockets!);
      return;
    }
    while (this.#connections.length < connections) {
      const wanted = Math.min(OPENING_AT_ONCE, connections - this.#connections.length);
      const opened = await Promise.all(
        Array.from({ length: wanted }, () => HttpConnection.open(load.port)),
      );
      for (const connection of opened) this.#add(connection, load.keys);
    }
  }

  async #openSockets(sockets: number): Promise<void> {
    const { connections, load } = this.#job;
    for (let opened = 0; opened < sockets; opened++) {
      const key = load.keys[opened % load.keys.length]!;
      const socket = await FrameSocket.open(load.port, load.basePath, key, connections / sockets);
      for (const lane of socket.lanes) this.#add(lane, [key]);
    }
  }

  #add(connection: HttpConnection | FrameLane, keys: readonly string[]): void {
    const number = this.#connections.length;
    this.#connections.push(connection);
    this.#callers.push(createCaller({ ...this.#job.load, keys }, number, this.#signed));
    connection.onAnswer = (answer) => this.#answered(number, answer);
    connection.onLost = (reason) => {
      this.#lost = reason;
    };
  }

  start(): void {
    this.#isRunning = true;
    const all = this.#connections.keys();
    if (this.#job.ratePerSecond === null) for (const number of all) this.#send(number, now());
    else this.#startOpenLoop(this.#job.ratePerSecond, [...all]);
  }

  /** Rejects when a connection was lost. It ends sooner if all that was prepared has been sent. */
  async wait(forMs: number): Promise<void> {
    await Promise.race([new Promise((resolve) => setTimeout(resolve, forMs)), this.#spent]);
    if (this.#lost !== null) throw new Error(`a connection was lost: ${this.#lost}`);
  }

  reset(): void {
    this.#latencies.clear();
    this.#statuses = {};
    this.#refusals = {};
    this.#retryAfters = 0;
    this.#notSent = 0;
    this.#bytes = 0;
    this.#answers = 0;
  }

  result(seconds: number): LoadResult {
    return {
      seconds,
      statuses: this.#statuses,
      retryAfters: this.#retryAfters,
      latency: this.#latencies.summary(),
      notSent: this.#notSent,
      bodyBytes: this.#bytes / Math.max(1, this.#answers),
      refusals: this.#refusals,
    };
  }

  close(): void {
    this.#isRunning = false;
    clearInterval(this.#timer);
    for (const connection of this.#connections) connection.close();
  }

  #startOpenLoop(ratePerSecond: number, all: number[]): void {
    for (const number of all) this.#idle.push(number);
    const startedMs = now();
    let sent = 0;
    this.#timer = setInterval(() => {
      const due = ((now() - startedMs) / 1000) * ratePerSecond;
      for (; sent < due; sent++) {
        const number = this.#idle.shift();
        if (number === undefined) this.#notSent++;
        else this.#send(number, startedMs + (sent / ratePerSecond) * 1000);
      }
    }, TICK_MS);
  }

  #send(number: number, dueMs: number): void {
    const request = this.#callers[number]!.next();
    if (request === null) this.#onSpent();
    else this.#connections[number]!.send(request, dueMs);
  }

  #answered(number: number, answer: Answer): void {
    const { status, text, bodyStart } = answer;
    const answeredMs = now();
    this.#answers++;
    this.#bytes += text.length - bodyStart;
    this.#callers[number]!.count(answer, this.#statuses);
    if (isGood(status)) this.#latencies.add(answeredMs - this.#connections[number]!.dueMs);
    else this.#countRefusal(answer);
    this.#callers[number]!.saw(answer);
    if (!this.#isRunning) return;
    if (this.#job.ratePerSecond === null) this.#send(number, answeredMs);
    else this.#idle.push(number);
  }

  #countRefusal({ status, text, bodyStart }: Answer): void {
    if (status === 503) {
      if (text.slice(0, bodyStart).includes('Retry-After: ')) this.#retryAfters++;
      return;
    }
    const message = text.slice(bodyStart, bodyStart + 120);
    this.#refusals[message] = (this.#refusals[message] ?? 0) + 1;
  }
}

/** First in, first out: the server closes a connection that is idle for seconds. */
class Queue {
  #numbers: number[] = [];
  #first = 0;

  push(number: number): void {
    this.#numbers.push(number);
  }

  shift(): number | undefined {
    if (this.#first === this.#numbers.length) return undefined;
    const number = this.#numbers[this.#first++];
    if (this.#first * 2 > this.#numbers.length) {
      this.#numbers = this.#numbers.slice(this.#first);
      this.#first = 0;
    }
    return number;
  }
}

function now(): number {
  return performance.now();
}

/**
 * The engine with its threads, and callers that wait for durable answers: one shard and two, the
 * use of each thread, and the limit that follows for more cores. Then the whole server over HTTP
 * with one listener and two.
 */
import path from 'node:path';
import type { Shards } from '../../engine/shard/callers/shards.ts';
import { benchShards, flowClock } from '../lib/bench-shard.ts';
import { catalogOf } from '../lib/catalog.ts';
import { Generator, type LoadGenerator, type Measured } from '../lib/generator.ts';
import { openMarket } from '../lib/http-market.ts';
import { answersOf } from '../lib/http-report.ts';
import { type FlowOptions, OrderFlow } from '../lib/order-flow.ts';
import { startPrepared } from '../lib/prepared-server.ts';
import { threadCpuMs, threadCpuSince } from '../lib/proc.ts';
import {
  count,
  type Figures,
  type Report,
  range,
  ratio,
  type Suite,
  type Table,
} from '../lib/report.ts';
import { spreadOf } from '../lib/stats.ts';
import { dropDir, tempDir } from '../lib/temp.ts';
import { findWrk, WrkGenerator } from '../lib/wrk.ts';

export type ScaleSizes = {
  shards: readonly number[];
  /** Orders waiting at a time, per shard: its client makes batches of them. */
  waitingByShard: number;
  rounds: number;
  warmupMs: number;
  roundMs: number;
  flow: FlowOptions;
  /** Threads that answer requests of the whole server. */
  listeners: readonly number[];
  /** Of the whole server's clients. */
  connections: number;
};

const FLOW: FlowOptions = {
  seed: 13,
  accounts: 1000,
  markets: 1000,
  restingMax: 200_000,
  positionsMax: 100_000,
};

export const scale: Suite<ScaleSizes> = {
  name: 'scale',
  about: 'shards with their threads, and what more cores would do',
  full: {
    shards: [1, 2],
    waitingByShard: 1024,
    rounds: 5,
    warmupMs: 3000,
    roundMs: 4000,
    flow: FLOW,
    listeners: [1, 2],
    connections: 64,
  },
  quick: {
    shards: [1, 2],
    waitingByShard: 1024,
    rounds: 2,
    warmupMs: 500,
    roundMs: 1000,
    flow: FLOW,
    listeners: [1, 2],
    connections: 64,
  },
  run,
};

/** Orders per second, and CPU microseconds per order on the main and on the shards' threads. */
type Round = { rate: number; mainMicros: number; shardMicros: number };

async function run(sizes: ScaleSizes, progress: (line: string) => void): Promise<Report> {
  const figures: Figures = {};
  const rows: string[][] = [];
  let base = 0;
  let last: { mainMicros: number; shardMicros: number } = { mainMicros: 0, shardMicros: 0 };
  for (const shards of sizes.shards) {
    progress(`scale: ${shards} shard(s)`);
    const rounds = await measure(shards, sizes);
    const rate = spreadOf(rounds.map((round) => round.rate));
    const main = spreadOf(rounds.map((round) => round.mainMicros));
    const shard = spreadOf(rounds.map((round) => round.shardMicros));
    base ||= rate.median;
    last = { mainMicros: main.median, shardMicros: shard.median };
    figures[`${shards} shards/orders`] = { unit: 'orders/s', value: rate };
    figures[`${shards} shards/main thread`] = { unit: 'CPU us/order', value: main };
    figures[`${shards} shards/shard threads`] = { unit: 'CPU us/order', value: shard };
    rows.push([
      String(shards),
      count(rate.median),
      range(rate),
      ratio(rate.median / base),
      main.median.toFixed(1),
      shard.median.toFixed(1),
    ]);
  }
  const columns = [
    'shards',
    'orders/s',
    'min .. max',
    'to the first',
    'main CPU us',
    'shard CPU us',
  ];
  const notes = [
    `${sizes.waitingByShard} orders a shard wait at a time; sync durability; no HTTP`,
    `on cores of their own, one main thread ends at ${count(1e6 / last.mainMicros)} orders a second`,
    `and one shard at ${count(1e6 / last.shardMicros)}, by CPU alone: its disk may end it before`,
  ];
  const title = 'scale: durable orders a second';
  const listeners = await listenersTable(sizes, figures, progress);
  return { tables: [{ title, columns, rows, notes }, listeners], figures };
}

const ACCOUNTS = 1000;
const READERS = 10;

/** The whole server: what a further listener takes off the main thread. */
async function listenersTable(
  sizes: ScaleSizes,
  figures: Figures,
  progress: (line: string) => void,
): Promise<Table> {
  const wrk = findWrk();
  const generator = wrk === null ? new Generator() : new WrkGenerator(wrk);
  const rows: string[][] = [];
  try {
    for (const listeners of sizes.listeners) {
      progress(`scale: ${listeners} listener(s)`);
      const rounds = await measureServer(listeners, generator, sizes);
      const of = (value: (round: Measured) => number) => spreadOf(rounds.map(value));
      const micros = (cpuMs: (round: Measured) => number) =>
        of((round) => (cpuMs(round) * 1000) / answersOf(round));
      const rate = of((round) => answersOf(round) / round.seconds);
      const main = micros((round) => round.threads[0]!.cpuMs);
      const all = micros((round) => round.serverCpuMs);
      figures[`${listeners} listeners/orders`] = { unit: 'orders/s', value: rate };
      figures[`${listeners} listeners/main thread`] = { unit: 'CPU us/order', value: main };
      figures[`${listeners} listeners/server`] = { unit: 'CPU us/order', value: all };
      rows.push([
        String(listeners),
        count(rate.median),
        range(rate),
        main.median.toFixed(1),
        all.median.toFixed(1),
      ]);
    }
  } finally {
    generator.close();
  }
  return {
    title: 'scale: listeners of the whole server',
    columns: ['listeners', 'orders/s', 'min .. max', 'main CPU us', 'server CPU us'],
    rows,
    notes: [`${sizes.connections} connections; sync durability; one shard; ${ACCOUNTS} accounts`],
  };
}

async function measureServer(
  listeners: number,
  generator: LoadGenerator,
  { rounds, warmupMs, roundMs, connections }: ScaleSizes,
): Promise<Measured[]> {
  const dir = tempDir();
  const { server, keys } = await startPrepared(path.join(dir, 'data'), ACCOUNTS, listeners);
  try {
    const { traders, instruments } = await openMarket(server, READERS, keys);
    const { port, basePath } = server;
    const measured: Measured[] = [];
    for (let round = 0; round < rounds; round++) {
      const name = `scale-${process.pid}-${listeners}-${round}`;
      const load = { kind: 'orders', port, basePath, keys: traders, instruments, name } as const;
      measured.push(
        await generator.run(server, {
          load,
          connections,
          warmupMs,
          measureMs: roundMs,
          ratePerSecond: null,
        }),
      );
    }
    return measured;
  } finally {
    await server.stop();
    dropDir(dir);
  }
}

const HEARTBEAT_EVERY_MS = 50;

async function measure(shards: number, sizes: ScaleSizes): Promise<Round[]> {
  const dir = tempDir();
  const flow = new OrderFlow(sizes.flow);
  const queueDepthMax = sizes.waitingByShard * 4;
  const engine = benchShards(dir, flowClock(flow), { shards, queueDepthMax });
  try {
    await engine.open();
    await engine.setCatalog(catalogOf(sizes.flow.markets));
    for (const quote of flow.quotes()) engine.tick(quote);
    const heartbeat = setInterval(() => engine.tick(flow.heartbeat()), HEARTBEAT_EVERY_MS);
    const load = new ClosedLoop(engine, flow, sizes.waitingByShard * shards);
    load.start();
    await load.wait(sizes.warmupMs);
    const rounds: Round[] = [];
    for (let round = 0; round < sizes.rounds; round++) {
      rounds.push(await measureRound(load, sizes.roundMs, shards));
    }
    await load.stop();
    clearInterval(heartbeat);
    return rounds;
  } finally {
    await engine.close();
    dropDir(dir);
  }
}

async function measureRound(load: ClosedLoop, roundMs: number, shards: number): Promise<Round> {
  const before = load.answered;
  const threads = threadCpuMs(process.pid);
  const startedMs = performance.now();
  await load.wait(roundMs);
  const seconds = (performance.now() - startedMs) / 1000;
  const orders = load.answered - before;
  const { main, others } = threadCpuSince(process.pid, threads);
  const shardMs = others.slice(0, shards).reduce((sum, millis) => sum + millis, 0);
  return {
    rate: orders / seconds,
    mainMicros: (main * 1000) / orders,
    shardMicros: (shardMs * 1000) / orders,
  };
}

/** So many callers, each of which sends its next order when it is answered. */
class ClosedLoop {
  answered = 0;
  readonly #engine: Shards;
  readonly #flow: OrderFlow;
  readonly #callers: number;
  readonly #done: Promise<void>[] = [];
  #isRunning = true;
  #failure: unknown = null;

  constructor(engine: Shards, flow: OrderFlow, callers: number) {
    this.#engine = engine;
    this.#flow = flow;
    this.#callers = callers;
  }

  start(): void {
    for (let caller = 0; caller < this.#callers; caller++) {
      this.#done.push(
        this.#loop().catch((error: unknown) => {
          this.#failure ??= error;
        }),
      );
    }
  }

  async wait(forMs: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, forMs));
    if (this.#failure !== null) throw this.#failure;
  }

  async stop(): Promise<void> {
    this.#isRunning = false;
    await Promise.all(this.#done);
  }

  async #loop(): Promise<void> {
    while (this.#isRunning) {
      const order = this.#flow.next();
      const reply = await this.#engine.call(order.account, order);
      if (!reply.ok) throw new Error(`the flow placed a bad order: ${reply.code}`);
      this.answered++;
    }
  }
}

/**
 * Orders and cancels as messages of `GET /v1/stream`, and orders in batches, with `sync`
 * durability, beside single HTTP requests to the same server and to a bare handler.
 */
import path from 'node:path';
import { Generator, type Measured } from '../lib/generator.ts';
import { answerBytes, INSTRUMENTS, type Market } from '../lib/http-market.ts';
import { answersOf, rateOf, requireGood } from '../lib/http-report.ts';
import { BATCH_ORDERS, type LoadKind } from '../lib/load.ts';
import { loadNow } from '../lib/machine.ts';
import { count, type Figures, ms, type Report, range, ratio, type Suite } from '../lib/report.ts';
import { type Running, startBare, startPaperbook, type Target } from '../lib/server.ts';
import { spreadOf } from '../lib/stats.ts';
import { dropDir, tempDir } from '../lib/temp.ts';
import { threadTable } from '../lib/thread-table.ts';
import { makeUsers, tradableInstruments } from '../lib/users.ts';

export type EntrySizes = {
  /** Sockets; each has its own key. */
  sockets: readonly number[];
  /** Frames that are outstanding, over all sockets. */
  outstanding: number;
  /** Each has a batch of 100 orders outstanding. */
  batchConnections: number;
  httpConnections: number;
  rounds: number;
  warmupMs: number;
  measureMs: number;
};

export const entry: Suite<EntrySizes> = {
  name: 'entry',
  about: 'orders as WebSocket frames and in batches, against single HTTP requests',
  full: {
    sockets: [8, 64],
    outstanding: 512,
    batchConnections: 5,
    httpConnections: 256,
    rounds: 5,
    warmupMs: 2000,
    measureMs: 5000,
  },
  quick: {
    sockets: [64],
    outstanding: 512,
    batchConnections: 5,
    httpConnections: 256,
    rounds: 3,
    warmupMs: 1000,
    measureMs: 2000,
  },
  run,
};

type Load = { label: string; target: Target; kind: LoadKind; connections: number; sockets: number };

async function run(sizes: EntrySizes, progress: (line: string) => void): Promise<Report> {
  const dir = tempDir();
  const servers: Running[] = [];
  const generator = new Generator();
  try {
    progress('entry: starting');
    const server = await startPaperbook(path.join(dir, 'data'));
    servers.push(server);
    const instruments = await tradableInstruments(server, INSTRUMENTS);
    const traders = await makeUsers(server, TRADERS, 'trader');
    const market = { traders, readers: traders, instruments };
    const bare = await startBare(await answerBytes(server, market));
    servers.push(bare);
    const { outstanding, httpConnections } = sizes;
    const http = { kind: 'orders', connections: httpConnections, sockets: 0 } as const;
    const loads: Load[] = [
      { label: 'bare, HTTP', target: bare, ...http },
      { label: 'server, HTTP', target: server, ...http },
      ...sizes.sockets.map((sockets) => ({
        label: `server, frames, ${sockets} sockets`,
        target: { ...server, basePath: `${server.basePath}/stream` },
        kind: 'frames' as const,
        connections: outstanding,
        sockets,
      })),
      {
        ...{ label: `server, batches of ${BATCH_ORDERS}`, target: server, kind: 'batches' },
        ...{ connections: sizes.batchConnections, sockets: 0 },
      },
    ];
    const taken = loads.map((): Measured[] => []);
    for (let round = 0; round < sizes.rounds; round++) {
      for (const [at, load] of loads.entries()) {
        progress(`entry: ${load.label}, round ${round + 1}`);
        taken[at]!.push(await measure(generator, load, market, sizes, `${round}-${at}`));
      }
    }
    return reportOf(loads, taken);
  } finally {
    generator.close();
    for (const server of servers) await server.stop();
    dropDir(dir);
  }
}

/** As many as the most sockets, and more for HTTP. */
const TRADERS = 256;
/** In a run of good orders a refusal is a market that ended, or that a venue does not quote. */
const REFUSED_MAX = 0.1;

async function measure(
  generator: Generator,
  { target, kind, connections, sockets }: Load,
  { traders, instruments }: Market,
  { warmupMs, measureMs }: EntrySizes,
  name: string,
): Promise<Measured> {
  const { port, basePath } = target;
  const measured = await generator.run(target, {
    load: { kind, port, basePath, keys: traders, instruments, name },
    connections,
    sockets,
    warmupMs,
    measureMs,
    ratePerSecond: null,
  });
  requireGood(measured, REFUSED_MAX);
  return measured;
}

const perAnswer = (of: (one: Measured) => number) => (one: Measured) =>
  (of(one) * 1000) / answersOf(one);
const cpuOf = perAnswer((one) => one.serverCpuMs);

function reportOf(loads: readonly Load[], taken: readonly Measured[][]): Report {
  const figures: Figures = {};
  const bare = taken[0]!;
  const rows = loads.map(({ label }, at) => {
    const rounds = taken[at]!;
    const figure = (name: string, unit: string, of: (one: Measured, round: number) => number) => {
      const value = spreadOf(rounds.map(of));
      figures[`${label}/${name}`] = { unit, value };
      return value;
    };
    const rate = figure('rate', 'orders/s', rateOf);
    const share = figure('rate to bare', 'of the bare rate', (one, round) => {
      return rateOf(one) / rateOf(bare[round]!);
    });
    const cpu = figure('cpu', 'CPU us/order', cpuOf);
    const times = figure('cpu to bare', 'times the bare CPU', (one, round) => {
      return cpuOf(one) / cpuOf(bare[round]!);
    });
    const micros = (name: string, of: (one: Measured) => number) =>
      figure(name, 'CPU us/order', perAnswer(of)).median.toFixed(1);
    return [
      label,
      count(rate.median),
      range(rate),
      ratio(share.median),
      ms(figure('p50', 'ms', ({ latency }) => latency.p50).median),
      ms(figure('p99', 'ms', ({ latency }) => latency.p99).median),
      cpu.median.toFixed(1),
      ratio(times.median),
      micros('generator', (one) => one.generatorCpuMs),
    ];
  });
  const threads = loads.map(({ label }, at) => ({
    label,
    rounds: taken[at]!.map((one) => ({ threads: one.threads, units: answersOf(one) })),
  }));
  return { tables: [tableOf(rows), threadTable('entry', 'order', threads, figures)], figures };
}

function tableOf(rows: string[][]) {
  const rates = ['orders/s', 'min .. max', 'to bare', 'p50', 'p99'];
  const cpus = ['CPU us', 'to bare', 'generator'];
  return {
    title: 'entry: orders and cancels a second, times in ms, CPU microseconds an order',
    columns: ['load', ...rates, ...cpus],
    rows,
    notes: [
      'generator, server and its shard share the cores: CPU is the fairer figure',
      'the times of batches are those of a whole batch; batches place, and cancel nothing',
      `generator: our own; load at the end: ${loadNow()}`,
    ],
  };
}

/**
 * Twice the load that the server can handle, for a minute. It must keep its ceiling, refuse the
 * excess with 503 and Retry-After, and keep its memory and the latency of accepted orders. A
 * refusal costs the generator as much as an answer, and both share the cores: the table shows its
 * use. So many connections cost any server its rate, and the generator too: a bare handler has as
 * many.
 */
import { Generator, type Measured } from '../lib/generator.ts';
import { answerBytes, type Market, openMarket } from '../lib/http-market.ts';
import { rateOf } from '../lib/http-report.ts';
import { residentBytes } from '../lib/proc.ts';
import {
  count,
  type Figures,
  mib,
  ms,
  percent,
  type Report,
  type Suite,
  type Table,
} from '../lib/report.ts';
import {
  type AnswerBytes,
  type Paperbook,
  startBare,
  startPaperbook,
  type Target,
} from '../lib/server.ts';
import { dropDir, tempDir } from '../lib/temp.ts';
import { threadTable } from '../lib/thread-table.ts';

export type OverloadSizes = {
  /** Closed loop, to find the ceiling. */
  ceilingConnections: number;
  ceilingMs: number;
  /** Open loop: more connections than the engine's queue holds, so that it can fill up. */
  connections: number;
  overloadMs: number;
  accounts: number;
};

export const overload: Suite<OverloadSizes> = {
  name: 'overload',
  about: 'twice the ceiling for a minute',
  full: {
    ceilingConnections: 1024,
    ceilingMs: 5000,
    connections: 14_000,
    overloadMs: 60_000,
    accounts: 100,
  },
  quick: {
    ceilingConnections: 256,
    ceilingMs: 2000,
    connections: 2000,
    overloadMs: 5000,
    accounts: 20,
  },
  run,
};

const WARMUP_MS = 2000;
const OFFERED_TIMES = 2;
const SAMPLES = 7;

type Sample = { seconds: number; all: number; anonymous: number };
type Outcome = {
  ceiling: Measured;
  under: Measured;
  after: Measured;
  samples: Sample[];
  /** The bare handler, with the connections of the ceiling and with all of them. */
  bare: { few: Measured; many: Measured };
};

async function run(sizes: OverloadSizes, progress: (line: string) => void): Promise<Report> {
  const dir = tempDir();
  const generator = new Generator();
  let server: Paperbook | null = null;
  try {
    server = await startPaperbook(dir);
    const market = await openMarket(server, sizes.accounts);
    const load = loadOn(generator, server, market);
    const { ceilingConnections, ceilingMs } = sizes;
    progress('overload: finding the ceiling');
    const ceiling = await load(ceilingConnections, ceilingMs, null);
    const rate = Math.round(rateOf(ceiling) * OFFERED_TIMES);
    progress(`overload: offering ${count(rate)} a second`);
    const sampler = new Sampler(server.pid, sizes.overloadMs / (SAMPLES - 1));
    const under = await load(sizes.connections, sizes.overloadMs, rate, () => sampler.start());
    sampler.stop();
    progress('overload: and the state afterwards');
    const after = await load(ceilingConnections, ceilingMs, null);
    const bytes = await answerBytes(server, market);
    await server.stop();
    progress('overload: the bare handler');
    const bare = await ofBare(generator, market, bytes, sizes);
    return reportOf(sizes, rate, { ceiling, under, after, samples: sampler.samples, bare });
  } finally {
    generator.close();
    await server?.stop();
    dropDir(dir);
  }
}

let loads = 0;

async function ofBare(
  generator: Generator,
  market: Market,
  bytes: AnswerBytes,
  { ceilingConnections, ceilingMs, connections }: OverloadSizes,
): Promise<Outcome['bare']> {
  const bare = await startBare(bytes);
  try {
    const load = loadOn(generator, bare, market);
    const few = await load(ceilingConnections, ceilingMs, null);
    return { few, many: await load(connections, ceilingMs, null) };
  } finally {
    await bare.stop();
  }
}

function loadOn(generator: Generator, server: Target, { traders, instruments }: Market) {
  const { port, basePath } = server;
  return (
    connections: number,
    measureMs: number,
    ratePerSecond: number | null,
    whileMeasuring = () => {},
  ) => {
    const name = `over-${process.pid}-${++loads}`;
    const load = { kind: 'orders', port, basePath, keys: traders, instruments, name } as const;
    const job = { load, connections, warmupMs: WARMUP_MS, measureMs, ratePerSecond };
    return generator.run(server, job, whileMeasuring);
  };
}

/** Samples the server's memory at intervals. */
class Sampler {
  readonly samples: Sample[] = [];
  readonly #pid: number;
  readonly #everyMs: number;
  #timer: NodeJS.Timeout | undefined;
  #startedMs = 0;

  constructor(pid: number, everyMs: number) {
    this.#pid = pid;
    this.#everyMs = everyMs;
  }

  start(): void {
    this.#startedMs = performance.now();
    this.#look();
    this.#timer = setInterval(() => this.#look(), this.#everyMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const seconds = (performance.now() - this.#startedMs) / 1000;
    this.samples.push({ seconds, ...residentBytes(this.#pid) });
  }
}

const refusedOf = ({ statuses, seconds }: Measured) => (statuses[503] ?? 0) / seconds;

function reportOf(sizes: OverloadSizes, rate: number, outcome: Outcome): Report {
  const { ceiling, under, after, samples, bare } = outcome;
  const rows = [
    rowOf(`ceiling, ${sizes.ceilingConnections} connections`, ceiling, ceiling),
    rowOf(`offered ${count(rate)}/s, ${count(sizes.connections)} connections`, under, ceiling),
    rowOf(`afterwards, ${sizes.ceilingConnections} connections`, after, ceiling),
    rowOf(`bare, ${sizes.ceilingConnections} connections`, bare.few, bare.few),
    rowOf(`bare, ${count(sizes.connections)} connections`, bare.many, bare.few),
  ];
  const retryAfters = under.retryAfters / Math.max(1, under.statuses[503] ?? 0);
  const other = Object.entries(under.refusals).map(([message, times]) => `${times} x ${message}`);
  const notes = [
    'latency is of accepted orders, from when they were due',
    `of the ceiling, and of what bare keeps: ${percent(keptToBare(outcome))}`,
    'not sent: due while every connection still waited for an answer',
    `503 with Retry-After: ${under.statuses[503] === undefined ? 'none came' : percent(retryAfters)}`,
    ...other.slice(0, 3),
  ];
  const main: Table = {
    title: 'overload: orders a second at twice the ceiling',
    columns: [
      'load',
      'accepted/s',
      'of the ceiling',
      '503/s',
      'not sent/s',
      'p50 ms',
      'p99 ms',
      'p99.9 ms',
      'server CPU',
      'generator CPU',
    ],
    rows,
    notes,
  };
  const memory: Table = {
    title: 'overload: memory of the server meanwhile',
    columns: ['second', 'anonymous RSS', 'RSS with mapped files'],
    rows: samples.map(({ seconds, all, anonymous }) => [
      seconds.toFixed(0),
      mib(anonymous),
      mib(all),
    ]),
  };
  const figures = figuresOf(outcome);
  const loads = Object.entries({ ceiling, offered: under, afterwards: after });
  const threads = loads.map(([label, { threads: used, statuses }]) => {
    const answers = Object.values(statuses).reduce((sum, times) => sum + times, 0);
    return { label, rounds: [{ threads: used, units: answers }] };
  });
  return { tables: [main, memory, threadTable('overload', 'answer', threads, figures)], figures };
}

/** The share of its ceiling that the server keeps, to the share that bare keeps. */
function keptToBare({ ceiling, under, bare }: Outcome): number {
  const kept = rateOf(under) / rateOf(ceiling);
  return kept / (rateOf(bare.many) / rateOf(bare.few));
}

function rowOf(name: string, measured: Measured, ceiling: Measured): string[] {
  const { latency, notSent, seconds, serverCpuMs, generatorCpuMs } = measured;
  return [
    name,
    count(rateOf(measured)),
    percent(rateOf(measured) / rateOf(ceiling)),
    count(refusedOf(measured)),
    count(notSent / seconds),
    ms(latency.p50),
    ms(latency.p99),
    ms(latency.p999),
    percent(serverCpuMs / 1000 / seconds),
    percent(generatorCpuMs / 1000 / seconds),
  ];
}

function figuresOf(outcome: Outcome): Figures {
  const { ceiling, under, after, samples } = outcome;
  const grown = samples.at(-1)!.anonymous - samples[0]!.anonymous;
  return {
    ceiling: { unit: 'orders/s', value: rateOf(ceiling) },
    accepted: { unit: 'orders/s', value: rateOf(under) },
    'kept, to bare': { unit: 'ratio', value: keptToBare(outcome) },
    refused: { unit: '503/s', value: refusedOf(under) },
    'not sent': { unit: 'orders/s', value: under.notSent / under.seconds },
    p50: { unit: 'ms', value: under.latency.p50 },
    p99: { unit: 'ms', value: under.latency.p99 },
    p999: { unit: 'ms', value: under.latency.p999 },
    'anonymous memory grown': { unit: 'bytes', value: grown },
    afterwards: { unit: 'orders/s', value: rateOf(after) },
  };
}

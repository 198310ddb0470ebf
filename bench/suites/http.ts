/**
 * The whole server over HTTP, `sync` durability: quotes, portfolios and orders at several numbers
 * of connections, and beside each two peers under the same generator: a bare handler, and one that
 * takes every request through a thread and commits orders there, with no rule in it.
 */
import path from 'node:path';
import { Generator, type Measured } from '../lib/generator.ts';
import { answerBytes, type Market, openMarket } from '../lib/http-market.ts';
import type { LoadKind } from '../lib/load.ts';
import {
  count,
  type Figures,
  ms,
  type Report,
  range,
  ratio,
  type Suite,
  type Table,
} from '../lib/report.ts';
import { type AnswerBytes, type Running, startBare, startPaperbook } from '../lib/server.ts';
import { spreadOf } from '../lib/stats.ts';
import { dropDir, tempDir } from '../lib/temp.ts';

export type HttpSizes = {
  kinds: readonly LoadKind[];
  connections: readonly number[];
  rounds: number;
  warmupMs: number;
  measureMs: number;
  accounts: number;
};

export const http: Suite<HttpSizes> = {
  name: 'http',
  about: 'the server over HTTP, against a bare uWebSockets.js handler',
  full: {
    kinds: ['quotes', 'portfolio', 'orders'],
    connections: [1, 64, 256],
    rounds: 5,
    warmupMs: 500,
    measureMs: 3000,
    accounts: 100,
  },
  quick: {
    kinds: ['quotes', 'portfolio', 'orders'],
    connections: [1, 256],
    rounds: 1,
    warmupMs: 300,
    measureMs: 1000,
    accounts: 20,
  },
  run,
};

/** The rounds of one kind at one number of connections, on the server and on its peers. */
type Rounds = {
  kind: LoadKind;
  connections: number;
  ours: Measured[];
  bare: Measured[];
  hop: Measured[];
};

async function run(sizes: HttpSizes, progress: (line: string) => void): Promise<Report> {
  const dir = tempDir();
  const generator = new Generator();
  const servers: Running[] = [];
  try {
    progress('http: starting the server');
    const server = await startPaperbook(path.join(dir, 'data'));
    servers.push(server);
    const market = await openMarket(server, sizes.accounts);
    const bytes = await answerBytes(server, market);
    const bare = await startBare(bytes);
    const hop = await startBare(bytes, path.join(dir, 'hop'));
    servers.push(bare, hop);
    const taken: Rounds[] = [];
    const load = (target: Running, kind: LoadKind, connections: number) =>
      measure(generator, target, market, { kind, connections }, sizes);
    progress('http: warming up');
    for (const kind of sizes.kinds) {
      for (const target of servers) await load(target, kind, WARM_CONNECTIONS);
    }
    for (const kind of sizes.kinds) {
      for (const connections of sizes.connections) {
        const rounds: Rounds = { kind, connections, ours: [], bare: [], hop: [] };
        for (let round = 0; round < sizes.rounds; round++) {
          progress(`http: ${kind}, ${connections} connection(s), round ${round + 1}`);
          rounds.ours.push(await load(server, kind, connections));
          rounds.bare.push(await load(bare, kind, connections));
          rounds.hop.push(await load(hop, kind, connections));
        }
        taken.push(rounds);
      }
    }
    return reportOf(taken, bytes);
  } finally {
    generator.close();
    for (const server of servers) await server.stop();
    dropDir(dir);
  }
}

/** What runs before it is compiled well is not what a server is. */
const WARM_CONNECTIONS = 64;

let loads = 0;

/** One in ten, and it is another benchmark. */
const REFUSED_MAX = 0.1;
/** Simulated venues pause a market for up to twenty seconds: what it was paused in is taken again. */
const TRIES = 10;

async function measure(
  generator: Generator,
  target: Running,
  { traders, readers, instruments }: Market,
  { kind, connections }: Pick<Rounds, 'kind' | 'connections'>,
  { warmupMs, measureMs }: HttpSizes,
): Promise<Measured> {
  const { port, basePath } = target;
  const keys = kind === 'orders' ? traders : readers;
  for (let tries = 1; ; tries++) {
    const name = `load-${process.pid}-${++loads}`;
    const measured = await generator.run(target, {
      load: { kind, port, basePath, keys, instruments, name },
      connections,
      warmupMs,
      measureMs,
      ratePerSecond: null,
    });
    const { refusals } = measured;
    const refused = Object.values(refusals).reduce((sum, times) => sum + times, 0);
    if (refused <= answersOf(measured) * REFUSED_MAX) return measured;
    const arePauses = Object.keys(refusals).every((text) => text.includes('market_not_open'));
    if (!arePauses || tries === TRIES) {
      throw new Error(`${kind}: answers were refusals: ${JSON.stringify(refusals)}`);
    }
  }
}

const rateOf = ({ statuses, seconds }: Measured) => (statuses[200] ?? 0) / seconds;
const answersOf = ({ statuses }: Measured) => Object.values(statuses).reduce((a, b) => a + b, 0);
const cpuOf = (measured: Measured) => (measured.serverCpuMs * 1000) / answersOf(measured);

function reportOf(taken: readonly Rounds[], bytes: AnswerBytes): Report {
  const figures: Figures = {};
  const rates: string[][] = [];
  const cpus: string[][] = [];
  for (const { kind, connections, ours, bare, hop } of taken) {
    const label = `${kind}, ${connections}`;
    const median = (of: (measured: Measured) => number, from = ours) => spreadOf(from.map(of));
    const rate = median(rateOf);
    const bareRate = median(rateOf, bare);
    const shares = spreadOf(ours.map((one, round) => rateOf(one) / rateOf(bare[round]!)));
    const cpu = median(cpuOf);
    const bareCpu = median(cpuOf, bare);
    const hopRate = median(rateOf, hop);
    const hopCpu = median(cpuOf, hop);
    const times = spreadOf(ours.map((one, round) => cpuOf(one) / cpuOf(bare[round]!)));
    const perAnswer = (millis: (measured: Measured) => number) =>
      median((one) => (millis(one) * 1000) / answersOf(one)).median.toFixed(1);
    const latency = (of: 'p50' | 'p99' | 'p999') => median((one) => one.latency[of]);
    figures[`${label}/rate`] = { unit: 'requests/s', value: rate };
    figures[`${label}/bare rate`] = { unit: 'requests/s', value: bareRate };
    figures[`${label}/rate to bare`] = { unit: 'of the bare rate', value: shares };
    figures[`${label}/hop rate`] = { unit: 'requests/s', value: hopRate };
    figures[`${label}/hop cpu`] = { unit: 'CPU us/request', value: hopCpu };
    figures[`${label}/cpu`] = { unit: 'CPU us/request', value: cpu };
    figures[`${label}/bare cpu`] = { unit: 'CPU us/request', value: bareCpu };
    figures[`${label}/cpu to bare`] = { unit: 'times the bare CPU', value: times };
    for (const name of ['p50', 'p99', 'p999'] as const) {
      figures[`${label}/${name}`] = { unit: 'ms', value: latency(name) };
    }
    rates.push([
      label,
      count(rate.median),
      range(rate),
      count(bareRate.median),
      ratio(shares.median),
      count(hopRate.median),
      ms(median((one) => one.latency.p99, hop).median),
      ms(latency('p50').median),
      ms(latency('p99').median),
      ms(latency('p999').median),
    ]);
    cpus.push([
      label,
      cpu.median.toFixed(1),
      bareCpu.median.toFixed(1),
      ratio(times.median),
      range(times, ratio),
      hopCpu.median.toFixed(1),
      perAnswer((one) => one.mainCpuMs),
      perAnswer((one) => one.otherCpuMs),
      perAnswer((one) => one.generatorCpuMs),
    ]);
  }
  return { tables: tablesOf(rates, cpus, bytes, refusalsOf(taken)), figures };
}

function refusalsOf(taken: readonly Rounds[]): string {
  const answers = taken.flatMap(({ ours }) => ours);
  const all = answers.reduce((sum, one) => sum + answersOf(one), 0);
  const good = answers.reduce((sum, one) => sum + (one.statuses[200] ?? 0), 0);
  return `${count(all - good)} of ${count(all)} answers of the server were not 200`;
}

function tablesOf(
  rates: string[][],
  cpus: string[][],
  bytes: AnswerBytes,
  refusals: string,
): Table[] {
  const sizes = Object.entries(bytes).map(([name, length]) => `${name} ${length}`);
  return [
    {
      title: 'http: requests a second, and the times of the server in ms',
      columns: [
        'load, connections',
        'requests/s',
        'min .. max',
        'bare/s',
        'to bare',
        'hop/s',
        'its p99',
        'p50',
        'p99',
        'p99.9',
      ],
      rows: rates,
      notes: [
        'generator, server and its shard share the cores: the CPU table is the fairer one',
        'hop: the bare handler, with each request through a thread that commits orders, and no rule',
        `bytes of an answer: ${sizes.join(', ')}`,
        refusals,
      ],
    },
    {
      title: 'http: CPU microseconds a request',
      columns: [
        'load, connections',
        'server',
        'bare',
        'to bare',
        'min .. max',
        'hop',
        'main thread',
        'shard thread',
        'generator',
      ],
      rows: cpus,
      notes: ['shard thread: the busiest thread beside the main one'],
    },
  ];
}

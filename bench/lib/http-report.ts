/** Tables and figures of the http suite: a row for the server and one for each of its peers. */
import type { Measured } from './generator.ts';
import { count, type Figures, ms, type Report, range, ratio, type Table } from './report.ts';
import type { AnswerBytes } from './server.ts';
import { type Spread, spreadOf } from './stats.ts';
import { type ThreadRounds, threadTable } from './thread-table.ts';

/** The rounds of one load, on the server and its peers; equal numbers ran side by side. */
export type Rounds = {
  /** `orders, 256, 1.0 k`. */
  label: string;
  ours: Measured[];
  bare: Measured[];
  hop: Measured[];
  ring: Measured[];
};

const TARGETS = ['ours', 'bare', 'hop', 'ring'] as const;
const NAMES = { ours: 'server', bare: 'bare', hop: 'hop', ring: 'ring' } as const;

export const answersOf = ({ statuses }: Measured) =>
  Object.values(statuses).reduce((a, b) => a + b, 0);
/** Answers that are no refusal. */
export const goodOf = ({ statuses }: Measured) => statuses[200] ?? 0;
export const rateOf = (measured: Measured) => goodOf(measured) / measured.seconds;

/** Throws where more than this share of the answers are refusals. */
export function requireGood(measured: Measured, refusedMax: number): void {
  const all = answersOf(measured);
  if (all - goodOf(measured) <= all * refusedMax) return;
  const { statuses, refusals } = measured;
  throw new Error(`answers were refusals: ${JSON.stringify({ statuses, refusals })}`);
}

/** From milliseconds in a load to microseconds per answer. */
const perAnswer = (millis: number, measured: Measured) => (millis * 1000) / answersOf(measured);
const cpuOf = (measured: Measured) => perAnswer(measured.serverCpuMs, measured);
const median = (of: (measured: Measured) => number, from: Measured[]) => spreadOf(from.map(of));
const pairs = (of: (measured: Measured) => number, from: Measured[], to: Measured[]) =>
  spreadOf(from.map((one, round) => of(one) / of(to[round]!)));

export function httpReport(
  taken: readonly Rounds[],
  bytes: AnswerBytes,
  generator: string,
): Report {
  const figures: Figures = {};
  const rates: string[][] = [];
  const cpus: string[][] = [];
  for (const rounds of taken) {
    for (const target of TARGETS) {
      const name = `${rounds.label}/${NAMES[target]}`;
      rates.push(rateRow(name, rounds[target], rounds.bare, figures));
      cpus.push(cpuRow(name, rounds[target], rounds.bare, figures));
    }
  }
  return {
    tables: [
      ...tablesOf(rates, cpus, bytes, [refusalsOf(taken), `generator: ${generator}`]),
      threadTable('http', 'request', taken.map(ofThreads), figures),
    ],
    figures,
  };
}

function ofThreads({ label, ours }: Rounds): ThreadRounds {
  const rounds = ours.map((one) => ({ threads: one.threads, units: answersOf(one) }));
  return { label: `${label}/${NAMES.ours}`, rounds };
}

function rateRow(name: string, of: Measured[], bare: Measured[], figures: Figures): string[] {
  const rate = median(rateOf, of);
  const share = pairs(rateOf, of, bare);
  figures[`${name}/rate`] = { unit: 'requests/s', value: rate };
  figures[`${name}/rate to bare`] = { unit: 'of the bare rate', value: share };
  const latencies = (['p50', 'p99', 'p999'] as const).map((percentile) => {
    const value = median(({ latency }) => latency[percentile], of);
    figures[`${name}/${percentile}`] = { unit: 'ms', value };
    return ms(value.median);
  });
  return [name, count(rate.median), range(rate), ratio(share.median), ...latencies];
}

function cpuRow(name: string, of: Measured[], bare: Measured[], figures: Figures): string[] {
  const cpu = median(cpuOf, of);
  const times = pairs(cpuOf, of, bare);
  const written = median((one) => one.writtenBytes / answersOf(one), of);
  figures[`${name}/cpu`] = { unit: 'CPU us/request', value: cpu };
  figures[`${name}/cpu to bare`] = { unit: 'times the bare CPU', value: times };
  figures[`${name}/written`] = { unit: 'bytes/request', value: written };
  const micros = (millis: (one: Measured) => number): Spread =>
    median((one) => perAnswer(millis(one), one), of);
  return [
    name,
    cpu.median.toFixed(1),
    range(cpu, (value) => value.toFixed(1)),
    ratio(times.median),
    micros((one) => one.generatorCpuMs).median.toFixed(1),
    written.median.toFixed(0),
  ];
}

function refusalsOf(taken: readonly Rounds[]): string {
  const answers = taken.flatMap(({ ours }) => ours);
  const all = answers.reduce((sum, one) => sum + answersOf(one), 0);
  const good = answers.reduce((sum, one) => sum + goodOf(one), 0);
  return `${count(all - good)} of ${count(all)} answers of the server were not 200`;
}

function tablesOf(
  rates: string[][],
  cpus: string[][],
  bytes: AnswerBytes,
  more: string[],
): Table[] {
  const sizes = Object.entries(bytes).map(([name, length]) => `${name} ${length}`);
  const first = 'load, connections, accounts/of';
  return [
    {
      title: 'http: requests a second, and times in ms',
      columns: [first, 'requests/s', 'min .. max', 'to bare', 'p50', 'p99', 'p99.9'],
      rows: rates,
      notes: [
        'generator, server and its shard share the cores: the CPU table is the fairer one',
        'hop: bare, with each request through a Piscina thread that commits orders to LMDB, no rule',
        'ring: bare, with each request through rings to a thread that appends and syncs, no rule',
        `bytes of an answer: ${sizes.join(', ')}`,
        ...more,
      ],
    },
    {
      title: 'http: CPU microseconds a request',
      columns: [first, 'CPU', 'min .. max', 'to bare', 'generator', 'bytes written'],
      rows: cpus,
      notes: ['bytes written: of write calls of the process (wchar of /proc/PID/io), a request'],
    },
  ];
}

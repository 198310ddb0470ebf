/** The tables of the feed suite. */
import type { Memory } from './heaps.ts';
import type { Usage } from './proc.ts';
import { count, type Figures, mib, ms, type Report, ratio, type Table } from './report.ts';
import type { LatencySummary } from './stats.ts';
import { threadTable } from './thread-table.ts';

/** The results of a flood of increments. */
export type Flood = {
  framesPerSecond: number;
  sentPerSecond: number;
  lag: LatencySummary;
  /** Of the whole server, and by thread. */
  usage: Usage;
  frames: number;
  /** At the start of the measured time, at its middle and at its end. */
  memory: readonly [Memory, Memory, Memory];
};

export type FeedTimes = Record<'toQuote' | 'toFill' | 'quiet' | 'busy', LatencySummary>;

type Named = { name: string; flood: Flood };

/** `floods`: the floods of top_of_book and book_depth, in pairs by their frames. */
export function feedReport(
  floods: readonly { sent: string; top: Flood; deep: Flood }[],
  times: FeedTimes,
  { light, warmUpSeconds }: { light: number; warmUpSeconds: number },
): Report {
  const figures: Figures = {};
  const figure = (name: string, unit: string, value: number) => {
    figures[name] = { unit, value };
    return value;
  };
  const named = floods.flatMap(({ sent, top, deep }): Named[] => [
    { name: `top_of_book${sent}`, flood: top },
    { name: `book_depth${sent}`, flood: deep },
  ]);
  const shares = floods.map(({ sent, top, deep }) => {
    const share = cpuMicrosOf(deep) / cpuMicrosOf(top);
    const times = ratio(figure(`book_depth to top_of_book${sent}`, 'times', share));
    return `CPU of book_depth to that of top_of_book${sent}: ${times}`;
  });
  const tables = [
    floodTable(named, shares, figure),
    memoryTable(named, warmUpSeconds, figure),
    latencyTable(times, light, figure),
    threadTable(
      'feed',
      'frame',
      named.map(({ name, flood }) => ({
        label: name,
        rounds: [{ threads: flood.usage.threads, units: flood.frames }],
      })),
      figures,
    ),
  ];
  return { tables, figures };
}

type Figure = (name: string, unit: string, value: number) => number;

const cpuMicrosOf = ({ usage, frames }: Flood) => (usage.serverCpuMs * 1000) / frames;

function floodTable(floods: readonly Named[], shares: string[], figure: Figure): Table {
  const rows = floods.map(({ name, flood }) => {
    const { framesPerSecond, sentPerSecond, lag } = flood;
    return [
      ...[name, count(sentPerSecond), count(figure(`${name}/taken`, '1/s', framesPerSecond))],
      ...[ms(lag.p50), ms(figure(`${name}/lag p99`, 'ms', lag.p99))],
      figure(`${name}/CPU all`, 'us/frame', cpuMicrosOf(flood)).toFixed(1),
    ];
  });
  return {
    title: 'feed: a flood of increments, CPU microseconds a frame, lag in ms',
    columns: ['fill model', 'sent/s', 'taken/s', 'lag p50', 'lag p99', 'CPU'],
    rows,
    notes: [
      'as recorded: of the increments 21% change the best level of a side, 10% nothing that is shown',
      'all shown: each changes a shown level, 25% the best',
      ...shares,
    ],
  };
}

const MOMENTS = ['start', 'middle', 'end'] as const;

function memoryTable(floods: readonly Named[], warmUpSeconds: number, figure: Figure): Table {
  const rows = floods.flatMap(({ name, flood }) =>
    MOMENTS.map((moment, at) => {
      const { resident, heaps, used, external } = flood.memory[at]!;
      const shown = mib(figure(`${name}/memory at the ${moment}`, 'bytes', resident));
      return [`${name}, ${moment}`, shown, mib(heaps), mib(used), mib(external)];
    }),
  );
  return {
    title: `feed: memory of the measured time, after ${warmUpSeconds} s of the same flood`,
    columns: ['fill model', 'resident', 'heaps', 'in use', 'buffers'],
    rows,
    notes: ['heaps of all threads, their used part, and the buffers outside of them'],
  };
}

function latencyTable(times: FeedTimes, light: number, figure: Figure): Table {
  const row = (name: string, { p50, p99 }: LatencySummary) => [
    name,
    ms(figure(`${name}/p50`, 'ms', p50)),
    ms(figure(`${name}/p99`, 'ms', p99)),
  ];
  const { toQuote, toFill, quiet, busy } = times;
  return {
    title: `feed: single frames among ${light} a second, and orders, times in ms`,
    columns: ['what', 'p50', 'p99'],
    rows: [
      row('frame to quote', toQuote),
      row('frame to fill', toFill),
      row('orders without frames', quiet),
      row('orders beside frames', busy),
    ],
    notes: [
      `p99 of orders: ${ratio(figure('orders/p99', 'times', busy.p99 / quiet.p99))}`,
      'quotes and orders are asked for over HTTP, one request after another',
    ],
  };
}

/**
 * What an order costs the whole server while its orders come to millions: CPU and bytes written, of
 * which by shard and records, with few accounts and with many.
 */
import path from 'node:path';
import { Generator } from '../lib/generator.ts';
import { goodOf, requireGood } from '../lib/http-report.ts';
import { type Prepared, startPrepared } from '../lib/prepared-server.ts';
import { type Usage, usageSince } from '../lib/proc.ts';
import { count, type Figures, type Report, type Suite } from '../lib/report.ts';
import type { Paperbook } from '../lib/server.ts';
import { dropDir, tempDir } from '../lib/temp.ts';
import { type ThreadRounds, threadTable } from '../lib/thread-table.ts';

export type GrowthSizes = {
  /** Each on its own server. */
  accounts: readonly number[];
  orders: number;
  /** The orders of a row. */
  step: number;
  connections: number;
  /** One load, many of which make a step. */
  loadMs: number;
};

export const growth: Suite<GrowthSizes> = {
  name: 'growth',
  about: 'CPU and bytes written an order over millions of orders, with few and many accounts',
  full: {
    ...{ accounts: [1000, 200_000], orders: 3_000_000, step: 750_000 },
    ...{ connections: 256, loadMs: 10_000 },
  },
  quick: {
    ...{ accounts: [100, 1000], orders: 40_000, step: 20_000 },
    ...{ connections: 256, loadMs: 1000 },
  },
  run,
};

/** What the orders of a row used. */
type Step = { orders: number; seconds: number; usage: Usage };

async function run(sizes: GrowthSizes, progress: (line: string) => void): Promise<Report> {
  const figures: Figures = {};
  const rows: string[][] = [];
  const threads: ThreadRounds[] = [];
  for (const accounts of sizes.accounts) {
    const label = `${count(accounts)} accounts`;
    let before = 0;
    for (const step of await measureSteps(accounts, sizes, (line) => {
      progress(`growth: ${label}, ${line}`);
    })) {
      before += step.orders;
      const { orders, usage } = step;
      threads.push({
        label: `${label}, ${count(before)}`,
        rounds: [{ threads: usage.threads, units: orders }],
      });
      const row = rowOf(step);
      figures[`${label}, ${count(before)}/cpu`] = { unit: 'CPU us/order', value: row.cpu };
      figures[`${label}, ${count(before)}/written`] = { unit: 'bytes/order', value: row.written };
      rows.push([
        ...[label, count(before), count(orders / step.seconds), row.cpu.toFixed(1)],
        ...[row.written, row.shard, row.records].map((bytes) => bytes.toFixed(0)),
      ]);
    }
  }
  const written = ['bytes written', 'of the shard', 'of records'];
  const table = {
    title: 'growth: the whole server, an order or cancel, by the orders so far',
    columns: ['accounts', 'orders', 'orders/s', 'CPU us', ...written],
    rows,
    notes: ['every account has a resting order before the first row, and a key of its own'],
  };
  return { tables: [table, threadTable('growth', 'order', threads, figures)], figures };
}

function rowOf({ orders, usage: { serverCpuMs, writtenBytes, threads } }: Step) {
  const writtenBy = (thread: string) => {
    return (threads.find(({ name }) => name === thread)?.writtenBytes ?? 0) / orders;
  };
  return {
    cpu: (1000 * serverCpuMs) / orders,
    written: writtenBytes / orders,
    shard: writtenBy('shard'),
    records: writtenBy('records'),
  };
}

async function measureSteps(
  accounts: number,
  sizes: GrowthSizes,
  progress: (line: string) => void,
): Promise<Step[]> {
  const dir = tempDir();
  const generator = new Generator();
  let server: Paperbook | null = null;
  try {
    progress('making them');
    const prepared = await startPrepared(path.join(dir, 'data'), accounts);
    server = prepared.server;
    const steps: Step[] = [];
    for (let before = 0; before < sizes.orders; before += steps.at(-1)!.orders) {
      progress(`after ${count(before)} orders`);
      steps.push(await measureStep(generator, prepared, sizes));
    }
    return steps;
  } finally {
    generator.close();
    await server?.stop();
    dropDir(dir);
  }
}

/** In a run of good orders a refusal is a market that ended, or that its venue has paused. */
const REFUSED_MAX = 0.2;

let loads = 0;

async function measureStep(
  generator: Generator,
  { server, keys, instruments }: Prepared,
  { step, connections, loadMs }: GrowthSizes,
): Promise<Step> {
  const made = { orders: 0, seconds: 0 };
  // From its first order to its last one: what is written between two loads counts, too.
  const usage = usageSince(server.pid);
  while (made.orders < step) {
    const { port, basePath } = server;
    const measured = await generator.run(server, {
      load: {
        ...{ kind: 'orders', port, basePath, keys, instruments },
        name: `growth-${process.pid}-${++loads}`,
      },
      connections,
      warmupMs: 0,
      measureMs: loadMs,
      ratePerSecond: null,
    });
    requireGood(measured, REFUSED_MAX);
    made.orders += goodOf(measured);
    made.seconds += measured.seconds;
  }
  return { ...made, usage: usage() };
}

/**
 * One shard in this thread with `sync` durability: decide, evolve, log, checkpoints, at several
 * batch sizes and numbers of accounts. Each is next to the ceiling: appends of the same bytes to a
 * log and nothing else.
 */
import path from 'node:path';
import { BenchShard, CHECKPOINT_EVERY_FACTS, recordPayloads } from '../lib/bench-shard.ts';
import { openCeiling } from '../lib/ceiling.ts';
import { type Cost, costOf, type Rate, Slices } from '../lib/cost.ts';
import type { FlowOptions } from '../lib/order-flow.ts';
import {
  count,
  type Figures,
  percent,
  type Report,
  range,
  type Suite,
  type Table,
} from '../lib/report.ts';
import { dropDir, tempDir } from '../lib/temp.ts';

export type ShardSizes = {
  batches: readonly number[];
  /** Each number on a separate shard. */
  accounts: readonly number[];
  /** Slices that alternate between the shard and the ceiling; at least so many of each. */
  slices: number;
  sliceMs: number;
  /** Each size runs until it includes a whole checkpoint, but not longer than this. */
  sizeMsMax: number;
  checkpointEveryFacts: number;
  flow: Omit<FlowOptions, 'accounts'>;
  /** So many further orders on the shard with the most accounts, and the parts to show them in. */
  long: { orders: number; parts: number };
};

const FLOW = { seed: 7, markets: 1000, restingMax: 200_000, positionsMax: 100_000 };
/** The most that a shard client sends at a time (engine/shard/callers/shard-client.ts). */
const LONG_BATCH = 256;

export const shard: Suite<ShardSizes> = {
  name: 'shard',
  about: 'decide, evolve and log, durable, against bare appends of the same bytes',
  full: {
    batches: [1, 4, 16, 64, 256],
    accounts: [1000, 500_000],
    slices: 5,
    sliceMs: 2000,
    sizeMsMax: 120_000,
    checkpointEveryFacts: CHECKPOINT_EVERY_FACTS,
    flow: FLOW,
    long: { orders: 12_000_000, parts: 6 },
  },
  quick: {
    batches: [1, 64],
    accounts: [1000, 50_000],
    slices: 3,
    sliceMs: 500,
    sizeMsMax: 4000,
    checkpointEveryFacts: CHECKPOINT_EVERY_FACTS,
    flow: FLOW,
    long: { orders: 100_000, parts: 2 },
  },
  run,
};

async function run(sizes: ShardSizes, progress: (line: string) => void): Promise<Report> {
  const figures: Figures = {};
  const rows: string[][] = [];
  const longRows: string[][] = [];
  const accountsMost = Math.max(...sizes.accounts);
  for (const accounts of sizes.accounts) {
    const dir = tempDir();
    const flow = { ...sizes.flow, accounts };
    progress(`shard: opening ${count(accounts)} accounts`);
    const running = await BenchShard.open(dir, 'sync', flow, sizes.checkpointEveryFacts);
    try {
      await running.openAccounts();
      for (const size of sizes.batches) {
        progress(`shard: ${count(accounts)} accounts, batches of ${size}`);
        const name = `${count(accounts)} accounts, batch ${size}`;
        rows.push(rowOf(name, size, figures, await measureSize(running, dir, flow, size, sizes)));
      }
      if (accounts !== accountsMost) continue;
      progress(`shard: ${count(accounts)} accounts, ${count(sizes.long.orders)} orders more`);
      longRows.push(...(await measureLong(running, sizes.long, figures)));
    } finally {
      await running.shard.close();
      dropDir(dir);
    }
  }
  return { tables: tablesOf(rows, longRows, sizes, accountsMost), figures };
}

function rowOf(
  name: string,
  size: number,
  figures: Figures,
  { orders, ceiling, payloadBytes, cycles }: SizeMeasured,
): string[] {
  const share = orders.rate / ceiling.rate;
  figures[`${name}/orders`] = { unit: 'orders/s', value: orders.rate };
  figures[`${name}/orders/slices`] = { unit: 'orders/s', value: orders.slices };
  figures[`${name}/ceiling`] = { unit: 'orders/s', value: ceiling.rate };
  figures[`${name}/ceiling/slices`] = { unit: 'orders/s', value: ceiling.slices };
  figures[`${name}/orders/cpu`] = { unit: 'CPU us/order', value: orders.cpuMicros };
  figures[`${name}/ceiling/cpu`] = { unit: 'CPU us/order', value: ceiling.cpuMicros };
  figures[`${name}/orders/written`] = { unit: 'bytes/order', value: orders.writtenBytes };
  figures[`${name}/share`] = { unit: 'of the ceiling', value: share };
  return [
    name,
    count(orders.rate),
    range(orders.slices),
    count(ceiling.rate),
    percent(share),
    orders.cpuMicros.toFixed(1),
    ceiling.cpuMicros.toFixed(1),
    (payloadBytes / size).toFixed(0),
    orders.writtenBytes.toFixed(0),
    ceiling.writtenBytes.toFixed(0),
    String(cycles),
  ];
}

/** Whether the cost of an order stays the same after millions of them, part by part. */
async function measureLong(
  running: BenchShard,
  { orders, parts }: ShardSizes['long'],
  figures: Figures,
): Promise<string[][]> {
  const batches = Math.ceil(orders / parts / LONG_BATCH);
  const rows: string[][] = [];
  for (let part = 0; part < parts; part++) {
    const slices = new Slices();
    await slices.repeat(LONG_BATCH, batches, () => timeBatch(running, LONG_BATCH));
    const { rate, cpuMicros, writtenBytes } = slices.rate();
    const until = count(batches * LONG_BATCH * (part + 1));
    figures[`long/${until} orders/cpu`] = { unit: 'CPU us/order', value: cpuMicros };
    figures[`long/${until} orders/written`] = { unit: 'bytes/order', value: writtenBytes };
    rows.push([until, count(rate), cpuMicros.toFixed(1), writtenBytes.toFixed(0)]);
  }
  return rows;
}

function tablesOf(
  rows: string[][],
  longRows: string[][],
  { checkpointEveryFacts }: ShardSizes,
  accountsMost: number,
): Table[] {
  const columns = [
    'accounts, orders a batch',
    'orders/s',
    'slices min .. max',
    'ceiling/s',
    'share',
    'CPU us an order',
    'of the ceiling',
    'bytes an order',
    'written',
    'by the ceiling',
    'checkpoints',
  ];
  const notes = [
    'orders/s and ceiling/s are of all slices together: a checkpoint is in some of them only',
    'CPU: of the whole process, so the work of LMDB and the garbage collector counts',
    'written: bytes of write calls, an order (wchar of /proc/self/io)',
    `checkpoints: begun while timed; one is due every ${count(checkpointEveryFacts)} facts`,
  ];
  const long = `shard: ${count(accountsMost)} accounts, batches of ${LONG_BATCH}, one part after another`;
  return [
    { title: 'shard: durable orders a second', columns, rows, notes },
    {
      title: long,
      columns: ['orders so far', 'orders/s', 'CPU us an order', 'bytes written an order'],
      rows: longRows,
    },
  ];
}

type SizeMeasured = { orders: Rate; ceiling: Rate; payloadBytes: number; cycles: number };

async function measureSize(
  running: BenchShard,
  dir: string,
  flow: FlowOptions,
  size: number,
  { slices, sliceMs, sizeMsMax }: ShardSizes,
): Promise<SizeMeasured> {
  const payloads = recordPayloads(flow, size, Math.max(4, Math.ceil(2048 / size)));
  const bare = openCeiling(path.join(dir, `bare-${size}`));
  const orders = new Slices();
  const ceiling = new Slices();
  await untilCheckpointBegins(running);
  const begunBefore = running.begun;
  while (
    orders.count < slices ||
    (running.begun === begunBefore && orders.millis + ceiling.millis < sizeMsMax)
  ) {
    await orders.add(size, sliceMs, () => timeBatch(running, size));
    await ceiling.add(size, sliceMs, (at) => bare.timeCommit(payloads[at % payloads.length]!));
  }
  bare.close();
  return {
    orders: orders.rate(),
    ceiling: ceiling.rate(),
    payloadBytes: payloads.reduce((sum, { length }) => sum + length, 0) / payloads.length,
    cycles: running.begun - begunBefore,
  };
}

/** A checkpoint's cost is that from one beginning to the next; earlier ones had another size. */
async function untilCheckpointBegins(running: BenchShard): Promise<void> {
  const { begun } = running;
  while (running.begun === begun) await running.run(running.messages(256));
}

/** Only the shard is timed, not the generation of orders. */
function timeBatch(running: BenchShard, size: number): Promise<Cost> {
  const messages = running.messages(size);
  return costOf(() => running.run(messages));
}

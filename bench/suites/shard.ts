/**
 * One shard in this thread, `sync` durability: decide, evolve, journal, checkpoints, at several
 * batch sizes; and beside each the ceiling: LMDB commits of the same bytes and nothing else.
 */
import path from 'node:path';
import { open } from 'lmdb';
import { BenchShard, CHECKPOINT_EVERY_EVENTS, journalBlobs } from '../lib/bench-shard.ts';
import type { FlowOptions } from '../lib/order-flow.ts';
import { count, type Figures, percent, type Report, range, type Suite } from '../lib/report.ts';
import { type Spread, spreadOf } from '../lib/stats.ts';
import { dropDir, tempDir } from '../lib/temp.ts';

export type ShardSizes = {
  batches: readonly number[];
  /** Slices that alternate between the shard and the ceiling; at least so many of each. */
  slices: number;
  sliceMs: number;
  /** A size goes on until a whole checkpoint is in it, but not longer than this. */
  sizeMsMax: number;
  checkpointEveryEvents: number;
  flow: FlowOptions;
};

const FLOW: FlowOptions = {
  seed: 7,
  accounts: 1000,
  markets: 1000,
  restingMax: 200_000,
  positionsMax: 100_000,
};

export const shard: Suite<ShardSizes> = {
  name: 'shard',
  about: 'decide, evolve and journal, durable, against bare LMDB commits of the same bytes',
  full: {
    batches: [1, 4, 16, 64, 256, 1024],
    slices: 5,
    sliceMs: 2000,
    sizeMsMax: 180_000,
    checkpointEveryEvents: CHECKPOINT_EVERY_EVENTS,
    flow: FLOW,
  },
  quick: {
    batches: [1, 64, 1024],
    slices: 3,
    sliceMs: 700,
    sizeMsMax: 5000,
    checkpointEveryEvents: CHECKPOINT_EVERY_EVENTS,
    flow: FLOW,
  },
  run,
};

async function run(sizes: ShardSizes, progress: (line: string) => void): Promise<Report> {
  const dir = tempDir();
  const figures: Figures = {};
  const rows: string[][] = [];
  const { flow, checkpointEveryEvents } = sizes;
  const running = new BenchShard(dir, 'sync', flow, checkpointEveryEvents);
  try {
    for (const size of sizes.batches) {
      progress(`shard: batches of ${size}`);
      const { orders, ceiling, blobBytes, cycles } = await measureSize(running, dir, size, sizes);
      const share = orders.rate / ceiling.rate;
      figures[`batch ${size}/orders`] = { unit: 'orders/s', value: orders.rate };
      figures[`batch ${size}/orders/slices`] = { unit: 'orders/s', value: orders.slices };
      figures[`batch ${size}/ceiling`] = { unit: 'orders/s', value: ceiling.rate };
      figures[`batch ${size}/ceiling/slices`] = { unit: 'orders/s', value: ceiling.slices };
      figures[`batch ${size}/orders/cpu`] = { unit: 'CPU us/order', value: orders.cpuMicros };
      figures[`batch ${size}/ceiling/cpu`] = { unit: 'CPU us/order', value: ceiling.cpuMicros };
      figures[`batch ${size}/share`] = { unit: 'of the ceiling', value: share };
      rows.push([
        String(size),
        count(orders.rate),
        range(orders.slices),
        count(ceiling.rate),
        range(ceiling.slices),
        percent(share),
        orders.cpuMicros.toFixed(1),
        ceiling.cpuMicros.toFixed(1),
        (blobBytes / size).toFixed(0),
        String(cycles),
      ]);
    }
  } finally {
    await running.shard.close();
    dropDir(dir);
  }
  const columns = [
    'orders a batch',
    'orders/s',
    'slices min .. max',
    'ceiling/s',
    'slices min .. max',
    'share',
    'CPU us an order',
    'of the ceiling',
    'bytes an order',
    'checkpoints',
  ];
  const notes = [
    'orders/s and ceiling/s are of all slices together: a checkpoint is in some of them only',
    `checkpoints: begun while timed; one is due every ${count(checkpointEveryEvents)} events`,
  ];
  return { tables: [{ title: 'shard: durable orders a second', columns, rows, notes }], figures };
}

/** `rate` and CPU microseconds an order are of everything timed, `slices` of its parts. */
type Rate = { rate: number; cpuMicros: number; slices: Spread };

async function measureSize(
  running: BenchShard,
  dir: string,
  size: number,
  { slices, sliceMs, sizeMsMax, flow }: ShardSizes,
): Promise<{ orders: Rate; ceiling: Rate; blobBytes: number; cycles: number }> {
  const blobs = journalBlobs(flow, size, Math.max(4, Math.ceil(2048 / size)));
  const bare = openBare(path.join(dir, `bare-${size}`));
  const orders = new Slices();
  const ceiling = new Slices();
  untilCheckpointBegins(running);
  const begunBefore = running.begun;
  while (
    orders.count < slices ||
    (running.begun === begunBefore && orders.millis + ceiling.millis < sizeMsMax)
  ) {
    orders.add(size, sliceMs, () => timeBatch(running, size));
    ceiling.add(size, sliceMs, (at) => bare.timeCommit(blobs[at % blobs.length]!));
  }
  await bare.close();
  return {
    orders: orders.rate(),
    ceiling: ceiling.rate(),
    blobBytes: blobs.reduce((sum, { length }) => sum + length, 0) / blobs.length,
    cycles: running.begun - begunBefore,
  };
}

/** From one beginning to the next is what a checkpoint costs; earlier ones are another size's. */
function untilCheckpointBegins(running: BenchShard): void {
  const { begun } = running;
  while (running.begun === begun) running.run(running.messages(256));
}

/** What is timed is the shard; making orders is not. */
function timeBatch(running: BenchShard, size: number): Cost {
  const messages = running.messages(size);
  return costOf(() => running.run(messages));
}

/** Milliseconds by the clock, and of this process on the cores. */
type Cost = { wall: number; cpu: number };

function costOf(work: () => void): Cost {
  const cpuBefore = process.cpuUsage();
  const startedMs = performance.now();
  work();
  const wall = performance.now() - startedMs;
  const { user, system } = process.cpuUsage(cpuBefore);
  return { wall, cpu: (user + system) / 1000 };
}

class Slices {
  millis = 0;
  #cpuMillis = 0;
  #orders = 0;
  readonly #rates: number[] = [];

  get count(): number {
    return this.#rates.length;
  }

  /** Repeats until so many milliseconds were spent in what is timed. */
  add(size: number, forMs: number, timed: (at: number) => Cost): void {
    let spentMs = 0;
    let runs = 0;
    while (spentMs < forMs) {
      const { wall, cpu } = timed(runs++);
      spentMs += wall;
      this.#cpuMillis += cpu;
    }
    this.millis += spentMs;
    this.#orders += runs * size;
    this.#rates.push(((runs * size) / spentMs) * 1000);
  }

  rate(): Rate {
    return {
      rate: (this.#orders / this.millis) * 1000,
      cpuMicros: (this.#cpuMillis / this.#orders) * 1000,
      slices: spreadOf(this.#rates),
    };
  }
}

/** Older records go after so many bytes: the file then stops growing, which is what is fastest. */
const KEPT_BYTES = 16 * 2 ** 20;

function openBare(dir: string) {
  const root = open({ path: dir, maxDbs: 8, encoding: 'binary' });
  const journal = root.openDB<Buffer, number>({ name: 'journal', encoding: 'binary' });
  let sequence = 0;
  let bytesKept = 0;
  return {
    timeCommit(blob: Uint8Array): Cost {
      const bytes = Buffer.from(blob.buffer, blob.byteOffset, blob.byteLength);
      const cost = costOf(() => {
        root.transactionSync(() => {
          journal.put(sequence, bytes);
        });
      });
      sequence++;
      bytesKept += bytes.length;
      if (bytesKept > KEPT_BYTES) forgetBefore(sequence);
      return cost;
    },
    close: () => root.close(),
  };

  /** Not timed. */
  function forgetBefore(end: number): void {
    bytesKept = 0;
    root.transactionSync(() => {
      for (const key of [...journal.getKeys({ end })]) journal.remove(key);
    });
  }
}

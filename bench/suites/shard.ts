/**
 * One shard in this thread, `sync` durability: decide, evolve, log, checkpoints, at several batch
 * sizes; and beside each the ceiling: a log of the same bytes and nothing else.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { LogWriter } from '../../engine/log/log-writer.ts';
import { identityOf } from '../../engine/shard/data-format.ts';
import { BenchShard, CHECKPOINT_EVERY_FACTS, recordPayloads } from '../lib/bench-shard.ts';
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
  checkpointEveryFacts: number;
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
  about: 'decide, evolve and log, durable, against a bare log of the same bytes',
  full: {
    batches: [1, 4, 16, 64, 256, 1024],
    slices: 5,
    sliceMs: 2000,
    sizeMsMax: 180_000,
    checkpointEveryFacts: CHECKPOINT_EVERY_FACTS,
    flow: FLOW,
  },
  quick: {
    batches: [1, 64, 1024],
    slices: 3,
    sliceMs: 700,
    sizeMsMax: 5000,
    checkpointEveryFacts: CHECKPOINT_EVERY_FACTS,
    flow: FLOW,
  },
  run,
};

async function run(sizes: ShardSizes, progress: (line: string) => void): Promise<Report> {
  const dir = tempDir();
  const figures: Figures = {};
  const rows: string[][] = [];
  const { flow, checkpointEveryFacts } = sizes;
  const running = await BenchShard.open(dir, 'sync', flow, checkpointEveryFacts);
  try {
    for (const size of sizes.batches) {
      progress(`shard: batches of ${size}`);
      const measured = await measureSize(running, dir, size, sizes);
      const { orders, ceiling, payloadBytes, bytes, cycles } = measured;
      const share = orders.rate / ceiling.rate;
      figures[`batch ${size}/orders`] = { unit: 'orders/s', value: orders.rate };
      figures[`batch ${size}/orders/slices`] = { unit: 'orders/s', value: orders.slices };
      figures[`batch ${size}/ceiling`] = { unit: 'orders/s', value: ceiling.rate };
      figures[`batch ${size}/ceiling/slices`] = { unit: 'orders/s', value: ceiling.slices };
      figures[`batch ${size}/orders/cpu`] = { unit: 'CPU us/order', value: orders.cpuMicros };
      figures[`batch ${size}/ceiling/cpu`] = { unit: 'CPU us/order', value: ceiling.cpuMicros };
      figures[`batch ${size}/orders/bytes`] = { unit: 'bytes/order', value: bytes };
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
        (payloadBytes / size).toFixed(0),
        bytes.toFixed(0),
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
    'facts: bytes an order',
    'written: bytes an order',
    'checkpoints',
  ];
  const notes = [
    'orders/s and ceiling/s are of all slices together: a checkpoint is in some of them only',
    `checkpoints: begun while timed; one is due every ${count(checkpointEveryFacts)} facts`,
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
): Promise<{ orders: Rate; ceiling: Rate; payloadBytes: number; bytes: number; cycles: number }> {
  const payloads = recordPayloads(flow, size, Math.max(4, Math.ceil(2048 / size)));
  const bare = openBare(path.join(dir, `bare-${size}`));
  const orders = new Slices();
  const ceiling = new Slices();
  await untilCheckpointBegins(running);
  const begunBefore = running.begun;
  while (
    orders.count < slices ||
    (running.begun === begunBefore && orders.millis + ceiling.millis < sizeMsMax)
  ) {
    const batches = Math.max(1, Math.ceil(BATCHES_ORDERS / size));
    await orders.add(size, sliceMs, () => {
      const prepared = Array.from({ length: batches }, () => running.messages(size));
      return async () => {
        for (const messages of prepared) {
          running.run(messages);
          await turn();
        }
        return batches;
      };
    });
    await ceiling.add(size, sliceMs, () => async () => {
      for (const payload of payloads) bare.commit(payload);
      return payloads.length;
    });
  }
  bare.close();
  return {
    orders: orders.rate(),
    ceiling: ceiling.rate(),
    payloadBytes: payloads.reduce((sum, { length }) => sum + length, 0) / payloads.length,
    bytes: orders.bytesAnOrder,
    cycles: running.begun - begunBefore,
  };
}

/** So many orders are made beforehand, since making them is not timed. */
const BATCHES_ORDERS = 1024;

/** Checkpoints go on while the event loop turns, as in a shard's thread. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** From one beginning to the next is what a checkpoint costs; earlier ones are another size's. */
async function untilCheckpointBegins(running: BenchShard): Promise<void> {
  const { begun } = running;
  while (running.begun === begun) {
    running.run(running.messages(256));
    await turn();
  }
}

/** Bytes that this process has written, to files and otherwise. */
function bytesWritten(): number {
  const io = readFileSync('/proc/self/io', 'utf8');
  return Number(/^wchar: (\d+)$/m.exec(io)![1]);
}

class Slices {
  millis = 0;
  #cpuMillis = 0;
  #orders = 0;
  #bytes = 0;
  readonly #rates: number[] = [];

  get count(): number {
    return this.#rates.length;
  }

  get bytesAnOrder(): number {
    return this.#bytes / this.#orders;
  }

  /** Repeats until so many milliseconds were spent in what is timed, which returns its batches. */
  async add(size: number, forMs: number, prepare: () => () => Promise<number>): Promise<void> {
    let spentMs = 0;
    let runs = 0;
    while (spentMs < forMs) {
      const timed = prepare();
      const bytesBefore = bytesWritten();
      const cpuBefore = process.cpuUsage();
      const startedMs = performance.now();
      runs += await timed();
      spentMs += performance.now() - startedMs;
      const { user, system } = process.cpuUsage(cpuBefore);
      this.#cpuMillis += (user + system) / 1000;
      this.#bytes += bytesWritten() - bytesBefore;
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

function openBare(dir: string) {
  const log = LogWriter.open(dir, { ...identityOf(0), durability: 'sync' });
  return {
    commit(payload: Uint8Array): void {
      log.append({ firstNumber: log.nextNumber, count: 1, atMs: 0, payload });
      log.sync();
    },
    close: () => log.close(),
  };
}

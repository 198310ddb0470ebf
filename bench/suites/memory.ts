/**
 * The engine's memory: bytes per row, the time from start to ready with a million accounts and
 * resting orders, and whether the heap stays flat over millions of orders. Each is measured in its
 * own process.
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { FlowOptions } from '../lib/order-flow.ts';
import {
  count,
  type Figures,
  mib,
  ms,
  type Report,
  range,
  type Suite,
  type Table,
} from '../lib/report.ts';
import { spreadOf } from '../lib/stats.ts';
import { dropDir, tempDir } from '../lib/temp.ts';
import type { FlatSample, MemoryJob, RowBytes, StartResult } from '../processes/memory.ts';

export type MemorySizes = {
  rows: number;
  startRounds: number;
  orders: number;
  samples: number;
  flow: FlowOptions;
};

const MARKETS = 1000;
/** Few orders stay open, so that any growth is a leak. */
const FLOW: FlowOptions = {
  seed: 11,
  accounts: 1000,
  markets: MARKETS,
  restingMax: 20_000,
  positionsMax: 20_000,
};

export const memory: Suite<MemorySizes> = {
  name: 'memory',
  about: 'bytes a row, time to start, a flat heap',
  full: { rows: 1_000_000, startRounds: 3, orders: 5_000_000, samples: 10, flow: FLOW },
  quick: { rows: 100_000, startRounds: 1, orders: 500_000, samples: 5, flow: FLOW },
  run,
};

async function run(sizes: MemorySizes, progress: (line: string) => void): Promise<Report> {
  const figures: Figures = {};
  progress(`memory: ${count(sizes.rows)} rows of each kind`);
  const rows = await inProcess<RowBytes[]>({ kind: 'rows', rows: sizes.rows, markets: MARKETS });
  for (const { what, bytes } of rows) figures[what] = { unit: 'bytes', value: bytes };
  const tables = [rowTable(rows, sizes.rows)];
  tables.push(await startTable(sizes, figures, progress));
  progress(`memory: ${count(sizes.orders)} orders`);
  tables.push(await flatTable(sizes, figures));
  return { tables, figures };
}

function rowTable(rows: readonly RowBytes[], of: number): Table {
  return {
    title: `memory: bytes of each, with ${count(of)} of them`,
    columns: ['of', 'bytes', 'in the table columns'],
    rows: rows.map(({ what, bytes, columnBytes }) => [
      what,
      bytes.toFixed(0),
      columnBytes === 0 ? '' : columnBytes.toFixed(0),
    ]),
    notes: ['bytes: heap and buffers after collecting garbage, less what was there before'],
  };
}

async function startTable(
  { rows, startRounds }: MemorySizes,
  figures: Figures,
  progress: (line: string) => void,
): Promise<Table> {
  const dir = tempDir();
  try {
    progress(`memory: building ${count(rows)} accounts with a resting order each`);
    const job: MemoryJob = { kind: 'build', rows, markets: MARKETS, dir };
    const { diskBytes } = await inProcess<{ diskBytes: number }>(job);
    const opens: number[] = [];
    const wholes: number[] = [];
    let memoryBytes = 0;
    for (let round = 0; round < startRounds; round++) {
      progress(`memory: start ${round + 1}`);
      const startedMs = performance.now();
      const started = await inProcess<StartResult>({ kind: 'start', dir });
      wholes.push(performance.now() - startedMs);
      opens.push(started.openMs);
      memoryBytes = started.memoryBytes;
      if (started.accounts !== rows || started.restingOrders !== rows) {
        throw new Error(
          `${started.accounts} accounts and ${started.restingOrders} orders came back`,
        );
      }
    }
    const open = spreadOf(opens);
    figures['start to ready'] = { unit: 'ms', value: open };
    figures['process start to end'] = { unit: 'ms', value: spreadOf(wholes) };
    return {
      title: `memory: start with ${count(rows)} accounts and resting orders, after a checkpoint`,
      columns: ['', 'median', 'min .. max'],
      rows: [
        ['shard start to ready, ms', ms(open.median), range(open, ms)],
        [
          'whole process, with its end, ms',
          ms(spreadOf(wholes).median),
          range(spreadOf(wholes), ms),
        ],
        ['memory when ready', mib(memoryBytes), ''],
        ['data on disk', mib(diskBytes), ''],
      ],
      notes: ['the files are in the page cache, as after a restart of the process'],
    };
  } finally {
    dropDir(dir);
  }
}

async function flatTable({ orders, samples, flow }: MemorySizes, figures: Figures): Promise<Table> {
  const dir = tempDir();
  try {
    const job: MemoryJob = { kind: 'flat', orders, samples, flow, dir };
    const taken = await inProcess<FlatSample[]>(job);
    for (const sample of taken) {
      const at = `after ${sample.orders} orders`;
      figures[`heap ${at}`] = { unit: 'bytes', value: sample.heapBytes };
      figures[`anonymous memory ${at}`] = { unit: 'bytes', value: sample.anonymousBytes };
    }
    return {
      title: `memory: one shard over ${count(orders)} orders`,
      columns: ['orders', 'heap', 'buffers', 'anonymous RSS', 'data on disk', 'checkpoints'],
      rows: taken.map((sample) => [
        count(sample.orders),
        mib(sample.heapBytes),
        mib(sample.bufferBytes),
        mib(sample.anonymousBytes),
        mib(sample.diskBytes),
        String(sample.checkpoints),
      ]),
      notes: [
        `at most ${count(flow.restingMax)} orders rest and ${count(flow.positionsMax)} positions are open`,
        'heap and buffers after collecting garbage, wherever the checkpoint then was',
      ],
    };
  } finally {
    dropDir(dir);
  }
}

const PROCESS = fileURLToPath(new URL('../processes/memory.ts', import.meta.url));

function inProcess<T>(job: MemoryJob): Promise<T> {
  return new Promise((resolve, reject) => {
    let result: { value: T } | null = null;
    const child = fork(PROCESS, [JSON.stringify(job)], { execArgv: ['--expose-gc'] });
    child.once('message', (value) => {
      result = { value: value as T };
    });
    child.once('exit', (code) => {
      if (result !== null) resolve(result.value);
      else reject(new Error(`measuring ${job.kind} ended with code ${code}`));
    });
  });
}

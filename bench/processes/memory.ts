/**
 * Measures memory in an otherwise idle process: started with `--expose-gc` and one job as
 * JSON, sends one result.
 */
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import type { AccountRow } from '../../engine/base/units.ts';
import type { Event } from '../../engine/rules/events.ts';
import { evolve } from '../../engine/rules/evolve.ts';
import type { PlaceOrder } from '../../engine/rules/messages.ts';
import { BenchShard, CHECKPOINT_EVERY_FACTS, openShard } from '../lib/bench-shard.ts';
import { catalogOf } from '../lib/catalog.ts';
import { coreState, filledBuy, forgetRecords, restedBuy } from '../lib/core-state.ts';
import { type FlowOptions, limitBuy } from '../lib/order-flow.ts';
import { residentBytes } from '../lib/proc.ts';
import { seededRandom } from '../lib/random.ts';
import { seededUuid } from '../lib/uuid.ts';

export type MemoryJob =
  | { kind: 'rows'; rows: number; markets: number }
  | { kind: 'build'; rows: number; markets: number; dir: string }
  | { kind: 'start'; dir: string }
  | { kind: 'flat'; orders: number; samples: number; flow: FlowOptions; dir: string };

/** Bytes per row: of the process after garbage collection, and of the table's columns. */
export type RowBytes = { what: string; bytes: number; columnBytes: number };
export type StartResult = {
  openMs: number;
  accounts: number;
  restingOrders: number;
  memoryBytes: number;
};
/** After so many orders. */
export type FlatSample = {
  orders: number;
  heapBytes: number;
  bufferBytes: number;
  anonymousBytes: number;
  diskBytes: number;
  /** Finished so far. */
  checkpoints: number;
};

const START_MS = Date.parse('2026-11-21T12:00:00.000Z');
const BATCH = 1024;
/** The most that a shard client sends at a time (engine/shard/callers/shard-client.ts). */
const LANE_BATCH = 256;

const job = JSON.parse(process.argv[2]!) as MemoryJob;
process.send!(await runJob(job));
process.disconnect();

async function runJob(job: MemoryJob): Promise<unknown> {
  switch (job.kind) {
    case 'rows':
      return measureRows(job.rows, job.markets);
    case 'build':
      return await build(job);
    case 'start':
      return await start(job.dir);
    case 'flat':
      return await flat(job);
    default:
      return job satisfies never;
  }
}

function collectGarbage(): void {
  if (globalThis.gc === undefined) throw new Error('start this with --expose-gc');
  // Twice: the second run frees the memory that finalizers released.
  globalThis.gc();
  globalThis.gc();
}

/** Heap and buffers in use. */
function bytesInUse(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function measureRows(rows: number, markets: number): RowBytes[] {
  const random = seededRandom(1);
  const state = coreState(markets, START_MS);
  const uuid = () => seededUuid(random, START_MS);
  const measured: RowBytes[] = [];
  const measure = (what: string, columns: () => number, eventsOf: (row: number) => Event[]) => {
    const before = bytesInUse();
    const columnsBefore = columns();
    for (let row = 0; row < rows; row++) {
      for (const event of eventsOf(row)) evolve(state, event);
      if (row % CHECKPOINT_EVERY_FACTS === 0) forgetRecords(state);
    }
    forgetRecords(state);
    measured.push({
      what,
      bytes: (bytesInUse() - before) / rows,
      columnBytes: (columns() - columnsBefore) / rows,
    });
  };
  const none = () => 0;
  measure(
    'idle account',
    () => state.accounts.bytes,
    () => {
      const account = state.accounts.nextRow;
      return [{ kind: 'account_opened', atMs: START_MS, account, accountId: uuid() }];
    },
  );
  measure(
    'resting order',
    () => state.orders.bytes,
    (account) => {
      const priceLevel = 1 + random.below(40);
      const market = random.below(markets);
      return [
        restedBuy(state, START_MS, { account, orderId: uuid(), market, side: 'yes', priceLevel }),
      ];
    },
  );
  measure(
    'open position',
    () => state.positions.bytes,
    (account) => {
      const market = random.below(markets);
      return filledBuy(state, START_MS, { account, orderId: uuid(), market });
    },
  );
  measure('trade counters of an account and its key, for a day', none, (account) => [
    {
      kind: 'trade_counted',
      atMs: START_MS,
      account: state.accountIds.idOf(account as AccountRow),
      keyId: uuid(),
      closing: false,
    },
  ]);
  return measured;
}

/** A data directory with so many accounts, each with one resting order. */
async function build({ rows, markets, dir }: Extract<MemoryJob, { kind: 'build' }>) {
  const random = seededRandom(2);
  const shard = await openShard(path.join(dir, 'shard'));
  shard.run([{ kind: 'catalog', atMs: START_MS, catalog: catalogOf(markets) }]);
  for (let row = 0; row < rows; row += BATCH) {
    const batch: PlaceOrder[] = [];
    for (let at = row; at < Math.min(rows, row + BATCH); at++) {
      batch.push(limitBuy(random, START_MS, seededUuid(random, START_MS), random.below(markets)));
    }
    for (const reply of shard.run(batch)) if (!reply.ok) throw new Error(reply.message);
    await turn();
  }
  await shard.close();
  return { diskBytes: diskBytes(dir) };
}

async function start(dir: string): Promise<StartResult> {
  const startedMs = performance.now();
  const shard = await openShard(path.join(dir, 'shard'));
  const openMs = performance.now() - startedMs;
  const { accounts, restingOrders } = shard.report;
  const result = { openMs, accounts, restingOrders, memoryBytes: bytesInUse() };
  await shard.abandon();
  return result;
}

async function flat({ orders, samples, flow, dir }: Extract<MemoryJob, { kind: 'flat' }>) {
  const running = await BenchShard.open(dir, 'commit', flow);
  const taken: FlatSample[] = [];
  let placed = 0;
  for (let sample = 1; sample <= samples; sample++) {
    while (placed < (orders * sample) / samples) {
      running.run(running.messages(LANE_BATCH));
      await turn();
      placed += LANE_BATCH;
    }
    collectGarbage();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    taken.push({
      orders: placed,
      heapBytes: heapUsed,
      bufferBytes: arrayBuffers,
      anonymousBytes: residentBytes(process.pid).anonymous,
      diskBytes: diskBytes(dir),
      checkpoints: running.finished,
    });
  }
  await running.shard.close();
  return taken;
}

/** Checkpoints proceed while the event loop turns. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function diskBytes(dir: string): number {
  const shardDir = path.join(dir, 'shard');
  const files = readdirSync(shardDir, { recursive: true, encoding: 'utf8' });
  return files.reduce((sum, file) => sum + statSync(path.join(shardDir, file)).size, 0);
}

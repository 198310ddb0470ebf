/**
 * The thread of one shard, as Piscina runs it: a first task opens the shard, and a second one lasts
 * as long as the shard is served.
 */
import { workerData } from 'node:worker_threads';
import { type ChannelMemory, Endpoint } from '../../ring/endpoint.ts';
import { FaultNote } from '../../threads/fault-note.ts';
import { DiskStatus } from '../store/disk-reserve.ts';
import type { OpenReport } from '../store/open-report.ts';
import type { ShardConfig } from '../store/shard-store.ts';
import { serve } from './serve.ts';
import { Shard } from './shard.ts';
import { damageOf } from './shard-damage.ts';
import { ShardGauges } from './shard-gauges.ts';

/** `serve` ends once it is asked to close, with a checkpoint; or with what the shard failed at. */
export type Task = { kind: 'open' } | { kind: 'serve'; channel: ChannelMemory };

/** What `open` comes to; a damaged shard says what is wrong. */
export type Opened = OpenReport | 'ending' | { damage: string; isOfCheckpoint: boolean };

/** The memory of a `DiskStatus`, of a `FaultNote` and of `ShardGauges`. */
export type WorkerData = {
  config: ShardConfig;
  disk: SharedArrayBuffer;
  fault: SharedArrayBuffer;
  gauges: SharedArrayBuffer;
};

let shard: Shard | null = null;
/** The thread has failed and still has its file open. */
let isEnding = false;

export default async function run(task: Task): Promise<Opened | null> {
  if (task.kind === 'open') {
    if (isEnding) return 'ending';
    try {
      shard ??= await openShard(workerData as WorkerData);
    } catch (error) {
      const damage = damageOf(error);
      if (damage === null) throw error;
      return { damage: damage.message, isOfCheckpoint: damage.isOfCheckpoint };
    }
    return shard.report;
  }
  if (shard === null) throw new Error('the shard is not open');
  const opened = shard;
  try {
    await serve(opened, new Endpoint(task.channel, 'shard'));
    await opened.close();
    shard = null;
    return null;
  } catch (error) {
    void endThread(opened, error);
    throw error;
  }
}

function openShard({ config, disk, gauges }: WorkerData): Promise<Shard> {
  return Shard.open(config, new DiskStatus(disk), new ShardGauges(gauges));
}

/**
 * Memory may now be ahead of the log, or wrong. So the thread ends without a checkpoint, and
 * the next one starts from disk.
 */
async function endThread(failed: Shard, fault: unknown): Promise<void> {
  new FaultNote((workerData as WorkerData).fault).write(String(fault));
  isEnding = true;
  shard = null;
  await failed.abandon().catch(() => undefined);
  // Let the failed task's message leave first.
  setTimeout(() => process.exit(1), 10);
}

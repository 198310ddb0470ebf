/**
 * The thread of one shard, as Piscina runs it: one task a batch, several in flight. The first task
 * opens the shard; `close` ends it with a checkpoint.
 */
import { workerData } from 'node:worker_threads';
import { move } from 'piscina';
import { messagesCodec, repliesCodec } from '../format/codec.ts';
import { DiskStatus } from './disk-reserve.ts';
import { FaultNote } from './fault-note.ts';
import type { OpenReport } from './open-report.ts';
import { Shard, type ShardConfig } from './shard.ts';
import { damageOf } from './shard-damage.ts';

export type Task = 'open' | 'checkpoint' | 'close' | Uint8Array;

/** What `open` comes to; a damaged shard says what is wrong. */
export type Opened = OpenReport | 'ending' | { damage: string };

/** The memory of a `DiskStatus`, and of a `FaultNote`. */
export type WorkerData = {
  config: ShardConfig;
  disk: SharedArrayBuffer;
  fault: SharedArrayBuffer;
};

let shard: Shard | null = null;
/** The thread has failed and still has its file open. */
let isEnding = false;

export default async function run(task: Task): Promise<Opened | Uint8Array | null> {
  if (task === 'open') {
    if (isEnding) return 'ending';
    try {
      shard ??= await openShard(workerData as WorkerData);
    } catch (error) {
      const damage = damageOf(error);
      if (damage === null) throw error;
      return { damage };
    }
    return shard.report;
  }
  if (shard === null) throw new Error('the shard is not open');
  const opened = shard;
  try {
    if (task === 'checkpoint') {
      await opened.checkpoint();
      return null;
    }
    if (task === 'close') {
      await opened.close();
      shard = null;
      return null;
    }
    const replies = opened.take(messagesCodec.unpack(task));
    return move(repliesCodec.pack(replies)) as unknown as Uint8Array;
  } catch (error) {
    void endThread(opened, error);
    throw error;
  }
}

function openShard({ config, disk }: WorkerData): Promise<Shard> {
  return Shard.open(config, new DiskStatus(disk));
}

/**
 * Memory may now be ahead of the log, or wrong. So the thread ends without a checkpoint, and
 * the next one starts from disk.
 */
async function endThread(failed: Shard, fault: unknown): Promise<void> {
  if (!isEnding) new FaultNote((workerData as WorkerData).fault).write(String(fault));
  isEnding = true;
  shard = null;
  await failed.abandon().catch(() => undefined);
  // Let the failed task's message leave first.
  setTimeout(() => process.exit(1), 10);
}

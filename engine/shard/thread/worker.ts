/**
 * The thread of one shard, as its callers start it. It opens the shard when it is asked to, and
 * then serves it until it is closed or fails. Rule D10 (engine/RULES.md).
 */
import { parentPort, workerData } from 'node:worker_threads';
import { invariant } from '../../base/invariant.ts';
import type { LiquidityMemory } from '../../memory/market-liquidity.ts';
import type { ChannelMemory } from '../../ring/endpoint.ts';
import { ShardEnds } from '../../ring/shard-ends.ts';
import { FaultNote } from '../../threads/fault-note.ts';
import { DiskStatus } from '../store/disk-reserve.ts';
import type { OpenReport } from '../store/open-report.ts';
import type { ShardConfig } from '../store/shard-store.ts';
import { serve } from './serve.ts';
import { Shard } from './shard.ts';
import { damageOf } from './shard-damage.ts';
import { ShardGauges } from './shard-gauges.ts';

export type ToShardThread =
  | { kind: 'open'; id: number }
  | { kind: 'serve'; channels: readonly ChannelMemory[] }
  /** The last message: the thread ends without a checkpoint. */
  | { kind: 'end' };

/** The result of `open`; for a damaged shard, its problem. */
export type Opened = OpenReport | { damage: string; isOfCheckpoint: boolean };

export type FromShardThread =
  | { kind: 'opened'; id: number; opened: Opened }
  | { kind: 'not_opened'; id: number; error: Error }
  /** It was asked to close: there is a checkpoint, and the file is released. */
  | { kind: 'closed' }
  /** The shard's failure. The thread ends once it has released the file. */
  | { kind: 'failed'; fault: string };

/** The memory of a `DiskStatus`, of a `FaultNote`, of `ShardGauges` and of shared sizes. */
export type WorkerData = {
  config: ShardConfig;
  liquidity: LiquidityMemory;
  disk: SharedArrayBuffer;
  fault: SharedArrayBuffer;
  gauges: SharedArrayBuffer;
};

const port = parentPort;
invariant(port !== null, 'a shard is served outside of a thread');
const { config, liquidity, disk, fault, gauges } = workerData as WorkerData;
let shard: Shard | null = null;
/** The thread has failed and still has its file open. */
let isEnding = false;
let opening: Promise<void> | null = null;

function say(message: FromShardThread): void {
  port!.postMessage(message);
}

async function open(id: number): Promise<void> {
  try {
    const shared = { disk: new DiskStatus(disk), gauges: new ShardGauges(gauges), liquidity };
    shard ??= await Shard.open(config, shared);
    say({ kind: 'opened', id, opened: shard.report });
  } catch (error) {
    const damage = damageOf(error);
    if (damage === null) return say({ kind: 'not_opened', id, error: error as Error });
    const { message, isOfCheckpoint } = damage;
    say({ kind: 'opened', id, opened: { damage: message, isOfCheckpoint } });
  }
}

async function serveUntilClosed(channels: readonly ChannelMemory[]): Promise<void> {
  invariant(shard !== null, 'a shard is served that is not open');
  const opened = shard;
  try {
    await serve(opened, new ShardEnds(channels));
    await opened.close();
    shard = null;
    say({ kind: 'closed' });
  } catch (error) {
    await endThread(opened, String(error));
  }
}

/**
 * Memory may now be ahead of the log, or wrong. So the thread ends without a checkpoint, and
 * the next one starts from disk.
 */
async function endThread(failed: Shard, reason: string): Promise<void> {
  new FaultNote(fault).write(reason);
  isEnding = true;
  shard = null;
  say({ kind: 'failed', fault: reason });
  await failed.abandon().catch(() => undefined);
  // Let the message leave first.
  setTimeout(() => process.exit(1), 10);
}

/** Nobody ends this thread from outside: inside LMDB that would abort the whole process. */
async function end(): Promise<void> {
  if (isEnding) return;
  isEnding = true;
  await opening;
  await shard?.abandon().catch(() => undefined);
  process.exit(0);
}

port.on('message', (message: ToShardThread) => {
  // The caller is refused once the thread has ended.
  if (isEnding) return;
  if (message.kind === 'open') opening = open(message.id);
  else if (message.kind === 'serve') void serveUntilClosed(message.channels);
  else void end();
});

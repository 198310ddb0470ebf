/**
 * The thread of one shard, as its callers start it. It opens the shard when it is asked to, and
 * then serves it until it is closed or fails. In a cluster it follows the shard's leader before, until
 * it leads. Rules D10, N101, N105, N108, N150 (engine/RULES.md).
 */
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { type AuditReport, audit } from '../../audit/audit.ts';
import { invariant } from '../../base/invariant.ts';
import type { LiquidityMemory } from '../../memory/market-liquidity.ts';
import type { ReplicaEnd, ReplicaMemory } from '../../replication/replica-end.ts';
import type { ChannelMemory } from '../../ring/endpoint.ts';
import { ShardEnds } from '../../ring/shard-ends.ts';
import { FaultNote } from '../../threads/fault-note.ts';
import { Deposed, Unavailable } from '../../threads/unavailable.ts';
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
  /** Checks a shard that follows. Rule O46 (api/RULES.md). */
  | { kind: 'audit'; id: number }
  /** The last message: the thread ends. Only a shard that follows writes a checkpoint (N150). */
  | { kind: 'end' };

/** The result of `open`; for a damaged shard, its problem. */
export type Opened = OpenReport | { damage: string; isOfCheckpoint: boolean };

export type FromShardThread =
  | { kind: 'opened'; id: number; opened: Opened }
  | { kind: 'audited'; id: number; report: AuditReport }
  | { kind: 'not_opened' | 'not_audited'; id: number; error: Error }
  /** It was asked to close: there is a checkpoint, and the file is released. */
  | { kind: 'closed' }
  /** The shard's failure. The thread ends once it has released the file. */
  | { kind: 'failed'; fault: string; isDeposed: boolean };

/** The memory of a `DiskStatus`, of a `FaultNote`, of `ShardGauges` and of shared sizes. */
export type WorkerData = {
  config: ShardConfig;
  liquidity: LiquidityMemory;
  disk: SharedArrayBuffer;
  fault: SharedArrayBuffer;
  gauges: SharedArrayBuffer;
  /** Its replicator; null: the shard is in no cluster. */
  replica: ReplicaMemory | null;
};

/** How often a follower tries to write that has no space. */
const SPACE_EVERY_MS = 1000;

const port = parentPort;
invariant(port !== null, 'a shard is served outside of a thread');
const { config, liquidity, disk, fault, gauges, replica } = workerData as WorkerData;
let shard: Shard | null = null;
/** The thread has failed and still has its file open. */
let isEnding = false;
let opening: Promise<void> | null = null;
/** While the shard follows another node's. */
let following: ReplicaEnd | null = null;

function say(message: FromShardThread): void {
  port!.postMessage(message);
}

async function open(id: number): Promise<void> {
  try {
    const shared = { disk: new DiskStatus(disk), gauges: new ShardGauges(gauges), liquidity };
    shard ??= await Shard.open(config, shared);
    if (replica !== null && !(await follow(shard, replica, id))) return;
    say({ kind: 'opened', id, opened: shard.report });
  } catch (error) {
    const damage = damageOf(error);
    if (damage === null) return say({ kind: 'not_opened', id, error: error as Error });
    const { message, isOfCheckpoint } = damage;
    say({ kind: 'opened', id, opened: { damage: message, isOfCheckpoint } });
  }
}

/** Resolves once the shard leads; false: it never will, and the thread ends. */
async function follow(opened: Shard, memory: ReplicaMemory, id: number): Promise<boolean> {
  try {
    const { ReplicaEnd } = await import('../../replication/replica-end.ts');
    following = new ReplicaEnd(memory);
    const { number, payload } = opened.lastRecord;
    following.notePlace(opened.lastNumber, opened.durableNumber);
    following.begin(number, payload);
    for (;;) {
      const record = await following.next();
      if (isEnding) return false;
      if (record === null) break;
      while (!isEnding && !opened.fold(record)) await sleep(SPACE_EVERY_MS);
      following.notePlace(opened.lastNumber, opened.durableNumber);
      if (opened.isBehind) await opened.caughtUp();
      else if (opened.isWriting) await turn();
    }
    opened.lead(following);
    following = null;
    return true;
  } catch (error) {
    following = null;
    if (isEnding) return false;
    say({ kind: 'not_opened', id, error: error as Error });
    await endThread(opened, error);
    return false;
  }
}

/** Between two records of the leader its state is whole. */
function auditFollower(id: number): void {
  if (shard !== null && following !== null) {
    return say({ kind: 'audited', id, report: audit(shard.state) });
  }
  say({ kind: 'not_audited', id, error: new Unavailable('the shard does not follow now') });
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
    await endThread(opened, error);
  }
}

/**
 * Memory may now be ahead of the log, or wrong. So the thread ends without a checkpoint, and
 * the next one starts from disk.
 */
async function endThread(failed: Shard, error: unknown): Promise<void> {
  const reason = String(error);
  new FaultNote(fault).write(reason);
  isEnding = true;
  shard = null;
  say({ kind: 'failed', fault: reason, isDeposed: error instanceof Deposed });
  await failed.abandon().catch(() => undefined);
  // Let the message leave first.
  setTimeout(() => process.exit(1), 10);
}

/** Nobody ends this thread from outside: inside LMDB that would abort the whole process. */
async function end(): Promise<void> {
  if (isEnding) return;
  isEnding = true;
  const follows = following !== null;
  following?.stop();
  await opening;
  // If it has failed, its next start finds the last checkpoint.
  await (follows ? shard?.closeFollower() : shard?.abandon())?.catch(() => undefined);
  process.exit(0);
}

port.on('message', (message: ToShardThread) => {
  // The caller is refused once the thread has ended.
  if (isEnding) return;
  if (message.kind === 'open') opening = open(message.id);
  else if (message.kind === 'serve') void serveUntilClosed(message.channels);
  else if (message.kind === 'audit') auditFollower(message.id);
  else void end();
});

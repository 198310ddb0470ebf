/**
 * The replicator of one shard as the callers' thread sees it: a thread beside the shard's, which
 * outlives it. Rules N101, N105, N114 (engine/RULES.md).
 */
import { abandonChannel, channelMemory } from '../ring/endpoint.ts';
import type { Log } from '../threads/logger.ts';
import { SupervisedWorker } from '../threads/supervised-worker.ts';
import { Unavailable } from '../threads/unavailable.ts';
import { workerUrl } from '../threads/worker-url.ts';
import { Lease } from './lease.ts';
import { LogPlace } from './log-place.ts';
import type { ReplicaMemory } from './replica-end.ts';
import { type ClusterSettings, type ReplicaState, UNKNOWN_REPLICA } from './shard-replica.ts';
import type { FromReplicator, ReplicatorData, ToReplicator } from './worker.ts';

const DOWN = new Unavailable('the thread of the replicator has ended');
/** etcd may not answer the end of a lease. */
const END_MAX_MS = 2000;

export class Replicator {
  readonly #thread: SupervisedWorker<ToReplicator, FromReplicator>;
  /** Of the shard's present thread; null: it has none. */
  #memory: ReplicaMemory | null = null;
  #state: ReplicaState = UNKNOWN_REPLICA;

  /** The name of this node. */
  readonly node: string;

  /** @param changed called when `state` has */
  constructor(settings: ClusterSettings, shard: number, log: Log, changed: () => void) {
    this.node = settings.node;
    this.#thread = new SupervisedWorker({
      name: `replicator of shard ${shard}`,
      module: workerUrl(import.meta.url, './worker'),
      workerData: () => ({ settings, shard }) satisfies ReplicatorData,
      log,
      down: DOWN,
      take: (message) => {
        if (message.kind === 'opened') return this.#thread.opened();
        this.#state = message.state;
        changed();
      },
      started: () => this.#begin(),
      ended: () => {
        if (this.#memory !== null) abandonChannel(this.#memory.channel);
        this.#memory = null;
        this.#state = UNKNOWN_REPLICA;
        changed();
      },
    });
  }

  get state(): ReplicaState {
    return this.#state;
  }

  /** For a new thread of the shard. */
  session(): ReplicaMemory {
    this.#memory = {
      channel: channelMemory(),
      lease: new Lease().memory,
      place: new LogPlace().memory,
    };
    this.#state = UNKNOWN_REPLICA;
    if (this.#thread.starts === 0) this.#thread.start();
    else this.#begin();
    return this.#memory;
  }

  /** The shard's thread has ended: another node may lead the shard. */
  endSession(): void {
    if (this.#memory === null) return;
    this.#memory = null;
    this.#thread.post({ kind: 'end_session' });
  }

  async close(): Promise<void> {
    await this.#thread.close({ kind: 'end' }, END_MAX_MS);
  }

  /** If the thread is down, its next start does this. */
  #begin(): void {
    if (this.#memory !== null) this.#thread.post({ kind: 'session', memory: this.#memory });
  }
}

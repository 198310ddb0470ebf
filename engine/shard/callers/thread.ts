/**
 * The thread of one shard as its shard client sees it, and their shared memory. The client starts
 * it again; between two threads it may rebuild a checkpoint. Rule D10 (engine/RULES.md).
 */
import type { AuditReport } from '../../audit/audit.ts';
import { invariant } from '../../base/invariant.ts';
import type { LiquidityMemory } from '../../memory/market-liquidity.ts';
import type { Replicator } from '../../replication/replicator.ts';
import { type ChannelMemory, channelMemory, Endpoint } from '../../ring/endpoint.ts';
import { FaultNote } from '../../threads/fault-note.ts';
import { SupervisedWorker } from '../../threads/supervised-worker.ts';
import { Deposed, Unavailable } from '../../threads/unavailable.ts';
import { workerUrl } from '../../threads/worker-url.ts';
import { DiskStatus } from '../store/disk-reserve.ts';
import type { OpenReport } from '../store/open-report.ts';
import type { ShardConfig } from '../store/shard-store.ts';
import { ShardDamage } from '../thread/shard-damage.ts';
import { ShardGauges } from '../thread/shard-gauges.ts';
import type { FromShardThread, Opened, ToShardThread, WorkerData } from '../thread/worker.ts';

const DOWN = new Unavailable('the thread of the shard has ended');
const DESTROYED = new Unavailable('the thread was destroyed before it opened its shard');

/** A shard that is still being opened then is ended amid its work. */
const END_MAX_MS = 5000;

/** A shard that is served. */
export type ServedShard = {
  end: Endpoint;
  /** For further threads, each with a channel of its own. */
  further: readonly ChannelMemory[];
  /**
   * Resolves once the shard is closed at the request of `close`. Rejects with the error of its
   * thread.
   */
  ended: Promise<void>;
};

type Serving = { resolve(): void; reject(error: Error): void };

export class ShardThread {
  readonly disk = new DiskStatus();
  readonly gauges = new ShardGauges();
  readonly #fault = new FaultNote();
  readonly #thread: SupervisedWorker<ToShardThread, FromShardThread>;
  /** Null: no shard is served. */
  #serving: Serving | null = null;
  /**
   * For a thread that has failed and may still have its file open. Settles once the thread has
   * ended.
   */
  #ending: PromiseWithResolvers<void> | null = null;
  /** The error of the last thread, for callers that waited for it. */
  #reason: Error | null = null;
  #isDestroyed = false;
  readonly #replicator: Replicator | null;

  /**
   * `onEnd` is called with the error of a thread that ended without a fault of its shard.
   * `replicator`: null: the shard is in no cluster.
   */
  constructor(
    config: ShardConfig,
    liquidity: LiquidityMemory,
    onEnd: (error: unknown) => void,
    replicator: Replicator | null = null,
  ) {
    this.#replicator = replicator;
    this.#thread = new SupervisedWorker({
      name: `shard ${config.shard}`,
      module: workerUrl(import.meta.url, '../thread/worker'),
      workerData: () =>
        ({
          config,
          liquidity,
          disk: this.disk.memory,
          fault: this.#fault.memory,
          gauges: this.gauges.memory,
          replica: replicator?.session() ?? null,
        }) satisfies WorkerData,
      // The client logs its shard's failures.
      log: { info() {}, error() {} },
      down: DOWN,
      closed: DESTROYED,
      isRestartedByHost: true,
      take: (message) => this.#take(message),
      ended: (reason) => {
        if (this.#ending === null) onEnd(reason);
        this.#ended(reason);
      },
    });
  }

  /**
   * Opens the shard; in a cluster, once it leads. Throws `ShardDamage`. After a failure it starts a
   * new thread, once the last one has released the file. Rejects when it is destroyed meanwhile.
   */
  async open(): Promise<OpenReport> {
    await this.#ending?.promise;
    if (this.#isDestroyed) throw DESTROYED;
    if (!this.#thread.isUp) this.#thread.start();
    const opened = await this.#thread
      .ask<Opened>((id) => ({ kind: 'open', id }))
      .catch((error: unknown) => {
        throw error === DOWN ? (this.#reason ?? error) : error;
      });
    if ('damage' in opened) throw new ShardDamage(opened.damage, opened.isOfCheckpoint);
    return opened;
  }

  /** Of a shard that follows. Rejects with `Unavailable`. */
  async auditFollower(): Promise<AuditReport> {
    return await this.#thread.ask<AuditReport>((id) => ({ kind: 'audit', id }));
  }

  /**
   * Serves the open shard, over new pairs of rings: one for this thread, and one for each of
   * `furtherCallers`.
   */
  serve(furtherCallers = 0): ServedShard {
    invariant(this.#serving === null, 'a thread serves its shard twice at a time');
    const channel = channelMemory();
    const further = Array.from({ length: furtherCallers }, () =>
      channelMemory(undefined, channel.shardBell),
    );
    const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
    this.#serving = { resolve, reject };
    this.#thread.post({ kind: 'serve', channels: [channel, ...further] });
    return { end: new Endpoint(channel, 'caller'), further, ended };
  }

  /** The thread's error, for a caller whose service was refused with `error`. */
  faultOf(error: unknown): string {
    return this.#fault.take() ?? String(error);
  }

  /** Ends the thread, once it has released its files, or after `withinMs`; null: it has all time. */
  async destroy(withinMs: number | null = END_MAX_MS): Promise<void> {
    this.#isDestroyed = true;
    await this.#thread.close({ kind: 'end' }, withinMs ?? undefined);
    this.#ended(DESTROYED);
    await this.#replicator?.close();
  }

  #take(message: FromShardThread): void {
    switch (message.kind) {
      case 'opened':
        return this.#thread.answered(message.id, message.opened);
      case 'audited':
        return this.#thread.answered(message.id, message.report);
      case 'not_opened':
      case 'not_audited':
        return this.#thread.refused(message.id, message.error);
      case 'closed':
        return this.#served()?.resolve();
      case 'failed':
        this.#ending = Promise.withResolvers();
        return this.#served()?.reject(
          message.isDeposed ? new Deposed(message.fault) : new Error(message.fault),
        );
      default:
        message satisfies never;
    }
  }

  /** No thread runs any more. */
  #ended(reason: Error): void {
    this.#reason = reason;
    this.#replicator?.endSession();
    this.#served()?.reject(reason);
    this.#ending?.resolve();
    this.#ending = null;
  }

  #served(): Serving | null {
    const serving = this.#serving;
    this.#serving = null;
    return serving;
  }
}

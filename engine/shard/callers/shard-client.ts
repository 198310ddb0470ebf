/**
 * One shard as the thread sees it that starts it, again after a failure too. Above a bound of waiting
 * requests callers get 503, and quotes of one market replace each other. In a cluster another node may
 * lead it. Rules D6 to D10, D74, N105, N114, N166 (engine/RULES.md).
 */

import type { AuditReport } from '../../audit/audit.ts';
import type { EpochMs } from '../../base/units.ts';
import type { Message, Packed } from '../../format/codec.ts';
import { checkLmdbFile, missingFile } from '../../lmdb/lmdb-file.ts';
import { DiskFull, problemText } from '../../log/disk-full.ts';
import type { LiquidityMemory } from '../../memory/market-liquidity.ts';
import type { Replicator } from '../../replication/replicator.ts';
import { abandonChannel, type ChannelMemory, isAbandoned } from '../../ring/endpoint.ts';
import type { Command, Reply, Tick } from '../../rules/messages.ts';
import type { Query } from '../../rules/queries.ts';
import type { Log } from '../../threads/logger.ts';
import { Restarts } from '../../threads/restarts.ts';
import { Deposed, NotLeader, Unavailable } from '../../threads/unavailable.ts';
import { isCommand, isJournaled, isTick } from '../core/message-kinds.ts';
import { countsOf, type OpenReport } from '../store/open-report.ts';
import type { ShardConfig } from '../store/shard-store.ts';
import { isDamage } from '../thread/shard-damage.ts';
import { CheckpointRepair, type RebuildShard } from './checkpoint-repair.ts';
import type { FurtherEnds } from './further-ends.ts';
import type { ShardAudit } from './merge-reports.ts';
import type { ReplyHandler } from './send-queue.ts';
import { ShardSender } from './shard-sender.ts';
import type { ShardStatus } from './shard-status.ts';
import { ShardThread } from './thread.ts';

export type ShardClientOptions = {
  config: ShardConfig;
  /** Displayed sizes that it shares with other shards. */
  liquidity: LiquidityMemory;
  /** Whether an earlier start made its file. If so, a missing file is lost, not new. */
  wasMade: boolean;
  /** Requests that may wait or be in flight before callers are refused. */
  queueDepthMax: number;
  /** The first messages to a shard at every start of its thread, of which this is the report. */
  startupMessages: (report: OpenReport | null) => Message[];
  /** Gets the report of each start of the thread, before the shard takes a request. */
  opened: (report: OpenReport) => void;
  /** Rebuilds a checkpoint that is damaged; left out: an operator does (D33). */
  rebuild?: RebuildShard | undefined;
  /** The ends of further threads. */
  further: Pick<FurtherEnds, 'count' | 'served' | 'lost'>;
  /** Makes its replicator; null: the shard is in no cluster. */
  replicator: MakeReplicator | null;
  log: Log;
};

/** @param changed called when the replicator's state has */
export type MakeReplicator = (shard: number, changed: () => void) => Replicator;

const STOPPING = new Unavailable('the engine is stopping');
/** Of requests that may have been done: whoever leads next knows. Rule O47 (api/RULES.md). */
const OUTCOME_UNKNOWN = new NotLeader(null);

export class ShardClient {
  readonly #options: ShardClientOptions;
  readonly #thread: ShardThread;
  readonly #sender: ShardSender;
  /** Why no order can be placed here now; null: orders can be placed. */
  #problem: string | null = null;
  #state: ShardStatus['state'] = 'opening';
  /** Of further threads; empty while none can be served. */
  #further: readonly ChannelMemory[] = [];
  /** Resolves once the shard is closed; rejects when its thread fails. */
  #ended = Promise.resolve();
  readonly #restarts = new Restarts();
  readonly #repair: CheckpointRepair;
  readonly #replicator: Replicator | null;
  /** Resolves once another node is known to lead. */
  readonly #follows = Promise.withResolvers<null>();
  /** One error for all callers while the same node leads. */
  #notLeader = new NotLeader(null);
  /** The shard answers its last requests here: another node leads it then. */
  #isHandingOver = false;
  #wasMade: boolean;

  constructor(options: ShardClientOptions) {
    this.#options = options;
    this.#wasMade = options.wasMade;
    this.#sender = new ShardSender({
      queueDepthMax: options.queueDepthMax,
      diskFull: () => new DiskFull(this.#thread.disk.errno, 0),
      onNews: () => this.#noteDisk(),
    });
    const { config, rebuild, log } = options;
    this.#repair = new CheckpointRepair({ shard: config.shard, rebuild, log });
    this.#replicator = options.replicator?.(config.shard, () => this.#noteReplica()) ?? null;
    const onEnd = (error: unknown) =>
      log.error({ path: config.path, error: String(error) }, 'shard thread ended');
    this.#thread = new ShardThread(config, options.liquidity, onEnd, this.#replicator);
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  get status(): ShardStatus {
    const { isCaughtUp = false, problem = null } = this.#replicator?.state ?? {};
    const follows = this.#state === 'following';
    const { errno } = this.#thread.disk;
    const diskProblem = follows && errno !== 0 ? problemText(errno) : null;
    return {
      state: follows && !isCaughtUp ? 'catching_up' : this.#state,
      problem: this.#problem ?? diskProblem ?? problem,
      restartProblem: this.#restarts.problem,
      repaired: this.#repair.done,
      lastFailure: this.#restarts.last,
      queued: this.#sender.waiting,
      queuedMax: this.#sender.waitingMax,
      progress: this.#thread.gauges.read(),
      batches: this.#thread.gauges.batches.read(Date.now()),
      orders: this.#thread.gauges.orders.read(),
    };
  }

  /** Starts the thread; rejects when the shard's data cannot be read. */
  async open(): Promise<OpenReport> {
    // Checked here, not in the thread, because LMDB would end the whole process.
    const { path } = this.#options.config;
    if (checkLmdbFile(path) === null && this.#wasMade) throw missingFile(path);
    const report = await this.#thread.open();
    if (this.#state === 'closed') throw STOPPING;
    this.#wasMade = true;
    const further = this.#serve();
    // In one step: later messages must queue up after the messages that the shard gets first.
    this.#state = 'open';
    this.#restarts.opened(this.#problem !== null);
    this.#problem = null;
    this.#options.opened(report);
    await this.#sendStartupMessages(report);
    await this.#serveFurther(further);
    return report;
  }

  /** Other threads may ask a shard only once it has its startup messages. */
  async #serveFurther(further: readonly ChannelMemory[]): Promise<void> {
    if (further.length === 0) return;
    await this.#sender.drained();
    if (this.#state !== 'open' || this.#further !== further) return;
    this.#options.further.served(this.#options.config.shard, {
      channels: further,
      disk: this.#thread.disk.memory,
    });
  }

  /**
   * The thread of a further end is gone. Resolves once the shard has dropped what that thread had
   * sent and not been answered, so that another thread may use the end; or once the shard is down.
   */
  async renewEnd(at: number): Promise<void> {
    const further = this.#further;
    const channel = further[at];
    if (channel === undefined) return;
    abandonChannel(channel);
    while (this.#further === further && isAbandoned(channel)) await this.#sender.drained();
  }

  /**
   * `open`, except for damaged data: then it answers null, and retries until the data can be read.
   * If another node leads the shard, it answers null, and opens once this node does.
   */
  async openOrLater(): Promise<OpenReport | null> {
    const opened = this.open().catch((error: unknown) => {
      if (this.#state === 'following') {
        this.#notOpened(error);
        return null;
      }
      if (!isDamage(error)) throw error;
      const { config, log } = this.#options;
      this.#state = 'restarting';
      this.#problem = error.message;
      this.#repair.refused(error);
      log.error({ path: config.path, error: error.message }, 'shard is out of order');
      this.#restartLater(error.message);
      return null;
    });
    return await Promise.race([opened, this.#follows.promise]);
  }

  /** The replicator has news of who leads. */
  #noteReplica(): void {
    const { leader, movingTo } = this.#replicator!.state;
    if (movingTo !== null && this.#state === 'open') return this.#handOver(movingTo);
    // This node's own key of before ends soon.
    const other = leader?.node === this.#replicator!.node ? null : leader;
    const address = other?.address ?? null;
    if (address !== this.#notLeader.leader) this.#notLeader = new NotLeader(address);
    if (other === null || (this.#state !== 'opening' && this.#state !== 'restarting')) return;
    this.#state = 'following';
    this.#follows.resolve(null);
    const { config, log } = this.#options;
    log.info({ path: config.path, leader: other.node }, 'another node leads this shard');
  }

  /** Answers the requests that it has, and follows the node that leads then. Rule N166. */
  #handOver(node: string): void {
    this.#isHandingOver = true;
    this.#state = 'restarting';
    this.#notLeader = new NotLeader(null);
    const { config, log } = this.#options;
    log.info({ path: config.path, node }, 'the lead of this shard moves to another node');
    this.#sendClose();
  }

  #serve(): readonly ChannelMemory[] {
    const { end, further, ended } = this.#thread.serve(this.#options.further.count);
    this.#sender.link(end);
    this.#further = further;
    this.#ended = ended;
    ended.then(
      () => this.#unlink(),
      (error: Error) => this.#failed(error),
    );
    return further;
  }

  async #sendStartupMessages(report: OpenReport | null = null): Promise<void> {
    const delivered = this.#options.startupMessages(report).map((message) => {
      if (isTick(message)) this.tick(message);
      return isCommand(message) ? this.deliver(message) : null;
    });
    for (const reply of await Promise.all(delivered)) {
      if (reply?.ok === false) throw new Error(reply.message);
    }
  }

  /** Why no request is taken now; null: requests are taken. */
  refusal(): Unavailable | null {
    if (this.#state !== 'open') {
      if (this.#replicator !== null && this.#state !== 'closed' && this.#problem === null) {
        return this.#notLeader;
      }
      return new Unavailable(this.#problem ?? `the engine is ${this.#state}`);
    }
    return this.#sender.refusal();
  }

  /** Answers once all that the answer shows is durable; or with `Unavailable`, maybe at once. */
  ask(request: Command | Query, waiter: ReplyHandler): undefined {
    const refusal = this.#refusalOf(request);
    if (refusal === null) this.#sender.send(request, waiter);
    else waiter.reject(refusal);
  }

  call(request: Command | Query): Promise<Reply> {
    return new Promise((resolve, reject) => this.ask(request, { resolve, reject }));
  }

  /** Checks the shard; if another node leads it, as this node has it. Rejects with `Unavailable`. */
  async audit(atMs: EpochMs): Promise<ShardAudit> {
    const isFollowing = this.#state === 'following';
    if (isFollowing) return { isFollowing, ...(await this.#thread.auditFollower()) };
    const reply = await this.call({ kind: 'audit', atMs });
    if (!reply.ok) throw new Error(`audit: ${reply.message}`);
    return { isFollowing, ...(JSON.parse(reply.body) as AuditReport) };
  }

  #refusalOf(request: Command | Query): Unavailable | null {
    const refusal = this.refusal();
    if (refusal !== null || this.#problem === null || !isJournaled(request)) return refusal;
    return new DiskFull(this.#thread.disk.errno, 0);
  }

  /**
   * Sends the shard its current startup messages, even past the bound of the queue. Null: it is not
   * open, and gets them at its next start.
   */
  async deliver(command: Command): Promise<Reply | null> {
    if (this.#state !== 'open') return null;
    return new Promise<Reply>((resolve, reject) => {
      this.#sender.send(command, { resolve, reject });
    }).catch((error: unknown) => {
      if (error instanceof Unavailable) return null;
      throw error;
    });
  }

  /** Ticks are not answered. A shard that restarts gets the newest ones with its startup messages. */
  tick(tick: Tick | Packed): void {
    if (this.#state !== 'open') return;
    this.#sender.tick(tick);
  }

  /** Resolves when the shard has processed everything sent so far, or has lost it. */
  drained(): Promise<void> {
    return this.#sender.drained();
  }

  /** Answers the queued requests, writes a checkpoint, ends the thread. */
  async close(): Promise<void> {
    const follows = this.#state === 'following';
    this.#state = 'closed';
    this.#restarts.cancel();
    this.#repair.close();
    try {
      if (!this.#sender.isLinked) return;
      if (!this.#isHandingOver) this.#sendClose();
      await this.#ended.catch((error: unknown) => {
        // Another node leads, or may: the log alone counts here.
        if (!(error instanceof Deposed)) throw error;
      });
    } finally {
      // A follower writes a checkpoint, which takes as long as a leader's.
      await (follows ? this.#thread.destroy(null) : this.#thread.destroy());
    }
  }

  /** The shard's last message. Its thread ends instead of an answer. */
  #sendClose(): void {
    this.#sender.send({ kind: 'close' }, { resolve() {}, reject() {} });
  }

  /** The disk has space again: sends the shard the ticks that it could only show. */
  #noteDisk(): void {
    const { errno } = this.#thread.disk;
    const problem = errno === 0 ? null : problemText(errno);
    if (problem === this.#problem) return;
    this.#problem = problem;
    const { config, log } = this.#options;
    if (problem !== null) {
      log.error({ path: config.path, error: problem }, 'shard only reads now');
      return;
    }
    log.info({ path: config.path }, 'shard writes again');
    this.#sendStartupMessages().catch((error: unknown) => {
      log.error(
        { path: config.path, error: String(error) },
        'shard did not get its missed messages',
      );
    });
  }

  /** The thread is served no more. */
  #unlink(): void {
    const wasServed = this.#further.length > 0;
    this.#further = [];
    if (wasServed) this.#options.further.lost(this.#options.config.shard);
    const isLeft = this.#replicator !== null && this.#state !== 'closed';
    this.#sender.unlink(isLeft ? OUTCOME_UNKNOWN : undefined);
  }

  /** The thread ended. Its last requests may be on disk: a retry with the same key finds out. */
  #failed(error: Error): void {
    const { config, log } = this.#options;
    const reason = this.#thread.faultOf(error);
    const wasServing = this.#state === 'open' || (this.#isHandingOver && this.#state !== 'closed');
    this.#isHandingOver = false;
    if (wasServing && error instanceof Deposed) {
      this.#state = 'restarting';
      log.info({ path: config.path, reason }, 'this node leads the shard no more; it follows');
      this.#restart();
    } else if (wasServing) {
      this.#state = 'restarting';
      this.#repair.failed(reason);
      log.error({ path: config.path, error: reason }, 'shard failed; starting it again');
      this.#restartLater(reason);
    }
    this.#unlink();
  }

  #restartLater(reason: string): void {
    this.#restarts.later(reason, async () => {
      await this.#repair.run((problem) => {
        this.#problem = problem;
      });
      if (this.#state === 'restarting') this.#restart();
    });
  }

  #restart(): void {
    const { config, log } = this.#options;
    this.open().then(
      (report) => {
        // It may have failed again at its first messages.
        if (this.#state !== 'open') return;
        log.info({ path: config.path, ...countsOf(report) }, 'shard is back');
      },
      (error: unknown) => this.#notOpened(error),
    );
  }

  #notOpened(error: unknown): void {
    if (this.#state === 'closed') return;
    const { config, log } = this.#options;
    const damage = isDamage(error) ? this.#repair.shown(error.message) : null;
    // A damaged file is retried often, and logged once.
    if (damage === null || damage !== this.#problem) {
      const details = { path: config.path, error: String(error) };
      log.error(details, 'shard did not start; trying again');
    }
    this.#problem = damage ?? this.#problem;
    this.#repair.refused(error as Error);
    this.#state = 'restarting';
    this.#restartLater(String(error));
  }
}

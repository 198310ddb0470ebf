/**
 * The log of control data, on the thread that has these data: who leads it, its records, and what
 * the other nodes have of it. Rules N130 to N135, N142, N147, N166 (engine/RULES.md).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../threads/logger.ts';
import { Deposed, NotLeader, Unavailable } from '../threads/unavailable.ts';
import { EtcdClient, EtcdFailure, ignoreFailure } from './etcd-client.ts';
import { steadyMs as systemSteadyMs } from './lease.ts';
import { LogKeeper } from './log-keeper.ts';
import { NodePresence, presentNodes } from './node-presence.ts';
import { checksumOf, type LastRecord, type StoredRecord } from './replicated-record.ts';
import { type ClusterSettings, logKeys, type ReplicaState, ShardReplica } from './shard-replica.ts';

/** The data that the records change. */
export type ControlTarget = {
  /** The last record on its disk. */
  last(): LastRecord;
  /** Applies the next record, on disk on return. */
  take(record: StoredRecord): Promise<void>;
  /** Resolves once none of this node's own records is under way. */
  settled(): Promise<void>;
  /** This node leads from now on. */
  leads(): void;
  /** This node leads, and another one says so. Rejects if it shall be said again. */
  heard(name: string, word: string): Promise<void>;
};

export type ControlReplicaOptions = {
  settings: ClusterSettings;
  target: ControlTarget;
  log: Log;
  /** That this server is there, if it has said so before. */
  presence?: NodePresence;
  /** Milliseconds of a clock that nobody sets; a test has its own. */
  steadyMs?: () => number;
};

/** An append, or an end that not every node has yet, is given up after so many leases. */
const LEASES_WAITED = 2;
const AFTER_FAILURE_MS = 500;
const POLL_MS = 20;
const HEAR_EVERY_MS = 250;
const WORDS_AT_ONCE = 100;
const SUBJECT = 'the control data';
/** Of a record that may be stored: whoever leads next knows. Rule O47 (api/RULES.md). */
const OUTCOME_UNKNOWN = new NotLeader(null, SUBJECT);

export class ControlReplica {
  readonly #options: ControlReplicaOptions;
  readonly #etcd: EtcdClient;
  readonly #run: Promise<void>;
  readonly #keeping = new AbortController();
  readonly #ready = Promise.withResolvers<void>();
  #replica: ShardReplica | null = null;
  /** While this node leads: its last record, and what ends its lead. */
  #lead: { last: LastRecord; end: () => void } | null = null;
  readonly #steadyMs: () => number;
  /** Its lease lasts until then, by `steadyMs`. */
  #leaseUntilMs = Number.NEGATIVE_INFINITY;
  #notLeader = new NotLeader(null, SUBJECT);
  #presence: NodePresence | null = null;
  #problem: string | null = null;
  /** Why the log cannot be followed, as it was logged; null: it can. */
  #logged: string | null = null;
  #isClosed = false;

  constructor(options: ControlReplicaOptions) {
    this.#options = options;
    this.#steadyMs = options.steadyMs ?? systemSteadyMs;
    this.#presence = options.presence ?? null;
    this.#etcd = new EtcdClient(options.settings.etcd);
    this.#run = Promise.all([this.#follow(), this.#keep()]).then(() => undefined);
  }

  /** Resolves once this node leads, or has every record of the leader. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /**
   * Why nothing is written here now; null: this node leads. A process that was stopped does not know
   * yet that another node leads, so the clock decides.
   */
  refusal(): NotLeader | null {
    const leads = this.#lead !== null && this.#steadyMs() < this.#leaseUntilMs;
    return leads ? null : this.#notLeader;
  }

  /** Whether this node has every end of a credential that was answered anywhere. */
  get isCurrent(): boolean {
    return this.#presence?.isCurrent ?? false;
  }

  problems(): string[] {
    return this.#problem === null ? [] : [`control log: ${this.#problem}`];
  }

  /**
   * Stores the next record, which the cluster has on return. One at a time. Rejects with `NotLeader`
   * if the cluster refuses it, or if nobody knows for too long.
   */
  async append(payload: Uint8Array): Promise<LastRecord> {
    const lead = this.#lead;
    if (lead === null) throw this.#notLeader;
    const number = lead.last.number + 1;
    try {
      const of = { firstNumber: number, count: 1, atMs: Date.now(), position: 0 };
      await this.#replica!.append({ ...of, payload });
    } catch (error) {
      if (!(error instanceof Deposed)) throw error;
      this.#depose(error.message);
      throw OUTCOME_UNKNOWN;
    }
    lead.last = { number, checksum: checksumOf(payload) };
    return lead.last;
  }

  /** The records up to this number are on this node's disk. */
  applied(number: number): void {
    this.#presence?.applied(number);
  }

  /** A record that the cluster has is not on this node's disk: it follows until it is. */
  stepDown(reason: string): void {
    this.#depose(reason);
  }

  /**
   * Resolves once every node has applied the record, or cannot let anybody in. Rejects with
   * `Unavailable` if that takes too long; the record stays.
   */
  async everywhere(number: number): Promise<void> {
    const { name, node: own, leaseSeconds } = this.#options.settings;
    const giveUpMs = this.#steadyMs() + LEASES_WAITED * leaseSeconds * 1000;
    for (;;) {
      try {
        const nodes = await presentNodes(this.#etcd, name);
        if (nodes.every(({ node, applied }) => node === own || applied >= number)) return;
      } catch (error) {
        if (!(error instanceof EtcdFailure)) throw error;
      }
      if (this.#steadyMs() > giveUpMs)
        throw new Unavailable('a node has not applied the change yet');
      await sleep(POLL_MS);
    }
  }

  /**
   * Tells the node that leads, now or next. Of several words of one name it hears one. A word is lost
   * if etcd does not answer now.
   */
  async say(name: string, word: string): Promise<void> {
    const { said } = logKeys(this.#options.settings.name, 'control');
    const key = said + name;
    await this.#etcd
      .transact([{ key, isAbsent: true }], [{ put: key, value: word }])
      .catch(ignoreFailure);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#keeping.abort();
    await this.#options.target.settled();
    this.#lead?.end();
    await this.#replica?.end();
    await this.#run;
    await this.#presence?.end();
    this.#etcd.close();
  }

  #depose(reason: string): void {
    if (this.#lead === null) return;
    const { log, settings } = this.#options;
    log.info({ node: settings.node, reason }, 'this node leads the control log no more');
    this.#lead.end();
  }

  async #follow(): Promise<void> {
    const { target, log } = this.#options;
    while (!this.#isClosed) {
      const last = target.last();
      this.#presence ??= this.#newPresence(last.number);
      const replica = this.#newReplica(last);
      this.#replica = replica;
      try {
        if (await replica.follow((record) => this.#take(record))) await this.#leadUntilDeposed();
      } catch (error) {
        this.#problem = (error as Error).message;
        if (this.#problem !== this.#logged) {
          log.error({ error: this.#problem }, 'the control log cannot be followed; trying again');
        }
        this.#logged = this.#problem;
        // Nobody shall wait for a node that cannot apply what it gets.
        await this.#presence.end();
        this.#presence = null;
        await sleep(AFTER_FAILURE_MS);
      }
      await target.settled();
      await replica.end();
    }
  }

  async #keep(): Promise<void> {
    const { settings, target } = this.#options;
    const keeper = new LogKeeper({
      ...{ etcd: this.#etcd, cluster: settings.name, log: 'control', node: settings.node },
      onDisk: () => target.last().number,
      leads: () => this.#lead !== null,
    });
    await keeper.keep(this.#keeping.signal);
  }

  async #take(record: StoredRecord): Promise<void> {
    await this.#options.target.take(record);
    this.#presence?.applied(record.firstNumber);
  }

  async #leadUntilDeposed(): Promise<void> {
    const { target, log, settings } = this.#options;
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = () => {
      this.#lead = null;
      resolve();
    };
    this.#lead = { last: target.last(), end };
    this.#problem = null;
    this.#logged = null;
    log.info({ node: settings.node }, 'this node leads the control log');
    this.#ready.resolve();
    target.leads();
    void this.#hear();
    if (this.#isClosed) end();
    await promise;
  }

  /** While this node leads it takes what others say. */
  async #hear(): Promise<void> {
    const { target, settings } = this.#options;
    const { said, saidEnd } = logKeys(settings.name, 'control');
    const lead = this.#lead;
    while (this.#lead === lead && !this.#isClosed) {
      try {
        const [words = []] = await this.#etcd.read([
          { range: said, end: saidEnd, limit: WORDS_AT_ONCE },
        ]);
        for (const { key, value } of words) {
          await target.heard(key.slice(said.length), value.toString());
          await this.#etcd.transact([], [{ remove: key }]);
        }
      } catch (error) {
        // It is there when this node, or the next leader, looks again.
        if (!(error instanceof EtcdFailure || error instanceof Unavailable)) throw error;
      }
      const { signal } = this.#keeping;
      await sleep(HEAR_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  #newReplica(last: LastRecord): ShardReplica {
    const { name: cluster, node, address, leaseSeconds } = this.#options.settings;
    return new ShardReplica(
      {
        ...{ etcd: this.#etcd, cluster, log: 'control', leaseSeconds, steadyMs: this.#steadyMs },
        waitMs: LEASES_WAITED * leaseSeconds * 1000,
        self: { node, address },
        renewed: (untilMs) => {
          this.#leaseUntilMs = untilMs;
          if (untilMs === Number.NEGATIVE_INFINITY) this.#depose('the lease has ended');
        },
        changed: (state) => this.#changed(state),
      },
      last,
    );
  }

  #newPresence(applied: number): NodePresence {
    const { name: cluster, node, address, leaseSeconds } = this.#options.settings;
    const self = { node, address };
    const steadyMs = this.#steadyMs;
    return new NodePresence({ etcd: this.#etcd, cluster, self, leaseSeconds, steadyMs }, applied);
  }

  #changed({ leader, isCaughtUp, problem, movingTo }: ReplicaState): void {
    if (movingTo !== null) this.#depose(`the lead moves to ${movingTo}`);
    // This node's own key of before ends soon.
    const other = leader?.node === this.#options.settings.node ? null : (leader?.address ?? null);
    if (other !== this.#notLeader.leader) this.#notLeader = new NotLeader(other, SUBJECT);
    this.#problem = problem;
    if (isCaughtUp) this.#logged = null;
    if (isCaughtUp && other !== null) this.#ready.resolve();
  }
}

/**
 * What the cluster knows of a node: its address, and the last record of the control log that it has
 * applied, under a lease of its own. While the lease lasts, whoever ends a credential waits for this
 * node. After it the node lets nobody in. One server at a time has the name of a node. Rules N134,
 * N135 (engine/RULES.md), O43 (api/RULES.md).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type EtcdClient, ignoreFailure, type KeyValue } from './etcd-client.ts';
import { leaseEndMs, renewalEveryMs } from './lease.ts';
import { readHead } from './replicated-record.ts';
import { type ClusterNode, logKeys } from './shard-replica.ts';

/** A node that is there, and the number of the last control record that it has applied. */
export type PresentNode = ClusterNode & { applied: number };

export type NodePresenceOptions = {
  etcd: EtcdClient;
  cluster: string;
  self: ClusterNode;
  leaseSeconds: number;
  /** Milliseconds of a clock that nobody sets. */
  steadyMs(): number;
  /** If etcd does not answer for so long before it has the name, it gives up; left out: never. */
  givesUpAfterMs?: number;
};

const AFTER_FAILURE_MS = 100;
/** A server that was killed has the name for one lease, and for another one after an election of etcd. */
const NAME_WAITS_LEASES = 3;

const nodesPrefix = (cluster: string) => `paperbook/${cluster}/node/`;

/** It is there while the node is. */
export const presenceKey = (cluster: string, node: string): string => nodesPrefix(cluster) + node;

/** The nodes that are there now. Throws `EtcdFailure`. */
export async function presentNodes(etcd: EtcdClient, cluster: string): Promise<PresentNode[]> {
  const prefix = nodesPrefix(cluster);
  const [found = []] = await etcd.read([{ range: prefix, end: `${prefix}~` }]);
  return found.map(({ value }) => JSON.parse(value.toString()) as PresentNode);
}

/** Another server has the name of this node, and it runs. Rule O43 (api/RULES.md). */
export class NameTaken extends Error {
  constructor({ cluster, self: { node } }: NodePresenceOptions, { value }: KeyValue) {
    const { address } = JSON.parse(value.toString()) as PresentNode;
    super(
      `another server runs as the node ${node} of the cluster ${cluster}, at ${address}: stop it, or ` +
        'give this one a name of its own',
    );
    this.name = 'NameTaken';
  }
}

export class NodePresence {
  readonly #options: NodePresenceOptions;
  readonly #key: string;
  #applied: number;
  #lease: string | null = null;
  /** The last lease that it has asked to have its key; the answer may be lost. */
  #asked: string | null = null;
  /** Since then another server has been seen to have the key; null: none has it. */
  #takenSinceMs: number | null = null;
  /** Since then etcd has not answered; null: it answers. */
  #failingSinceMs: number | null = null;
  readonly #entered = Promise.withResolvers<void>();
  #hasEntered = false;
  /** The value of its key; null: it has none. */
  #shown: string | null = null;
  #untilMs = Number.NEGATIVE_INFINITY;
  /** The last record when the lease began: an end before it may have waited for nobody here. */
  #floor = Number.POSITIVE_INFINITY;
  #isEnded = false;
  #wake: () => void = () => {};
  readonly #done: Promise<void>;

  /** @param applied the last record of the control log that this node has */
  constructor(options: NodePresenceOptions, applied: number) {
    this.#options = options;
    this.#key = presenceKey(options.cluster, options.self.node);
    this.#applied = applied;
    this.#done = this.#run();
  }

  /**
   * Resolves once this server has the name of its node; rejects with `NameTaken`, and with the
   * `EtcdFailure` that it has given up for.
   */
  get entered(): Promise<void> {
    return this.#entered.promise;
  }

  /** Whether this node has every end of a credential that was answered anywhere. */
  get isCurrent(): boolean {
    return this.#applied >= this.#floor && this.#options.steadyMs() < this.#untilMs;
  }

  /** The node has applied the records up to this number. */
  applied(number: number): void {
    this.#applied = number;
    this.#wake();
  }

  /** Nobody waits for this node any more. */
  async end(): Promise<void> {
    this.#isEnded = true;
    this.#untilMs = Number.NEGATIVE_INFINITY;
    this.#wake();
    await this.#done;
    const lease = this.#lease;
    // After a failure the lease ends by itself.
    if (lease !== null) await this.#options.etcd.revoke(lease).catch(ignoreFailure);
  }

  async #run(): Promise<void> {
    let waitMs = 0;
    while (!this.#isEnded) {
      try {
        if (this.#lease === null) await this.#enter();
        else await this.#renew();
        await this.#show();
        this.#failingSinceMs = null;
        const isShown = this.#lease !== null && this.#text() === this.#shown;
        if (!isShown && this.#takenSinceMs === null) continue;
        waitMs = isShown ? renewalEveryMs(this.#options.leaseSeconds) : AFTER_FAILURE_MS;
      } catch (error) {
        if (error instanceof NameTaken) return this.#nameTaken(error);
        ignoreFailure(error);
        if (this.#isGivenUp()) return this.#entered.reject(error);
        // Leases may last longer after it.
        this.#takenSinceMs = null;
        waitMs = AFTER_FAILURE_MS;
      }
      await this.#sleep(waitMs);
    }
  }

  /** Until the time is over, or the node has applied a record. */
  async #sleep(ms: number): Promise<void> {
    if (this.#isEnded) return;
    const waking = new AbortController();
    this.#wake = () => waking.abort();
    await sleep(ms, undefined, { signal: waking.signal }).catch(() => undefined);
    this.#wake = () => {};
  }

  async #enter(): Promise<void> {
    const { etcd, cluster, leaseSeconds, steadyMs } = this.#options;
    const [[found] = []] = await etcd.read([{ range: this.#key }]);
    if (found !== undefined && found.lease !== this.#asked) return this.#waitForName(found);
    const sentMs = steadyMs();
    const lease = await etcd.grant(leaseSeconds);
    this.#asked = lease;
    const shown = this.#text();
    const key = this.#key;
    const asFound =
      found === undefined
        ? { key, isAbsent: true as const }
        : { key, createRevision: found.createRevision };
    const done = await etcd.transact([asFound], [{ put: key, value: shown, lease }]);
    if (!done.succeeded) return;
    const [[head] = []] = await etcd.read([{ range: logKeys(cluster, 'control').head }]);
    this.#floor = head === undefined ? 0 : readHead(head.value.toString()).number;
    this.#lease = lease;
    this.#shown = shown;
    this.#takenSinceMs = null;
    this.#renewed(sentMs);
    this.#hasEntered = true;
    this.#entered.resolve();
  }

  /** A server that had the name, and was stopped meanwhile, ends as by a fault that nobody takes. */
  #nameTaken(error: NameTaken): void {
    if (this.#hasEntered) throw error;
    this.#entered.reject(error);
  }

  #isGivenUp(): boolean {
    const { steadyMs, givesUpAfterMs = Number.POSITIVE_INFINITY } = this.#options;
    this.#failingSinceMs ??= steadyMs();
    return !this.#hasEntered && steadyMs() - this.#failingSinceMs > givesUpAfterMs;
  }

  /** Throws `NameTaken` once the server that has the name has renewed its lease. */
  #waitForName(found: KeyValue): void {
    const { leaseSeconds, steadyMs } = this.#options;
    this.#takenSinceMs ??= steadyMs();
    if (steadyMs() - this.#takenSinceMs > NAME_WAITS_LEASES * leaseSeconds * 1000) {
      throw new NameTaken(this.#options, found);
    }
  }

  async #renew(): Promise<void> {
    const { etcd, steadyMs } = this.#options;
    const sentMs = steadyMs();
    if (await etcd.keepAlive(this.#lease!)) this.#renewed(sentMs);
    else this.#lost();
  }

  /** Its key only ever has the newest number. */
  async #show(): Promise<void> {
    const shown = this.#shown;
    const text = this.#text();
    if (shown === null || this.#lease === null || text === shown) return;
    const put = { put: this.#key, value: text, lease: this.#lease };
    const { succeeded, ranges } = await this.#options.etcd.transact(
      [{ key: this.#key, value: shown }],
      [put],
      [{ range: this.#key }],
    );
    const found = ranges[0]?.[0];
    if (succeeded) this.#shown = text;
    // An earlier try may have come through.
    else if (found?.lease === this.#lease) this.#shown = found.value.toString();
    else this.#lost();
  }

  #lost(): void {
    this.#lease = null;
    this.#shown = null;
    this.#untilMs = Number.NEGATIVE_INFINITY;
    this.#floor = Number.POSITIVE_INFINITY;
  }

  #renewed(sentMs: number): void {
    if (this.#isEnded) return;
    this.#untilMs = leaseEndMs(sentMs, this.#options.leaseSeconds);
  }

  #text(): string {
    const { node, address } = this.#options.self;
    return JSON.stringify({ node, address, applied: this.#applied } satisfies PresentNode);
  }
}

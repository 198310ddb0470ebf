/**
 * Looks at etcd's space, at its members and at the nodes from time to time, and says what to do before
 * the cluster takes no orders. Rule N164 (engine/RULES.md), O41 (api/RULES.md).
 */
import type { Log } from '../threads/logger.ts';
import { clusterStatus } from './cluster.ts';
import { EtcdClient, EtcdFailure } from './etcd-client.ts';
import { membersKey, readMembers } from './member-list.ts';
import { presentNodes } from './node-presence.ts';
import type { ClusterSettings } from './shard-replica.ts';
import { type EtcdSpace, type Space, spaceOf } from './space.ts';

const LOOK_EVERY_MS = 15_000;
/** Of the quota. */
const WARN_ABOVE = 0.75;

export class ClusterWatch {
  readonly #settings: ClusterSettings;
  readonly #log: Log;
  readonly #timer: NodeJS.Timeout;
  #space: EtcdSpace | null = null;
  #problems: string[] = [];
  #looking: Promise<void> = Promise.resolve();

  constructor(settings: ClusterSettings, log: Log) {
    this.#settings = settings;
    this.#log = log;
    const look = () => {
      this.#looking = this.look();
    };
    look();
    this.#timer = setInterval(look, LOOK_EVERY_MS);
    this.#timer.unref();
  }

  /** Of the fullest member of etcd; null: none has answered the last look. */
  get space(): EtcdSpace | null {
    return this.#space;
  }

  problems(): string[] {
    return this.#problems;
  }

  async look(): Promise<void> {
    const { etcd: urls } = this.#settings;
    const etcd = new EtcdClient(urls);
    let problems: string[];
    try {
      const space = await spaceOf(urls);
      this.#space = space;
      problems = space.silent.map((why) => `a member of etcd does not answer: ${why}`);
      await etcd.reach();
      const full = await this.#problemOf(etcd, space);
      problems.push(...(await this.#missing(etcd)), ...(full === null ? [] : [full]));
    } catch (error) {
      if (!(error instanceof EtcdFailure)) throw error;
      this.#space = null;
      problems = [`the space of etcd is not known: ${error.message}`];
    } finally {
      etcd.close();
    }
    const news = problems.filter((problem) => !this.#problems.includes(problem));
    for (const problem of news) this.#log.error({ problem }, 'the cluster needs care');
    this.#problems = problems;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  /** Members of the cluster whose server does not run, or does not reach etcd. */
  async #missing(etcd: EtcdClient): Promise<string[]> {
    const { name, node: self } = this.#settings;
    const [found] = await etcd.read([{ range: membersKey(name) }]);
    const present = new Set((await presentNodes(etcd, name)).map(({ node }) => node));
    const missing = [...(readMembers(found)?.keys() ?? [])].filter(
      (node) => node !== self && !present.has(node),
    );
    return missing.map(
      (node) => `node ${node} is not there: start it, or run paperbook cluster leave ${node}`,
    );
  }

  async #problemOf(
    etcd: EtcdClient,
    { fileBytes, quotaBytes, isRefusing }: Space,
  ): Promise<string | null> {
    if (!isRefusing && fileBytes < quotaBytes * WARN_ABOVE) return null;
    const percent = Math.round((100 * fileBytes) / quotaBytes);
    const fact = isRefusing
      ? 'etcd has no space left and takes no orders'
      : `etcd has used ${percent}% of its space, and takes no orders at 100%`;
    return [`${fact}: run paperbook cluster trim`, ...(await this.#laggards(etcd))].join('. ');
  }

  /** For each shard the member that has the least, and that the others wait for. */
  async #laggards(etcd: EtcdClient): Promise<string[]> {
    const { name, node: self } = this.#settings;
    const { shards, members } = await clusterStatus(etcd, name);
    return members.flatMap(({ node, facts }) => {
      const lacked = shards.findIndex(
        ({ lastFact }, shard) => (lastFact ?? 0) - (facts[shard] ?? 0) >= FACTS_LACKED,
      );
      if (lacked === -1 || node === self) return [];
      return [
        `etcd keeps what ${node} lacks of shard ${lacked} since fact ${facts[lacked] ?? 0}: start ` +
          `${node}, or run paperbook cluster leave ${node}`,
      ];
    });
  }
}

/** A member that runs has all but the last few seconds. */
const FACTS_LACKED = 100_000;

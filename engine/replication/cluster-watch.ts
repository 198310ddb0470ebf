/**
 * Looks at etcd's space from time to time, and says what to do before etcd stores nothing more. Rule
 * N164 (engine/RULES.md).
 */
import type { Log } from '../threads/logger.ts';
import { clusterStatus } from './cluster.ts';
import { EtcdClient, EtcdFailure } from './etcd-client.ts';
import type { ClusterSettings } from './shard-replica.ts';
import { type Space, spaceOf } from './space.ts';

const LOOK_EVERY_MS = 15_000;
/** Of the quota. */
const WARN_ABOVE = 0.75;

export class ClusterWatch {
  readonly #settings: ClusterSettings;
  readonly #log: Log;
  readonly #timer: NodeJS.Timeout;
  #space: Space | null = null;
  #problem: string | null = null;
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
  get space(): Space | null {
    return this.#space;
  }

  problems(): string[] {
    return this.#problem === null ? [] : [this.#problem];
  }

  async look(): Promise<void> {
    const { etcd } = this.#settings;
    let problem: string | null;
    try {
      this.#space = await spaceOf(etcd);
      problem = await this.#problemOf(this.#space);
    } catch (error) {
      if (!(error instanceof EtcdFailure)) throw error;
      this.#space = null;
      problem = `the space of etcd is not known: ${error.message}`;
    }
    if (problem !== null && this.#problem === null) this.#log.error({ problem }, 'etcd needs care');
    this.#problem = problem;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  async #problemOf({ fileBytes, quotaBytes, isRefusing }: Space): Promise<string | null> {
    if (!isRefusing && fileBytes < quotaBytes * WARN_ABOVE) return null;
    const percent = Math.round((100 * fileBytes) / quotaBytes);
    const fact = isRefusing
      ? 'etcd has no space left and takes no orders'
      : `etcd has used ${percent}% of its space, and takes no orders at 100%`;
    return [`${fact}: run paperbook cluster trim`, ...(await this.#laggards())].join('. ');
  }

  /** For each shard the member that has the least, and that the others wait for. */
  async #laggards(): Promise<string[]> {
    const { name, etcd: urls, node: self } = this.#settings;
    const etcd = new EtcdClient(urls);
    try {
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
    } finally {
      etcd.close();
    }
  }
}

/** A member that runs has all but the last few seconds. */
const FACTS_LACKED = 100_000;

/**
 * The ends of the shards for threads that call them beside the thread that starts them. A shard has
 * new ones at each start. Rules D73, D74 (engine/RULES.md).
 */
import { invariant } from '../../base/invariant.ts';
import type { Uuid } from '../../base/units.ts';
import type { ChannelMemory } from '../../ring/endpoint.ts';

/** A shard as a further thread reaches it. */
export type FurtherEnd = {
  channel: ChannelMemory;
  /** Of a `DiskStatus`. */
  disk: SharedArrayBuffer;
};

type ServedEnds = { channels: readonly ChannelMemory[]; disk: SharedArrayBuffer };

/** The further threads, as the thread that starts the shards needs them. */
export type FurtherCallers = {
  /** A shard is served over new rings, or no more. */
  changed(shard: number): void;
  /**
   * The key trades in several shards. Resolves once no thread sends its orders itself, and all that
   * were sent are decided.
   */
  roams(keyId: Uuid): Promise<void>;
  /** The key is in its owner's shard again. */
  isHome(keyId: Uuid): void;
  /**
   * Resolves once no thread sends anything, and all that was sent is decided. @returns a function
   * that lets them go on
   */
  pause(): Promise<() => void>;
};

export class FurtherEnds {
  /** How many further threads there are. */
  readonly count: number;
  /** By shard; undefined: it is down. */
  readonly #served: (ServedEnds | undefined)[] = [];
  /** Null: they do not run yet, or there are none. */
  callers: FurtherCallers | null = null;

  constructor(count = 0) {
    this.count = count;
  }

  served(shard: number, ends: ServedEnds): void {
    invariant(ends.channels.length === this.count, 'a shard has an end for each further thread');
    this.#served[shard] = ends;
    this.callers?.changed(shard);
  }

  lost(shard: number): void {
    this.#served[shard] = undefined;
    this.callers?.changed(shard);
  }

  /** The end of thread `at`; null: the shard is down. */
  of(at: number, shard: number): FurtherEnd | null {
    invariant(at >= 0 && at < this.count, 'a thread has no end of its own');
    const served = this.#served[shard];
    return served === undefined ? null : { channel: served.channels[at]!, disk: served.disk };
  }
}

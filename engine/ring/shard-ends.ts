/**
 * All ends of a shard: a channel for each thread that calls it. One bell wakes the shard for any of
 * them. Rules D73, D74 (engine/RULES.md).
 */
import { invariant } from '../base/invariant.ts';
import { Bell } from './bell.ts';
import { type ChannelMemory, Endpoint, renewChannel } from './endpoint.ts';

export class ShardEnds {
  readonly #channels: readonly ChannelMemory[];
  readonly #ends: Endpoint[];
  readonly #bell: Bell;

  /** @param channels the first is of the thread that has started the shard, and closes it */
  constructor(channels: readonly ChannelMemory[]) {
    const [first] = channels;
    invariant(first !== undefined, 'a shard is served for nobody');
    invariant(
      channels.every(({ shardBell }) => shardBell === first.shardBell),
      'the callers of a shard ring different bells',
    );
    this.#channels = channels;
    this.#ends = channels.map((channel) => new Endpoint(channel, 'shard'));
    this.#bell = new Bell(first.shardBell);
  }

  get count(): number {
    return this.#ends.length;
  }

  at(place: number): Endpoint {
    return this.#ends[place]!;
  }

  /** Whether a whole frame has arrived at an end. Ends whose callers are gone are as new then. */
  isReady(): boolean {
    let isReady = false;
    for (let place = 0; place < this.#ends.length; place++) {
      if (this.#ends[place]!.isAbandoned) this.#renew(place);
      if (this.#ends[place]!.isReady()) isReady = true;
    }
    return isReady;
  }

  /** Bytes that have arrived and are not taken. */
  get unreadBytes(): number {
    let bytes = 0;
    for (const end of this.#ends) bytes += end.unreadBytes;
    return bytes;
  }

  /** Blocks the thread until there may be news. */
  sleep(): void {
    if (!this.isReady()) this.#bell.sleep(this.#hasNews);
  }

  /** As `sleep`, while the event loop runs; null: there is news. */
  sleepAsync(): Promise<void> | null {
    return this.isReady() ? null : this.#bell.sleepAsync(this.#hasNews);
  }

  readonly #hasNews = () => this.#ends.some((end) => end.hasNews() || end.isAbandoned);

  #renew(place: number): void {
    invariant(place > 0, 'the thread that has started the shard is gone, and the shard is not');
    const channel = this.#channels[place]!;
    renewChannel(channel);
    this.#ends[place] = new Endpoint(channel, 'shard');
  }
}

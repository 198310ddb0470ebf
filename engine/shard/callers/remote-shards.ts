/**
 * The shards as a further thread calls them, over rings of its own. It starts no shard and sends no
 * ticks: the thread that does both tells it when a shard is up. Rules D73, D75 (engine/RULES.md).
 */
import type { EpochMs, Uuid } from '../../base/units.ts';
import { DiskFull } from '../../log/disk-full.ts';
import { Endpoint } from '../../ring/endpoint.ts';
import type { Command, Reply, TradingCommand } from '../../rules/messages.ts';
import type { Query, QuoteKind } from '../../rules/queries.ts';
import type { FairTurns } from '../../threads/fair-turns.ts';
import { Unavailable } from '../../threads/unavailable.ts';
import { isJournaled, isReadOfHolder } from '../core/message-kinds.ts';
import { DiskStatus } from '../store/disk-reserve.ts';
import type { FurtherEnd } from './further-ends.ts';
import { RequestCoalescer } from './request-coalescer.ts';
import type { ReplyHandler } from './send-queue.ts';
import { shardOfAccount, shardOfInstrument } from './shard-of.ts';
import { ShardSender } from './shard-sender.ts';
import { readsInTurns } from './shards.ts';

const DOWN = new Unavailable('the engine is restarting');

/** One shard over the rings of this thread. */
class RemoteShard {
  readonly #sender: ShardSender;
  #disk = new DiskStatus();

  constructor(queueDepthMax: number) {
    this.#sender = new ShardSender({
      queueDepthMax,
      diskFull: () => new DiskFull(this.#disk.errno, 0),
    });
  }

  get isUp(): boolean {
    return this.#sender.isLinked;
  }

  /** The shard is served over new rings, or no more. */
  reach(end: FurtherEnd | null): void {
    this.#sender.unlink();
    if (end === null) return;
    this.#disk = new DiskStatus(end.disk);
    this.#sender.link(new Endpoint(end.channel, 'caller'));
  }

  refusal(): Unavailable | null {
    return this.isUp ? this.#sender.refusal() : DOWN;
  }

  ask(request: Command | Query, waiter: ReplyHandler): undefined {
    const refusal = this.refusal();
    if (refusal !== null) return waiter.reject(refusal) as undefined;
    const { errno } = this.#disk;
    if (errno === 0 || !isJournaled(request)) this.#sender.send(request, waiter);
    else waiter.reject(new DiskFull(errno, 0));
  }

  drained(): Promise<void> {
    return this.#sender.drained();
  }
}

export type RemoteShardsOptions = {
  shards: number;
  queueDepthMax: number;
  /** The engine's time, of the thread that starts the shards. */
  nowMs(): EpochMs;
  /** An order that only the thread may send that starts the shards. */
  pass(owner: Uuid, command: TradingCommand, waiter: ReplyHandler): void;
};

export class RemoteShards {
  readonly #options: RemoteShardsOptions;
  readonly #shards: RemoteShard[];
  readonly #reads: FairTurns;
  readonly #coalescer = new RequestCoalescer();
  readonly #roaming = new Set<Uuid>();
  /** What waits for the end of a pause; null: nothing does. */
  #paused: (() => void)[] | null = null;

  constructor(options: RemoteShardsOptions) {
    const { shards, queueDepthMax } = options;
    this.#options = options;
    this.#shards = Array.from({ length: shards }, () => new RemoteShard(queueDepthMax));
    this.#reads = readsInTurns();
  }

  nowMs(): EpochMs {
    return this.#options.nowMs();
  }

  reach(shard: number, end: FurtherEnd | null): void {
    this.#shards[shard]!.reach(end);
  }

  /** Why no shard accepts a request now; null: at least one does. */
  refusal(): Unavailable | null {
    let first: Unavailable | null = null;
    for (const shard of this.#shards) {
      const refusal = shard.refusal();
      if (refusal === null) return null;
      first ??= refusal;
    }
    return first;
  }

  /** As `Shards.ask`. */
  ask(account: Uuid, request: Command | Query, waiter: ReplyHandler): undefined {
    if (!isReadOfHolder(request)) return this.#askNow(account, request, waiter);
    const ask = () =>
      new Promise<Reply>((resolve, reject) => this.#askNow(account, request, { resolve, reject }));
    this.#reads.take(account, ask).then(
      (reply) => waiter.resolve(reply),
      (error: Error) => waiter.reject(error),
    );
  }

  /** As `Shards.trade`. */
  trade(owner: Uuid, command: TradingCommand, waiter: ReplyHandler): undefined {
    const { account, counting } = command;
    // Its key may leave home during the pause.
    if (this.#paused !== null) {
      this.#paused.push(() => this.trade(owner, this.#timed(command), waiter));
      return;
    }
    const isAtHome =
      counting === null ||
      (!this.#roaming.has(counting.keyId) && this.#of(account) === this.#of(owner));
    if (isAtHome) this.#askNow(account, command, waiter);
    else this.#options.pass(owner, command, waiter);
  }

  /** As `Shards.quote`. */
  quote(instrumentId: string, atMs: EpochMs, kind: QuoteKind = 'instrument_quote') {
    const find = () =>
      new Promise<Reply>((resolve, reject) => {
        this.#askOf(this.#ofQuote(instrumentId), { kind, atMs, instrumentId }, { resolve, reject });
      });
    return new Promise<Reply>((resolve, reject) => {
      this.coalesce(`${kind} ${instrumentId}`, find, { resolve, reject });
    });
  }

  /** As `Shards.coalesce`. */
  coalesce<T>(question: string, find: () => Promise<T>, waiter: ReplyHandler<T>): undefined {
    return this.#coalescer.ask(question, find, waiter);
  }

  /**
   * From now on the orders of the key are passed on. Resolves once all that were sent are decided.
   */
  roams(keyId: Uuid): Promise<void> {
    this.#roaming.add(keyId);
    return this.#drained();
  }

  isHome(keyId: Uuid): void {
    this.#roaming.delete(keyId);
  }

  /** Sends nothing until `goOn`. Resolves once all that was sent is decided. */
  pause(): Promise<void> {
    this.#paused ??= [];
    return this.#drained();
  }

  goOn(): void {
    const waiting = this.#paused ?? [];
    this.#paused = null;
    for (const send of waiting) send();
  }

  async #drained(): Promise<void> {
    await Promise.all(this.#shards.map((shard) => shard.drained()));
  }

  #askNow(account: Uuid, request: Command | Query, waiter: ReplyHandler): undefined {
    this.#askOf(this.#of(account), request, waiter);
  }

  #askOf(shard: RemoteShard, request: Command | Query, waiter: ReplyHandler): void {
    if (this.#paused === null) shard.ask(request, waiter);
    else this.#paused.push(() => void shard.ask(this.#timed(request), waiter));
  }

  /** The time may have been set back meanwhile. */
  #timed<T extends { atMs: EpochMs }>(request: T): T {
    return { ...request, atMs: Math.min(request.atMs, this.nowMs()) };
  }

  #of(account: Uuid): RemoteShard {
    return this.#shards[shardOfAccount(account, this.#shards.length)]!;
  }

  #ofQuote(instrumentId: string): RemoteShard {
    const up = this.#shards.filter(({ isUp }) => isUp);
    const among = up.length > 0 ? up : this.#shards;
    return among[shardOfInstrument(instrumentId, among.length)]!;
  }
}

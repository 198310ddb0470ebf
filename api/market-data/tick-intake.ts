/**
 * All ticks of venues, live or played, pass here on the callers' thread before the shards get them.
 * A subscriber here gets all of them, decoded. Rules D44, D46, N144 (engine/RULES.md).
 */

import type { EpochMs } from '../../engine/base/units.ts';
import { ByteWriter } from '../../engine/format/bytes.ts';
import { ticksIn, writeMessage } from '../../engine/format/codec.ts';
import type { Tick } from '../../engine/rules/messages.ts';
import type { Shards } from '../../engine/shard/callers/shards.ts';
import type { MarketBus } from '../catalog/market-bus.ts';
import type { ClusterResults } from './cluster-results.ts';
import type { VoidedGames } from './voided-games.ts';

/**
 * The feed thread knows the engine's time to within a moment. A tick further ahead was read before
 * an operator set time back.
 */
const AHEAD_MAX_MS = 1000;

export type TickIntakeOptions = {
  engine: Pick<Shards, 'tick' | 'packedTicks' | 'nowMs'>;
  isFeedClock: boolean;
  /** Events that fall due before a tick are published before it. */
  voids: Pick<VoidedGames, 'advance'>;
  bus: Pick<MarketBus, 'publish'>;
  /** Takes results in place of the shards, in a cluster. */
  results: Pick<ClusterResults, 'say' | 'isSaid'> | null;
};

export class TickIntake {
  readonly #options: TickIntakeOptions;
  readonly #writer = new ByteWriter();

  constructor(options: TickIntakeOptions) {
    this.#options = options;
  }

  readonly take = (tick: Tick): void => {
    const { results } = this.#options;
    if (tick.kind === 'result' && results !== null) return results.say(tick);
    if (this.#isOver(tick)) return;
    this.follow(tick);
    this.#options.engine.tick(tick);
  };

  /** Ticks that `writeMessage` has packed, and that nobody changes later. @returns the ticks. */
  batch(bytes: Buffer): readonly Tick[] {
    const { engine } = this.#options;
    const read = ticksIn(bytes);
    const nowMs = engine.nowMs();
    const ticks = this.#withoutResults(this.#dated(read, nowMs));
    if (ticks.length === 0) return ticks;
    let newestMs = 0;
    for (const tick of ticks) {
      newestMs = Math.max(newestMs, tick.atMs);
      this.follow(tick);
    }
    engine.packedTicks(ticks === read ? bytes : this.#packed(ticks), newestMs, ticks);
    return ticks;
  }

  /** Tells the followers outside the shards; the shards have it. */
  readonly follow = (tick: Tick): void => {
    const { voids, bus } = this.#options;
    voids.advance(tick.atMs);
    bus.publish(tick);
  };

  /** The cluster has results first. */
  #withoutResults(ticks: Tick[]): Tick[] {
    const { results } = this.#options;
    if (results === null) return ticks;
    for (const tick of ticks) if (tick.kind === 'result') results.say(tick);
    const isOut = (tick: Tick) => tick.kind === 'result' || this.#isOver(tick);
    return ticks.some(isOut) ? ticks.filter((tick) => !isOut(tick)) : ticks;
  }

  /** It is the status of a market whose result is known, which the cluster does not have yet. */
  #isOver(tick: Tick): boolean {
    return tick.kind === 'status' && this.#options.results?.isSaid(tick.market) === true;
  }

  /** The same ticks; a tick gets the engine's time if its own is too early or too late. */
  #dated(ticks: Tick[], nowMs: EpochMs): Tick[] {
    // On the feed's clock an older frame is taken at the present (C7): another feed has moved it.
    const isOff = this.#options.isFeedClock
      ? ({ atMs }: Tick) => atMs < nowMs
      : ({ atMs }: Tick) => atMs > nowMs + AHEAD_MAX_MS;
    if (!ticks.some(isOff)) return ticks;
    return ticks.map((tick) => (isOff(tick) ? { ...tick, atMs: nowMs } : tick));
  }

  #packed(ticks: readonly Tick[]): Buffer {
    this.#writer.begin();
    for (const tick of ticks) writeMessage(this.#writer, tick);
    return Buffer.from(this.#writer.view(0, this.#writer.length));
  }
}

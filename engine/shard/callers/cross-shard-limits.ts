/**
 * Keys that trade in more than one shard. Accounts live in different shards, and a key's hard trade
 * limits hold over all that it trades. Rules L7, L11, L12 (engine/RULES.md).
 *
 * A key is in one shard at a time. Orders for that shard are sent at once. They carry the key's
 * counts of all other shards, where it cannot trade meanwhile. An order for another shard moves the
 * key. Every shard that may have counted it is asked for its count, after all earlier messages to
 * that shard. Orders that arrive meanwhile wait. So the limits are exact for every order of
 * answers, and counts are stored only in the shards' logs.
 *
 * Further threads send the orders of a key only while it is at home. Before a key leaves home, they
 * pass its orders on to this thread, and all that they have sent is decided (D75).
 */

import { invariant } from '../../base/invariant.ts';
import type { EpochMs, Uuid } from '../../base/units.ts';
import { type TradeUse, utcDayOf } from '../../base/units.ts';
import { awayIdOf } from '../../memory/trade-counts.ts';
import type { TradeCounting, TradingCommand } from '../../rules/messages.ts';
import type { PreviewQuery } from '../../rules/queries.ts';
import { sumOfUse } from '../../rules/trade-limits.ts';
import { AT_ITS_LIMIT } from '../../threads/unavailable.ts';
import { useIn } from '../core/trade-use.ts';
import type { OpenReport } from '../store/open-report.ts';
import type { FurtherCallers } from './further-ends.ts';
import type { ReplyHandler } from './send-queue.ts';
import type { ShardClient } from './shard-client.ts';

type Shard = Pick<ShardClient, 'ask' | 'call'>;

/** A preview of an order that counts for a key. */
export type PreviewPassage = Omit<Passage, 'command'> & { query: PreviewQuery };

/** An order or a cancel on its way to the shard of its account. */
export type Passage = {
  command: TradingCommand;
  counting: TradeCounting;
  /** The shard of the owner's personal account, where a key that never left it trades. */
  home: Shard;
  to: Shard;
  waiter: ReplyHandler;
};

type Roamer = {
  /** The shard where the key is; null: not known yet. */
  at: Shard | null;
  /** Its counts in all other shards. */
  elsewhere: TradeUse | null;
  /** Every shard that may have counted it. */
  shards: Set<Shard>;
  /** In the order of their arrival; not empty while the key moves. */
  waiting: Passage[];
  /** The newest day on which it may have been counted. */
  day: number;
  /** No further thread sends its orders. */
  isAlone: boolean;
};

type Others = Pick<FurtherCallers, 'roams' | 'isHome'>;

/** Far more than any usual limit allows during a move. */
const WAITING_MAX = 1000;

export class CrossShardLimits {
  readonly #nowMs: () => EpochMs;
  readonly #others: () => Others | null;
  readonly #roamers = new Map<Uuid, Roamer>();
  #day = 0;

  /** `nowMs`: the engine's time. `others`: the further threads; null: none runs. */
  constructor(nowMs: () => EpochMs, others: () => Others | null = () => null) {
    this.#nowMs = nowMs;
    this.#others = others;
  }

  /** Keys that are known to have left home today. */
  get keys(): Uuid[] {
    return [...this.#roamers.keys()];
  }

  /** How many keys those are. */
  get size(): number {
    return this.#roamers.size;
  }

  /** A shard has counted these keys on the day of `nowMs`, away from their homes. */
  found(shard: Shard, { awayKeys, nowMs }: Pick<OpenReport, 'awayKeys' | 'nowMs'>): void {
    for (const keyId of awayKeys) {
      const roamer = this.#roamerOf(keyId, nowMs);
      if (roamer.shards.has(shard)) continue;
      roamer.shards.add(shard);
      roamer.at = null;
      // A wait would gain nothing: until now its orders could not be known to count here.
      void this.#others()?.roams(keyId);
    }
  }

  /**
   * The shards count again after the time was set back. Each key is asked about again at its next
   * order.
   */
  timeWasSet(): void {
    for (const roamer of this.#roamers.values()) roamer.at = null;
  }

  /** Sends a command to the shard of its account, at once if the key is there already. */
  send(passage: Passage): undefined {
    const { command, counting, home, to, waiter } = passage;
    this.#forgetDaysBefore(utcDayOf(command.atMs));
    if (home === to && !this.#roamers.has(counting.keyId)) return to.ask(command, waiter);
    const roamer = this.#roamerOf(counting.keyId, command.atMs);
    roamer.shards.add(home);
    const { waiting } = roamer;
    if (waiting.length === 0 && roamer.at === to) return this.#pass(roamer, passage);
    if (waiting.length >= WAITING_MAX) waiter.reject(AT_ITS_LIMIT);
    else if (waiting.push(passage) === 1) void this.#move(roamer);
  }

  /**
   * Sends a preview to the shard of its account, with the key's present counts in all others. The
   * key stays in its shard. Rule T133 (engine/RULES.md).
   */
  preview({ query, counting, home, to, waiter }: PreviewPassage): undefined {
    const { keyId } = counting;
    const shards = new Set(this.#roamers.get(keyId)?.shards).add(home);
    shards.delete(to);
    if (shards.size === 0) return to.ask(query, waiter);
    this.#usesIn(shards, home, keyId).then(
      (elsewhere) => {
        const counted = { ...counting, keyId: to === home ? keyId : awayIdOf(keyId), elsewhere };
        to.ask({ ...query, order: { ...query.order, counting: counted } }, waiter);
      },
      (error: unknown) => waiter.reject(error as Error),
    );
  }

  /** Rejects with `Unavailable` if one of them cannot answer. */
  async #usesIn(shards: Iterable<Shard>, home: Shard, keyId: Uuid): Promise<TradeUse> {
    const uses = [...shards].map((shard) =>
      useIn(shard, shard === home ? keyId : awayIdOf(keyId), this.#nowMs()),
    );
    return sumOfUse(await Promise.all(uses));
  }

  #roamerOf(keyId: Uuid, atMs: EpochMs): Roamer {
    const day = utcDayOf(atMs);
    const known = this.#roamers.get(keyId);
    const roamer = known ?? {
      ...{ at: null, elsewhere: null, shards: new Set<Shard>(), waiting: [], day },
      isAlone: false,
    };
    roamer.day = Math.max(roamer.day, day);
    if (known === undefined) this.#roamers.set(keyId, roamer);
    return roamer;
  }

  /** Moves the key to the shards of its waiting orders, until none waits. */
  async #move(roamer: Roamer): Promise<void> {
    const { waiting } = roamer;
    while (waiting.length > 0) {
      const [first] = waiting as [Passage];
      try {
        if (roamer.at !== first.to) await this.#arrive(roamer, first);
      } catch (error) {
        for (const { waiter } of waiting.splice(0)) waiter.reject(error as Error);
        return;
      }
      while (waiting[0]?.to === roamer.at) this.#pass(roamer, waiting.shift()!);
    }
  }

  /** Asks all other shards; rejects with `Unavailable` if one cannot answer. */
  async #arrive(roamer: Roamer, { counting: { keyId }, home, to }: Passage): Promise<void> {
    roamer.shards.add(to);
    const others = this.#others();
    if (others !== null && !roamer.isAlone) {
      await others.roams(keyId);
      roamer.isAlone = true;
    }
    let known = 0;
    // A shard that restarts meanwhile may have counted the key, too.
    while (known < roamer.shards.size) {
      known = roamer.shards.size;
      const others = [...roamer.shards].filter((shard) => shard !== to);
      roamer.elsewhere = await this.#usesIn(others, home, keyId);
    }
    roamer.at = to;
  }

  #pass(roamer: Roamer, { command, counting, home, to, waiter }: Passage): undefined {
    // At the present time, not the time when it began to wait: the key may have counted elsewhere
    // since.
    const atMs = Math.max(command.atMs, this.#nowMs());
    roamer.day = utcDayOf(atMs);
    const keyId = to === home ? counting.keyId : awayIdOf(counting.keyId);
    const { elsewhere } = roamer;
    invariant(roamer.at === to, 'an order is sent to a shard where its key is not');
    invariant(elsewhere !== null, 'a key trades before its counts elsewhere are known');
    return to.ask({ ...command, atMs, counting: { ...counting, keyId, elsewhere } }, waiter);
  }

  /** Counts of another day no longer matter. */
  #forgetDaysBefore(day: number): void {
    if (day === this.#day) return;
    this.#day = day;
    for (const [keyId, roamer] of this.#roamers) {
      if (roamer.day >= day || roamer.waiting.length > 0) continue;
      this.#roamers.delete(keyId);
      this.#others()?.isHome(keyId);
    }
  }
}

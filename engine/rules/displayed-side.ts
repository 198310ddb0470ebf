/**
 * The displayed asks of one side of a market, and the part of each that accounts (by row) have
 * consumed. Most quotes change one size, so sizes lie by their price. Rules T62, T65
 * (engine/RULES.md).
 */
import { invariant } from '../base/invariant.ts';
import { type Contracts, type EpochMs, PAYOUT_CENTS, type PriceCents } from '../base/units.ts';
import type { LevelView } from '../memory/market-liquidity.ts';
import type { Taker } from './fill-model.ts';
import type { DepthLevel } from './messages.ts';

const shownAnew = new Float64Array(PAYOUT_CENTS);

/** When a quote changed something: at one of these times, or between them. */
export type ChangedAt = { lowMs: EpochMs; highMs: EpochMs };

/** By cents, when each level got its size, and the number of that change in this shard. */
type Changes = { lowMs: Float64Array; highMs: Float64Array; version: Float64Array };
/** Of all sides, so that no two changes of a level have one number. */
let lastVersion = 0;

export class DisplayedSide {
  /** By cents of the ask; 0: none is displayed. */
  readonly #contracts = new Float64Array(PAYOUT_CENTS);
  /** By cents of the ask; null: no account has consumed any. */
  #consumed: Map<PriceCents, Map<Taker, Contracts>> | null = null;
  /** Null: nothing of it was ever taken by orders that share sizes. */
  #changes: Changes | null = null;

  /** Displays an ask with so many contracts; 0 removes it. An equal size keeps its consumption. */
  set(askCents: PriceCents, contracts: Contracts, at: ChangedAt): void {
    if (this.#contracts[askCents] === contracts) return;
    this.#contracts[askCents] = contracts;
    this.#consumed?.delete(askCents);
    if (this.#changes !== null) this.#note(this.#changes, askCents, at);
  }

  #note({ lowMs, highMs, version }: Changes, askCents: PriceCents, at: ChangedAt): void {
    lowMs[askCents] = at.lowMs;
    highMs[askCents] = at.highMs;
    version[askCents] = ++lastVersion;
  }

  /** Displays these asks and no others. */
  setAll(asks: readonly DepthLevel[], at: ChangedAt): void {
    shownAnew.fill(0);
    for (const [askCents, contracts] of asks) shownAnew[askCents] = contracts;
    for (let cents = 1; cents < PAYOUT_CENTS; cents++) this.set(cents, shownAnew[cents]!, at);
  }

  /**
   * Notes from now on when levels change. Before, nobody did, so each changed at the last quote or
   * before.
   */
  noteChanges({ highMs }: ChangedAt): Changes {
    this.#changes ??= this.#unknownUntil(highMs);
    return this.#changes;
  }

  /** A level for orders that share sizes. Rule T232 (engine/RULES.md). */
  view(askCents: PriceCents, lastQuote: ChangedAt): LevelView {
    const { lowMs, highMs, version } = this.noteChanges(lastQuote);
    return {
      ...{ askCents, size: this.#contracts[askCents]!, version: version[askCents]! },
      ...{ lowMs: lowMs[askCents]!, highMs: highMs[askCents]! },
    };
  }

  /** An operator has set the clock back: no time from before says anything. */
  timeWasSet(): void {
    this.#changes?.lowMs.fill(0);
    this.#changes?.highMs.fill(0);
  }

  #unknownUntil(lastMs: EpochMs): Changes {
    return {
      lowMs: new Float64Array(PAYOUT_CENTS),
      highMs: new Float64Array(PAYOUT_CENTS).fill(lastMs),
      version: new Float64Array(PAYOUT_CENTS).fill(++lastVersion),
    };
  }

  get isEmpty(): boolean {
    return this.nextAfter(0) === PAYOUT_CENTS;
  }

  /** The next displayed ask above `cents`; 100: none. From 0: the best. */
  nextAfter(cents: PriceCents): PriceCents {
    let next = cents + 1;
    while (next < PAYOUT_CENTS && this.#contracts[next] === 0) next++;
    return next;
  }

  /** The part of an ask that the account has not consumed. */
  freeFor(taker: Taker, askCents: PriceCents): Contracts {
    const consumed = this.#consumed?.get(askCents)?.get(taker) ?? 0;
    return this.#contracts[askCents]! - consumed;
  }

  consume(taker: Taker, askCents: PriceCents, contracts: Contracts): void {
    const isThere = contracts <= this.freeFor(taker, askCents);
    invariant(isThere, 'an account consumes more of a level than it displays');
    this.#consumed ??= new Map();
    const level = this.#consumed.get(askCents) ?? new Map<Taker, Contracts>();
    this.#consumed.set(askCents, level);
    level.set(taker, (level.get(taker) ?? 0) + contracts);
  }

  /** Best first. */
  levels(): DepthLevel[] {
    const levels: DepthLevel[] = [];
    for (let cents = this.nextAfter(0); cents < PAYOUT_CENTS; cents = this.nextAfter(cents)) {
      levels.push([cents, this.#contracts[cents]!]);
    }
    return levels;
  }
}

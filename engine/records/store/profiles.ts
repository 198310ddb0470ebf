/**
 * Which traders may be on a board. The control store owns this and sends it at each start and each
 * change; none of it is on disk here. Rule Y23 (engine/RULES.md).
 */
import { invariant } from '../../base/invariant.ts';
import type { Uuid } from '../../base/units.ts';
import type { TraderNumber } from './trader-ids.ts';
import type { Traders } from './traders.ts';

export type Profile = { id: Uuid; isPublic: boolean; showsEarlier: boolean };

const IS_PUBLIC = 1;
const SHOWS_EARLIER = 2;

export class Profiles {
  readonly #traders: Traders;
  #flags = new Uint8Array(0);
  /** People who have no account yet. */
  readonly #waiting = new Map<Uuid, number>();
  /** Whether everyone was named. */
  areKnown = false;
  /** Is called with each account whose profile is set. */
  onChanged: (trader: TraderNumber) => void = () => {};

  constructor(traders: Traders) {
    this.#traders = traders;
  }

  set({ id, isPublic, showsEarlier }: Profile): void {
    const flags = (isPublic ? IS_PUBLIC : 0) | (showsEarlier ? SHOWS_EARLIER : 0);
    const trader = this.#traders.find(id);
    if (trader !== undefined) this.#put(trader, flags);
    else if (isPublic) this.#waiting.set(id, flags);
    else this.#waiting.delete(id);
  }

  /** An account was opened. */
  opened(trader: TraderNumber, id: Uuid): void {
    const flags = this.#waiting.get(id);
    if (flags === undefined) return;
    this.#waiting.delete(id);
    this.#put(trader, flags);
  }

  /** Public, and the numbers contain nothing hidden. */
  isListed(trader: TraderNumber): boolean {
    const flags = this.#flags[trader] ?? 0;
    if ((flags & IS_PUBLIC) === 0) return false;
    return (flags & SHOWS_EARLIER) !== 0 || this.#traders.col.private_trades[trader] === 0;
  }

  #put(trader: TraderNumber, flags: number): void {
    invariant(this.#traders.ids.has(trader), 'a profile is of no account');
    if (trader >= this.#flags.length) {
      const grown = new Uint8Array(Math.max(1024, 2 * this.#flags.length, trader + 1));
      grown.set(this.#flags);
      this.#flags = grown;
    }
    this.#flags[trader] = flags;
    this.onChanged(trader);
  }
}

/**
 * The request counts of a further listener: they are where the main thread has put them. The main
 * thread writes them. Rule Q28 (api/RULES.md).
 */
import { invariant } from '../../engine/base/invariant.ts';
import type { Uuid } from '../../engine/base/units.ts';
import type { Count } from '../limits/count.ts';
import type { Counts } from '../limits/request-counts.ts';
import { SharedCount, type Slot } from '../limits/shared-counts.ts';
import { Windows } from '../limits/windows.ts';
import type { Grant } from './messages.ts';

export class GrantedCounts implements Counts {
  readonly windows = new Windows(Date.now);
  readonly #words: BigInt64Array;
  readonly #slots = new Map<Uuid, Slot>();
  readonly #counts = new Map<Uuid, SharedCount>();
  #changed: Count[] = [];
  #month = this.windows.month;

  constructor(memory: SharedArrayBuffer) {
    this.#words = new BigInt64Array(memory);
  }

  /** Where the requests of a user and a key are counted, from now on. */
  granted({ caller, slots }: Grant): void {
    this.#slots.set(caller.user.id, slots.user);
    this.#slots.set(caller.key.id, slots.key);
  }

  advance(): boolean {
    if (!this.windows.advance()) return false;
    if (this.windows.month !== this.#month) this.#counts.clear();
    this.#month = this.windows.month;
    return true;
  }

  of(id: Uuid): Count {
    let count = this.#counts.get(id);
    if (count === undefined) {
      const slot = this.#slots.get(id);
      invariant(slot !== undefined, 'a request of nobody is counted');
      count = new SharedCount(id, this.#month, this.#words, slot);
      this.#counts.set(id, count);
    }
    return count;
  }

  inMonth(id: Uuid): number {
    return this.of(id).inMonth;
  }

  changed(count: Count): void {
    if (count.isChanged) return;
    count.isChanged = true;
    this.#changed.push(count);
  }

  /** Whose counts have changed since the last call. */
  takeChanged(): Uuid[] {
    const changed = this.#changed;
    this.#changed = [];
    return changed.map((count) => {
      count.isChanged = false;
      return count.id;
    });
  }

  async close(): Promise<void> {}
}

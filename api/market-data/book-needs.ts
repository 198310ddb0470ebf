/**
 * What the feeds must tell of books. Most servers need their tops alone. From the first account on
 * that chooses another fill model than the server's, sizes and levels are told too. Rules T158
 * (engine/RULES.md), W95 (feeds/FORMATS.md).
 */
import type { FillModelName } from '../../engine/base/units.ts';
import { bookNeedsOf } from '../../feeds/reading/venue.ts';

export class BookNeeds {
  depth: boolean;
  levels: boolean;
  readonly #onRaised: (() => void)[] = [];

  /** `followsBooks`: an account has chosen another model before. */
  constructor(fillModel: FillModelName, followsBooks: boolean) {
    const { depth, levels } = bookNeedsOf(followsBooks ? 'queue' : fillModel);
    this.depth = depth;
    this.levels = levels;
  }

  /** Calls `run` when more is needed than until then. */
  onRaised(run: () => void): void {
    this.#onRaised.push(run);
  }

  /** All is needed from now on. Connections that are open do not tell it: they open again. */
  raise(): void {
    if (this.depth && this.levels) return;
    this.depth = true;
    this.levels = true;
    for (const run of this.#onRaised) run();
  }
}

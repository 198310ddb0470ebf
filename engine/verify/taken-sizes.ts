/**
 * What the facts of a log have taken of each display of a level that accounts share, so that the
 * sums of all shards can be compared with what it showed. Rule T237 (engine/RULES.md).
 */
import { grown } from '../base/typed-arrays.ts';
import type { LevelTaken } from '../memory/market-liquidity.ts';
import { IdValues } from './audited-ids.ts';

/** Market, ask (of the side no 100 more), display, what it shows, and what was taken. */
const FIELDS = 5;
const [SHOWN, TAKEN] = [3, 4];
const NO_SIDE = 100;
const FIRST_ROWS = 16;

export class TakenSizes {
  /** By market, ask and display: one more than the row. */
  readonly #ids = new IdValues();
  #rows = new Float64Array(0);
  #count = 0;

  /** @returns whether the display shows what it showed in earlier facts */
  add({ market, side, askCents, contracts, shown, display }: Omit<LevelTaken, 'atMs'>): boolean {
    return this.#add(market, askCents + (side === 'no' ? NO_SIDE : 0), display, shown, contracts);
  }

  /** Adds the rows of another shard. */
  addAll(rows: Float64Array): void {
    for (let at = 0; at < rows.length; at += FIELDS) {
      const [market, ask, display, shown, taken] = rows.subarray(at, at + FIELDS);
      this.#add(market!, ask!, display!, shown!, taken!);
    }
  }

  /** What was taken of a display. */
  takenOf({ market, side, askCents, display }: Omit<LevelTaken, 'contracts' | 'shown'>): number {
    const ask = askCents + (side === 'no' ? NO_SIDE : 0);
    const row = this.#ids.get(this.#idAt(market, ask, display)) - 1;
    return row < 0 ? 0 : this.#rows[row * FIELDS + TAKEN]!;
  }

  rows(): Float64Array {
    return this.#rows.slice(0, this.#count * FIELDS);
  }

  /** Of each display of which more was taken than it showed. */
  *problems(): Generator<{ market: number; rule: string }> {
    for (let at = 0; at < this.#count * FIELDS; at += FIELDS) {
      const [market, ask, display, shown, taken] = this.#rows.subarray(at, at + FIELDS);
      if (taken! <= shown!) continue;
      const name = `ask of ${ask! < NO_SIDE ? 'yes' : 'no'} at ${ask! % NO_SIDE}`;
      const rule = `${taken} contracts were taken of ${shown} that display ${display} showed`;
      yield { market: market!, rule: `${name}: ${rule}` };
    }
  }

  #idAt(market: number, ask: number, display: number): number {
    return this.#ids.place(market, ask, Math.floor(display / 2 ** 32), display >>> 0);
  }

  #add(market: number, ask: number, display: number, shown: number, taken: number): boolean {
    const id = this.#idAt(market, ask, display);
    const known = this.#ids.get(id) - 1;
    if (known >= 0) {
      this.#rows[known * FIELDS + TAKEN]! += taken;
      return this.#rows[known * FIELDS + SHOWN] === shown;
    }
    const at = this.#count * FIELDS;
    if (at === this.#rows.length) {
      const length = Math.max(FIRST_ROWS * FIELDS, 2 * at);
      this.#rows = grown(this.#rows, new Float64Array(length));
    }
    this.#rows.set([market, ask, display, shown, taken], at);
    this.#ids.set(id, ++this.#count);
    return true;
  }
}

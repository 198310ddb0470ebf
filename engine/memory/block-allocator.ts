/**
 * Lists of small integers in one array: each lies in a block of a power of two places, and moves to
 * one of twice as many when it is full. The block that it left goes to the next list of that size.
 */
import { invariant } from '../rules/invariant.ts';
import { NO_ROW } from '../rules/units.ts';
import { grown } from './table.ts';

const FIRST_PLACES = 1024;

export class BlockAllocator {
  /** By place. A free block begins with the place of the next free one of its size. */
  places = new Int32Array(FIRST_PLACES);
  #end = 0;
  /** The first free block of 2 ** n places, by n. */
  readonly #free = new Int32Array(32).fill(NO_ROW);

  /** Where a block of so many places begins, a power of two. */
  take(size: number): number {
    const power = powerOf(size);
    const at = this.#free[power]!;
    invariant(1 << power === size, 'a block is of no power of two places');
    invariant(at < this.#end, 'a free block lies beyond all blocks');
    if (at === NO_ROW) return this.#append(size);
    this.#free[power] = this.places[at]!;
    return at;
  }

  give(at: number, size: number): void {
    const power = powerOf(size);
    invariant(1 << power === size, 'a block of no power of two places was given back');
    invariant(at >= 0 && at + size <= this.#end, 'a block was given back that was never taken');
    this.places[at] = this.#free[power]!;
    this.#free[power] = at;
  }

  /** Where a list goes on whose block is full: twice as many places, the same content. */
  doubled(at: number, size: number): number {
    const to = this.take(size * 2);
    this.places.copyWithin(to, at, at + size);
    this.give(at, size);
    return to;
  }

  #append(size: number): number {
    const at = this.#end;
    this.#end += size;
    if (this.#end > this.places.length) {
      const length = Math.max(this.#end, this.places.length * 2);
      this.places = grown(this.places, new Int32Array(length));
    }
    return at;
  }
}

function powerOf(size: number): number {
  return 31 - Math.clz32(size);
}

/**
 * Lists of small integers in one array. Each list has a block whose size is a power of two. When it
 * is full, it moves to a block of twice the size. The next list of that size reuses the old block.
 */
import { invariant } from '../base/invariant.ts';
import { grown } from '../base/typed-arrays.ts';
import { NO_ROW } from '../base/units.ts';

const FIRST_PLACES = 1024;

export class BlockAllocator {
  /**
   * The array of all blocks. A free block begins with the index of the next free block of its size.
   */
  places = new Int32Array(FIRST_PLACES);
  #end = 0;
  /** The first free block of size 2 ** n, by n. */
  readonly #free = new Int32Array(32).fill(NO_ROW);

  /** Allocates a block; `size` is a power of two. @returns the index at which it begins. */
  take(size: number): number {
    const power = powerOf(size);
    const at = this.#free[power]!;
    invariant(1 << power === size, 'the size of a block is no power of two');
    invariant(at < this.#end, 'a free block lies beyond all blocks');
    if (at === NO_ROW) return this.#append(size);
    this.#free[power] = this.places[at]!;
    return at;
  }

  give(at: number, size: number): void {
    const power = powerOf(size);
    invariant(1 << power === size, 'the size of a released block is no power of two');
    invariant(at >= 0 && at + size <= this.#end, 'a block was released that was never allocated');
    this.places[at] = this.#free[power]!;
    this.#free[power] = at;
  }

  /**
   * Moves a list whose block is full to a block of twice the size. @returns the index at which it
   * begins.
   */
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

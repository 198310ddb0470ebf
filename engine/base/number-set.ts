/** A set of whole numbers from 0, a bit each. It is made for numbers that are given one after the other. */
import { invariant } from './invariant.ts';

export class NumberSet {
  #bits = new Uint8Array(16);

  constructor(numbers: Iterable<number> = []) {
    for (const number of numbers) this.add(number);
  }

  add(number: number): void {
    invariant(Number.isSafeInteger(number) && number >= 0, 'a set has whole numbers from 0 alone');
    const at = number >>> 3;
    if (at >= this.#bits.length) {
      const bits = new Uint8Array(Math.max(at + 1, this.#bits.length * 2));
      bits.set(this.#bits);
      this.#bits = bits;
    }
    this.#bits[at]! |= 1 << (number & 7);
  }

  has(number: number): boolean {
    return ((this.#bits[number >>> 3] ?? 0) & (1 << (number & 7))) !== 0;
  }

  /** In rising order. */
  *[Symbol.iterator](): Generator<number> {
    for (let number = 0; number < this.#bits.length * 8; number++) {
      if (this.has(number)) yield number;
    }
  }
}

/**
 * Numbers by text, in two typed arrays: about thirty bytes a text, whatever its length. The texts
 * are elsewhere. An entry has a hash of its text, so the caller says which number is of the text.
 */
import { invariant } from './invariant.ts';

/** At most three of four places are in use, so that a search ends soon. */
const [USED_MAX, OF] = [3, 4];
const CAPACITY_MIN = 16;
/** No number: the place is free. */
const FREE = -1;

export class TextNumbers {
  #hashes = new Uint32Array(CAPACITY_MIN);
  #numbers = new Float64Array(CAPACITY_MIN).fill(FREE);
  #count = 0;

  /** Entries so far. */
  get count(): number {
    return this.#count;
  }

  /** A whole number from 0 for a text. An earlier number of the same text stays, and is found first. */
  add(text: string, number: number): void {
    invariant(Number.isSafeInteger(number) && number >= 0, 'a text has no whole number');
    if ((this.#count + 1) * OF > this.#hashes.length * USED_MAX) this.#grow();
    this.#put(hashOf(text), number);
    this.#count++;
  }

  /** The first number added with this hash that `isIt` accepts. */
  find(text: string, isIt: (number: number) => boolean): number | undefined {
    const hash = hashOf(text);
    const mask = this.#hashes.length - 1;
    for (let at = hash & mask; this.#numbers[at] !== FREE; at = (at + 1) & mask) {
      if (this.#hashes[at] === hash && isIt(this.#numbers[at]!)) return this.#numbers[at];
    }
    return undefined;
  }

  #put(hash: number, number: number): void {
    const mask = this.#hashes.length - 1;
    let at = hash & mask;
    while (this.#numbers[at] !== FREE) at = (at + 1) & mask;
    this.#hashes[at] = hash;
    this.#numbers[at] = number;
  }

  #grow(): void {
    const [hashes, numbers] = [this.#hashes, this.#numbers];
    this.#hashes = new Uint32Array(hashes.length * 2);
    this.#numbers = new Float64Array(numbers.length * 2).fill(FREE);
    // From a free place on, so that entries of one hash keep their order over the end of the array.
    const free = numbers.indexOf(FREE);
    for (let step = 1; step < numbers.length; step++) {
      const at = (free + step) % numbers.length;
      if (numbers[at] !== FREE) this.#put(hashes[at]!, numbers[at]!);
    }
  }
}

/** Names by number, only ever appended to, and their numbers by name. */
export class NumberedNames {
  #names: readonly string[] = [];
  readonly #numbers = new TextNumbers();

  /** Appends what a list has more. The names so far are its first. */
  extend(names: readonly string[]): void {
    const { length } = this.#names;
    invariant(names.length >= length, 'a list of names became shorter');
    invariant(length === 0 || names[length - 1] === this.#names[length - 1], 'a name has changed');
    for (let number = length; number < names.length; number++) {
      this.#numbers.add(names[number]!, number);
    }
    this.#names = names;
  }

  get names(): readonly string[] {
    return this.#names;
  }

  numberOf(name: string): number | undefined {
    return this.#numbers.find(name, (number) => this.#names[number] === name);
  }
}

/** FNV-1a, and a last mix, because the places are the lowest bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}

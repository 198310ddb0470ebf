/** A queue whose first leaves first, at the same cost however long it is. */
import { invariant } from '../rules/invariant.ts';

/** An array of so many places that are free is cut. */
const FREE_MAX = 1024;

export class Fifo<T> {
  #items: (T | undefined)[] = [];
  #first = 0;

  get length(): number {
    return this.#items.length - this.#first;
  }

  /** What leaves next; undefined: it is empty. */
  get first(): T | undefined {
    return this.#items[this.#first];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** Puts another item in place of the one that is `at` behind the first, and returns that. */
  replace(at: number, item: T): T {
    invariant(at >= 0 && at < this.length, 'an item is replaced that is not in its queue');
    const replaced = this.#items[this.#first + at] as T;
    this.#items[this.#first + at] = item;
    return replaced;
  }

  /** Undefined: it is empty. */
  shift(): T | undefined {
    if (this.#first === this.#items.length) return undefined;
    const item = this.#items[this.#first];
    this.#items[this.#first++] = undefined;
    if (this.#first === this.#items.length) {
      this.#items.length = 0;
      this.#first = 0;
    } else if (this.#first >= FREE_MAX && this.#first * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return item;
  }

  /** Empties it. @returns what was in it, in order. */
  clear(): T[] {
    const left = this.#items.slice(this.#first) as T[];
    this.#items = [];
    this.#first = 0;
    return left;
  }
}

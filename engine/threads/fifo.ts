/** A first-in, first-out queue whose cost does not depend on its length. */
import { invariant } from '../base/invariant.ts';

/** An array with this many free places at its front is cut. */
const FREE_MAX = 1024;

export class Fifo<T> {
  #items: (T | undefined)[] = [];
  #first = 0;

  get length(): number {
    return this.#items.length - this.#first;
  }

  /** The first item; undefined: the queue is empty. */
  get first(): T | undefined {
    return this.#items[this.#first];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** The item that is `at` after the first. */
  at(at: number): T {
    invariant(at >= 0 && at < this.length, 'an item is read that is not in its queue');
    return this.#items[this.#first + at] as T;
  }

  /** Replaces the item that is `at` after the first. */
  replace(at: number, item: T): void {
    invariant(at >= 0 && at < this.length, 'an item is replaced that is not in its queue');
    this.#items[this.#first + at] = item;
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

  /** Empties it. @returns its items, in order. */
  clear(): T[] {
    const left = this.#items.slice(this.#first) as T[];
    this.#items = [];
    this.#first = 0;
    return left;
  }
}

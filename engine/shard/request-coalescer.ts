/** What is asked alike in one turn of the event loop, and so is found once. */
import type { Waiter } from './outbox.ts';

export class RequestCoalescer {
  /** By question: who waits for its answer. */
  #asked = new Map<string, Waiter<never>[]>();

  /**
   * Tells the waiter what `find` finds, as it does all who ask the same until the answer is there
   * or the turn ends. Equal questions have equal answers, whoever asks.
   */
  ask<T>(question: string, find: () => Promise<T>, waiter: Waiter<T>): undefined {
    const asked = this.#asked;
    const asking = asked.get(question);
    if (asking !== undefined) {
      asking.push(waiter);
      return;
    }
    if (asked.size === 0) setImmediate(() => this.end());
    const waiters = [waiter];
    asked.set(question, waiters);
    // An answer can come within the turn, and whoever asks then would join those who were told.
    const close = () => asked.delete(question);
    find().then(
      (found) => {
        close();
        for (const each of waiters) each.resolve(found);
      },
      (error: Error) => {
        close();
        for (const each of waiters) each.reject(error);
      },
    );
  }

  /**
   * What is asked from here on may have another answer. A new map, as one that is cleared leads from
   * its old entries to its new ones, and what of them grew old in memory keeps all later ones there.
   */
  end(): void {
    this.#asked = new Map();
  }
}

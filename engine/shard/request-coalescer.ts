/** Answers equal questions of one turn of the event loop together. */
import type { Waiter } from './outbox.ts';

export class RequestCoalescer {
  /** By question: who waits for its answer. */
  #asked = new Map<string, Waiter<never>[]>();

  /**
   * Gives the waiter what `find` finds. All who ask the same until the answer is there, or until
   * the turn ends, get that answer too. Equal questions have equal answers, whoever asks.
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
    // An answer can come within the turn. Whoever asks after that must not join the waiters who
    // have it.
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
   * A question from here on may have another answer. This takes a new map: in V8 a cleared map
   * links its old entries to the new ones, and an old entry that reached the old generation would
   * keep all later ones alive.
   */
  end(): void {
    this.#asked = new Map();
  }
}

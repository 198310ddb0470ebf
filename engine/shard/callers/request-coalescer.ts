/** Shares one answer between equal questions of one turn of the event loop. */
import type { ReplyHandler } from './send-queue.ts';

export class RequestCoalescer {
  /** By question: the waiters for its answer. */
  #asked = new Map<string, ReplyHandler<never>[]>();

  /**
   * Gives the waiter the answer of `find`. Waiters with the same question get that answer too,
   * until it has arrived or the turn ends. Equal questions have equal answers for every caller.
   */
  ask<T>(question: string, find: () => Promise<T>, waiter: ReplyHandler<T>): undefined {
    const asked = this.#asked;
    const asking = asked.get(question);
    if (asking !== undefined) {
      asking.push(waiter);
      return;
    }
    if (asked.size === 0) setImmediate(() => this.end());
    const waiters = [waiter];
    asked.set(question, waiters);
    // An answer can arrive within the turn. Later callers must not join waiters that already have
    // it.
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
   * A question from here on may have another answer. This takes a new map. In V8 a cleared map
   * links its old entries to the new ones. An old entry that reached the old generation would keep
   * all later ones alive.
   */
  end(): void {
    this.#asked = new Map();
  }
}

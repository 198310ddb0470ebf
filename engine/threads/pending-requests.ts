/** Questions to a thread that have no answer yet. Each has a number, which its answer repeats. */
import { invariant } from '../base/invariant.ts';

type Waiting = { resolve(answer: unknown): void; reject(error: Error): void };

export class PendingRequests {
  readonly #waiting = new Map<number, Waiting>();
  #questions = 0;

  get size(): number {
    return this.#waiting.size;
  }

  /** `send` sends the question with its number; resolves and rejects as its answer does. */
  ask<A>(send: (id: number) => void): Promise<A> {
    const id = this.#questions++;
    return new Promise<unknown>((resolve, reject) => {
      // A question that could not be sent gets no answer.
      send(id);
      this.#waiting.set(id, { resolve, reject });
    }) as Promise<A>;
  }

  resolve(id: number, answer: unknown): void {
    this.#take(id).resolve(answer);
  }

  reject(id: number, error: Error): void {
    this.#take(id).reject(error);
  }

  /** The thread has ended: nothing more is answered. */
  rejectAll(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  #take(id: number): Waiting {
    const waiting = this.#waiting.get(id);
    invariant(waiting !== undefined, 'a thread answers a question that was never asked');
    this.#waiting.delete(id);
    return waiting;
  }
}

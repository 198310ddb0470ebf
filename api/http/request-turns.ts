/**
 * How much of a turn of the event loop requests may take. All requests that can be read at a moment
 * arrive in one turn, perhaps thousands of one connection. Requests above the bound wait for the
 * next turns, in which callers take turns. Rule Q21 (api/RULES.md).
 */
import { invariant } from '../../engine/base/invariant.ts';
import { Fifo } from '../../engine/threads/fifo.ts';

/**
 * The time of a turn before new requests wait, and the time at the turn's end for waiting requests.
 */
const BUDGET_MS = 2;
/** So many are served at once in any case, so that a few pipelined requests are answered. */
const ALWAYS = 8;

export type RequestTurnsOptions = {
  budgetMs?: number;
  /** A clock that nobody sets; `performance.now` when left out. */
  now?(): number;
  /** Calls it after all that this turn of the event loop has read. */
  later?(run: () => void): void;
};

/** The waiting requests of one caller. */
type Line = { by: string; waiting: Fifo<() => void> };

export class RequestTurns {
  readonly #budgetMs: number;
  readonly #now: () => number;
  readonly #later: (run: () => void) => void;
  readonly #lines = new Map<string, Line>();
  readonly #next = new Fifo<Line>();
  /** When the first request of this turn began; null: there was none. */
  #beganMs: number | null = null;
  #served = 0;

  constructor({ budgetMs = BUDGET_MS, now, later }: RequestTurnsOptions = {}) {
    this.#budgetMs = budgetMs;
    this.#now = now ?? (() => performance.now());
    this.#later = later ?? ((run) => void setImmediate(run));
  }

  /**
   * Whether a request that arrives now is served at once: nobody waits, and the turn has time left.
   */
  hasTime(): boolean {
    this.#begin();
    if (this.#next.length > 0) return false;
    return this.#served++ < ALWAYS || this.#isInTime();
  }

  /** The same for a body that is now whole, and whose work may take long. */
  hasTimeForBody(): boolean {
    this.#begin();
    return this.#next.length === 0 && this.#isInTime();
  }

  #begin(): void {
    if (this.#beganMs !== null) return;
    this.#beganMs = this.#now();
    this.#served = 0;
    this.#later(this.#end);
  }

  #isInTime(): boolean {
    return this.#now() - this.#beganMs! < this.#budgetMs;
  }

  /** @param by the caller, by credential or address */
  wait(by: string, run: () => void): void {
    const line = this.#lines.get(by) ?? { by, waiting: new Fifo() };
    line.waiting.push(run);
    if (line.waiting.length > 1) return;
    this.#lines.set(by, line);
    this.#next.push(line);
  }

  /** The turn has read all its requests. */
  readonly #end = (): void => {
    this.#beganMs = null;
    const beganMs = this.#now();
    for (let line = this.#next.shift(); line !== undefined; line = this.#next.shift()) {
      const run = line.waiting.shift();
      invariant(run !== undefined, 'it is the turn of a caller who does not wait');
      if (line.waiting.length > 0) this.#next.push(line);
      else this.#lines.delete(line.by);
      run();
      if (this.#now() - beganMs >= this.#budgetMs) break;
    }
    if (this.#next.length === 0) return;
    // Requests that are read meanwhile take their places among them.
    this.#begin();
  };
}

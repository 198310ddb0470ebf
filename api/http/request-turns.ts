/**
 * How much of a turn of the event loop requests may take: all that can be read at a moment comes in
 * one turn, thousands of requests of one connection among it. What is beyond waits for the next
 * turns, in which callers take turns. Rule Q21 (api/RULES.md).
 */
import { invariant } from '../../engine/base/invariant.ts';
import { Fifo } from '../../engine/threads/fifo.ts';

/** Of a turn, before what was just read waits; and of the turn's end, for what waits. */
const BUDGET_MS = 2;
/** So many are served at once whatever the time, so that a few pipelined requests are answered. */
const ALWAYS = 8;

export type RequestTurnsOptions = {
  budgetMs?: number;
  /** A clock that nobody sets; `performance.now` when left out. */
  now?(): number;
  /** Calls it after all that this turn of the event loop has read. */
  later?(run: () => void): void;
};

/** What waits of one caller. */
type Line = { by: string; waiting: Fifo<() => void> };

export class RequestTurns {
  readonly #budgetMs: number;
  readonly #now: () => number;
  readonly #later: (run: () => void) => void;
  readonly #lines = new Map<string, Line>();
  readonly #next = new Fifo<Line>();
  /** When the first request of this turn began; null: none has come. */
  #beganMs: number | null = null;
  #served = 0;

  constructor({ budgetMs = BUDGET_MS, now, later }: RequestTurnsOptions = {}) {
    this.#budgetMs = budgetMs;
    this.#now = now ?? (() => performance.now());
    this.#later = later ?? ((run) => void setImmediate(run));
  }

  /** Whether a request that comes now is served at once: nobody waits, and the turn has time left. */
  hasTime(): boolean {
    this.#begin();
    if (this.#next.length > 0) return false;
    return this.#served++ < ALWAYS || this.#isInTime();
  }

  /** The same of a body that is whole now, and may take long whatever has come before it. */
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

  /** The turn has read all that it reads. */
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
    // What is read meanwhile takes its place among them.
    this.#begin();
  };
}

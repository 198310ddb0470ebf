/**
 * How much of a turn of the event loop requests may take. All requests that can be read at a moment
 * arrive in one turn, perhaps thousands of one connection. Beyond the bound each caller has one
 * more request in the turn: to keep a request for later costs as much as a tenth of serving it. All
 * others wait for the next turns, in which callers take turns. Rule Q21 (api/RULES.md).
 *
 * The work on bodies begins once the turn has read all its requests. Many in a row cost less than
 * one after each read of a socket.
 */

import { Fifo } from '../../engine/base/fifo.ts';
import { invariant } from '../../engine/base/invariant.ts';

/**
 * The time of a turn before new requests wait, and the time at the turn's end for waiting requests.
 */
const BUDGET_MS = 2;
/** The time of a turn before each caller's one request waits, too. */
const ONE_EACH_MS = 16;
/** So many are served at once in any case, so that a few pipelined requests are answered. */
const ALWAYS = 8;

export type RequestTurnsOptions = {
  budgetMs?: number;
  oneEachMs?: number;
  /** A clock that nobody sets; `performance.now` when left out. */
  now?(): number;
  /** Calls it after all that this turn of the event loop has read. */
  later?(run: () => void): void;
};

/** The waiting requests of one caller. */
type Line = { by: string; waiting: Fifo<() => void> };
/** A body that is whole: its caller, and the work on it. */
type Body = { by: string; run: () => void };

export class RequestTurns {
  readonly #budgetMs: number;
  readonly #oneEachMs: number;
  readonly #now: () => number;
  readonly #later: (run: () => void) => void;
  readonly #lines = new Map<string, Line>();
  readonly #next = new Fifo<Line>();
  /** When the first request of this turn began; null: there was none. */
  #beganMs: number | null = null;
  #served = 0;
  /** Bodies that are whole since the turn began. */
  readonly #whole = new Fifo<Body>();
  /** Callers who had their one request beyond the bound, and their one body. */
  #heads = new Set<string>();
  #bodies = new Set<string>();
  /** It is the turn of a request that has waited. */
  #isTurn = false;

  constructor(options: RequestTurnsOptions = {}) {
    const { budgetMs = BUDGET_MS, oneEachMs = ONE_EACH_MS, now, later } = options;
    this.#budgetMs = budgetMs;
    this.#oneEachMs = oneEachMs;
    this.#now = now ?? (() => performance.now());
    this.#later = later ?? ((run) => void setImmediate(run));
  }

  /**
   * Whether a request that arrives now is served at once.
   *
   * @param from gives the caller, by credential or address
   */
  hasTime(from: { readonly sentBy: string }): boolean {
    const tookMs = this.#sinceBegin();
    if (this.#next.length === 0 && (this.#served++ < ALWAYS || tookMs < this.#budgetMs)) {
      return true;
    }
    return tookMs < this.#oneEachMs && this.#isFirst(this.#heads, from.sentBy);
  }

  /**
   * A body is whole, and the work on it may take long. It runs once the turn has read all, or waits
   * as a request does. If it came while its request waited, it runs now.
   */
  takeBody(by: string, run: () => void): void {
    if (this.#isTurn) return run();
    this.#sinceBegin();
    this.#whole.push({ by, run });
  }

  /** Whether a caller has had none of its kind beyond the bound, and waits for none. */
  #isFirst(had: Set<string>, by: string): boolean {
    if (had.has(by) || this.#lines.has(by)) return false;
    had.add(by);
    return true;
  }

  /** How long this turn has taken; begins it if there was no request. */
  #sinceBegin(): number {
    const nowMs = this.#now();
    if (this.#beganMs === null) this.#begin(nowMs);
    return nowMs - this.#beganMs!;
  }

  #begin(nowMs: number): void {
    this.#beganMs = nowMs;
    this.#served = 0;
    if (this.#heads.size > 0) this.#heads = new Set();
    if (this.#bodies.size > 0) this.#bodies = new Set();
    this.#later(this.#end);
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
    this.#runBodies();
    const beganMs = this.#now();
    for (let line = this.#next.shift(); line !== undefined; line = this.#next.shift()) {
      const run = line.waiting.shift();
      invariant(run !== undefined, 'it is the turn of a caller who does not wait');
      if (line.waiting.length > 0) this.#next.push(line);
      else this.#lines.delete(line.by);
      this.#isTurn = true;
      run();
      this.#isTurn = false;
      if (this.#now() - beganMs >= this.#budgetMs) break;
    }
    if (this.#next.length === 0) return;
    // Requests that are read meanwhile take their places among them.
    this.#begin(this.#now());
  };

  #runBodies(): void {
    const beganMs = this.#now();
    for (let body = this.#whole.shift(); body !== undefined; body = this.#whole.shift()) {
      const tookMs = this.#now() - beganMs;
      const isFree = this.#next.length === 0 && tookMs < this.#budgetMs;
      const mayRun = isFree || (tookMs < this.#oneEachMs && this.#isFirst(this.#bodies, body.by));
      if (mayRun) body.run();
      else this.wait(body.by, body.run);
    }
  }
}

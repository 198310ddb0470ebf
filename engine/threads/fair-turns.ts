/**
 * Whose question a thread is asked next, if it answers many accounts. They take turns, so that a
 * caller with many questions waits only for itself. Rules Q18, Q19 (api/RULES.md).
 */
import { invariant } from '../base/invariant.ts';
import type { Uuid } from '../base/units.ts';
import { Fifo } from './fifo.ts';
import { Unavailable } from './unavailable.ts';

/** The account of a caller, or this server for itself. */
export type Asker = Uuid | 'server';

export type FairTurnsOptions = {
  /** The subject of the questions, as a refusal names it: `history`. */
  of: string;
  /** Questions under way, over all askers. */
  atOnce: number;
  /** Questions of one asker that are under way; one, if left out. */
  eachAtOnce?: number;
  /** Questions of one asker, under way and waiting. */
  eachMax?: number;
  retryAfterSeconds?: number;
};

/** More than a page of ours or a well-behaved bot asks at once. */
export const QUESTIONS_OF_ONE_MAX = 32;

/** The questions of one asker. */
class Line {
  readonly asker: Asker;
  readonly waiting = new Fifo<() => Promise<void>>();
  running = 0;
  /** Whether it has its place in the order of turns. */
  isNext = false;

  constructor(asker: Asker) {
    this.asker = asker;
  }

  get length(): number {
    return this.waiting.length + this.running;
  }
}

export class FairTurns {
  readonly #atOnce: number;
  readonly #eachAtOnce: number;
  readonly #eachMax: number;
  readonly #full: Unavailable;
  readonly #lines = new Map<Asker, Line>();
  /** The lines with a question that may begin, in the order of their turns. */
  readonly #next = new Fifo<Line>();
  #running = 0;

  constructor(options: FairTurnsOptions) {
    const {
      of,
      atOnce,
      eachAtOnce = 1,
      eachMax = QUESTIONS_OF_ONE_MAX,
      retryAfterSeconds,
    } = options;
    this.#atOnce = atOnce;
    this.#eachAtOnce = eachAtOnce;
    this.#eachMax = eachMax;
    const most = `${eachMax} questions to the ${of} at once`;
    this.#full = new Unavailable(`an account may have ${most}`, retryAfterSeconds);
  }

  /**
   * Asks once it is the asker's turn. Rejects with `Unavailable` if too many of its questions have
   * no answer yet, and as `ask` does.
   */
  take<A>(asker: Asker, ask: () => Promise<A>): Promise<A> {
    const line = this.#lines.get(asker) ?? new Line(asker);
    if (line.length >= this.#eachMax) return Promise.reject(this.#full);
    this.#lines.set(asker, line);
    return new Promise<A>((resolve, reject) => {
      line.waiting.push(() => ask().then(resolve, reject));
      this.#queue(line);
      this.#begin();
    });
  }

  /** Gives a line its place, if one of its questions may begin. */
  #queue(line: Line): void {
    if (line.isNext || line.waiting.length === 0 || line.running === this.#eachAtOnce) return;
    line.isNext = true;
    this.#next.push(line);
  }

  #begin(): void {
    while (this.#running < this.#atOnce) {
      const line = this.#next.shift();
      if (line === undefined) return;
      line.isNext = false;
      const ask = line.waiting.shift();
      invariant(ask !== undefined, 'an asker without a question has a turn');
      invariant(line.running < this.#eachAtOnce, 'one asker has too many questions under way');
      line.running++;
      this.#running++;
      this.#queue(line);
      void ask().then(() => this.#ended(line));
    }
  }

  #ended(line: Line): void {
    line.running--;
    this.#running--;
    this.#queue(line);
    if (line.length === 0) this.#lines.delete(line.asker);
    this.#begin();
  }
}

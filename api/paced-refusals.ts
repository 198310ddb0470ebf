/**
 * Refusals of an engine at its limit, given at a pace. Whoever is refused at once asks again at once,
 * and a refusal costs almost what an answer costs: a flood of them takes the time of what is
 * accepted. So the refusal itself waits, which slows down who asks again. Rule A66 (api/RULES.md).
 */
import { Fifo } from '../engine/shard/fifo.ts';

/** So many answers make room for one refusal: a tenth of the time at most goes into those. */
const ANSWERS_A_REFUSAL = 8;
/** So many are given at once when none was for a while. */
const AT_ONCE_MAX = 64;
/** Less than a stopping server leaves to what is under way. */
const WAIT_MAX_MS = 4000;
/** Callers who leave and come back could hold any number: the next one makes the oldest due. */
const WAITING_MAX = 20_000;
const LOOK_EVERY_MS = 50;

type Refusal = { dueMs: number; give(): void };

export type PacedRefusalsOptions = {
  /** In milliseconds of a clock that never goes back. */
  now(): number;
  later(run: () => void, ms: number): void;
};

const BY_THE_MACHINE: PacedRefusalsOptions = {
  now: () => performance.now(),
  later: (run, ms) => void setTimeout(run, ms).unref(),
};

export class PacedRefusals {
  readonly #options: PacedRefusalsOptions;
  readonly #waiting = new Fifo<Refusal>();
  /** Answers that no refusal was given for. */
  #answers = ANSWERS_A_REFUSAL * AT_ONCE_MAX;
  #isLooking = false;

  constructor(options: PacedRefusalsOptions = BY_THE_MACHINE) {
    this.#options = options;
  }

  /** Calls `give` once: now, or when it is its turn. */
  add(give: () => void): void {
    const { now, later } = this.#options;
    this.#waiting.push({ dueMs: now() + WAIT_MAX_MS, give });
    if (this.#waiting.length > WAITING_MAX) this.#giveFirst();
    else this.#giveWhatIsEarned();
    if (this.#waiting.length === 0 || this.#isLooking) return;
    this.#isLooking = true;
    later(this.#giveOverdue, WAIT_MAX_MS);
  }

  /** To be called behind each answer that is no such refusal. */
  answered(): void {
    if (this.#answers < ANSWERS_A_REFUSAL * AT_ONCE_MAX) this.#answers++;
    this.#giveWhatIsEarned();
  }

  #giveWhatIsEarned(): void {
    while (this.#waiting.length > 0 && this.#answers >= ANSWERS_A_REFUSAL) {
      this.#answers -= ANSWERS_A_REFUSAL;
      this.#giveFirst();
    }
  }

  #giveFirst(): void {
    this.#waiting.shift()?.give();
  }

  readonly #giveOverdue = (): void => {
    const { now, later } = this.#options;
    const nowMs = now();
    while ((this.#waiting.first?.dueMs ?? Number.POSITIVE_INFINITY) <= nowMs) this.#giveFirst();
    this.#isLooking = this.#waiting.length > 0;
    if (this.#isLooking) later(this.#giveOverdue, LOOK_EVERY_MS);
  };
}

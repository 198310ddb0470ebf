/**
 * Paces the refusals of an engine at its limit. A caller who is refused at once asks again at once,
 * and a refusal costs almost as much as an answer. A flood of them takes time from accepted
 * requests. So each refusal is delayed, which slows down retries. Rule A66 (api/RULES.md).
 */
import { Fifo } from '../../engine/threads/fifo.ts';

/** One refusal per so many answers: refusals get at most a tenth of the time. */
const ANSWERS_A_REFUSAL = 8;
/** So many refusals may be sent at once after a pause. */
const AT_ONCE_MAX = 64;
/** Below the time that a stopping server leaves to requests in progress. */
const WAIT_MAX_MS = 4000;
/** Callers who reconnect could queue any number. Above this bound, the oldest is sent at once. */
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
  /** Answers not yet matched by a refusal. */
  #answers = ANSWERS_A_REFUSAL * AT_ONCE_MAX;
  #isLooking = false;

  constructor(options: PacedRefusalsOptions = BY_THE_MACHINE) {
    this.#options = options;
  }

  /** Calls `give` once: now, or when its turn comes. */
  add(give: () => void): void {
    const { now, later } = this.#options;
    this.#waiting.push({ dueMs: now() + WAIT_MAX_MS, give });
    if (this.#waiting.length > WAITING_MAX) this.#giveFirst();
    else this.#giveWhatIsEarned();
    if (this.#waiting.length === 0 || this.#isLooking) return;
    this.#isLooking = true;
    later(this.#giveOverdue, WAIT_MAX_MS);
  }

  /** Call it after each answer that is not such a refusal. */
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

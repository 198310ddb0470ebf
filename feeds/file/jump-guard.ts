/**
 * Lines whose time cannot be right. One line of a wrong year would move the time of all later lines
 * and orders. A recording that was appended to another would be played at one moment. Rules F31,
 * F32, F33 (feeds/FORMATS.md).
 */
import type { EpochMs } from '../../engine/base/units.ts';
import { FeedFileError, type FeedLine } from './feed-line.ts';

const JUMP_MAX_MS = 3_600_000;
/** Connections are recorded by one clock. A smaller difference is the order of their writes. */
const BACK_MAX_MS = 1000;
/** No venue is older. A clock that was never set begins in 1970. */
const OLDEST_MS = Date.UTC(2000, 0, 1);

const TAKES_IT = '(--allow-jumps takes it)';
export const TIME_REASONS = {
  forward: `at jumps forward by more than an hour ${TAKES_IT}`,
  back: `at goes back by more than a second (feed merge puts files in order of time) ${TAKES_IT}`,
  ahead: `at is more than an hour after the lines that follow ${TAKES_IT}`,
  old: `at is before the year 2000 ${TAKES_IT}`,
} as const;

/** The lines that may be taken after a line, and those that may not, in file order. */
export type Judged = (FeedLine | FeedFileError)[];

export class JumpGuard {
  #newestMs: EpochMs | null = null;
  /** The line before, where it jumped or went back. */
  #strayed: FeedLine | null = null;
  /** The first line, until a second one agrees with it. If the second does not, both. */
  #held: FeedLine[] = [];

  /**
   * The first line is held, because the next line decides whether its time is right. @throws
   * FeedFileError if a second line follows the wrong time of the one before. Then it is no single
   * line of a wrong time, and passing over it would pass over the rest of the file.
   */
  take(line: FeedLine): Judged {
    if (line.atMs < OLDEST_MS) return [new FeedFileError(line.line, TIME_REASONS.old)];
    if (this.#newestMs !== null) return [this.#judged(line, this.#newestMs)];
    const [first, second] = this.#held;
    if (first === undefined || (second === undefined && isAhead(first, line))) {
      this.#held.push(line);
      return [];
    }
    if (second === undefined) return [...this.#begin(first), ...this.take(line)];
    return [...this.#settle(first, second, isAhead(first, line)), ...this.take(line)];
  }

  /** The lines that are still held at the end of the file. */
  end(): Judged {
    const [first, second] = this.#held;
    if (first === undefined) return [];
    return second === undefined ? this.#begin(first) : this.#settle(first, second, true);
  }

  #begin(first: FeedLine): Judged {
    this.#held = [];
    this.#newestMs = first.atMs;
    return [first];
  }

  #settle(first: FeedLine, second: FeedLine, isFirstWrong: boolean): Judged {
    if (!isFirstWrong) return [...this.#begin(first), ...this.take(second)];
    this.#begin(second);
    return [new FeedFileError(first.line, TIME_REASONS.ahead), second];
  }

  #judged(line: FeedLine, newestMs: EpochMs): FeedLine | FeedFileError {
    const stepMs = line.atMs - newestMs;
    if (stepMs <= JUMP_MAX_MS && stepMs >= -BACK_MAX_MS) {
      this.#newestMs = Math.max(newestMs, line.atMs);
      this.#strayed = null;
      return line;
    }
    const reason = stepMs > 0 ? TIME_REASONS.forward : TIME_REASONS.back;
    const before = this.#strayed;
    this.#strayed = line;
    if (before !== null && Math.abs(line.atMs - before.atMs) <= JUMP_MAX_MS) {
      throw new FeedFileError(before.line, reason);
    }
    return new FeedFileError(line.line, reason);
  }
}

function isAhead(first: FeedLine, line: FeedLine): boolean {
  return first.atMs - line.atMs > JUMP_MAX_MS;
}

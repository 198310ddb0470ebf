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
  back: `at goes back by more than a second, and stays there (feed merge puts recordings in order of time) ${TAKES_IT}`,
  lineBack: `at goes back by more than a second, in this line alone ${TAKES_IT}`,
  ahead: `at is more than an hour after the lines that follow ${TAKES_IT}`,
  old: `at is before the year 2000 ${TAKES_IT}`,
} as const;

/** The lines that may be taken after a line, and those that may not, in file order. */
export type Judged = (FeedLine | FeedFileError)[];

export class JumpGuard {
  /** Counts the recordings of the file from 0, where they are told apart. */
  #recording: number | null;
  #newestMs: EpochMs | null = null;
  /** The line before, where it jumped or went back: the next one decides what that was. */
  #strayed: Stray | null = null;
  /** The first line, until a second one agrees with it; then that too, where it does not. */
  #held: FeedLine[] = [];

  /**
   * @param apart whether times that stay wrong begin another recording, which lines then name; left
   * out: they end the reading
   */
  constructor(apart = false) {
    this.#recording = apart ? 0 : null;
  }

  /** A header inside the file. @returns the lines that were held; null: it is a bad line here */
  startsRecording(): Judged | null {
    if (this.#recording === null) return null;
    const judged = this.end();
    this.#recording++;
    this.#newestMs = null;
    return judged;
  }

  /**
   * The first line is held, since what comes after it decides whether its time is right.
   * @throws FeedFileError where a second line follows the wrong time of the one before: then it is
   * no line of a wrong time, and passing over it would pass over the rest of the file. Not thrown
   * where recordings are told apart.
   */
  take(line: FeedLine): Judged {
    if (line.atMs < OLDEST_MS) {
      return [...this.#dropStray(), new FeedFileError(line.line, TIME_REASONS.old)];
    }
    if (this.#newestMs !== null) return this.#judged(line, this.#newestMs);
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
    if (first === undefined) return this.#endStray();
    const judged = second === undefined ? this.#begin(first) : this.#settle(first, second, true);
    return [...judged, ...this.#endStray()];
  }

  #begin(first: FeedLine): Judged {
    this.#held = [];
    this.#newestMs = first.atMs;
    return [this.#named(first)];
  }

  #settle(first: FeedLine, second: FeedLine, isFirstWrong: boolean): Judged {
    if (!isFirstWrong) return [...this.#begin(first), ...this.take(second)];
    this.#begin(second);
    return [new FeedFileError(first.line, TIME_REASONS.ahead), this.#named(second)];
  }

  #judged(line: FeedLine, newestMs: EpochMs): Judged {
    const stepMs = line.atMs - newestMs;
    if (stepMs <= JUMP_MAX_MS && stepMs >= -BACK_MAX_MS) {
      this.#newestMs = Math.max(newestMs, line.atMs);
      const named = this.#named(line);
      return this.#strayed === null ? [named] : [...this.#dropStray(), named];
    }
    const isForward = stepMs > 0;
    const before = this.#strayed;
    const stays = before !== null && Math.abs(line.atMs - before.line.atMs) <= JUMP_MAX_MS;
    const reason = isForward ? TIME_REASONS.forward : TIME_REASONS.back;
    if (stays && this.#recording !== null) {
      this.#strayed = null;
      return this.#another(before.line, line);
    }
    const dropped = stays ? [] : this.#dropStray();
    const alone = isForward ? TIME_REASONS.forward : TIME_REASONS.lineBack;
    this.#strayed = { line, reason: stays ? reason : alone };
    if (stays) throw new FeedFileError(before.line.line, reason);
    return dropped;
  }

  /** It was no line of a wrong time. */
  #another(...lines: [FeedLine, FeedLine]): Judged {
    this.#recording!++;
    this.#newestMs = Math.max(...lines.map(({ atMs }) => atMs));
    return lines.map((line) => this.#named(line));
  }

  #dropStray(): Judged {
    const stray = this.#strayed;
    this.#strayed = null;
    return stray === null ? [] : [new FeedFileError(stray.line.line, stray.reason)];
  }

  /** A last line that goes back may be another recording as well: nothing says that it is wrong. */
  #endStray(): Judged {
    const stray = this.#strayed;
    if (stray?.reason !== TIME_REASONS.lineBack) return this.#dropStray();
    this.#strayed = null;
    if (this.#recording === null) return [new FeedFileError(stray.line.line, TIME_REASONS.back)];
    this.#recording++;
    return [this.#named(stray.line)];
  }

  #named(line: FeedLine): FeedLine {
    return this.#recording === null ? line : { ...line, recording: this.#recording };
  }
}

type Stray = { line: FeedLine; reason: string };

function isAhead(first: FeedLine, line: FeedLine): boolean {
  return first.atMs - line.atMs > JUMP_MAX_MS;
}

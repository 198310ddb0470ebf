/**
 * Lines whose time jumps forward. One line of a wrong year would move all that follow it, orders
 * too. Rule F31 (feeds/FORMATS.md).
 */
import type { EpochMs } from '../../engine/base/units.ts';
import { FeedFileError, type FeedLine } from './feed-line.ts';

const JUMP_MAX_MS = 3_600_000;
const REASON = 'at jumps forward by more than an hour (--allow-jumps takes it)';

export class JumpGuard {
  #newestMs: EpochMs | null = null;
  /** The line before, where it jumped. */
  #jumped: FeedLine | null = null;

  /**
   * Null: the line does not jump. Else the line is not to be taken.
   * @throws FeedFileError where a second line follows the jump of the one before: then it is no
   * line of a wrong time, and passing over it would pass over the rest of the file.
   */
  take(line: FeedLine): FeedFileError | null {
    const { atMs } = line;
    const newestMs = this.#newestMs ?? atMs;
    if (atMs - newestMs <= JUMP_MAX_MS) {
      this.#newestMs = Math.max(newestMs, atMs);
      this.#jumped = null;
      return null;
    }
    const before = this.#jumped;
    this.#jumped = line;
    if (before !== null && Math.abs(atMs - before.atMs) <= JUMP_MAX_MS) {
      throw new FeedFileError(before.line, REASON);
    }
    return new FeedFileError(line.line, REASON);
  }
}

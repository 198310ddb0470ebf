/** The UTC minute and calendar month that requests are counted in. Rule Q3 (api/RULES.md). */
import type { EpochMs } from '../../engine/base/units.ts';

const MINUTE_SECONDS = 60;

/**
 * The current windows. They change at most once a second, so that a request reads instead of
 * calculating. A clock that is set back never reopens a month that has ended.
 */
export class Windows {
  /** Minutes since the epoch. */
  minute = 0;
  /** Until the minute ends, 1 to 60. */
  minuteResetSeconds = 0;
  /** `2026-11` */
  month = '';
  /** Length of the month. */
  monthSeconds = 0;
  /** Until 00:00 UTC on the 1st. */
  monthResetSeconds = 0;
  readonly #nowMs: () => EpochMs;
  #second = -1;
  #monthEndsSecond = 0;

  constructor(nowMs: () => EpochMs) {
    this.#nowMs = nowMs;
    this.advance();
  }

  /** Reads the clock. Returns whether anything has changed since the last call. */
  advance(): boolean {
    const second = Math.floor(this.#nowMs() / 1000);
    if (second === this.#second) return false;
    this.#second = second;
    if (second >= this.#monthEndsSecond) this.#enterMonth(new Date(second * 1000));
    this.minute = Math.floor(second / MINUTE_SECONDS);
    this.minuteResetSeconds = MINUTE_SECONDS - (second % MINUTE_SECONDS);
    this.monthResetSeconds = this.#monthEndsSecond - second;
    return true;
  }

  #enterMonth(now: Date): void {
    const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
    this.month = now.toISOString().slice(0, 'yyyy-mm'.length);
    this.#monthEndsSecond = Date.UTC(year, month + 1) / 1000;
    this.monthSeconds = this.#monthEndsSecond - Date.UTC(year, month) / 1000;
  }
}

/**
 * Counts of requests, in memory. Changed counts are written every second, so that they survive a
 * restart without cost per request: a crash may lose that second. Rule Q13
 * (api/RULES.md).
 */
import type { EpochMs, Uuid } from '../../engine/rules/units.ts';
import type { ControlStore } from '../identity/store.ts';
import type { Log } from '../log.ts';
import { Windows } from './windows.ts';

const FLUSH_EVERY_MS = 1000;
/** Counts of past months dropped per flush, so that a new month begins without a pause. */
const DROPPED_AT_ONCE = 1000;

type Store = Pick<ControlStore, 'requestCounts' | 'putRequestCounts' | 'dropRequestCounts'>;

export type CountsOptions = {
  store: Store;
  /** The wall clock, whatever clock the engine uses. Rule C10 (engine/RULES.md). */
  nowMs: () => EpochMs;
  log: Log;
};

/** Requests of one account or key in its month, and in the minute of the last one. */
export class Count {
  readonly id: Uuid;
  readonly month: string;
  inMonth = 0;
  minute = 0;
  inMinute = 0;
  /** Since it was last written. */
  isChanged = false;

  constructor(id: Uuid, month: string) {
    this.id = id;
    this.month = month;
  }

  within(minute: number): number {
    return this.minute === minute ? this.inMinute : 0;
  }

  add(requests: number, minute: number): void {
    this.inMinute = this.within(minute) + requests;
    this.minute = minute;
    this.inMonth += requests;
  }

  takeBack(requests: number, minute: number): void {
    if (this.minute === minute) this.inMinute -= requests;
    this.inMonth -= requests;
  }
}

/** All counts of this month: at most one per user and one per key, none of a past month. */
export class RequestCounts {
  readonly windows: Windows;
  readonly #store: Store;
  readonly #log: Log;
  readonly #counts = new Map<Uuid, Count>();
  readonly #timer: NodeJS.Timeout;
  #month: string;
  #changed: Count[] = [];
  #mayHaveEnded = true;
  #flushing: Promise<void> | null = null;
  #isFailing = false;

  constructor({ store, nowMs, log }: CountsOptions) {
    this.windows = new Windows(nowMs);
    this.#store = store;
    this.#log = log;
    this.#month = this.windows.month;
    for (const [id, stored] of store.requestCounts(this.#month)) {
      const count = this.of(id);
      [count.inMonth, count.minute, count.inMinute] = stored;
    }
    this.#timer = setInterval(() => {
      if (this.#flushing === null) void this.flush();
    }, FLUSH_EVERY_MS).unref();
  }

  /** Moves the windows to now; a new month begins without counts. Returns whether they changed. */
  advance(): boolean {
    if (!this.windows.advance()) return false;
    if (this.windows.month !== this.#month) {
      this.#month = this.windows.month;
      this.#counts.clear();
      this.#mayHaveEnded = true;
    }
    return true;
  }

  of(id: Uuid): Count {
    let count = this.#counts.get(id);
    if (count === undefined) {
      count = new Count(id, this.#month);
      this.#counts.set(id, count);
    }
    return count;
  }

  /** In this month; 0 for an id without a count. */
  inMonth(id: Uuid): number {
    return this.#counts.get(id)?.inMonth ?? 0;
  }

  /** Marks a count for the next flush. */
  changed(count: Count): void {
    if (count.isChanged) return;
    count.isChanged = true;
    this.#changed.push(count);
  }

  /** Writes the changed counts. A failed write is logged, and retried with the next flush. */
  async flush(): Promise<void> {
    await this.#flushing;
    this.#flushing = this.#flush().finally(() => {
      this.#flushing = null;
    });
    await this.#flushing;
  }

  /** Writes the changed counts for the last time. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }

  async #flush(): Promise<void> {
    const month = this.#month;
    // A request answered in the next month lowers a count that is no longer needed.
    const changed = this.#changed.filter((count) => count.month === month);
    if (changed.length === 0 && !this.#mayHaveEnded) return;
    this.#changed = [];
    for (const count of changed) count.isChanged = false;
    try {
      await this.#store.putRequestCounts(
        month,
        changed.map(({ id, inMonth, minute, inMinute }) => [id, [inMonth, minute, inMinute]]),
      );
      if (this.#mayHaveEnded) {
        const dropped = await this.#store.dropRequestCounts(month, DROPPED_AT_ONCE);
        this.#mayHaveEnded = dropped === DROPPED_AT_ONCE || month !== this.#month;
      }
      this.#isFailing = false;
    } catch (error) {
      for (const count of changed) this.changed(count);
      if (!this.#isFailing) this.#log.error({ err: error }, 'request counts cannot be written');
      this.#isFailing = true;
    }
  }
}

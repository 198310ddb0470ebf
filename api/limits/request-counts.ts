/**
 * Counts of requests, in memory. Changed counts are written every second, so that they survive a
 * restart without cost per request: a crash may lose that second. Rule Q13
 * (api/RULES.md).
 */
import type { EpochMs, Uuid } from '../../engine/base/units.ts';
import type { Log } from '../base/log.ts';
import type { ControlStore } from '../identity/store.ts';
import { Count } from './count.ts';
import { CountPieces } from './count-pieces.ts';
import { Windows } from './windows.ts';

const FLUSH_EVERY_MS = 1000;
/** Pieces of past months dropped per flush, so that a new month begins without a pause. */
const DROPPED_AT_ONCE = 1000;

export type CountsOptions = {
  store: { requests: Pick<ControlStore['requests'], 'of' | 'replace' | 'dropBefore'> };
  /** The wall clock, whatever clock the engine uses. Rule C10 (engine/RULES.md). */
  nowMs: () => EpochMs;
  log: Log;
};

/** All counts of this month: at most one per user and one per key, none of a past month. */
export class RequestCounts {
  readonly windows: Windows;
  readonly #store: CountsOptions['store']['requests'];
  readonly #log: Log;
  readonly #counts = new Map<Uuid, Count>();
  readonly #timer: NodeJS.Timeout;
  #pieces: CountPieces;
  #month: string;
  #changed: Count[] = [];
  #mayHaveEnded = true;
  #flushing: Promise<void> | null = null;
  #isFailing = false;

  constructor({ store, nowMs, log }: CountsOptions) {
    this.windows = new Windows(nowMs);
    this.#store = store.requests;
    this.#log = log;
    this.#month = this.windows.month;
    this.#pieces = new CountPieces(this.#month);
    for (const { number, counts } of this.#store.of(this.#month)) {
      this.#pieces.add(
        number,
        counts.map((stored) => Object.assign(this.of(stored.id), stored)),
      );
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
      this.#pieces = new CountPieces(this.#month);
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
    const pieces = this.#pieces;
    // A request answered in the next month lowers a count that is no longer needed.
    const changed = this.#changed.filter(({ month }) => month === pieces.month);
    if (changed.length === 0 && !this.#mayHaveEnded) return;
    this.#changed = [];
    for (const count of changed) count.isChanged = false;
    try {
      await pieces.write(this.#store, changed, this.#counts.size);
      if (this.#mayHaveEnded) {
        const dropped = await this.#store.dropBefore(pieces.month, DROPPED_AT_ONCE);
        this.#mayHaveEnded = dropped === DROPPED_AT_ONCE || pieces !== this.#pieces;
      }
      this.#isFailing = false;
    } catch (error) {
      for (const count of changed) this.changed(count);
      if (!this.#isFailing) this.#log.error({ err: error }, 'request counts cannot be written');
      this.#isFailing = true;
    }
  }
}

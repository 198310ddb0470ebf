/**
 * Counts of requests, in memory from the first request of their account or key. Changed counts are
 * written every second, so that they survive a restart without cost per request: a crash may lose
 * that second. Rules Q13, Q27 (api/RULES.md).
 */
import type { EpochMs, Uuid } from '../../engine/base/units.ts';
import type { Log } from '../base/logger.ts';
import type { RequestCount } from '../identity/control-format.ts';
import type { GroupedRows } from '../identity/grouped-rows.ts';
import { type Count, OwnCounts } from './count.ts';
import type { CountSlots, SharedCount } from './shared-counts.ts';
import { Windows } from './windows.ts';

const FLUSH_EVERY_MS = 1000;
/** Entries of past months dropped per flush, so that a new month begins without a pause. */
const DROPPED_AT_ONCE = 1000;

type StoredCounts = Pick<GroupedRows<RequestCount>, 'early' | 'readEarly' | 'write' | 'isPacking'>;

export type CountsOptions = {
  store: {
    requestsOf(month: string): StoredCounts;
    dropRequestsBefore(month: string, max: number): Promise<number>;
  };
  /** The wall clock, whatever clock the engine uses. Rule C10 (engine/RULES.md). */
  nowMs: () => EpochMs;
  /** Where other threads count too; left out: only this one counts. */
  slots?: CountSlots | null;
  log: Log;
};

/** The counts as a meter uses them. */
export interface Counts {
  readonly windows: Windows;
  /** Moves the windows to now. Returns whether they changed. */
  advance(): boolean;
  of(id: Uuid): Count;
  inMonth(id: Uuid): number;
  changed(count: Count): void;
  close(): Promise<void>;
}

/** Counts of this month: at most one per user and one per key, none of a past month. */
export class RequestCounts implements Counts {
  readonly windows: Windows;
  readonly #store: CountsOptions['store'];
  readonly #log: Log;
  readonly #slots: CountSlots | null;
  /** That other threads add to. */
  readonly #shared = new Map<Uuid, SharedCount>();
  readonly #timer: NodeJS.Timeout;
  #stored: StoredCounts;
  #own: OwnCounts;
  #changed: Count[] = [];
  #mayHaveEnded = true;
  #flushing: Promise<void> | null = null;
  #isFailing = false;

  constructor({ store, nowMs, slots = null, log }: CountsOptions) {
    this.#slots = slots;
    this.windows = new Windows(nowMs);
    this.#store = store;
    this.#log = log;
    const { month } = this.windows;
    this.#own = new OwnCounts(month);
    this.#stored = store.requestsOf(month);
    this.#timer = setInterval(() => {
      if (this.#flushing === null) void this.flush();
    }, FLUSH_EVERY_MS).unref();
  }

  /** Moves the windows to now; a new month begins without counts. Returns whether they changed. */
  advance(): boolean {
    if (!this.windows.advance()) return false;
    const { month } = this.windows;
    if (month !== this.#own.month) {
      this.#own = new OwnCounts(month);
      this.#stored = this.#store.requestsOf(month);
      this.#shared.clear();
      this.#mayHaveEnded = true;
    }
    return true;
  }

  /** Throws `ControlDamage`. */
  of(id: Uuid): Count {
    const known = this.#own.get(id) ?? this.#shared.get(id);
    // What is not known was not written since the start.
    return known ?? this.#begun(id, this.#stored.early(id));
  }

  /** Reads the stored counts into memory, some a step, so that no request waits for the disk. */
  readStored(): Generator<undefined, void> {
    return this.#stored.readEarly();
  }

  #begun(id: Uuid, stored: RequestCount | undefined): Count {
    const slot = this.#slots?.of(id) ?? null;
    if (slot === null) return this.#own.begin(id, stored);
    const count = this.#slots!.count(id, this.#own.month, slot, stored);
    this.#shared.set(id, count);
    return count;
  }

  /** Another thread has counted for these; undefined: maybe for any. */
  changedElsewhere(ids: Iterable<Uuid> = this.#shared.keys()): void {
    for (const id of ids) {
      const count = this.#shared.get(id);
      if (count !== undefined) this.changed(count);
    }
  }

  /** In this month; 0 for an id without a count. Throws `ControlDamage`. */
  inMonth(id: Uuid): number {
    return (this.#own.get(id) ?? this.#shared.get(id) ?? this.#stored.early(id))?.inMonth ?? 0;
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
    const stored = this.#stored;
    const { month } = this.#own;
    // A request answered in the next month lowers a count that is no longer needed.
    const changed = this.#changed.filter((count) => count.month === month);
    if (changed.length === 0 && !stored.isPacking && !this.#mayHaveEnded) return;
    this.#changed = [];
    for (const count of changed) count.isChanged = false;
    try {
      await stored.write(changed);
      if (this.#mayHaveEnded) {
        const dropped = await this.#store.dropRequestsBefore(month, DROPPED_AT_ONCE);
        this.#mayHaveEnded = dropped === DROPPED_AT_ONCE || month !== this.#own.month;
      }
      this.#isFailing = false;
    } catch (error) {
      for (const count of changed) this.changed(count);
      if (!this.#isFailing) this.#log.error({ err: error }, 'request counts cannot be written');
      this.#isFailing = true;
    }
  }
}

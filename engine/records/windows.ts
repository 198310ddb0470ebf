/**
 * Sums of all traders over a window of time, which move on with it: what closes is added, and what
 * falls out at the other end is taken off again. Rules Y20, Y21 (engine/RULES.md).
 */
import { invariant } from '../rules/invariant.ts';
import { DAY_MS, type EpochMs } from '../rules/units.ts';
import type { Database, Statement } from './database.ts';
import type { TraderNumber, Traders } from './traders.ts';
import type { Change } from './trades.ts';

/** `days` null: all of time. */
export type Window = { days: number | null };

export const SUM_NAMES = ['closed', 'pnl_cents', 'cost_cents', 'won', 'lost', 'void'] as const;
export type SumName = (typeof SUM_NAMES)[number];
export type Sums = Record<SumName, Float64Array>;

/** A moment in the window: later than this. */
export function startOf({ days }: Window, nowMs: EpochMs): EpochMs {
  return days === null ? Number.NEGATIVE_INFINITY : nowMs - days * DAY_MS;
}

const OVER = `SELECT trader, count(*), total(pnl_cents), total(cost_cents),
     total(state = 1 AND combine = 0 AND held = 0), total(state = 2 AND combine = 0 AND held = 0),
     total(state = 3 AND combine = 0 AND held = 0)
   FROM trades WHERE state > 0 AND closed_at_ms > ? AND closed_at_ms <= ? GROUP BY trader`;
/** Behind every time. */
const END_MS = Number.MAX_SAFE_INTEGER;

/** The sums of one window, as of the moment of the last `moveTo`. */
export class WindowSums {
  sums: Sums;
  readonly #over: Statement;
  readonly #days: number;
  #startMs: EpochMs | null = null;
  /** What came since the last move. */
  #changes: Change[] = [];

  constructor(database: Database, days: number) {
    this.#over = database.prepare(OVER).raw() as never;
    invariant(days > 0, 'a window has no days');
    this.#days = days;
    this.sums = emptySums(0);
  }

  note(change: Change): void {
    if (this.#startMs !== null) this.#changes.push(change);
  }

  /** How many changes wait for the next move. */
  get waiting(): number {
    return this.#changes.length;
  }

  moveTo(nowMs: EpochMs, end: TraderNumber): void {
    invariant(Number.isSafeInteger(nowMs), 'a window ends at no time');
    const startMs = startOf({ days: this.#days }, nowMs);
    if (this.#startMs === null || startMs < this.#startMs) {
      // The first time, or time was set back.
      this.sums = emptySums(end);
      this.#changes = [];
      this.#add(startMs, END_MS, 1);
    } else {
      this.sums = grownSums(this.sums, end);
      for (const change of this.#changes) {
        if (change.closedAtMs > this.#startMs) this.#apply(change);
      }
      this.#changes = [];
      if (startMs > this.#startMs) this.#add(this.#startMs, startMs, -1);
    }
    this.#startMs = startMs;
  }

  /** Those that closed after `afterMs` and not after `upToMs`. */
  #add(afterMs: EpochMs, upToMs: EpochMs, sign: 1 | -1): void {
    const rows = this.#over.iterate(afterMs, upToMs) as Iterable<number[]>;
    for (const [trader, ...values] of rows) {
      for (const [at, name] of SUM_NAMES.entries()) {
        const column = this.sums[name];
        column[trader!] = column[trader!]! + sign * values[at]!;
      }
    }
  }

  #apply({ trader, closed, pnlCents, costCents, won, lost, void: voided }: Change): void {
    const values = [closed, pnlCents, costCents, won, lost, voided];
    for (const [at, name] of SUM_NAMES.entries()) {
      const column = this.sums[name];
      column[trader] = column[trader]! + values[at]!;
    }
    invariant(this.sums.closed[trader]! >= 0, 'a window has fewer trades than none');
  }
}

/** The sums of all of time, as they are now. */
export function sumsOfAll({ col, end }: Traders): Sums {
  return Object.fromEntries(
    SUM_NAMES.map((name) => [name, col[name].slice(0, end)]),
  ) as unknown as Sums;
}

function emptySums(length: number): Sums {
  const columns = SUM_NAMES.map((name) => [name, new Float64Array(length)]);
  return Object.fromEntries(columns) as Sums;
}

function grownSums(sums: Sums, length: number): Sums {
  if (sums.closed.length >= length) return sums;
  const grown = emptySums(length);
  for (const name of SUM_NAMES) grown[name].set(sums[name]);
  return grown;
}

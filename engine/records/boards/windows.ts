/**
 * Sums of all traders over a window of time, which move on with it: trades that close are added,
 * and trades that fall out at the other end are subtracted. Rules Y20, Y21 (engine/RULES.md).
 */
import { invariant } from '../../base/invariant.ts';
import { DAY_MS, type EpochMs } from '../../base/units.ts';
import type { ClosedTradeBlock, ClosedTradeReader } from '../store/closed-trade-blocks.ts';
import { VOID } from '../store/tables.ts';
import type { TraderNumber } from '../store/trader-ids.ts';
import type { Traders } from '../store/traders.ts';
import type { Change } from '../store/trades.ts';

/** The trades that count: all, or those placed under the preset `realistic`. Rule Y97 (engine/RULES.md). */
export const FILLS = ['all', 'realistic'] as const;
export type Fills = (typeof FILLS)[number];

/** `days` null: all of time. */
export type Window = { days: number | null };

const SUM_NAMES = ['closed', 'pnl_cents', 'cost_cents', 'won', 'lost', 'void'] as const;
type SumName = (typeof SUM_NAMES)[number];
const EACH = SUM_NAMES.length;
const PLACES = Object.fromEntries(SUM_NAMES.map((name, at) => [name, at])) as Record<
  SumName,
  number
>;

/** Side by side for each trader, because a trade changes most of them. */
export class Sums {
  #values: Float64Array;

  constructor(traders: number) {
    invariant(traders >= 0, 'a window is of fewer traders than none');
    this.#values = new Float64Array(traders * EACH);
  }

  /** The present sums of all of time. */
  static ofAll({ col, end }: Traders): Sums {
    const sums = new Sums(end);
    for (const name of SUM_NAMES) {
      const [place, column] = [PLACES[name], col[name]];
      for (let trader = 0; trader < end; trader++) {
        sums.#values[trader * EACH + place] = column[trader]!;
      }
    }
    return sums;
  }

  get(trader: TraderNumber, name: SumName): number {
    return this.#values[trader * EACH + PLACES[name]] ?? 0;
  }

  change(trader: TraderNumber, name: SumName, by: number): void {
    const at = trader * EACH + PLACES[name];
    invariant(at < this.#values.length, 'a window has no room for a trader');
    this.#values[at] = this.#values[at]! + by;
  }

  /** The space for so many traders. */
  grow(traders: number): void {
    if (this.#values.length >= traders * EACH) return;
    const grown = new Float64Array(traders * EACH);
    grown.set(this.#values);
    this.#values = grown;
  }

  /** A loop without calls: a window may have millions. */
  addBlock(block: ClosedTradeBlock, { afterMs, upToMs, sign, isRealistic }: Range): void {
    const values = this.#values;
    for (let at = 0; at < block.count; at++) {
      const closedAtMs = block.closedAtMs[at]!;
      if (closedAtMs <= afterMs || closedAtMs > upToMs) continue;
      if (isRealistic && block.isRealistic[at] === 0) continue;
      const place = block.trader[at]! * EACH;
      values[place] = values[place]! + sign;
      values[place + 1] = values[place + 1]! + sign * block.pnlCents[at]!;
      values[place + 2] = values[place + 2]! + sign * block.costCents[at]!;
      const state = block.state[at]!;
      if (state > VOID || block.isListed[at] === 0) continue;
      // Won, lost and void have consecutive states, from 1.
      values[place + 2 + state] = values[place + 2 + state]! + sign;
    }
  }
}

type Range = {
  afterMs: EpochMs;
  upToMs: EpochMs;
  sign: 1 | -1;
  /** Whether only trades under the preset `realistic` count. Rule Y97 (engine/RULES.md). */
  isRealistic: boolean;
};

/** The window begins after this moment. */
export function startOf({ days }: Window, nowMs: EpochMs): EpochMs {
  return days === null ? START_MS : nowMs - days * DAY_MS;
}

/** Before every time, and after. */
const START_MS = Number.MIN_SAFE_INTEGER;
export const END_MS = Number.MAX_SAFE_INTEGER;

/** The sums of one window, as of the moment of the last `moveTo`. */
export class WindowSums {
  sums: Sums;
  readonly #closedTrades: ClosedTradeReader;
  readonly #days: number | null;
  readonly #isRealistic: boolean;
  #startMs: EpochMs | null = null;
  /** The trades since the last move. */
  #changes: Change[] = [];

  constructor(closedTrades: ClosedTradeReader, days: number | null, isRealistic = false) {
    this.#closedTrades = closedTrades;
    invariant(days === null || days > 0, 'a window has no days');
    this.#days = days;
    this.#isRealistic = isRealistic;
    this.sums = new Sums(0);
  }

  note(change: Change): void {
    const counts = change.realistic || !this.#isRealistic;
    if (this.#startMs !== null && counts) this.#changes.push(change);
  }

  /** How many changes wait for the next move. */
  get waiting(): number {
    return this.#changes.length;
  }

  moveTo(nowMs: EpochMs, end: TraderNumber): void {
    invariant(Number.isSafeInteger(nowMs), 'a window ends at no time');
    const startMs = startOf({ days: this.#days }, nowMs);
    if (this.#startMs === null || startMs < this.#startMs) {
      // The first move, or the time was set back.
      this.sums = new Sums(end);
      this.#changes = [];
      this.#add(startMs, END_MS, 1);
    } else {
      this.sums.grow(end);
      for (const change of this.#changes) {
        if (change.closedAtMs > this.#startMs) this.#apply(change);
      }
      this.#changes = [];
      if (startMs > this.#startMs) this.#add(this.#startMs, startMs, -1);
    }
    this.#startMs = startMs;
  }

  /** Adds, or with -1 takes away, the trades that closed after `afterMs` and not after `upToMs`. */
  #add(afterMs: EpochMs, upToMs: EpochMs, sign: 1 | -1): void {
    for (const block of this.#closedTrades.blocks(afterMs, upToMs)) {
      this.sums.addBlock(block, { afterMs, upToMs, sign, isRealistic: this.#isRealistic });
    }
  }

  #apply({ trader, closed, pnlCents, costCents, won, lost, void: voided }: Change): void {
    const { sums } = this;
    sums.change(trader, 'closed', closed);
    sums.change(trader, 'pnl_cents', pnlCents);
    sums.change(trader, 'cost_cents', costCents);
    sums.change(trader, 'won', won);
    sums.change(trader, 'lost', lost);
    sums.change(trader, 'void', voided);
    invariant(sums.get(trader, 'closed') >= 0, 'a window has fewer trades than none');
  }
}

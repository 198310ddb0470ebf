/**
 * One board of `/eval`, by metric and window. It has the entries of all traders, which follow the
 * folded facts, and their ranks as of some moment. Rules Y21, Y28, Y44 (engine/RULES.md).
 */

import { invariant } from '../../base/invariant.ts';
import type { EpochMs, MarketNumber } from '../../base/units.ts';
import type { FeeEntry } from '../../rules/fees.ts';
import { type RankIntervals, rankIntervals } from '../boards/rank-intervals.ts';
import { type IdOrder, type Ranking, ranked } from '../boards/ranking.ts';
import type { Freshness, RefreshBudget } from '../boards/refresh-budget.ts';
import { END_MS, type Fills, startOf } from '../boards/windows.ts';
import { IS_ASCENDING, type Metric } from '../maths/statistics.ts';
import type { ClosedTradeReader } from '../store/closed-trade-blocks.ts';
import type { Profiles } from '../store/profiles.ts';
import { LOST, WON } from '../store/tables.ts';
import type { TraderNumber } from '../store/trader-ids.ts';
import type { Traders } from '../store/traders.ts';
import type { Change } from '../store/trades.ts';
import { type EntriesParts, EvalEntries } from './eval-entries.ts';

export type EvalBoardParts = EntriesParts & {
  traders: Traders;
  ids: IdOrder;
  profiles: Profiles;
  pace: RefreshBudget;
  /** If more traders than these changed, all entries are made again, which is faster. */
  changedMax?: number;
};

/** Rule Y97 (engine/RULES.md). */
export type EvalBoardOf = { metric: Metric; days: number | null; fills: Fills };

/** The ranks of a moment. */
export type EvalRanks = { ranking: Ranking; intervals: RankIntervals; asOfMs: EpochMs };

export type EvalMoment = { nowMs: EpochMs; fees: readonly FeeEntry[] };

const CHANGED_MAX = 10_000;

export class EvalBoard {
  readonly metric: Metric;
  readonly #days: number | null;
  readonly #parts: EvalBoardParts;
  readonly #entries: EvalEntries;
  /** Traders whose slates may have changed. */
  #changed = new Set<TraderNumber>();
  /** Whether all of them may have. */
  #areAllChanged = true;
  #startMs: EpochMs = Number.NEGATIVE_INFINITY;
  /** The fee table of the entries, where it counts. */
  #fees = '';
  #ranks: EvalRanks | null = null;
  #freshness: Freshness | null = null;

  constructor({ metric, days, fills }: EvalBoardOf, parts: EvalBoardParts) {
    this.metric = metric;
    this.#days = days;
    this.#parts = parts;
    this.#entries = new EvalEntries(metric, parts, fills);
  }

  /** The entries as they were ranked. */
  get col(): EvalEntries['col'] {
    return this.#entries.col;
  }

  note({ trader, hasOutcome }: Change): void {
    if (hasOutcome) this.#noteTrader(trader);
  }

  /** Starts, games or times have changed, or more than is worth distinguishing. */
  allChanged(): void {
    this.#areAllChanged = true;
    this.#changed.clear();
  }

  /** There are new instruments. */
  instrumentsAdded(): void {
    if (this.#entries.lackInstruments) this.allChanged();
  }

  /** A market has its closing line. @param sinceMs when it had its result: its trades ended then or later */
  closingAdded(market: MarketNumber, sinceMs: EpochMs): void {
    if (this.metric !== 'clv' || this.#areAllChanged) return;
    for (const block of this.#parts.closedTrades.blocks(sinceMs - 1, END_MS)) {
      for (let at = 0; at < block.count; at++) {
        if (block.market[at] === market) this.#noteTrader(block.trader[at]!);
      }
    }
  }

  /** The ranks. They are made again if they are no longer fresh. */
  ranks(moment: EvalMoment): EvalRanks {
    const { pace } = this.#parts;
    const [ranks, freshness] = [this.#ranks, this.#freshness];
    if (ranks !== null && freshness !== null && !pace.isDue(freshness)) return ranks;
    const next = pace.make(() => {
      this.#follow(moment);
      return this.#ranked(moment.nowMs);
    });
    this.#ranks = next.made;
    this.#freshness = next.freshness;
    return next.made;
  }

  #noteTrader(trader: TraderNumber): void {
    if (this.#areAllChanged) return;
    this.#changed.add(trader);
    const { changedMax = CHANGED_MAX } = this.#parts;
    if (this.#changed.size > changedMax) this.allChanged();
  }

  /** Updates the entries with all folded facts. */
  #follow({ nowMs, fees }: EvalMoment): void {
    const { traders, closedTrades } = this.#parts;
    const startMs = startOf({ days: this.#days }, nowMs);
    const feeText = this.metric === 'pnl' ? JSON.stringify(fees) : '';
    if (feeText !== this.#fees || startMs < this.#startMs) this.allChanged();
    else if (startMs > this.#startMs) this.#noteEnded(closedTrades, this.#startMs, startMs);
    const { end } = traders;
    if (this.#areAllChanged) this.#entries.make(startMs, end, fees);
    else this.#entries.update(this.#changed, startMs, end, fees);
    this.#startMs = startMs;
    this.#fees = feeText;
    this.#areAllChanged = false;
    this.#changed.clear();
  }

  /** Notes the traders of whom a pick fell out of the window. */
  #noteEnded(closedTrades: ClosedTradeReader, afterMs: EpochMs, upToMs: EpochMs): void {
    if (this.#areAllChanged) return;
    for (const block of closedTrades.blocks(afterMs, upToMs)) {
      for (let at = 0; at < block.count; at++) {
        const closedAtMs = block.closedAtMs[at]!;
        const state = block.state[at];
        const isOut = closedAtMs > afterMs && closedAtMs <= upToMs;
        if (isOut && (state === WON || state === LOST)) this.#noteTrader(block.trader[at]!);
      }
    }
  }

  #ranked(nowMs: EpochMs): EvalRanks {
    const { traders, profiles, ids } = this.#parts;
    const { value, low, high, picks } = this.#entries.col;
    const ranking = ranked(ids, {
      end: traders.end,
      isMember: (trader) => picks[trader]! > 0 && profiles.isListed(trader),
      rankedBy: (trader) => value[trader]!,
      isAscending: IS_ASCENDING[this.metric],
    });
    const { order } = ranking;
    invariant(order.length <= traders.ids.count, 'a board has a trader twice');
    const lows = new Float64Array(order.length);
    const highs = new Float64Array(order.length);
    for (let at = 0; at < order.length; at++) {
      lows[at] = low[order[at]!]!;
      highs[at] = high[order[at]!]!;
    }
    return { ranking, intervals: rankIntervals(this.metric, { lows, highs }), asOfMs: nowMs };
  }
}

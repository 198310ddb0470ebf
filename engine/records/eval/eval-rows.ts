/**
 * Pages of the boards of `/eval`. The boards that were asked for last are kept, by metric and
 * window. Rules Y21, Y28, Y44 to Y46 (engine/RULES.md).
 */

import { invariant } from '../../base/invariant.ts';
import type { EpochMs, MarketNumber, Uuid } from '../../base/units.ts';
import type { FeeEntry } from '../../rules/fees.ts';
import type { BoardPlace } from '../boards/leaderboard.ts';
import { tiedWithAbove } from '../boards/rank-intervals.ts';
import { isBehindId, placeBehind } from '../boards/ranking.ts';
import type { Fills } from '../boards/windows.ts';
import { type Interval, intervalNote, type Metric } from '../maths/statistics.ts';
import type { TraderNumber } from '../store/trader-ids.ts';
import type { Change } from '../store/trades.ts';
import { EvalBoard, type EvalBoardParts, type EvalRanks } from './eval-board.ts';

export type EvalQuestion = {
  metric: Metric;
  days: number | null;
  /** All when left out. */
  fills?: Fills;
  limit: number;
  after: BoardPlace | null;
  nowMs: EpochMs;
  /** For `pnl` alone. */
  fees: readonly FeeEntry[];
};

export type EvalRow = {
  rank: number;
  trader: Uuid;
  picks: number;
  games: number;
  value: number;
  interval: Interval | null;
  /** Why there is no interval; null if there is one. */
  intervalNote: string | null;
  rankInterval: { best: number; worst: number } | null;
  skill: number | null;
  tiedWithAbove: boolean | null;
};

export type EvalPage = { rows: EvalRow[]; next: BoardPlace | null; asOfMs: EpochMs };

/** Up to 68 bytes per trader each. */
const BOARDS_MAX = 6;

export class EvalBoards {
  readonly #parts: EvalBoardParts;
  /** By metric, days and the picks that count, the one asked for longest ago first. */
  readonly #boards = new Map<string, EvalBoard>();

  constructor(parts: EvalBoardParts) {
    this.#parts = parts;
  }

  note(change: Change): void {
    for (const board of this.#boards.values()) board.note(change);
  }

  /** A catalog was taken; `isOtherwise`: it changed picks that have counted already. */
  instrumentsChanged(isOtherwise: boolean): void {
    for (const board of this.#boards.values()) {
      if (isOtherwise) board.allChanged();
      else board.instrumentsAdded();
    }
  }

  closingAdded(market: MarketNumber, sinceMs: EpochMs): void {
    for (const board of this.#boards.values()) board.closingAdded(market, sinceMs);
  }

  page(question: EvalQuestion): EvalPage {
    const { limit, after } = question;
    invariant(limit > 0, 'a page of no rows is asked for');
    const { traders, profiles } = this.#parts;
    const board = this.#boardOf(question);
    const ranks = board.ranks(question);
    const { order, values } = ranks.ranking;
    const rows: EvalRow[] = [];
    let place = after === null ? 0 : this.#placeBehind(ranks, after);
    for (; place < order.length && rows.length < limit; place++) {
      // A trader who has become private since is left out at once.
      if (profiles.isListed(order[place]!)) rows.push(this.#rowOf(board, ranks, place));
    }
    const isEnd = place >= order.length;
    const last = isEnd
      ? null
      : { value: values[place - 1]!, trader: traders.ids.idOf(order[place - 1]!) };
    return { rows, next: last, asOfMs: ranks.asOfMs };
  }

  #boardOf({ metric, days, fills = 'all' }: EvalQuestion): EvalBoard {
    const key = `${metric} ${days} ${fills}`;
    const known = this.#boards.get(key);
    const board = known ?? new EvalBoard({ metric, days, fills }, this.#parts);
    // In order of use: the last one was asked for last.
    this.#boards.delete(key);
    this.#boards.set(key, board);
    const [oldest] = this.#boards.keys();
    if (this.#boards.size > BOARDS_MAX) this.#boards.delete(oldest!);
    return board;
  }

  #placeBehind({ ranking }: EvalRanks, after: BoardPlace): number {
    const { traders } = this.#parts;
    return placeBehind(ranking, after.value, isBehindId(traders.ids, after.trader));
  }

  #rowOf(board: EvalBoard, { ranking: { order }, intervals }: EvalRanks, place: number): EvalRow {
    const trader = order[place]!;
    const { value, picks, games, skill, effectiveGames } = board.col;
    const interval = intervalAt(board, trader);
    const above = place === 0 ? null : intervalAt(board, order[place - 1]!);
    const best = intervals.best[place]!;
    const worst = intervals.worst[place]!;
    return {
      rank: place + 1,
      trader: this.#parts.traders.ids.idOf(trader),
      picks: picks[trader]!,
      games: games[trader]!,
      value: value[trader]!,
      interval,
      intervalNote: intervalNote(board.metric, effectiveGames[trader]!),
      rankInterval: interval === null ? null : { best, worst },
      skill: Number.isNaN(skill[trader]) ? null : skill[trader]!,
      tiedWithAbove: tiedWithAbove(above, interval),
    };
  }
}

function intervalAt({ col }: EvalBoard, trader: TraderNumber): Interval | null {
  const [low, high] = [col.low[trader]!, col.high[trader]!];
  return Number.isNaN(low) ? null : { low, high };
}

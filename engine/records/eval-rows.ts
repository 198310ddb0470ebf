/**
 * The board of `/eval`: slate picks of a window by trader and game, and the order of their means.
 * Rules Y28, Y40 to Y46 (engine/RULES.md).
 */
import type { FeeEntry } from '../rules/fees.ts';
import { invariant } from '../rules/invariant.ts';
import type { EpochMs, Uuid } from '../rules/units.ts';
import { type Intervals, IS_ASCENDING, rankIntervals, tiedWithAbove } from './eval-board.ts';
import type { BoardPlace } from './leaderboard.ts';
import type { Profiles } from './profiles.ts';
import type { Settled, SlatePick } from './settled.ts';
import {
  type GameSums,
  type Interval,
  intervalOf,
  type Metric,
  meanOfGames,
} from './statistics.ts';
import type { TraderNumber, Traders } from './traders.ts';
import { uuidBytes } from './uuid-bytes.ts';
import { startOf } from './windows.ts';

export type EvalQuestion = {
  metric: Metric;
  days: number | null;
  limit: number;
  after: BoardPlace | null;
  nowMs: EpochMs;
  fees: readonly FeeEntry[];
};

export type EvalRow = {
  rank: number;
  trader: Uuid;
  picks: number;
  games: number;
  value: number;
  interval: Interval | null;
  /** Why there is no interval; null where there is one. */
  intervalNote: string | null;
  rankInterval: { best: number; worst: number } | null;
  skill: number | null;
  tiedWithAbove: boolean | null;
};

export type EvalPage = { rows: EvalRow[]; next: BoardPlace | null; asOfMs: EpochMs };

/** One trader's picks by game. */
type Entry = {
  trader: TraderNumber;
  games: Map<string, { count: number; sum: number }>;
  skillSum: number;
  skills: number;
};

type Ranked = Omit<EvalRow, 'rank' | 'trader' | 'rankInterval' | 'tiedWithAbove'> & {
  trader: TraderNumber;
};

type Board = {
  rows: Ranked[];
  ranks: ReturnType<typeof rankIntervals>;
  asOfMs: EpochMs;
  freshUntil: number;
};

const FRESH_MS = 1000;
/** A board is not made anew before it has rested for so many times what it took. */
const REST_FACTOR = 4;
const BOARDS_MAX = 8;
const CENTS = 100;

export type EvalParts = {
  settled: Settled;
  traders: Traders;
  profiles: Profiles;
  clock?: () => number;
};

export class EvalBoards {
  readonly #parts: EvalParts;
  readonly #clock: () => number;
  readonly #boards = new Map<string, Board>();

  constructor(parts: EvalParts) {
    this.#parts = parts;
    this.#clock = parts.clock ?? (() => performance.now());
  }

  page(question: EvalQuestion): EvalPage {
    const { metric, limit, after } = question;
    invariant(limit > 0, 'a page of nothing is asked for');
    const board = this.#boardOf(question);
    const { traders, profiles } = this.#parts;
    const rows: EvalRow[] = [];
    let place = after === null ? 0 : this.#placeBehind(metric, board.rows, after);
    for (; place < board.rows.length && rows.length < limit; place++) {
      const { trader } = board.rows[place]!;
      if (profiles.isListed(trader)) rows.push(this.#rowOf(board, place));
    }
    if (place >= board.rows.length) return { rows, next: null, asOfMs: board.asOfMs };
    const last = board.rows[place - 1]!;
    const next = { value: last.value, trader: traders.idOf(last.trader) };
    return { rows, next, asOfMs: board.asOfMs };
  }

  #boardOf(question: EvalQuestion): Board {
    const key = `${question.metric} ${question.days}`;
    const known = this.#boards.get(key);
    if (known !== undefined && this.#clock() < known.freshUntil) return known;
    const began = this.#clock();
    const board = this.#made(question);
    this.#boards.delete(key);
    this.#boards.set(key, board);
    const [oldest] = this.#boards.keys();
    if (this.#boards.size > BOARDS_MAX) this.#boards.delete(oldest!);
    const took = this.#clock() - began;
    board.freshUntil = this.#clock() + Math.max(FRESH_MS, REST_FACTOR * took);
    return board;
  }

  #made(question: EvalQuestion): Board {
    const { metric, nowMs } = question;
    const rows: Ranked[] = [];
    for (const entry of this.#entries(question)) rows.push(rankedOf(metric, entry));
    const { traders } = this.#parts;
    rows.sort((a, b) => {
      return signOf(metric) * (a.value - b.value) || traders.compareIds(a.trader, b.trader);
    });
    return { rows, ranks: rankIntervals(metric, intervalsOf(rows)), asOfMs: nowMs, freshUntil: 0 };
  }

  #entries({ metric, days, nowMs, fees }: EvalQuestion): Iterable<Entry> {
    const { settled, profiles } = this.#parts;
    const entries = new Map<TraderNumber, Entry>();
    const isMember = (trader: TraderNumber) => profiles.isListed(trader);
    for (const pick of settled.slates(startOf({ days }, nowMs), isMember)) {
      const scores = settled.scoresOf(pick);
      const value = metric === 'pnl' ? settled.pnlAfterFees(pick, fees) : scoreOf(metric, scores);
      if (value !== null) addTo(entries, pick, value, scores.skill);
    }
    return entries.values();
  }

  #rowOf({ rows, ranks }: Board, place: number): EvalRow {
    const row = rows[place]!;
    const { best, worst } = ranks;
    const above = place === 0 ? null : rows[place - 1]!.interval;
    return {
      ...row,
      rank: place + 1,
      trader: this.#parts.traders.idOf(row.trader),
      rankInterval: best[place] === 0 ? null : { best: best[place]!, worst: worst[place]! },
      tiedWithAbove: tiedWithAbove(above, row.interval),
    };
  }

  #placeBehind(metric: Metric, rows: readonly Ranked[], { value, trader }: BoardPlace): number {
    const id = uuidBytes(trader);
    let [low, high] = [0, rows.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const row = rows[middle]!;
      const by = signOf(metric) * (row.value - value);
      const isBehind =
        by > 0 || (by === 0 && Buffer.compare(this.#parts.traders.idBytes(row.trader), id) > 0);
      if (isBehind) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

const signOf = (metric: Metric): 1 | -1 => (IS_ASCENDING[metric] ? 1 : -1);

function scoreOf(
  metric: Exclude<Metric, 'pnl'>,
  { brier, logLoss, clvCents }: ReturnType<Settled['scoresOf']>,
): number | null {
  switch (metric) {
    case 'brier':
      return brier;
    case 'log_loss':
      return logLoss;
    case 'clv':
      return clvCents;
    default:
      return metric satisfies never;
  }
}

function addTo(
  entries: Map<TraderNumber, Entry>,
  { trader, cluster }: SlatePick,
  value: number,
  skill: number | null,
): void {
  let entry = entries.get(trader);
  if (entry === undefined) {
    entry = { trader, games: new Map(), skillSum: 0, skills: 0 };
    entries.set(trader, entry);
  }
  const game = entry.games.get(cluster) ?? { count: 0, sum: 0 };
  game.count++;
  game.sum += value;
  entry.games.set(cluster, game);
  if (skill === null) return;
  entry.skillSum += skill;
  entry.skills++;
}

function rankedOf(metric: Metric, { trader, games, skillSum, skills }: Entry): Ranked {
  const parts = [...games.values()];
  const counts = parts.map(({ count }) => count);
  // In dollars: cents are added up before, as whole numbers.
  const unit = metric === 'pnl' ? CENTS : 1;
  const sums = parts.map(({ sum }) => sum / unit);
  const gameSums: GameSums = { counts, sums, from: 0, end: parts.length };
  const estimate = meanOfGames(gameSums);
  invariant(estimate !== null, 'a trader without picks is on a board');
  const { picks, mean } = estimate;
  return {
    ...intervalOf(metric, gameSums, estimate),
    trader,
    picks,
    games: estimate.games,
    value: mean,
    skill: skills === 0 ? null : skillSum / skills,
  };
}

function intervalsOf(rows: readonly Ranked[]): Intervals {
  const lows = new Float64Array(rows.length).fill(Number.NaN);
  const highs = lows.slice();
  for (const [at, { interval }] of rows.entries()) {
    if (interval === null) continue;
    lows[at] = interval.low;
    highs[at] = interval.high;
  }
  return { lows, highs };
}

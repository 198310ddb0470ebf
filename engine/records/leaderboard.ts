/**
 * The leaderboard: rankings of a window, made when they are asked for and kept while they are fresh,
 * so that a page is a look at an array. Rules Y20 to Y25 (engine/RULES.md).
 */
import { invariant } from '../rules/invariant.ts';
import type { Cents, EpochMs, Uuid } from '../rules/units.ts';
import type { Database } from './database.ts';
import type { Profiles } from './profiles.ts';
import { IdOrder, placeBehind, type Ranking, ranked } from './ranking.ts';
import type { TraderNumber, Traders } from './traders.ts';
import type { Change } from './trades.ts';
import { uuidBytes } from './uuid-bytes.ts';
import { type Sums, sumsOfAll, WindowSums } from './windows.ts';
import type { Worth } from './worth.ts';

export const BOARD_KINDS = ['pnl', 'roi', 'net_worth'] as const;
export type BoardKind = (typeof BOARD_KINDS)[number];

/** A place on a board: a value, and who has it. Pages go on behind it, wherever the board moves. */
export type BoardPlace = { value: number; trader: Uuid };

export type LeaderboardQuestion = {
  board: BoardKind;
  /** Null: all of time. */
  days: number | null;
  limit: number;
  after: BoardPlace | null;
  nowMs: EpochMs;
};

export type LeaderboardRow = {
  rank: number;
  trader: Uuid;
  pnlCents: Cents;
  costCents: Cents;
  worthCents: Cents;
  won: number;
  lost: number;
  void: number;
  resets: number;
  busts: number;
};

export type LeaderboardPage = { rows: LeaderboardRow[]; next: BoardPlace | null; asOfMs: EpochMs };

type Board = {
  sums: Sums;
  asOfMs: EpochMs;
  freshUntil: number;
  rankings: Map<BoardKind, Ranking>;
};

/** A board is ranked anew when it is asked for this long after, or as long as ranking took. */
const FRESH_MS = 1000;
const REST_FACTOR = 4;
/** 24 and up to 60 bytes a trader each. */
const WINDOWS_MAX = 4;
/** Where nobody asks for a window, what it waits for is not kept. */
const WAITING_MAX = 200_000;

export type LeaderboardParts = {
  database: Database;
  traders: Traders;
  profiles: Profiles;
  worth: Worth;
  /** In milliseconds, of this process. */
  clock?: () => number;
};

export class Leaderboard {
  readonly #parts: LeaderboardParts;
  readonly #clock: () => number;
  readonly #ids: IdOrder;
  /** By days, the least lately asked first. */
  readonly #windows = new Map<number, WindowSums>();
  readonly #boards = new Map<number | null, Board>();

  constructor(parts: LeaderboardParts) {
    this.#parts = parts;
    this.#clock = parts.clock ?? (() => performance.now());
    this.#ids = new IdOrder(parts.traders);
  }

  note(change: Change): void {
    for (const [days, window] of this.#windows) {
      window.note(change);
      if (window.waiting > WAITING_MAX) this.#forget(days);
    }
  }

  page({ board: kind, days, limit, after, nowMs }: LeaderboardQuestion): LeaderboardPage {
    invariant(limit > 0, 'a page of nothing is asked for');
    const board = this.#boardOf(days, nowMs);
    const ranking = this.#rankingOf(board, kind);
    const { order, values } = ranking;
    const rows: LeaderboardRow[] = [];
    let place = after === null ? 0 : this.#placeBehind(ranking, after);
    for (; place < order.length && rows.length < limit; place++) {
      // Who has become private since is left out at once.
      if (this.#parts.profiles.isListed(order[place]!)) rows.push(this.#rowOf(board, kind, place));
    }
    const isEnd = place >= order.length;
    const last = isEnd
      ? null
      : { value: values[place - 1]!, trader: this.#idOf(order[place - 1]!) };
    return { rows, next: last, asOfMs: board.asOfMs };
  }

  /** A listed trader's rank of all time by P&L, as it is now; null: it has none. Rule Y25. */
  rankOf(trader: TraderNumber): number | null {
    const { traders, profiles } = this.#parts;
    const { closed, pnl_cents } = traders.col;
    if (closed[trader] === 0 || !profiles.isListed(trader)) return null;
    const own = pnl_cents[trader]!;
    let above = 0;
    for (let other = 0; other < traders.end; other++) {
      const value = pnl_cents[other]!;
      if (value < own || closed[other] === 0 || other === trader) continue;
      if (value === own && traders.compareIds(other, trader) > 0) continue;
      if (profiles.isListed(other)) above++;
    }
    return above + 1;
  }

  #boardOf(days: number | null, nowMs: EpochMs): Board {
    const known = this.#boards.get(days);
    if (known !== undefined && this.#clock() < known.freshUntil) return known;
    const began = this.#clock();
    const board: Board = {
      sums: days === null ? sumsOfAll(this.#parts.traders) : this.#sumsOf(days, nowMs),
      asOfMs: nowMs,
      freshUntil: 0,
      rankings: new Map(),
    };
    this.#boards.set(days, board);
    const took = this.#clock() - began;
    board.freshUntil = this.#clock() + Math.max(FRESH_MS, REST_FACTOR * took);
    return board;
  }

  #sumsOf(days: number, nowMs: EpochMs): Sums {
    const { database, traders } = this.#parts;
    const window = this.#windows.get(days) ?? new WindowSums(database, days);
    // The last in the map is the one that was asked for last.
    this.#windows.delete(days);
    this.#windows.set(days, window);
    const [oldest] = this.#windows.keys();
    if (this.#windows.size > WINDOWS_MAX) this.#forget(oldest!);
    window.moveTo(nowMs, traders.end);
    return window.sums;
  }

  #forget(days: number): void {
    this.#windows.delete(days);
    this.#boards.delete(days);
  }

  #rankingOf(board: Board, kind: BoardKind): Ranking {
    const known = board.rankings.get(kind);
    if (known !== undefined) return known;
    const { profiles, worth } = this.#parts;
    const { closed, pnl_cents, cost_cents } = board.sums;
    const worths = kind === 'net_worth' ? worth.ofAll() : null;
    const isMember = (trader: TraderNumber) =>
      profiles.isListed(trader) && (worths !== null || (closed[trader] ?? 0) > 0);
    const rankedBy = (trader: TraderNumber) => {
      if (worths !== null) return worths[trader]!;
      const pnl = pnl_cents[trader]!;
      return kind === 'pnl' ? pnl : (roiHundredths(pnl, cost_cents[trader]!) ?? 0);
    };
    const ranking = ranked(this.#ids.get().filter(isMember), rankedBy);
    board.rankings.set(kind, ranking);
    return ranking;
  }

  #placeBehind(ranking: Ranking, { value, trader }: BoardPlace): number {
    const id = uuidBytes(trader);
    return placeBehind(ranking, value, (other) => {
      return Buffer.compare(this.#parts.traders.idBytes(other), id) > 0;
    });
  }

  #rowOf({ sums, rankings }: Board, kind: BoardKind, place: number): LeaderboardRow {
    const { traders, worth } = this.#parts;
    const { order, values } = rankings.get(kind)!;
    const trader = order[place]!;
    const sum = (name: keyof Sums) => sums[name][trader] ?? 0;
    return {
      rank: place + 1,
      trader: this.#idOf(trader),
      pnlCents: sum('pnl_cents'),
      costCents: sum('cost_cents'),
      worthCents: kind === 'net_worth' ? values[place]! : worth.of(trader),
      won: sum('won'),
      lost: sum('lost'),
      void: sum('void'),
      resets: traders.col.run[trader]! - 1,
      busts: traders.col.busts[trader]!,
    };
  }

  #idOf(trader: TraderNumber): Uuid {
    return this.#parts.traders.idOf(trader);
  }
}

/** 100 × P&L / cost in hundredths, halves away from 0; null: nothing was paid. Rule Y24. */
export function roiHundredths(pnlCents: Cents, costCents: Cents): number | null {
  if (costCents === 0) return null;
  invariant(costCents > 0, 'trades cost less than nothing');
  const hundredths = Math.round((10_000 * Math.abs(pnlCents)) / costCents);
  return pnlCents < 0 ? -hundredths || 0 : hundredths;
}

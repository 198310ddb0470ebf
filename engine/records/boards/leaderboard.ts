/**
 * The leaderboard: rankings of a window, made on request and kept while they are fresh, so that a
 * page is a look into an array. Rules Y20 to Y25 (engine/RULES.md).
 */
import { invariant } from '../../base/invariant.ts';
import type { Cents, EpochMs, Uuid } from '../../base/units.ts';
import { roiHundredths } from '../maths/roi.ts';
import type { ClosedTradeReader } from '../store/closed-trade-blocks.ts';
import type { Profiles } from '../store/profiles.ts';
import type { TraderNumber } from '../store/trader-ids.ts';
import type { Traders } from '../store/traders.ts';
import type { Change } from '../store/trades.ts';
import type { Worth } from '../store/worth.ts';
import { type IdOrder, isBehindId, placeBehind, type Ranking, ranked } from './ranking.ts';
import type { Freshness, RefreshBudget } from './refresh-budget.ts';
import { type Fills, Sums, WindowSums } from './windows.ts';

export const BOARD_KINDS = ['pnl', 'roi', 'net_worth'] as const;
export type BoardKind = (typeof BOARD_KINDS)[number];

/**
 * A place on a board: a value, and its trader. The next page begins after it, wherever the board
 * moves.
 */
export type BoardPlace = { value: number; trader: Uuid };

export type LeaderboardQuestion = {
  board: BoardKind;
  /** Null: all of time. */
  days: number | null;
  /** All when left out. */
  fills?: Fills;
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

type Of = Pick<LeaderboardQuestion, 'days' | 'fills' | 'nowMs'>;

const keyOf = ({ days, fills = 'all' }: Of) => `${days} ${fills}`;
const isRealistic = ({ fills }: Of) => fills === 'realistic';

type Board = {
  sums: Sums;
  asOfMs: EpochMs;
  freshness: Freshness;
  rankings: Map<BoardKind, Ranking>;
};

/** 48 bytes per trader, and 12 for each ranking. */
const WINDOWS_MAX = 4;
/** If no request names a window any more, the changes that wait for it are dropped. */
const WAITING_MAX = 200_000;

export type LeaderboardParts = {
  closedTrades: ClosedTradeReader;
  traders: Traders;
  ids: IdOrder;
  profiles: Profiles;
  worth: Worth;
  pace: RefreshBudget;
};

export class Leaderboard {
  readonly #parts: LeaderboardParts;
  /** By `keyOf`, the one asked for longest ago first. */
  readonly #windows = new Map<string, WindowSums>();
  readonly #boards = new Map<string, Board>();

  constructor(parts: LeaderboardParts) {
    this.#parts = parts;
  }

  note(change: Change): void {
    for (const [key, window] of this.#windows) {
      window.note(change);
      if (window.waiting > WAITING_MAX) this.#forget(key);
    }
  }

  /** From now on nothing is ranked by live bids. Rule V8 (api/RULES.md). */
  forgetWorths(): void {
    for (const { rankings } of this.#boards.values()) rankings.delete('net_worth');
  }

  page({ board: kind, limit, after, ...of }: LeaderboardQuestion): LeaderboardPage {
    invariant(limit > 0, 'a page of no rows is asked for');
    const { traders, profiles } = this.#parts;
    const board = this.#boardOf(of);
    const ranking = this.#rankingOf(board, kind);
    const { order, values } = ranking;
    const rows: LeaderboardRow[] = [];
    let place =
      after === null ? 0 : placeBehind(ranking, after.value, isBehindId(traders.ids, after.trader));
    for (; place < order.length && rows.length < limit; place++) {
      // A trader who has become private since is left out at once.
      if (profiles.isListed(order[place]!)) rows.push(this.#rowOf(board, kind, place));
    }
    const isEnd = place >= order.length;
    const last = isEnd
      ? null
      : { value: values[place - 1]!, trader: this.#idOf(order[place - 1]!) };
    return { rows, next: last, asOfMs: board.asOfMs };
  }

  #boardOf(of: Of): Board {
    const { pace, traders } = this.#parts;
    const key = keyOf(of);
    const known = this.#boards.get(key);
    if (known !== undefined && !pace.isDue(known.freshness)) return known;
    const { made: sums, freshness } = pace.make(() => {
      return of.days === null && !isRealistic(of) ? Sums.ofAll(traders) : this.#sumsOf(of);
    });
    const board: Board = { sums, asOfMs: of.nowMs, freshness, rankings: new Map() };
    this.#boards.set(key, board);
    return board;
  }

  #sumsOf(of: Of): Sums {
    const { closedTrades, traders } = this.#parts;
    const key = keyOf(of);
    const known = this.#windows.get(key);
    const window = known ?? new WindowSums(closedTrades, of.days, isRealistic(of));
    // In order of use: the last one was asked for last.
    this.#windows.delete(key);
    this.#windows.set(key, window);
    const [oldest] = this.#windows.keys();
    if (this.#windows.size > WINDOWS_MAX) this.#forget(oldest!);
    window.moveTo(of.nowMs, traders.end);
    return window.sums;
  }

  #forget(key: string): void {
    this.#windows.delete(key);
    this.#boards.delete(key);
  }

  #rankingOf(board: Board, kind: BoardKind): Ranking {
    const known = board.rankings.get(kind);
    if (known !== undefined) return known;
    const { pace } = this.#parts;
    const { made, freshness } = pace.make(() => this.#ranked(board.sums, kind), board.freshness);
    board.freshness = freshness;
    board.rankings.set(kind, made);
    return made;
  }

  #ranked(sums: Sums, kind: BoardKind): Ranking {
    const { traders, profiles, worth, ids } = this.#parts;
    const worths = kind === 'net_worth' ? worth.ofAll() : null;
    return ranked(ids, {
      end: traders.end,
      isMember: (trader) =>
        profiles.isListed(trader) && (worths !== null || sums.get(trader, 'closed') > 0),
      rankedBy: (trader) => {
        if (worths !== null) return worths[trader]!;
        const pnl = sums.get(trader, 'pnl_cents');
        if (kind === 'pnl') return pnl;
        return roiHundredths(pnl, sums.get(trader, 'cost_cents')) ?? 0;
      },
      isAscending: false,
    });
  }

  #rowOf({ sums, rankings }: Board, kind: BoardKind, place: number): LeaderboardRow {
    const { traders, worth } = this.#parts;
    const { order, values } = rankings.get(kind)!;
    const trader = order[place]!;
    return {
      rank: place + 1,
      trader: this.#idOf(trader),
      pnlCents: sums.get(trader, 'pnl_cents'),
      costCents: sums.get(trader, 'cost_cents'),
      worthCents: kind === 'net_worth' ? values[place]! : worth.of(trader),
      won: sums.get(trader, 'won'),
      lost: sums.get(trader, 'lost'),
      void: sums.get(trader, 'void'),
      resets: traders.col.run[trader]! - 1,
      busts: traders.col.busts[trader]!,
    };
  }

  #idOf(trader: TraderNumber): Uuid {
    return this.#parts.traders.ids.idOf(trader);
  }
}

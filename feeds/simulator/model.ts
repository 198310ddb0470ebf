/**
 * One simulated venue as a stream of native frames, without sockets and without a clock: the same
 * schedule and the same times give the same frames. Rules N1 to N11, W100 (feeds/FORMATS.md).
 *
 * Prices, pauses, starts and results are pure functions of the time (schedule.ts, price-walk.ts).
 * The model only keeps the last sent values, and sends changes. For subscribers that follow levels it
 * also keeps what trades have taken of them (W100).
 */
import type { EpochMs, GameStatus, MarketStatus, Side } from '../../engine/base/units.ts';
import { isoOf } from '../../engine/base/units.ts';
import { gameStatusAt, keyOfTicker, type SimVenue, tickerOf } from './catalog-file.ts';
import {
  levelsAt,
  pausedAt,
  quoteAt,
  type SimLevels,
  type SimQuote,
  type SimTrade,
  sizeTurn,
  tradeAt,
  tradeTurn,
} from './price-walk.ts';
import {
  gameOfKey,
  gamesBetween,
  type Schedule,
  type SimGame,
  type SimMarket,
} from './schedule.ts';

export type SimResult = 'yes' | 'no' | 'void';

/** A native frame before a connection numbers it. */
export type NativeFrame =
  | {
      type: 'snapshot';
      market: string;
      status: MarketStatus;
      yesBids: [priceCents: number, contracts: number][];
      yesAsks: [priceCents: number, contracts: number][];
    }
  | ({ type: 'quote'; market: string; at: string } & SimQuote)
  | {
      type: 'level';
      market: string;
      side: Side;
      priceCents: number;
      contracts: number;
      at: string;
    }
  | {
      type: 'trade';
      market: string;
      yesPriceCents: number;
      contracts: number;
      side: Side;
      at: string;
    }
  | { type: 'status'; market: string; status: MarketStatus }
  | { type: 'status'; market: string; status: 'resolved'; result: SimResult }
  | { type: 'game'; game: string; status: GameStatus }
  | { type: 'heartbeat' };

/** Values set by an operator or a test. Absent values are simulated. */
type Override = { status?: 'open' | 'paused'; result?: SimResult; quote?: SimQuote };

export type Model = {
  /** Time of the last step. */
  atMs(): EpochMs;
  /**
   * Moves the time on and returns the changes. A time in the past changes nothing. `ofLevels` gets
   * the changes for subscribers that follow levels; null: there are none.
   */
  step(nowMs: EpochMs, ofLevels?: NativeFrame[] | null): NativeFrame[];
  /** Markets that `*` means: open ones and ones resolved within the last hour. */
  markets(): string[];
  /**
   * The first frames for a new subscriber of a market; null when there is no such market.
   * `withLevels`: it follows levels.
   */
  introduce(market: string, withLevels?: boolean): NativeFrame[] | null;
  /** The levels of an open market, as they were last sent; null when there is no such market. */
  levels(market: string): SimLevels | null;
  /** Slug of a market's game; null when there is no such market. */
  gameOf(market: string): string | null;
  /** Takes effect, and is sent, with the next step. @throws when there is no such market. */
  override(market: string, change: Override): void;
  /** Ends the values that `hold` has set: the market is simulated again. */
  release(market: string): void;
};

type MarketState = {
  status: MarketStatus;
  result: SimResult | null;
  quote: SimQuote;
  levels: SimLevels;
};

const REMEMBERED_MS = 3_600_000;
/** How far ahead a market can be subscribed to. */
const AHEAD_MS = 14 * 24 * 3_600_000;
const EMPTY: SimQuote = {
  yesBidCents: null,
  yesBidContracts: 0,
  yesAskCents: null,
  yesAskContracts: 0,
};

export type ModelOptions = {
  /** Markets are sent as whole snapshots with levels, and not by their top alone. */
  depth?: boolean;
  /** Venues pause markets now and then; they do unless this is false. */
  pauses?: boolean;
};

export function createModel(
  schedule: Schedule,
  venue: SimVenue,
  startMs: EpochMs,
  options: ModelOptions = {},
): Model {
  return new SimulatedVenue(schedule, venue, startMs, options);
}

class SimulatedVenue implements Model {
  readonly #schedule: Schedule;
  readonly #venue: SimVenue;
  readonly #depth: boolean;
  readonly #pauses: boolean;
  readonly #overrides = new Map<string, Override>();
  /** The last sent values, by ticker and by game. */
  readonly #saidOfMarkets = new Map<string, MarketState>();
  readonly #saidOfGames = new Map<string, GameStatus>();
  /** Of markets whose levels somebody follows, by ticker. */
  readonly #followed = new Map<string, FollowedBook>();
  #atMs: EpochMs;

  constructor(
    schedule: Schedule,
    venue: SimVenue,
    startMs: EpochMs,
    { depth = false, pauses = true }: ModelOptions,
  ) {
    this.#schedule = schedule;
    this.#venue = venue;
    this.#depth = depth;
    this.#pauses = pauses;
    this.#atMs = startMs;
    this.step(startMs); // nobody listens yet: later steps report changes from here
  }

  atMs(): EpochMs {
    return this.#atMs;
  }

  step(nowMs: EpochMs, ofLevels: NativeFrame[] | null = null): NativeFrame[] {
    if (ofLevels === null) this.#followed.clear();
    const lastMs = this.#atMs;
    const atMs = Math.max(lastMs, nowMs);
    this.#atMs = atMs;
    const frames: NativeFrame[] = [];
    const newTurn = tradeTurn(atMs) > tradeTurn(lastMs);
    const fromMs = Math.min(lastMs, atMs - REMEMBERED_MS);
    for (const game of gamesBetween(this.#schedule, fromMs, atMs)) {
      for (const market of game.markets) {
        frames.push(...this.#stepMarket(game, market, { newTurn, ofLevels }));
      }
      const status = gameStatusAt(game, atMs);
      if (status !== (this.#saidOfGames.get(game.slug) ?? 'scheduled')) {
        frames.push({ type: 'game', game: game.slug, status });
        ofLevels?.push({ type: 'game', game: game.slug, status });
      }
      this.#saidOfGames.set(game.slug, status);
      if (game.resolvesAtMs < atMs - REMEMBERED_MS) this.#forget(game);
    }
    return frames;
  }

  markets(): string[] {
    return [...this.#saidOfMarkets.keys()];
  }

  introduce(ticker: string, withLevels = false): NativeFrame[] | null {
    const found = this.#find(ticker);
    if (found === null) return null;
    const { game, market } = found;
    const state = this.#saidOfMarkets.get(ticker) ?? this.#stateAt(game, market);
    const frames = withLevels
      ? introduction(ticker, state, this.#follow(ticker, state).shown())
      : introduction(ticker, state, this.#shown(state));
    const status = gameStatusAt(game, this.#atMs);
    return status === 'scheduled' ? frames : [...frames, { type: 'game', game: game.slug, status }];
  }

  levels(ticker: string): SimLevels | null {
    return this.#saidOfMarkets.get(ticker)?.levels ?? null;
  }

  gameOf(ticker: string): string | null {
    return this.#find(ticker)?.game.slug ?? null;
  }

  override(ticker: string, change: Override): void {
    if (this.#find(ticker) === null) throw new Error(`no simulated market ${ticker}`);
    this.#overrides.set(ticker, { ...this.#overrides.get(ticker), ...change });
  }

  release(ticker: string): void {
    this.#overrides.delete(ticker);
  }

  #find(ticker: string): { game: SimGame; market: SimMarket } | null {
    const key = keyOfTicker(this.#venue, ticker);
    const game = key === undefined ? undefined : gameOfKey(this.#schedule, key);
    if (game === undefined || game.listedAtMs > this.#atMs + AHEAD_MS) return null;
    return { game, market: game.markets.find((market) => market.key === key)! };
  }

  #stateAt(game: SimGame, market: SimMarket): MarketState {
    const { seed } = this.#schedule;
    const venue = this.#venue;
    const atMs = this.#atMs;
    const changed = this.#overrides.get(tickerOf(venue, market.key)) ?? {};
    const paused = this.#pauses && pausedAt(seed, venue, market, atMs);
    const moment = { game, market, atMs };
    const { status, result, quote } = marketStateAt(seed, venue, moment, {
      status: paused ? 'paused' : 'open',
      ...changed,
    });
    return { status, result, quote, levels: levelsAt(seed, venue, market, quote, atMs) };
  }

  /** What subscribers get that do not follow levels. */
  #shown({ quote, levels }: MarketState): SimLevels {
    return this.#depth ? levels : topOf(quote);
  }

  /** The book that followers of a market know, which is the present one at first. */
  #follow(ticker: string, { levels }: MarketState): FollowedBook {
    const known = this.#followed.get(ticker);
    if (known !== undefined) return known;
    const book = new FollowedBook(levels, this.#atMs);
    this.#followed.set(ticker, book);
    return book;
  }

  #stepMarket(
    game: SimGame,
    market: SimMarket,
    { newTurn, ofLevels }: { newTurn: boolean; ofLevels: NativeFrame[] | null },
  ): NativeFrame[] {
    const atMs = this.#atMs;
    const ticker = tickerOf(this.#venue, market.key);
    const before = this.#saidOfMarkets.get(ticker);
    const now = this.#stateAt(game, market);
    this.#saidOfMarkets.set(ticker, now);
    if (before === undefined) {
      if (ofLevels !== null) {
        ofLevels.push(...introduction(ticker, now, this.#follow(ticker, now).shown()));
      }
      return introduction(ticker, now, this.#shown(now));
    }
    const ended = changedStatus(ticker, before, now);
    const at = isoOf(atMs);
    const trade =
      newTurn && now.status === 'open'
        ? tradeAt(this.#schedule.seed, this.#venue, market, now.quote, atMs)
        : null;
    if (ofLevels !== null) {
      const book = this.#follow(ticker, before);
      for (const level of book.move(now.levels, atMs)) {
        ofLevels.push({ type: 'level', market: ticker, ...level, at });
      }
      ofLevels.push(...ended);
      const taken = trade === null ? null : book.take(trade);
      if (taken !== null) {
        ofLevels.push({ type: 'level', market: ticker, ...taken.level, at });
        ofLevels.push({ type: 'trade', market: ticker, ...taken.trade, at });
      }
    }
    const frames = [...changes(ticker, before, now, this.#depth, atMs), ...ended];
    if (trade !== null) frames.push({ type: 'trade', market: ticker, ...trade, at });
    return frames;
  }

  #forget(game: SimGame): void {
    this.#saidOfGames.delete(game.slug);
    for (const market of game.markets) {
      this.#saidOfMarkets.delete(tickerOf(this.#venue, market.key));
      this.#followed.delete(tickerOf(this.#venue, market.key));
    }
  }
}

function marketStateAt(
  seed: number,
  venue: SimVenue,
  { game, market, atMs }: { game: SimGame; market: SimMarket; atMs: EpochMs },
  changed: Override & Required<Pick<Override, 'status'>>,
): Omit<MarketState, 'levels'> {
  const result = changed.result ?? (atMs >= game.resolvesAtMs ? market.result : null);
  const listed = atMs >= game.listedAtMs && atMs < game.endsAtMs;
  if (result !== null || !listed) return { status: 'closed', result, quote: EMPTY };
  return {
    status: changed.status,
    result,
    quote: changed.quote ?? quoteAt(seed, venue, game, market, atMs),
  };
}

/** A resolved market is sent as closed and empty, then its result. */
function introduction(
  ticker: string,
  { status, result }: MarketState,
  levels: SimLevels,
): NativeFrame[] {
  const snapshot: NativeFrame = { type: 'snapshot', market: ticker, status, ...levels };
  if (result === null) return [snapshot];
  return [snapshot, { type: 'status', market: ticker, status: 'resolved', result }];
}

function topOf({
  yesBidCents,
  yesBidContracts,
  yesAskCents,
  yesAskContracts,
}: SimQuote): SimLevels {
  return {
    yesBids: yesBidCents === null ? [] : [[yesBidCents, yesBidContracts]],
    yesAsks: yesAskCents === null ? [] : [[yesAskCents, yesAskContracts]],
  };
}

function changes(
  ticker: string,
  before: MarketState,
  now: MarketState,
  depth: boolean,
  atMs: EpochMs,
): NativeFrame[] {
  const frames: NativeFrame[] = [];
  if (depth && !sameLevels(before.levels, now.levels)) {
    frames.push({ type: 'snapshot', market: ticker, status: now.status, ...now.levels });
  } else if (!depth && !sameQuote(before.quote, now.quote)) {
    frames.push({ type: 'quote', market: ticker, ...now.quote, at: isoOf(atMs) });
  }
  return frames;
}

function changedStatus(ticker: string, before: MarketState, now: MarketState): NativeFrame[] {
  if (now.result !== before.result && now.result !== null) {
    return [{ type: 'status', market: ticker, status: 'resolved', result: now.result }];
  }
  return now.status === before.status
    ? []
    : [{ type: 'status', market: ticker, status: now.status }];
}

/** One level of a book whose sides are both bids, with its size from now on. */
type ToldLevel = { side: Side; priceCents: number; contracts: number };

const SIDES = ['yes', 'no'] as const;

/**
 * A book as its followers know it: what trades take stays away until the market's sizes are drawn
 * again. Rule W100 (feeds/FORMATS.md).
 */
class FollowedBook {
  /** By price in cents. */
  #sizes: Record<Side, Map<number, number>>;
  #taken: Record<Side, Map<number, number>> = { yes: new Map(), no: new Map() };
  #turn: number;

  constructor(levels: SimLevels, atMs: EpochMs) {
    this.#sizes = bidsOf(levels);
    this.#turn = sizeTurn(atMs);
  }

  /** Best first. */
  shown(): SimLevels {
    const best = (sizes: Map<number, number>) => [...sizes].sort(([a], [b]) => b - a);
    return {
      yesBids: best(this.#sizes.yes),
      yesAsks: best(this.#sizes.no).map(([cents, contracts]) => [100 - cents, contracts]),
    };
  }

  /** To the present levels. Sizes fall before others rise, so the book never crosses on its way. */
  move(levels: SimLevels, atMs: EpochMs): ToldLevel[] {
    if (sizeTurn(atMs) !== this.#turn) this.#taken = { yes: new Map(), no: new Map() };
    this.#turn = sizeTurn(atMs);
    const now = bidsOf(levels);
    const [falling, rising]: [ToldLevel[], ToldLevel[]] = [[], []];
    for (const side of SIDES) {
      for (const [cents, taken] of this.#taken[side]) {
        const left = (now[side].get(cents) ?? 0) - taken;
        if (left > 0) now[side].set(cents, left);
        else now[side].delete(cents);
      }
      for (const priceCents of new Set([...this.#sizes[side].keys(), ...now[side].keys()])) {
        const before = this.#sizes[side].get(priceCents) ?? 0;
        const contracts = now[side].get(priceCents) ?? 0;
        if (contracts === before) continue;
        (contracts < before ? falling : rising).push({ side, priceCents, contracts });
      }
    }
    this.#sizes = now;
    return [...falling, ...rising];
  }

  /** A taker's trade meets the bids of the other side. Null: nothing is displayed there. */
  take(trade: SimTrade): { level: ToldLevel; trade: SimTrade } | null {
    const side = trade.side === 'yes' ? 'no' : 'yes';
    const priceCents = side === 'yes' ? trade.yesPriceCents : 100 - trade.yesPriceCents;
    const shown = this.#sizes[side].get(priceCents) ?? 0;
    const contracts = Math.min(shown, trade.contracts);
    if (contracts === 0) return null;
    const taken = this.#taken[side];
    taken.set(priceCents, (taken.get(priceCents) ?? 0) + contracts);
    if (contracts === shown) this.#sizes[side].delete(priceCents);
    else this.#sizes[side].set(priceCents, shown - contracts);
    const level = { side, priceCents, contracts: shown - contracts } as const;
    return { level, trade: { ...trade, contracts } };
  }
}

function bidsOf({ yesBids, yesAsks }: SimLevels): Record<Side, Map<number, number>> {
  return {
    yes: new Map(yesBids),
    no: new Map(yesAsks.map(([cents, size]) => [100 - cents, size])),
  };
}

function sameLevels(a: SimLevels, b: SimLevels): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function sameQuote(a: SimQuote, b: SimQuote): boolean {
  return (
    a.yesBidCents === b.yesBidCents &&
    a.yesBidContracts === b.yesBidContracts &&
    a.yesAskCents === b.yesAskCents &&
    a.yesAskContracts === b.yesAskContracts
  );
}

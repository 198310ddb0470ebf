/**
 * One simulated venue as a stream of native frames, without sockets and without a clock: the same
 * schedule and the same times give the same frames. Rules N1 to N11 (feeds/FORMATS.md).
 *
 * Prices, pauses, starts and results are pure functions of the time (schedule.ts, price-walk.ts).
 * The model only keeps the last sent values, and sends changes.
 */
import type { EpochMs, GameStatus, MarketStatus } from '../../engine/base/units.ts';
import { isoOf } from '../../engine/base/units.ts';
import { gameStatusAt, keyOfTicker, type SimVenue, tickerOf } from './catalog-file.ts';
import {
  levelsAt,
  pausedAt,
  quoteAt,
  type SimLevels,
  type SimQuote,
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
      type: 'trade';
      market: string;
      yesPriceCents: number;
      contracts: number;
      side: 'yes' | 'no';
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
  /** Moves the time on and returns the changes. A time in the past changes nothing. */
  step(nowMs: EpochMs): NativeFrame[];
  /** Markets that `*` means: open ones and ones resolved within the last hour. */
  markets(): string[];
  /** The first frames for a new subscriber of a market; null when there is no such market. */
  introduce(market: string): NativeFrame[] | null;
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

  step(nowMs: EpochMs): NativeFrame[] {
    const lastMs = this.#atMs;
    const atMs = Math.max(lastMs, nowMs);
    this.#atMs = atMs;
    const frames: NativeFrame[] = [];
    const newTurn = tradeTurn(atMs) > tradeTurn(lastMs);
    const fromMs = Math.min(lastMs, atMs - REMEMBERED_MS);
    for (const game of gamesBetween(this.#schedule, fromMs, atMs)) {
      for (const market of game.markets) frames.push(...this.#stepMarket(game, market, newTurn));
      const status = gameStatusAt(game, atMs);
      if (status !== (this.#saidOfGames.get(game.slug) ?? 'scheduled')) {
        frames.push({ type: 'game', game: game.slug, status });
      }
      this.#saidOfGames.set(game.slug, status);
      if (game.resolvesAtMs < atMs - REMEMBERED_MS) this.#forget(game);
    }
    return frames;
  }

  markets(): string[] {
    return [...this.#saidOfMarkets.keys()];
  }

  introduce(ticker: string): NativeFrame[] | null {
    const found = this.#find(ticker);
    if (found === null) return null;
    const { game, market } = found;
    const state = this.#saidOfMarkets.get(ticker) ?? this.#stateAt(game, market);
    const frames = introduction(ticker, state);
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
    const levels = this.#depth ? levelsAt(seed, venue, market, quote, atMs) : topOf(quote);
    return { status, result, quote, levels };
  }

  #stepMarket(game: SimGame, market: SimMarket, newTurn: boolean): NativeFrame[] {
    const atMs = this.#atMs;
    const ticker = tickerOf(this.#venue, market.key);
    const before = this.#saidOfMarkets.get(ticker);
    const now = this.#stateAt(game, market);
    this.#saidOfMarkets.set(ticker, now);
    if (before === undefined) return introduction(ticker, now);
    const frames = changes(ticker, before, now, this.#depth, atMs);
    if (newTurn && now.status === 'open') {
      const trade = tradeAt(this.#schedule.seed, this.#venue, market, now.quote, atMs);
      if (trade !== null) frames.push({ type: 'trade', market: ticker, ...trade, at: isoOf(atMs) });
    }
    return frames;
  }

  #forget(game: SimGame): void {
    this.#saidOfGames.delete(game.slug);
    for (const market of game.markets) {
      this.#saidOfMarkets.delete(tickerOf(this.#venue, market.key));
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
function introduction(ticker: string, state: MarketState): NativeFrame[] {
  const { result } = state;
  const snapshot = snapshotOf(ticker, state);
  if (result === null) return [snapshot];
  return [snapshot, { type: 'status', market: ticker, status: 'resolved', result }];
}

function snapshotOf(ticker: string, { status, levels }: MarketState): NativeFrame {
  return { type: 'snapshot', market: ticker, status, ...levels };
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
    frames.push(snapshotOf(ticker, now));
  } else if (!depth && !sameQuote(before.quote, now.quote)) {
    frames.push({ type: 'quote', market: ticker, ...now.quote, at: isoOf(atMs) });
  }
  if (now.result !== before.result && now.result !== null) {
    frames.push({ type: 'status', market: ticker, status: 'resolved', result: now.result });
  } else if (now.status !== before.status) {
    frames.push({ type: 'status', market: ticker, status: now.status });
  }
  return frames;
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

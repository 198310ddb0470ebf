/**
 * The quote of a simulated market at a time: a fair value that wanders around its base, moves
 * towards the result while the game is played, and has a spread of 1 to 4 cents. Prices are seeded
 * floats here; quotes are in whole cents.
 */
import type { EpochMs } from '../../engine/base/units.ts';
import { draw, drawBetween, keyOf, noise } from './random.ts';
import type { SimGame, SimMarket } from './schedule.ts';

/** Top of book in whole cents and contracts; a null price is an empty side, its size 0. */
export type SimQuote = {
  yesBidCents: number | null;
  yesBidContracts: number;
  yesAskCents: number | null;
  yesAskContracts: number;
};

/** Levels in whole cents and contracts, best first. */
export type SimLevels = { yesBids: SimLevel[]; yesAsks: SimLevel[] };
type SimLevel = [priceCents: number, contracts: number];

export type SimTrade = { yesPriceCents: number; contracts: number; side: 'yes' | 'no' };

const SECOND = 1000;
const MINUTE = 60 * SECOND;

const LANE = {
  slow: 0,
  medium: 1,
  fast: 2,
  spread: 3,
  bidSize: 4,
  askSize: 5,
  trade: 6,
  tradeSide: 7,
  tradeSize: 8,
  pause: 9,
  pauseOffset: 10,
  pauseLength: 11,
  bidDepth: 12,
  askDepth: 13,
} as const;

/**
 * The fair value in cents. The fast part moves about a cent every few seconds, so that a limit
 * order a cent inside the book usually fills soon.
 */
function fairCents(seed: number, game: SimGame, market: SimMarket, atMs: EpochMs): number {
  const key = keyOf(seed, market.key);
  const wander =
    9 * noise(key, LANE.slow, atMs, 40 * MINUTE) +
    3 * noise(key, LANE.medium, atMs, 2 * MINUTE) +
    2 * noise(key, LANE.fast, atMs, 3 * SECOND);
  const played = (atMs - game.startsAtMs) / (game.endsAtMs - game.startsAtMs);
  const progress = Math.min(1, Math.max(0, played)) ** 2;
  const target = market.result === 'yes' ? 100 : market.result === 'no' ? 0 : market.baseCents;
  const mean = market.baseCents + (target - market.baseCents) * progress;
  return Math.min(99.7, Math.max(0.3, mean + wander * (1 - 0.9 * progress)));
}

/**
 * The quote of a venue. Venues share the fair value and differ by up to a cent and a half and by
 * their spreads. A side is empty only where its price would leave 1..99: at the very ends.
 */
export function quoteAt(
  seed: number,
  venue: string,
  game: SimGame,
  market: SimMarket,
  atMs: EpochMs,
): SimQuote {
  const key = keyOf(seed, `${venue} ${market.key}`);
  const lean = venue === 'venue_a' ? 0 : 1.5 * noise(key, LANE.slow, atMs, 45 * SECOND);
  const fair = Math.min(99.7, Math.max(0.3, fairCents(seed, game, market, atMs) + lean));
  const room = Math.max(1, Math.floor(Math.min(fair, 100 - fair)));
  const spread = Math.min(room, spreadCents(draw(key, LANE.spread, Math.floor(atMs / 8_000))));
  const bid = Math.round(fair - spread / 2);
  const ask = bid + spread;
  const turn = sizeTurn(atMs);
  return {
    yesBidCents: bid >= 1 ? bid : null,
    yesBidContracts: bid >= 1 ? drawBetween(key, LANE.bidSize, turn, 20, 600) : 0,
    yesAskCents: ask <= 99 ? ask : null,
    yesAskContracts: ask <= 99 ? drawBetween(key, LANE.askSize, turn, 20, 600) : 0,
  };
}

/** Levels of a side, its top included; each is a cent after the level before. */
const LEVELS = 5;

/** A quote with the levels after its top. */
export function levelsAt(
  seed: number,
  venue: string,
  market: SimMarket,
  quote: SimQuote,
  atMs: EpochMs,
): SimLevels {
  const key = keyOf(seed, `${venue} ${market.key}`);
  const side = (cents: number | null, contracts: number, lane: number, step: 1 | -1) => {
    if (cents === null) return [];
    const levels: SimLevel[] = [[cents, contracts]];
    for (let behind = 1; behind < LEVELS; behind++) {
      const priceCents = cents + step * behind;
      if (priceCents < 1 || priceCents > 99) break;
      levels.push([priceCents, drawBetween(key, lane, sizeTurn(atMs) * LEVELS + behind, 50, 900)]);
    }
    return levels;
  };
  return {
    yesBids: side(quote.yesBidCents, quote.yesBidContracts, LANE.bidDepth, -1),
    yesAsks: side(quote.yesAskCents, quote.yesAskContracts, LANE.askDepth, 1),
  };
}

/** Number of the two seconds for which sizes stay. */
export function sizeTurn(atMs: EpochMs): number {
  return Math.floor(atMs / (2 * SECOND));
}

function spreadCents(share: number): number {
  if (share < 0.35) return 1;
  if (share < 0.75) return 2;
  return share < 0.92 ? 3 : 4;
}

/** The trade of this half second against this quote, if there is one: about one in twelve. */
export function tradeAt(
  seed: number,
  venue: string,
  market: SimMarket,
  quote: SimQuote,
  atMs: EpochMs,
): SimTrade | null {
  const key = keyOf(seed, `${venue} ${market.key}`);
  const turn = tradeTurn(atMs);
  if (draw(key, LANE.trade, turn) >= 1 / 12) return null;
  // The taker buys yes at the ask, or no at the bid.
  const side = draw(key, LANE.tradeSide, turn) < 0.5 ? 'yes' : 'no';
  const yesPriceCents = side === 'yes' ? quote.yesAskCents : quote.yesBidCents;
  if (yesPriceCents === null) return null;
  return { yesPriceCents, contracts: drawBetween(key, LANE.tradeSize, turn, 1, 60), side };
}

/** Number of the half second; each has at most one trade a market. */
export function tradeTurn(atMs: EpochMs): number {
  return Math.floor(atMs / 500);
}

/** In one of six windows of ten minutes a venue pauses a market for 8 to 20 seconds. */
export function pausedAt(seed: number, venue: string, market: SimMarket, atMs: EpochMs): boolean {
  const key = keyOf(seed, `${venue} ${market.key}`);
  const window = Math.floor(atMs / (10 * MINUTE));
  if (draw(key, LANE.pause, window) >= 1 / 6) return false;
  const startsMs =
    window * 10 * MINUTE + drawBetween(key, LANE.pauseOffset, window, 60, 540) * SECOND;
  const lastsMs = drawBetween(key, LANE.pauseLength, window, 8, 20) * SECOND;
  return atMs >= startsMs && atMs < startsMs + lastsMs;
}

/**
 * The price of a trade now: live prices, both sides of a market, and routing. Rules T10 to T18, T80
 * to T87 (engine/RULES.md).
 *
 * Everything here is in asks. A book has two, the yes ask and the no ask. A side's bid is 100 minus
 * the other side's ask.
 */

import {
  type Action,
  type EpochMs,
  NO_PRICE,
  oppositeSide,
  PAYOUT_CENTS,
  type PriceCents,
  type Side,
  VENUES,
  type Venue,
} from '../base/units.ts';
import { closingMs } from './closing.ts';
import type { Book, CoreConfig, Market, Source } from './reference-data.ts';

/** Everything besides the markets that live prices depend on. The state of a shard satisfies it. */
export type PricingContext = {
  readonly config: Readonly<Pick<CoreConfig, 'quoteMaxAgeMs' | 'routingBandCents'>>;
  readonly sources: readonly (Readonly<Source> | undefined)[];
};

/** The part of a book that prices need. An order needs its price before its book may exist. */
export type PricedBook = Pick<Book, 'market' | 'routed'>;

/** Why a market has no live price, or null when it has one on at least one side. */
export type NotLive =
  | 'no quote'
  | 'stale'
  | 'crossed'
  | 'market paused'
  | 'market closed'
  | 'market resolved';

/** The two asks of a book, with their markets; `NO_PRICE` if there is none. */
export type BookPrice = {
  yesAskCents: PriceCents;
  yesAskMarket: Market;
  noAskCents: PriceCents;
  noAskMarket: Market;
};

export type SidePrice = { priceCents: PriceCents; market: Market };

/** `quoteMaxAgeMs` counts from the last heartbeat of the quote's connection. */
export function isFresh(source: Source, nowMs: EpochMs, quoteMaxAgeMs: number): boolean {
  return nowMs - source.lastHeardMs <= quoteMaxAgeMs;
}

/** The data that decides whether a market has a live price. */
export type QuotedMarket = Pick<
  Market,
  'outcome' | 'status' | 'closesAtMs' | 'venueClosesAtMs' | 'quote'
>;

/** Why `market` has no live price at `nowMs`. */
export function notLive(
  context: PricingContext,
  market: QuotedMarket,
  nowMs: EpochMs,
): NotLive | null {
  if (market.outcome !== null) return 'market resolved';
  if (market.status !== 'open') return `market ${market.status}`;
  if (nowMs >= closingMs(market)) return 'market closed';
  const { quote } = market;
  if (quote === null) return 'no quote';
  const source = context.sources[quote.source];
  if (source === undefined || source.epoch !== quote.epoch) return 'no quote';
  if (!isFresh(source, nowMs, context.config.quoteMaxAgeMs)) return 'stale';
  return quote.crossed ? 'crossed' : null;
}

/**
 * The current asks of a book, whether it exists or not: a market's, or an instrument's routed one.
 */
export function priceBook(
  context: PricingContext,
  { market, routed }: PricedBook,
  nowMs: EpochMs,
): BookPrice {
  const price: BookPrice = {
    yesAskCents: NO_PRICE,
    yesAskMarket: market,
    noAskCents: NO_PRICE,
    noAskMarket: market,
  };
  if (notLive(context, market, nowMs) !== null) return price;
  const quote = market.quote!;
  price.yesAskCents = quote.yesAskCents;
  price.noAskCents = complement(quote.yesBidCents);
  if (routed !== null) improve(context, { market, routed }, price, nowMs);
  return price;
}

/** 100 minus a price; an absent price stays absent. */
export function complement(price: PriceCents): PriceCents {
  return price === NO_PRICE ? NO_PRICE : PAYOUT_CENTS - price;
}

/** Takes better asks of the instrument's other venues. Rules T80 to T87 (engine/RULES.md). */
function improve(
  context: PricingContext,
  book: PricedBook,
  price: BookPrice,
  nowMs: EpochMs,
): void {
  for (const { market, askCents } of rivalsOf(context, book, 'yes', nowMs)) {
    if (askCents >= price.yesAskCents) continue;
    price.yesAskCents = askCents;
    price.yesAskMarket = market;
  }
  for (const { market, askCents } of rivalsOf(context, book, 'no', nowMs)) {
    if (askCents >= price.noAskCents) continue;
    price.noAskCents = askCents;
    price.noAskMarket = market;
  }
}

/** A market of another venue that may price a fill of `side` instead of the home market. */
export type Rival = {
  market: Market;
  /** The side of that market which means the requested side. */
  side: Side;
  askCents: PriceCents;
  /**
   * The highest useful ask. Others are no better than the home market's, or too far from its mid.
   */
  upToCents: PriceCents;
};

const NO_RIVALS: readonly Rival[] = [];

/**
 * The markets that offer `side` at a better price than the book's own, live market. Rules T80 to
 * T87 (engine/RULES.md).
 */
export function rivalsOf(
  context: PricingContext,
  { market: own, routed }: PricedBook,
  side: Side,
  nowMs: EpochMs,
): readonly Rival[] {
  const home = routed?.home ?? null;
  // The listings of an instrument that has moved to another market do not price this one.
  if (home === null || home.market !== own) return NO_RIVALS;
  const ownAsk = askIn(own, side);
  const otherAsk = askIn(own, oppositeSide(side));
  // Without both sides there is no mid, and so no allowed distance from it.
  if (ownAsk === NO_PRICE || otherAsk === NO_PRICE) return NO_RIVALS;
  const midSum = ownAsk + PAYOUT_CENTS - otherAsk;
  const band = 2 * context.config.routingBandCents;
  const upToCents = Math.min(ownAsk - 1, Math.floor((midSum + band) / 2));
  const rivals: Rival[] = [];
  for (const { market, polarity, eligible } of routed!.listings) {
    if (!eligible || notLive(context, market, nowMs) !== null) continue;
    const theirs = polarity === home.polarity ? side : oppositeSide(side);
    const askCents = askIn(market, theirs);
    if (askCents === NO_PRICE || askIn(market, oppositeSide(theirs)) === NO_PRICE) continue;
    if (askCents > upToCents || midSum - 2 * askCents > band) continue;
    rivals.push({ market, side: theirs, askCents, upToCents });
  }
  return rivals;
}

function askIn({ quote }: Market, side: Side): PriceCents {
  return side === 'yes' ? quote!.yesAskCents : complement(quote!.yesBidCents);
}

/** The ask of `side`, or null without an offer. */
export function askOf(price: BookPrice, side: Side): SidePrice | null {
  return side === 'yes'
    ? sidePrice(price.yesAskCents, price.yesAskMarket)
    : sidePrice(price.noAskCents, price.noAskMarket);
}

/** The bid of `side`: 100 minus the other side's ask. */
export function bidOf(price: BookPrice, side: Side): SidePrice | null {
  const ask = askOf(price, oppositeSide(side));
  return ask === null ? null : sidePrice(PAYOUT_CENTS - ask.priceCents, ask.market);
}

function sidePrice(priceCents: PriceCents, market: Market): SidePrice | null {
  return priceCents === NO_PRICE ? null : { priceCents, market };
}

/**
 * The price that a buy pays, or a sell receives, for a contract at an ask. Its own inverse: the ask
 * from that price.
 */
export function tradePrice(action: Action, askCents: PriceCents): PriceCents {
  return action === 'buy' ? askCents : PAYOUT_CENTS - askCents;
}

/** Whether `price` is at `limit` or better for the trader. */
export function reaches(action: Action, price: PriceCents, limit: PriceCents): boolean {
  return action === 'buy' ? price <= limit : price >= limit;
}

/**
 * The ask of a book that an order waits for, and its highest price: its ladder and its price level
 * (ladder.ts).
 */
export function restingPlace(
  action: Action,
  side: Side,
  limit: PriceCents,
): { waitsForAskOf: Side; priceLevel: PriceCents } {
  return action === 'buy'
    ? { waitsForAskOf: side, priceLevel: limit }
    : { waitsForAskOf: oppositeSide(side), priceLevel: PAYOUT_CENTS - limit };
}

/** The ladder number of a book's side. */
export function ladderOf(book: Book, waitsForAskOf: Side): number {
  return book.number * 2 + (waitsForAskOf === 'yes' ? 0 : 1);
}

/** Index of a venue in `VENUES`, as columns and events keep it. */
export function venueIndex(venue: Venue): number {
  return VENUE_INDEX[venue];
}

const VENUE_INDEX = Object.fromEntries(VENUES.map((venue, index) => [venue, index])) as Readonly<
  Record<Venue, number>
>;

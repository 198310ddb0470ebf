/**
 * What a trade costs now: live prices, both sides of a market, routing, and the fill model.
 * CONTRACT.md section 5, Prices, Live price, Market order, Routing best.
 *
 * All of it is said in asks. A book has two, the yes ask and the no ask; a side's bid is 100 minus
 * the other side's ask.
 */
import type { Book, Instrument, Market, ShardState, Source } from './state.ts';
import {
  type Action,
  type Contracts,
  type EpochMs,
  NO_PRICE,
  oppositeSide,
  PAYOUT_CENTS,
  type PriceCents,
  type Side,
  VENUES,
  type Venue,
} from './units.ts';

/** Why a market has no live price, or null when it has one on at least one side. */
export type NotLive =
  | 'no quote'
  | 'stale'
  | 'crossed'
  | 'market paused'
  | 'market closed'
  | 'market resolved';

/** The two asks of a book, with the venues they come from; `NO_PRICE` where there is none. */
export type BookPrice = {
  yesAskCents: PriceCents;
  yesAskVenue: Venue;
  noAskCents: PriceCents;
  noAskVenue: Venue;
};

export type SidePrice = { priceCents: PriceCents; venue: Venue };

/** Decides how much of an order trades at a live price. A part that CONTRACT.md names by word. */
export interface FillModel {
  readonly name: 'top_of_book';
  /** Contracts of `wanted` that fill at `price`. */
  fills(price: SidePrice, wanted: Contracts): Contracts;
}

/** The displayed size does not bound a fill; the paper balance is the limit. */
export const topOfBook: FillModel = {
  name: 'top_of_book',
  fills: (_price, wanted) => wanted,
};

/** `quoteMaxAgeMs` counts from when the venue was last heard from on that connection. */
export function isFresh(source: Source, nowMs: EpochMs, quoteMaxAgeMs: number): boolean {
  return nowMs - source.lastHeardMs <= quoteMaxAgeMs;
}

/** Why `market` has no live price at `nowMs`. */
export function notLive(state: ShardState, market: Market, nowMs: EpochMs): NotLive | null {
  if (market.outcome !== null) return 'market resolved';
  if (market.status !== 'open') return `market ${market.status}`;
  const { quote } = market;
  if (quote === null) return 'no quote';
  const source = state.sources[quote.source];
  if (source === undefined || source.epoch !== quote.epoch) return 'no quote';
  if (!isFresh(source, nowMs, state.config.quoteMaxAgeMs)) return 'stale';
  return quote.crossed ? 'crossed' : null;
}

/** The asks now of a book, made or not: a market's, or an instrument's routed one. */
export function priceBook(
  state: ShardState,
  { market, routed }: Pick<Book, 'market' | 'routed'>,
  nowMs: EpochMs,
): BookPrice {
  const price: BookPrice = {
    yesAskCents: NO_PRICE,
    yesAskVenue: market.venue,
    noAskCents: NO_PRICE,
    noAskVenue: market.venue,
  };
  if (notLive(state, market, nowMs) !== null) return price;
  const quote = market.quote!;
  price.yesAskCents = quote.yesAskCents;
  price.noAskCents = complement(quote.yesBidCents);
  // An instrument that has moved to another market says nothing of this one.
  if (routed?.home?.market === market) improve(state, routed, price, nowMs);
  return price;
}

/** 100 minus a price; an absent price stays absent. */
export function complement(price: PriceCents): PriceCents {
  return price === NO_PRICE ? NO_PRICE : PAYOUT_CENTS - price;
}

/** Takes better asks of the instrument's other venues. CONTRACT.md section 5, Routing best. */
function improve(
  state: ShardState,
  instrument: Instrument,
  price: BookPrice,
  nowMs: EpochMs,
): void {
  const { home } = instrument;
  // Without both sides there is no mid to keep the band around.
  if (home === null || price.yesAskCents === NO_PRICE || price.noAskCents === NO_PRICE) return;
  const band = 2 * state.config.routingBandCents;
  const homeSum = price.yesAskCents + PAYOUT_CENTS - price.noAskCents;
  for (const { market, polarity, eligible } of instrument.listings) {
    if (!eligible || notLive(state, market, nowMs) !== null) continue;
    const { yesBidCents, yesAskCents } = market.quote!;
    if (yesBidCents === NO_PRICE || yesAskCents === NO_PRICE) continue;
    const same = polarity === home.polarity;
    const yesAsk = same ? yesAskCents : complement(yesBidCents);
    const noAsk = same ? complement(yesBidCents) : yesAskCents;
    if (yesAsk < price.yesAskCents && Math.abs(2 * yesAsk - homeSum) <= band) {
      price.yesAskCents = yesAsk;
      price.yesAskVenue = market.venue;
    }
    const noMidSum = 2 * PAYOUT_CENTS - homeSum;
    if (noAsk < price.noAskCents && Math.abs(2 * noAsk - noMidSum) <= band) {
      price.noAskCents = noAsk;
      price.noAskVenue = market.venue;
    }
  }
}

/** The ask of `side`, or null when nobody offers it. */
export function askOf(price: BookPrice, side: Side): SidePrice | null {
  return side === 'yes'
    ? sidePrice(price.yesAskCents, price.yesAskVenue)
    : sidePrice(price.noAskCents, price.noAskVenue);
}

/** The bid of `side`: 100 minus the other side's ask. */
export function bidOf(price: BookPrice, side: Side): SidePrice | null {
  const ask = askOf(price, oppositeSide(side));
  return ask === null ? null : sidePrice(PAYOUT_CENTS - ask.priceCents, ask.venue);
}

function sidePrice(priceCents: PriceCents, venue: Venue): SidePrice | null {
  return priceCents === NO_PRICE ? null : { priceCents, venue };
}

/** What a buy pays or a sell receives a contract. */
export function tradePrice(price: BookPrice, action: Action, side: Side): SidePrice | null {
  return action === 'buy' ? askOf(price, side) : bidOf(price, side);
}

/** Whether `price` is at `limit` or better for the trader. */
export function reaches(action: Action, price: PriceCents, limit: PriceCents): boolean {
  return action === 'buy' ? price <= limit : price >= limit;
}

/** Which of a book's two ladders an order waits on, and its rank there. See ladder.ts. */
export function restingPlace(
  action: Action,
  side: Side,
  limit: PriceCents,
): { waitsForAskOf: Side; rank: PriceCents } {
  return action === 'buy'
    ? { waitsForAskOf: side, rank: limit }
    : { waitsForAskOf: oppositeSide(side), rank: PAYOUT_CENTS - limit };
}

/** The ladder number of a book's side. */
export function ladderOf(book: Book, waitsForAskOf: Side): number {
  return book.number * 2 + (waitsForAskOf === 'yes' ? 0 : 1);
}

/** Index of a venue in `VENUES`, as columns and events keep it. */
export function venueIndex(venue: Venue): number {
  return VENUES.indexOf(venue);
}

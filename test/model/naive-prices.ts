/** Which price an order would trade at now. Rules T12, T80 (engine/RULES.md). */

import type {
  Action,
  Cents,
  Contracts,
  EpochMs,
  FillModelName,
  Liquidity,
  MarketNumber,
  PriceCents,
  Routing,
  Side,
  Uuid,
  Venue,
} from '../../engine/base/units.ts';
import { HOME_VENUE, oppositeSide, VENUES } from '../../engine/base/units.ts';
import type { CatalogListing } from '../../engine/rules/catalog-entries.ts';
import { firstOf, type Lot, lotsFor } from './naive-depth.ts';
import {
  hasClosed,
  instrumentOf,
  isRoutable,
  type ModelQuote,
  type ModelState,
  marketNumberOfListing,
  marketOf,
} from './naive-state.ts';

/** Best prices of one side of a market in that side's own terms; null if there is none. */
type SidePrices = { bidCents: PriceCents | null; askCents: PriceCents | null };

export type Priced = { priceCents: PriceCents; venue: Venue };

/** The facts that the price of an order depends on. */
type Priceable = {
  action: Action;
  routing: Routing;
  market: MarketNumber;
  marketSide: Side;
  instrumentId: string;
  instrumentSide: Side;
};

/** Why a market has no live price, in the words of a Quote's `omitted`; null if it has one. */
export function notLiveBecause(
  state: ModelState,
  number: MarketNumber,
  nowMs: EpochMs,
): string | null {
  const market = marketOf(state, number);
  if (market.result !== null) return 'market resolved';
  if (market.status === 'closed') return 'market closed';
  if (market.status === 'paused') return 'market paused';
  if (hasClosed(state, number, nowMs)) return 'market closed';
  const quote = market.quote;
  if (quote === null) return 'no quote';
  const source = state.sources.get(quote.source)!;
  if (source.timesDown !== quote.timesDownThen) return 'no quote';
  if (nowMs - source.lastHeardMs > state.options.quoteMaxAgeMs) return 'stale';
  if (isCrossed(quote)) return 'crossed';
  return null;
}

/** Both prices of a side at `nowMs`, or null while the market has no live price. */
export function livePrices(
  state: ModelState,
  number: MarketNumber,
  side: Side,
  nowMs: EpochMs,
): SidePrices | null {
  if (notLiveBecause(state, number, nowMs) !== null) return null;
  const quote = marketOf(state, number).quote!;
  if (side === 'yes') return { bidCents: quote.yesBidCents, askCents: quote.yesAskCents };
  return {
    bidCents: quote.yesAskCents === null ? null : 100 - quote.yesAskCents,
    askCents: quote.yesBidCents === null ? null : 100 - quote.yesBidCents,
  };
}

/** The part of an order that would trade at once. */
export type Offer = Priced & {
  contracts: Contracts;
  /** The sum of price × contracts over its levels. */
  cents: Cents;
  /** The displayed levels that it takes. */
  lots: Lot[];
  /** Whose fees count, and its prices. */
  market: MarketNumber;
  parts: { contracts: Contracts; priceCents: PriceCents }[];
};

/** As much of `contracts` as trades now at the limit or better (null: any price); null: nothing. */
export function offerFor(
  state: ModelState,
  order: Priceable & { account: Uuid; fillModel: FillModelName; liquidity: Liquidity },
  contracts: Contracts,
  limitCents: PriceCents | null,
): Offer | null {
  const candidates = candidatesFor(state, order, state.nowMs);
  const offers = candidates.flatMap((candidate): Offer[] => {
    if (order.fillModel === 'top_of_book') {
      const { priceCents, venue } = candidate;
      const reached =
        limitCents === null || isAtLimitOrBetter(order.action, priceCents, limitCents);
      const cents = priceCents * contracts;
      const parts = [{ contracts, priceCents }];
      const offer = { priceCents, venue, contracts, cents, lots: [], parts };
      return reached ? [{ ...offer, market: candidate.market }] : [];
    }
    const { market, side } = candidate;
    const lots = lotsFor(state, order, market, side).filter(
      ({ priceCents }) =>
        candidate.allows(priceCents) &&
        (limitCents === null || isAtLimitOrBetter(order.action, priceCents, limitCents)),
    );
    const taken = firstOf(lots, contracts);
    return taken.length === 0
      ? []
      : [
          {
            ...averageOf(order.action, taken.map(moneyOf)),
            ...candidate.at(taken),
            ...{ market, parts: taken },
          },
        ];
  });
  const better = (a: Offer, b: Offer) =>
    a.contracts !== b.contracts
      ? a.contracts > b.contracts
      : order.action === 'buy'
        ? a.cents < b.cents
        : a.cents > b.cents;
  return offers.reduce<Offer | null>(
    (best, offer) => (best === null || better(offer, best) ? offer : best),
    null,
  );
}

/** A market that may price the order, venue_a's first. */
type Candidate = Priced & {
  market: MarketNumber;
  /** Of that market. */
  side: Side;
  /** Whether a deeper price of that market may be traded at too. */
  allows(priceCents: PriceCents): boolean;
  at(lots: Lot[]): { venue: Venue; lots: Lot[] };
};

function candidatesFor(state: ModelState, order: Priceable, nowMs: EpochMs): Candidate[] {
  const home = livePrices(state, order.market, order.marketSide, nowMs);
  if (home === null) return [];
  const homePrice = order.action === 'buy' ? home.askCents : home.bidCents;
  if (homePrice === null) return [];
  const candidate = (
    venue: Venue,
    market: MarketNumber,
    side: Side,
    priceCents: PriceCents,
    allows: Candidate['allows'],
  ) => ({ venue, market, side, priceCents, allows, at: (lots: Lot[]) => ({ venue, lots }) });
  const found = [candidate(HOME_VENUE, order.market, order.marketSide, homePrice, () => true)];
  if (order.routing !== 'best') return found;
  const allows = (priceCents: PriceCents) =>
    isWithinBand(state, priceCents, home) && isStrictlyBetter(order.action, priceCents, homePrice);
  for (const listing of routableListings(state, order.instrumentId)) {
    const other = otherVenuePrice(state, order, listing, nowMs);
    if (other === null || !allows(other)) continue;
    const market = marketNumberOfListing(state, listing)!;
    const side = marketSideOf(order.instrumentSide, listing.polarity);
    found.push(candidate(listing.venue, market, side, other, allows));
  }
  return found;
}

function moneyOf({ contracts, priceCents }: Lot) {
  return { contracts, cents: contracts * priceCents };
}

/** The volume-weighted average in whole cents, rounded against the trader. */
export function averageOf(
  action: Action,
  parts: readonly { contracts: Contracts; cents: Cents }[],
): { contracts: Contracts; cents: Cents; priceCents: PriceCents } {
  const contracts = parts.reduce((total, part) => total + part.contracts, 0);
  const cents = parts.reduce((total, part) => total + part.cents, 0);
  const average = cents / contracts;
  const priceCents = action === 'buy' ? Math.ceil(average) : Math.floor(average);
  return { contracts, cents, priceCents };
}

/** A limit order takes a price that is its limit or better. */
export function isAtLimitOrBetter(
  action: Action,
  priceCents: PriceCents,
  limitCents: PriceCents,
): boolean {
  return action === 'buy' ? priceCents <= limitCents : priceCents >= limitCents;
}

/** The side of a listing's market that an instrument's side means. */
export function marketSideOf(instrumentSide: Side, polarity: 1 | -1): Side {
  return polarity === 1 ? instrumentSide : oppositeSide(instrumentSide);
}

/** An instrument's listings in the order of VENUES. */
export function listingsInVenueOrder(state: ModelState, instrumentId: string): CatalogListing[] {
  const listings = instrumentOf(state, instrumentId).listings;
  return VENUES.flatMap((venue) => listings.filter((listing) => listing.venue === venue));
}

function routableListings(state: ModelState, instrumentId: string): CatalogListing[] {
  return listingsInVenueOrder(state, instrumentId).filter(isRoutable);
}

function otherVenuePrice(
  state: ModelState,
  order: Priceable,
  listing: CatalogListing,
  nowMs: EpochMs,
): PriceCents | null {
  const number = marketNumberOfListing(state, listing);
  if (number === null) return null;
  const side = marketSideOf(order.instrumentSide, listing.polarity);
  const prices = livePrices(state, number, side, nowMs);
  if (prices === null || prices.bidCents === null || prices.askCents === null) return null;
  return order.action === 'buy' ? prices.askCents : prices.bidCents;
}

/** Twice everything, so that a mid of half a cent stays whole. Without both sides, no mid. */
function isWithinBand(state: ModelState, priceCents: PriceCents, home: SidePrices): boolean {
  if (home.bidCents === null || home.askCents === null) return false;
  const twiceDistance = Math.abs(2 * priceCents - (home.bidCents + home.askCents));
  return twiceDistance <= 2 * state.options.routingBandCents;
}

function isStrictlyBetter(action: Action, priceCents: PriceCents, than: PriceCents): boolean {
  return action === 'buy' ? priceCents < than : priceCents > than;
}

function isCrossed(quote: ModelQuote): boolean {
  if (quote.crossed) return true;
  return (
    quote.yesBidCents !== null &&
    quote.yesAskCents !== null &&
    quote.yesBidCents >= quote.yesAskCents
  );
}

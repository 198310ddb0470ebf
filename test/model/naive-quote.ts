/**
 * One Quote. Rules A51 to A55, A254 (api/RULES.md). Every price is in the instrument's terms: where the polarity is -1, its bid is 100 minus the market's ask.
 */

import {
  type Contracts,
  type EpochMs,
  isoOf,
  type PriceCents,
  type Side,
} from '../../engine/base/units.ts';
import type { CatalogInstrument, CatalogListing } from '../../engine/rules/catalog-entries.ts';
import type { Reply } from '../../engine/rules/messages.ts';
import type { QuoteQuery } from '../../engine/rules/queries.ts';
import { refuse } from './naive-orders.ts';
import { listingsInVenueOrder, livePrices, marketSideOf, notLiveBecause } from './naive-prices.ts';
import {
  hasOpened,
  isKnown,
  type LastTrade,
  type ModelState,
  marketNumberOfListing,
  marketOf,
} from './naive-state.ts';
import { answer, type Json } from './naive-views.ts';

const DISCLAIMER = 'Paper prices for simulation; not an offer to trade.';

export function quote(state: ModelState, query: QuoteQuery, nowMs: EpochMs): Reply {
  const instrument = state.instruments.get(query.instrumentId);
  if (instrument === undefined || !isKnown(state, instrument))
    return refuse('instrument_not_found');
  const game = instrument.gameSlug === null ? undefined : state.games.get(instrument.gameSlug);
  const venues: Json[] = [];
  const omitted: Json[] = [];
  for (const listing of listingsInVenueOrder(state, instrument.id)) {
    const number = marketNumberOfListing(state, listing);
    const reason = omittedBecause(state, instrument, number, nowMs);
    if (number !== null && reason === null) venues.push(venueItem(state, listing, number, nowMs));
    else omitted.push({ venue: listing.venue, note: reason });
  }
  return answer({
    instrumentId: instrument.id,
    label: instrument.label,
    queryMeans: instrument.yesMeans,
    startsAt: instrument.startsAt,
    crossVenue: venues.length > 1,
    venues,
    omitted,
    asOf: isoOf(nowMs),
    disclaimer: DISCLAIMER,
    oppositeLabel: instrument.oppositeLabel,
    league: instrument.league,
    marketType: instrument.marketType,
    matchup: game === undefined ? null : `${game.away.name} at ${game.home.name}`,
    gameStatus: game === undefined ? null : (state.gameStatus.get(game.slug) ?? game.status),
    ...resultOf(state, instrument.id),
  });
}

/** Nothing without a result of its venue_a market, or with two such markets. */
function resultOf(state: ModelState, instrumentId: string): Json {
  const home = listingsInVenueOrder(state, instrumentId).filter(({ venue }) => venue === 'venue_a');
  for (const listing of home.length === 1 ? home : []) {
    const number = marketNumberOfListing(state, listing);
    const result = number === null ? null : marketOf(state, number).result;
    if (result === null) continue;
    const { outcome } = result;
    if (outcome === 'void') return { result: { outcome, yesPaysCents: null } };
    // The payout of the market's side that wins when the instrument's yes does.
    const isYes = marketSideOf('yes', listing.polarity) === 'yes';
    const yesPaysCents = isYes ? result.yesPayoutCents : result.noPayoutCents;
    if (outcome === 'scalar') return { result: { outcome, yesPaysCents } };
    return { result: { outcome: yesPaysCents === 100 ? 'yes' : 'no', yesPaysCents } };
  }
  return {};
}

/** A bit an instrument, eight a byte, the last byte filled up with zeros. */
export function pricedBits(
  state: ModelState,
  numbers: readonly number[] | null,
  nowMs: EpochMs,
): string {
  const ids = numbers?.map((number) => state.instrumentIds[number] ?? '') ?? state.instrumentIds;
  const bits = ids.map((id) => (isPriced(state, id, nowMs) ? '1' : '0')).join('');
  const bytes = bits.match(/.{1,8}/g) ?? [];
  const byteOf = (eight: string) => Number.parseInt([...eight].reverse().join(''), 2);
  return Buffer.from(bytes.map(byteOf)).toString('base64');
}

/** Two bytes per market: the price at which a contract of either side would be sold now. */
export function liveBids(
  state: ModelState,
  numbers: readonly number[] | null,
  nowMs: EpochMs,
): string {
  const asked = numbers ?? [...state.marketNames.keys()];
  const bids = asked.flatMap((number) => {
    if (state.marketNames[number] === undefined) return [0, 0];
    return (['yes', 'no'] as const).map((side) => {
      return livePrices(state, number, side, nowMs)?.bidCents ?? 0;
    });
  });
  return Buffer.from(bids).toString('base64');
}

/** Whether the catalog lists it, and the Quote shows a price of venue_a. */
function isPriced(state: ModelState, instrumentId: string, nowMs: EpochMs): boolean {
  if (!state.listed.has(instrumentId)) return false;
  const reply = quote(state, { kind: 'instrument_quote', atMs: nowMs, instrumentId }, nowMs);
  if (!reply.ok) return false;
  return JSON.parse(reply.body).venues.some(
    ({ venue, yesBidCents, yesAskCents }: Json) =>
      venue === 'venue_a' && (yesBidCents !== null || yesAskCents !== null),
  );
}

export function omittedBecause(
  state: ModelState,
  { id, opensAt }: CatalogInstrument,
  number: number | null,
  nowMs: EpochMs,
): string | null {
  if (!hasOpened(state, id, nowMs)) return `opens at ${opensAt}`;
  return number === null ? 'no quote' : notLiveBecause(state, number, nowMs);
}

function venueItem(
  state: ModelState,
  listing: CatalogListing,
  number: number,
  nowMs: EpochMs,
): Json {
  const market = marketOf(state, number);
  const book = market.quote!;
  const straight = listing.polarity === 1;
  const yesSide = marketSideOf('yes', listing.polarity);
  const noSide = marketSideOf('no', listing.polarity);
  const prices = livePrices(state, number, yesSide, nowMs)!;
  const last = market.lastTrade;
  return {
    venue: listing.venue,
    venueMarketId: listing.venueMarketId,
    venueSideRef: listing.venueSideRef,
    sideLabel: listing.sideLabel,
    yesBidCents: prices.bidCents,
    yesAskCents: prices.askCents,
    yesMidCents:
      prices.bidCents === null || prices.askCents === null
        ? null
        : (prices.bidCents + prices.askCents) / 2,
    lastTradeCents: last === null ? null : priceOfOutcome(last.priceCents, yesSide),
    lastTradeAt: last === null ? null : isoOf(last.atMs),
    outcomeLastTrades: {
      yes: outcomeTrade(market.lastTradeOf[yesSide]),
      no: outcomeTrade(market.lastTradeOf[noSide]),
    },
    yesBidContracts: sizeOf(
      prices.bidCents,
      straight ? book.yesBidContracts : book.yesAskContracts,
    ),
    yesAskContracts: sizeOf(
      prices.askCents,
      straight ? book.yesAskContracts : book.yesBidContracts,
    ),
    complementTradable: true,
    minOrderContracts: 1,
    asOf: isoOf(book.atMs),
    fungibility: listing.fungibility,
    note: listing.note,
    reviewed: listing.reviewed,
  };
}

/** The price of one outcome, given the price of the market's yes. */
function priceOfOutcome(yesPriceCents: PriceCents | null, side: Side): PriceCents | null {
  if (yesPriceCents === null) return null;
  return side === 'yes' ? yesPriceCents : 100 - yesPriceCents;
}

function outcomeTrade(trade: LastTrade | null): Json {
  return trade === null
    ? { priceCents: null, at: null }
    : { priceCents: trade.priceCents, at: isoOf(trade.atMs) };
}

/** A side without a price has no size either. */
function sizeOf(priceCents: PriceCents | null, contracts: Contracts): Contracts | null {
  return priceCents === null ? null : contracts;
}

/** One instrument's quote on the wire. SPEC.md section 2, Quote. Prices are the instrument's. */

import type { CatalogInstrument, CatalogListing } from '../../core/messages.ts';
import { complement, notLive } from '../../core/pricing.ts';
import type { Instrument, LastTrade, Market, ShardState } from '../../core/state.ts';
import { type EpochMs, isoOf, NO_PRICE } from '../../core/units.ts';

const DISCLAIMER = 'Paper prices for simulation; not an offer to trade.';

export function quoteView(
  state: ShardState,
  instrument: Instrument & { entry: CatalogInstrument },
  atMs: EpochMs,
) {
  const { entry, game } = instrument;
  const venues: ReturnType<typeof venueView>[] = [];
  const omitted: { venue: string; note: string }[] = [];
  // The instrument's own listings are in the order of VENUES; the entry's as they were written.
  for (const { market, listing } of instrument.listings) {
    const note = notLive(state, market, atMs);
    if (note === null) venues.push(venueView(listing, market));
    else omitted.push({ venue: listing.venue, note });
  }
  return {
    instrumentId: instrument.id,
    label: entry.label,
    queryMeans: entry.yesMeans,
    startsAt: entry.startsAt,
    crossVenue: venues.length > 1,
    venues,
    omitted,
    asOf: isoOf(atMs),
    disclaimer: DISCLAIMER,
    oppositeLabel: entry.oppositeLabel,
    league: entry.league,
    marketType: entry.marketType,
    matchup: game === null ? null : `${game.away.name} at ${game.home.name}`,
    gameStatus: game === null ? null : (state.games.get(game.slug)?.status ?? game.status),
  };
}

function venueView(listing: CatalogListing, market: Market) {
  const quote = market.quote!;
  const same = listing.polarity === 1;
  const bid = same ? quote.yesBidCents : complement(quote.yesAskCents);
  const ask = same ? quote.yesAskCents : complement(quote.yesBidCents);
  const bidContracts = same ? quote.yesBidContracts : quote.yesAskContracts;
  const askContracts = same ? quote.yesAskContracts : quote.yesBidContracts;
  const { lastTrade, lastTradeOf } = market;
  return {
    venue: listing.venue,
    venueMarketId: listing.venueMarketId,
    venueSideRef: listing.venueSideRef,
    sideLabel: listing.sideLabel,
    yesBidCents: priceView(bid),
    yesAskCents: priceView(ask),
    yesMidCents: bid === NO_PRICE || ask === NO_PRICE ? null : (bid + ask) / 2,
    lastTradeCents: lastTradeCents(lastTrade, same),
    lastTradeAt: lastTrade === null ? null : isoOf(lastTrade.atMs),
    outcomeLastTrades: {
      yes: lastTradeView(same ? lastTradeOf.yes : lastTradeOf.no),
      no: lastTradeView(same ? lastTradeOf.no : lastTradeOf.yes),
    },
    yesBidContracts: bid === NO_PRICE ? null : bidContracts,
    yesAskContracts: ask === NO_PRICE ? null : askContracts,
    complementTradable: true,
    minOrderContracts: 1,
    asOf: isoOf(quote.atMs),
    fungibility: listing.fungibility,
    note: listing.note,
    reviewed: listing.reviewed,
  };
}

function lastTradeCents(trade: LastTrade | null, same: boolean): number | null {
  const cents = trade?.priceCents ?? NO_PRICE;
  return priceView(same ? cents : complement(cents));
}

function priceView(cents: number): number | null {
  return cents === NO_PRICE ? null : cents;
}

function lastTradeView(trade: LastTrade | null) {
  return {
    priceCents: priceView(trade?.priceCents ?? NO_PRICE),
    at: trade === null ? null : isoOf(trade.atMs),
  };
}

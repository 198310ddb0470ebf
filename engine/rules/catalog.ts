/**
 * The catalog inside a shard: markets and instruments by number, kept across replacements. Rules
 * T3, T5, T6, T86, T120, T123, T125, T127, T129 (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import {
  HOME_VENUE,
  type MarketNumber,
  marketName,
  ROUTED_VENUES,
  VENUES,
  type Venue,
} from '../base/units.ts';
import type { Catalog, CatalogGame, CatalogInstrument } from './catalog-entries.ts';
import type { Instrument, Market } from './reference-data.ts';
import { NO_BOOKS, releaseBooks, reserveBooks, watchMarkets } from './resting.ts';
import type { ShardState } from './state.ts';

/** Replaces the catalog. Numbers, live quotes and resting orders stay. */
export function replaceCatalog(state: ShardState, catalog: Catalog): void {
  const { marketNames, instrumentIds } = catalog;
  invariant(marketNames.length >= state.markets.length, 'a catalog removes the number of a market');
  const isNumbered = instrumentIds.length >= state.instruments.length;
  invariant(isNumbered, 'a catalog removes the number of an instrument');
  for (const [number, name] of marketNames.entries()) nameMarket(state, number, name);
  for (const [number, id] of instrumentIds.entries()) {
    const known = state.instruments[number];
    invariant(known === undefined || known.id === id, 'an instrument changed its number');
    if (known !== undefined) continue;
    invariant(!state.instrumentsById.has(id), 'an instrument has two numbers');
    const added: Instrument = {
      number,
      id,
      entry: null,
      listed: false,
      game: null,
      listings: [],
      home: null,
      opensAtMs: 0,
    };
    state.instruments[number] = added;
    state.instrumentsById.set(id, added);
  }
  for (const slug of outdatedStatuses(state.catalog.games, catalog.games)) state.games.delete(slug);
  state.catalog = catalog;
  for (const { slug } of catalog.games) state.listedGames.add(slug);
  for (const instrument of state.instruments) instrument.listed = false;
  for (const market of state.markets) {
    market.shownBy = null;
    market.closesAtMs = Number.POSITIVE_INFINITY;
  }
  const games = new Map(catalog.games.map((game) => [game.slug, game]));
  for (const entry of catalog.instruments) {
    const instrument = state.instrumentsById.get(entry.id);
    invariant(instrument !== undefined, 'a catalog lists an instrument without a number');
    instrument.listed = true;
    instrument.game = games.get(entry.gameSlug ?? '') ?? null;
    describe(state, instrument, entry);
    for (const { market, polarity } of instrument.listings) {
      const isBetter = market.shownBy === null || market.shownBy.polarity < polarity;
      if (isBetter) market.shownBy = { instrument, polarity };
    }
  }
  for (const instrument of state.instruments) if (!instrument.listed) closeMarkets(instrument);
  releaseBooks(state);
  for (const book of state.booksByKey.values()) watchMarkets(book);
  // So that an order finds its ladders made.
  const bookless = state.markets.filter((market) => {
    return market.shownBy !== null && market.venue === HOME_VENUE && market.book === null;
  });
  reserveBooks(state, state.booksByKey.size + state.freeBooks.length + bookless.length);
}

/**
 * The earliest closing time of the instruments that list a market counts. Dropped instruments,
 * which are last, count for a market that no others list. Rule T129 (engine/RULES.md).
 */
function closeMarkets({ entry, listed, listings }: Instrument): void {
  if (entry?.closesAt === undefined) return;
  const closesAtMs = Date.parse(entry.closesAt);
  for (const { market } of listings) {
    const counts = listed || market.shownBy === null;
    if (counts) market.closesAtMs = Math.min(market.closesAtMs, closesAtMs);
  }
}

/** The games whose status in the catalog has changed. A feed's status no longer counts for them. */
export function outdatedStatuses(
  before: readonly CatalogGame[],
  now: readonly CatalogGame[],
): string[] {
  const statuses = new Map(before.map(({ slug, status }) => [slug, status]));
  return now
    .filter(({ slug, status }) => statuses.has(slug) && statuses.get(slug) !== status)
    .map(({ slug }) => slug);
}

function nameMarket(state: ShardState, number: MarketNumber, name: string): void {
  const known = state.markets[number];
  invariant(
    known === undefined || marketName(known.venue, known.ticker) === name,
    'a market changed its number',
  );
  if (known !== undefined) return;
  invariant(!state.marketsByName.has(name), 'a market has two numbers');
  const slash = name.indexOf('/');
  invariant(
    VENUES.includes(name.slice(0, slash) as Venue),
    'the name of a market begins with no known venue',
  );
  const market: Market = {
    number,
    venue: name.slice(0, slash) as Venue,
    ticker: name.slice(slash + 1),
    outcome: null,
    payouts: null,
    resolvedAtMs: 0,
    settlement: null,
    corrections: 0,
    status: 'open',
    closesAtMs: Number.POSITIVE_INFINITY,
    venueClosesAtMs: null,
    quote: null,
    quotes: 0,
    lastTrade: null,
    lastTradeOf: { yes: null, no: null },
    book: null,
    routedBooks: NO_BOOKS,
    shownBy: null,
  };
  state.markets[number] = market;
  state.positionsOfMarket.ensureOwners(state.markets.length);
  state.marketsByName.set(name, market);
}

/** Points an instrument at its catalog entry and at the markets of its listings. */
export function describe(
  state: ShardState,
  instrument: Instrument,
  entry: CatalogInstrument,
): void {
  instrument.entry = entry;
  instrument.opensAtMs = entry.opensAt === null ? 0 : Date.parse(entry.opensAt);
  instrument.listings = entry.listings
    .map((listing) => {
      const market = state.marketsByName.get(marketName(listing.venue, listing.venueMarketId));
      invariant(market !== undefined, 'a listing names a market without a number');
      const isExact = listing.reviewed && listing.fungibility === 'exact';
      const eligible = ROUTED_VENUES.has(listing.venue) && isExact;
      return { listing, market, polarity: listing.polarity, eligible };
    })
    .sort((a, b) => VENUES.indexOf(a.market.venue) - VENUES.indexOf(b.market.venue));
  const homes = instrument.listings.filter(({ market }) => market.venue === HOME_VENUE);
  instrument.home = homes.length === 1 ? homes[0]! : null;
  closeMarkets(instrument);
}

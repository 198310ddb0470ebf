/**
 * The catalog inside a shard: markets and instruments by number, kept across replacements. Rules
 * T3, T5, T6, T86, T120, T123, T125, T127, T129 (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import {
  type EpochMs,
  HOME_VENUE,
  type InstrumentNumber,
  type MarketNumber,
  marketName,
  ROUTED_VENUES,
  VENUES,
} from '../base/units.ts';
import { checkNumbers } from './catalog-change.ts';
import type { Catalog, CatalogGame, CatalogInstrument } from './catalog-entries.ts';
import {
  type Instrument,
  type InstrumentListing,
  type Market,
  NO_BOOKS,
  NO_TRADES,
} from './reference-data.ts';
import { booksOf, isAwaited, releaseBooks, reserveBooks, watchMarkets } from './resting.ts';
import type { ShardState } from './state.ts';

/** Replaces the catalog. Numbers, live quotes and resting orders stay. */
export function replaceCatalog(state: ShardState, catalog: Catalog): void {
  const hasMarkets = catalog.marketNames.length >= state.markets.length;
  invariant(hasMarkets, 'a catalog removes the number of a market');
  const hasInstruments = catalog.instrumentIds.length >= state.instruments.length;
  invariant(hasInstruments, 'a catalog removes the number of an instrument');
  checkNumbers(state.catalog, catalog);
  state.catalogEntries += catalog.instruments.length;
  const { marketNames, instrumentIds } = withOwnNames(state.catalog, catalog);
  for (let number = state.markets.length; number < marketNames.length; number++) {
    nameMarket(state, number, marketNames[number]!);
  }
  for (let number = state.instruments.length; number < instrumentIds.length; number++) {
    const id = instrumentIds[number]!;
    invariant(instrumentOf(state, id) === undefined, 'an instrument has two numbers');
    const added = newInstrument(number, id);
    state.instruments[number] = added;
    state.instrumentsById.set(id, added);
  }
  for (const slug of outdatedStatuses(state.catalog.games, catalog.games)) state.games.delete(slug);
  keepGames(state, catalog.games);
  state.catalog = { ...catalog, marketNames, instrumentIds };
  state.pastMarkets.nameBy(marketNames);
  state.pastInstruments.nameBy(instrumentIds);
  const isAsBefore = (entry: CatalogInstrument) => {
    return state.instrumentsById.get(entry.id)?.entry === entry;
  };
  for (const entry of catalog.instruments) {
    if (isAsBefore(entry)) continue;
    reviveInstrument(state, entry.id);
    for (const { venue, venueMarketId } of entry.listings) {
      reviveMarket(state, marketName(venue, venueMarketId));
    }
  }
  // Those of the past are in neither.
  const [instruments, markets] = [state.instrumentsById.values(), state.marketsByName.values()];
  for (const instrument of instruments) instrument.listed = false;
  for (const market of markets) {
    market.shownBy = null;
    market.closesAtMs = Number.POSITIVE_INFINITY;
  }
  for (const entry of catalog.instruments) {
    const instrument = state.instrumentsById.get(entry.id);
    invariant(instrument !== undefined, 'a catalog lists an instrument without a number');
    instrument.listed = true;
    if (instrument.entry === entry) closeMarkets(instrument);
    else describe(state, instrument, entry);
    for (const { market, polarity } of instrument.listings) {
      const isBetter = market.shownBy === null || market.shownBy.polarity < polarity;
      if (isBetter) market.shownBy = { instrument, polarity };
    }
  }
  for (const instrument of state.instrumentsById.values()) {
    if (instrument.listed) continue;
    if (mayForget(state, instrument)) forget(state, instrument);
    else closeMarkets(instrument);
  }
  closePastMarkets(state);
  releaseBooks(state);
  forgetMarkets(state);
  for (const book of state.booksByKey.values()) watchMarkets(book);
  // So that an order finds its ladders made.
  let bookless = 0;
  for (const { shownBy, venue, book } of state.marketsByName.values()) {
    if (shownBy !== null && venue === HOME_VENUE && book === null) bookless++;
  }
  reserveBooks(state, state.booksByKey.size + state.freeBooks.length + bookless);
}

/** Whether nothing about it can change any more, and the log has its description. */
function mayForget(state: ShardState, { entry, listings, described }: Instrument): boolean {
  if (entry === null || described === null || listings.length === 0) return false;
  const homes = listings.filter(({ market }) => market.venue === HOME_VENUE);
  return (homes.length > 0 ? homes : listings).every(({ market }) => {
    const isHeld = state.positionsOfMarket.count(market.number) > 0;
    return (
      market.outcome !== null && !isHeld && !booksOf(market).some((book) => isAwaited(state, book))
    );
  });
}

/** The log describes it to whoever asks. Rule K59 (feeds/FORMATS.md). */
export function forget(state: ShardState, instrument: Instrument): void {
  const { listings, number, closesAtMs } = instrument;
  const open = listings.flatMap(({ market }) => (market.outcome === null ? [market.number] : []));
  if (closesAtMs !== Number.POSITIVE_INFINITY && open.length > 0) {
    state.pastCloses.set(number, { atMs: closesAtMs, markets: open });
  }
  state.instruments[instrument.number] = state.pastInstruments.keep(instrument);
  state.instrumentsById.delete(instrument.id);
}

/**
 * Markets with a result that no instrument lists any more, nobody holds and no order is on. Rule K61
 * (feeds/FORMATS.md).
 */
export function forgetMarkets(state: ShardState): void {
  const { markets, arrivals, orders, positionsOfMarket } = state;
  const used = new Uint8Array(markets.length);
  for (const { listings } of state.instrumentsById.values()) {
    for (const { market } of listings) used[market.number] = 1;
  }
  for (const { market } of state.booksByKey.values()) used[market.number] = 1;
  for (const order of arrivals.waiting().orders) used[orders.col.market.get(order)] = 1;
  for (const market of state.marketsByName.values()) {
    const { number, venue, outcome } = market;
    if (outcome === null || used[number] === 1 || booksOf(market).length > 0) continue;
    if (positionsOfMarket.count(number) > 0) continue;
    markets[number] = state.pastMarkets.keep(market);
    state.marketsByName.delete(marketName(venue, market.ticker));
    state.fillModel.forget(number);
  }
}

/** A later catalog lists it. */
function reviveMarket(state: ShardState, name: string): void {
  const past = marketNamed(state, name);
  if (past?.isPast !== true) return;
  const { outcome, payouts, resolvedAtMs, settlement, corrections } = past;
  const market = newMarket(past.number, name);
  Object.assign(market, { outcome, payouts, resolvedAtMs, settlement, corrections });
  state.markets[past.number] = market;
  state.marketsByName.set(name, market);
}

function reviveInstrument(state: ShardState, id: string): void {
  const past = instrumentOf(state, id);
  if (past?.isPast !== true) return;
  const instrument = newInstrument(past.number, id);
  state.instruments[past.number] = instrument;
  state.instrumentsById.set(id, instrument);
}

/** A market of this catalog or of an earlier one, past or not, by `venue/ticker`. */
export function marketNamed(state: ShardState, name: string): Market | undefined {
  const known = state.marketsByName.get(name);
  if (known !== undefined) return known;
  const number = state.pastMarkets.numberOf(name);
  return number === undefined ? undefined : state.markets[number];
}

/** An instrument of this catalog or of an earlier one, past or not. */
export function instrumentOf(state: ShardState, id: string): Instrument | undefined {
  const known = state.instrumentsById.get(id);
  if (known !== undefined) return known;
  const number = state.pastInstruments.numberOf(id);
  return number === undefined ? undefined : state.instruments[number];
}

/**
 * A text out of a message may be a part of the message's text, which it keeps in memory. Parts of a
 * copy have texts of their own.
 */
const ownCopy = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value));

/**
 * Notes the games of the next catalog, and copies of the games that it has no more. Copies outlive
 * every catalog, so they keep nothing of the message that had them.
 */
function keepGames({ catalog, listedGames }: ShardState, next: readonly CatalogGame[]): void {
  const slugs = new Set(next.map(({ slug }) => slug));
  for (const game of catalog.games) {
    if (slugs.has(game.slug)) continue;
    const kept = ownCopy(game);
    // The text of its key goes, too.
    listedGames.delete(game.slug);
    listedGames.set(kept.slug, kept);
  }
  for (const game of next) listedGames.set(game.slug, game);
}

/** The names that a catalog has already are the same texts. So each is in memory once. */
function withOwnNames(
  before: Catalog,
  now: Catalog,
): Pick<Catalog, 'marketNames' | 'instrumentIds'> {
  const own = (names: string[], all: string[]) =>
    names.length === all.length ? names : [...names, ...ownCopy(all.slice(names.length))];
  return {
    marketNames: own(before.marketNames, now.marketNames),
    instrumentIds: own(before.instrumentIds, now.instrumentIds),
  };
}

/**
 * The earliest closing time of the instruments that list a market counts. Dropped instruments,
 * which are last, count for a market that no others list. Rule T129 (engine/RULES.md).
 */
function closeMarkets({ listed, listings, closesAtMs }: Instrument): void {
  if (closesAtMs === Number.POSITIVE_INFINITY) return;
  for (const { market } of listings) {
    const counts = listed || market.shownBy === null;
    if (counts) market.closesAtMs = Math.min(market.closesAtMs, closesAtMs);
  }
}

/** Markets of other venues, whose instruments are of the past. Rule T129 (engine/RULES.md). */
export function closePastMarkets(state: ShardState): void {
  for (const { atMs, markets } of state.pastCloses.values()) {
    for (const number of markets) {
      const market = state.markets[number]!;
      if (market.isPast || market.shownBy !== null) continue;
      market.closesAtMs = Math.min(market.closesAtMs, atMs);
    }
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
  invariant(marketNamed(state, name) === undefined, 'a market has two numbers');
  const market = newMarket(number, name);
  state.markets[number] = market;
  state.positionsOfMarket.ensureOwners(state.markets.length);
  state.marketsByName.set(name, market);
}

function newMarket(number: MarketNumber, name: string): Market {
  const slash = name.indexOf('/');
  const venue = VENUES.find((one) => one === name.slice(0, slash));
  invariant(venue !== undefined, 'the name of a market begins with no known venue');
  return {
    number,
    venue,
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
    lastTradeOf: NO_TRADES,
    book: null,
    routedBooks: NO_BOOKS,
    shownBy: null,
    isPast: false,
  };
}

function newInstrument(number: InstrumentNumber, id: string): Instrument {
  return {
    ...{ number, id },
    entry: null,
    listed: false,
    listings: [],
    home: null,
    opensAtMs: 0,
    closesAtMs: Number.POSITIVE_INFINITY,
    described: null,
    isPast: false,
  };
}

/** Points an instrument at its catalog entry and at the markets of its listings. */
export function describe(
  state: ShardState,
  instrument: Instrument,
  entry: CatalogInstrument,
): void {
  instrument.entry = entry;
  state.pastCloses.delete(instrument.number);
  instrument.opensAtMs = opensAtMsOf(entry);
  instrument.closesAtMs = closesAtMsOf(entry);
  instrument.listings = listingsOf(state, entry);
  const homes = instrument.listings.filter(({ market }) => market.venue === HOME_VENUE);
  instrument.home = homes.length === 1 ? homes[0]! : null;
  closeMarkets(instrument);
}

export function opensAtMsOf({ opensAt }: CatalogInstrument): EpochMs {
  return opensAt === null ? 0 : Date.parse(opensAt);
}

export function closesAtMsOf({ closesAt }: CatalogInstrument): EpochMs {
  return closesAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(closesAt);
}

/** Its listings with their markets, home venue first. */
export function listingsOf(state: ShardState, entry: CatalogInstrument): InstrumentListing[] {
  return entry.listings
    .map((listing) => {
      const market = marketNamed(state, marketName(listing.venue, listing.venueMarketId));
      invariant(market !== undefined, 'a listing names a market without a number');
      const isExact = listing.reviewed && listing.fungibility === 'exact';
      const eligible = ROUTED_VENUES.has(listing.venue) && isExact;
      return { listing, market, polarity: listing.polarity, eligible };
    })
    .sort((a, b) => VENUES.indexOf(a.market.venue) - VENUES.indexOf(b.market.venue));
}

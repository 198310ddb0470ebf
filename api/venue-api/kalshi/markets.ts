/**
 * The markets of the façade: instruments whose home listing is one market of venue_a with a ticker
 * of the venue's form. Its events are the catalog's, and a series is the first part of a ticker.
 * Rule A205 (api/RULES.md).
 */
import { createHash } from 'node:crypto';
import { HOME_VENUE, type MarketNumber } from '../../../engine/base/units.ts';
import type { CatalogListing } from '../../../engine/rules/catalog-entries.ts';
import type { CatalogView, GameEntry, InstrumentEntry } from '../../catalog/catalog-view.ts';
import { notFound } from './refusals.ts';

export type VenueMarket = {
  ticker: string;
  event: string;
  series: string;
  market: MarketNumber;
  entry: InstrumentEntry;
  listing: CatalogListing;
  /** 1: the instrument's yes is the market's yes. */
  polarity: 1 | -1;
  /** Stable, as the venue's messages name a market beside its ticker. */
  marketId: string;
};

export type VenueEvent = { event: string; series: string; markets: VenueMarket[] };

type Index = {
  of: object;
  markets: VenueMarket[];
  byTicker: Map<string, VenueMarket>;
  byNumber: Map<MarketNumber, VenueMarket>;
  events: Map<string, VenueEvent>;
  series: Map<string, VenueEvent[]>;
};

const TICKER = /^[A-Z0-9][A-Z0-9.-]{0,127}$/;

export class VenueMarkets {
  readonly #catalog: CatalogView;
  #index: Index | null = null;

  constructor(catalog: CatalogView) {
    this.#catalog = catalog;
  }

  /** In the order of their tickers. */
  all(): readonly VenueMarket[] {
    return this.#current().markets;
  }

  find(ticker: string): VenueMarket | undefined {
    return this.#current().byTicker.get(ticker);
  }

  /** Throws the 404. */
  get(ticker: string): VenueMarket {
    const found = this.find(ticker);
    if (found === undefined) throw notFound(`no market ${JSON.stringify(ticker.slice(0, 128))}`);
    return found;
  }

  ofNumber(market: MarketNumber): VenueMarket | undefined {
    return this.#current().byNumber.get(market);
  }

  /** The ticker of a market that a catalog has had, listed or not. */
  tickerOf(market: MarketNumber): string {
    const name = this.#catalog.marketName(market);
    return name.slice(name.indexOf('/') + 1);
  }

  events(): ReadonlyMap<string, VenueEvent> {
    return this.#current().events;
  }

  series(): ReadonlyMap<string, readonly VenueEvent[]> {
    return this.#current().series;
  }

  #current(): Index {
    const instruments = this.#catalog.instruments();
    if (this.#index?.of !== instruments) this.#index = indexOf(instruments);
    return this.#index;
  }
}

function indexOf(instruments: readonly InstrumentEntry[]): Index {
  const byTicker = new Map<string, VenueMarket>();
  for (const entry of instruments) {
    const found = marketOf(entry);
    if (found === null) continue;
    const known = byTicker.get(found.ticker);
    // Two sides of one question may be instruments of one market: the one of its yes is taken.
    if (known === undefined || (known.polarity === -1 && found.polarity === 1)) {
      byTicker.set(found.ticker, found);
    }
  }
  const markets = [...byTicker.values()].sort((a, b) => (a.ticker < b.ticker ? -1 : 1));
  const events = new Map<string, VenueEvent>();
  for (const one of markets) {
    const event = events.get(one.event);
    if (event === undefined) {
      events.set(one.event, { event: one.event, series: one.series, markets: [one] });
    } else event.markets.push(one);
  }
  const series = new Map<string, VenueEvent[]>();
  for (const event of events.values()) {
    const known = series.get(event.series);
    if (known === undefined) series.set(event.series, [event]);
    else known.push(event);
  }
  const byNumber = new Map(markets.map((one) => [one.market, one]));
  return { of: instruments, markets, byTicker, byNumber, events, series };
}

function marketOf(entry: InstrumentEntry): VenueMarket | null {
  const [market, ...more] = entry.homeMarkets;
  const listing = entry.instrument.listings.find(({ venue }) => venue === HOME_VENUE);
  if (market === undefined || more.length > 0 || listing === undefined) return null;
  const ticker = listing.venueMarketId;
  if (!TICKER.test(ticker)) return null;
  const event = listing.venueEvent ?? eventOf(ticker);
  const { polarity } = listing;
  const series = event.split('-', 1)[0]!;
  return { ticker, event, series, market, entry, listing, polarity, marketId: idOf(ticker) };
}

function eventOf(ticker: string): string {
  const dash = ticker.lastIndexOf('-');
  return dash > 0 ? ticker.slice(0, dash) : ticker;
}

/** A uuid that a text always has: version 8, of a hash. */
export function idOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  const parts = [
    ...[hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`],
    ...[`8${hex.slice(17, 20)}`, hex.slice(20, 32)],
  ];
  return parts.join('-');
}

/** The game of an event, as its markets have it. */
export function gameOf({ markets }: VenueEvent): GameEntry | null {
  return markets[0]?.entry.game ?? null;
}

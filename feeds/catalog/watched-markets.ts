/** The catalog as a thread of feeds knows it: numbers of markets, and which to watch. Rule W60 (feeds/FORMATS.md). */
import type { MarketNumber, Venue } from '../../engine/base/units.ts';
import { marketNumbers } from './market-numbers.ts';

/** Plain data, from one thread to another. */
export type MarketsToWatch = {
  /** `venue/venueMarketId` by market number. */
  marketNames: readonly string[];
  /** What to subscribe to, in the venue's own names. */
  byVenue: Partial<Record<Venue, readonly string[]>>;
  /** Games that the catalog lists, by their slugs. */
  games: readonly string[];
  /** Markets that have their result. */
  settled: readonly MarketNumber[];
};

export class WatchedMarkets {
  marketNumber: ReturnType<typeof marketNumbers> = () => undefined;
  #byVenue: MarketsToWatch['byVenue'] = {};
  #games: ReadonlySet<string> = new Set();
  readonly #settled = new Set<MarketNumber>();

  constructor(markets: MarketsToWatch) {
    this.take(markets);
  }

  take({ marketNames, byVenue, games, settled }: MarketsToWatch): void {
    this.marketNumber = marketNumbers({ marketNames });
    this.#byVenue = byVenue;
    this.#games = new Set(games);
    for (const market of settled) this.#settled.add(market);
  }

  isGame(slug: string): boolean {
    return this.#games.has(slug);
  }

  settle(market: MarketNumber): void {
    this.#settled.add(market);
  }

  watchedMarkets(venue: Venue): readonly string[] {
    return this.#byVenue[venue] ?? [];
  }

  /** Whether a subscribed market should have a quote. */
  awaitsQuote(venue: Venue, name: string): boolean {
    const market = this.marketNumber(venue, name);
    return market !== undefined && !this.#settled.has(market);
  }
}

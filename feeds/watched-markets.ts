/** The catalog as a thread of feeds knows it: numbers of markets, and which to watch. Rule W60 (feeds/FORMATS.md). */
import type { MarketNumber, Venue } from '../engine/rules/units.ts';
import { marketNumbers } from './market-numbers.ts';

/** Plain data, from one thread to another. */
export type MarketsToWatch = {
  /** `venue/venueMarketId` by market number. */
  marketNames: readonly string[];
  /** What to subscribe to, in the venue's own names. */
  byVenue: Partial<Record<Venue, readonly string[]>>;
  /** Markets that have their result. */
  settled: readonly MarketNumber[];
};

export class WatchedMarkets {
  marketNumber: ReturnType<typeof marketNumbers> = () => undefined;
  #byVenue: MarketsToWatch['byVenue'] = {};
  readonly #settled = new Set<MarketNumber>();

  constructor(markets: MarketsToWatch) {
    this.take(markets);
  }

  take({ marketNames, byVenue, settled }: MarketsToWatch): void {
    this.marketNumber = marketNumbers({ marketNames });
    this.#byVenue = byVenue;
    for (const market of settled) this.#settled.add(market);
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

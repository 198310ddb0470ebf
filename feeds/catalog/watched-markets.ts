/** The catalog as a thread of feeds knows it: numbers of markets, and which to watch. Rules W60, W70 (feeds/FORMATS.md). */
import { type MarketNumber, VENUES, type Venue } from '../../engine/base/units.ts';
import { marketNumbers } from './market-numbers.ts';

/** Plain data, from one thread to another. */
export type MarketsToWatch = {
  /** `venue/venueMarketId` by market number. */
  marketNames: readonly string[];
  /** The markets to subscribe to, in the venue's own names. */
  byVenue: Partial<Record<Venue, readonly string[]>>;
  /** Games that the catalog lists, by their slugs. */
  games: readonly string[];
  /** Markets that have their result. */
  settled: readonly MarketNumber[];
};

/** Markets that accounts hold or have orders on. Plain data, from one thread to another. */
export type HeldMarkets = {
  markets: readonly MarketNumber[];
  /** The markets among them that may be over by the catalog. */
  maybeOver: readonly MarketNumber[];
};

export class WatchedMarkets {
  marketNumber: ReturnType<typeof marketNumbers> = () => undefined;
  #byVenue: MarketsToWatch['byVenue'] = {};
  #games: ReadonlySet<string> = new Set();
  readonly #settled = new Set<MarketNumber>();
  #marketNames: readonly string[] = [];
  #lastHeld: HeldMarkets = { markets: [], maybeOver: [] };
  readonly #held = new Map<Venue, Map<string, boolean>>();

  constructor(markets: MarketsToWatch) {
    this.take(markets);
  }

  take({ marketNames, byVenue, games, settled }: MarketsToWatch): void {
    this.marketNumber = marketNumbers({ marketNames });
    this.#marketNames = marketNames;
    // New markets may be held already.
    this.hold(this.#lastHeld);
    this.#byVenue = byVenue;
    this.#games = new Set(games);
    for (const market of settled) this.#settled.add(market);
  }

  hold(held: HeldMarkets): void {
    const { markets, maybeOver } = held;
    this.#lastHeld = held;
    const over = new Set(maybeOver);
    this.#held.clear();
    for (const number of markets) {
      const name = this.#marketNames[number] ?? '';
      const venue = VENUES.find((one) => name.startsWith(`${one}/`));
      if (venue === undefined) continue;
      const ofVenue = this.#held.get(venue) ?? new Map<string, boolean>();
      this.#held.set(venue, ofVenue);
      ofVenue.set(name.slice(venue.length + 1), over.has(number));
    }
  }

  /** By the venue's own name; true: it may be over by the catalog. */
  held(venue: Venue): ReadonlyMap<string, boolean> {
    return this.#held.get(venue) ?? NOTHING;
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

const NOTHING: ReadonlyMap<string, boolean> = new Map();

/** The catalog as a thread of feeds knows it: numbers of markets, and which to watch. Rules W60, W70, W107, W110 (feeds/FORMATS.md). */
import { invariant } from '../../engine/base/invariant.ts';
import { NumberSet } from '../../engine/base/number-set.ts';
import { type MarketNumber, marketName, type Venue, venueOf } from '../../engine/base/units.ts';
import type { ToldResults } from '../ingest/told-results.ts';

/** Plain data, from one thread to another. */
export type MarketsToWatch = {
  /** How many names were told before. */
  named: number;
  /** The names after those, `venue/venueMarketId` by market number. */
  marketNames: readonly string[];
  /** The markets to subscribe to, in the venue's own names. */
  byVenue: Partial<Record<Venue, readonly string[]>>;
  /** Games that the catalog lists, by their slugs. */
  games: readonly string[];
  /** Markets that have their result, as far as that was not told before. */
  settled: readonly MarketNumber[];
};

/**
 * Markets that accounts hold or have orders on, and others that have begun. Plain data, from one
 * thread to another.
 */
export type HeldMarkets = {
  markets: readonly MarketNumber[];
  /** Markets without a result that nobody holds. They have started, or may be over. */
  unheld: readonly MarketNumber[];
  /** The markets among both that may be over by the catalog. */
  maybeOver: readonly MarketNumber[];
};

/** By the venue's own name; true: it may be over by the catalog. */
type ByName = Map<string, boolean>;

export class WatchedMarkets {
  /** By name. Names are only added, so that a market that is long over keeps its number. */
  readonly #numbers = new Map<string, MarketNumber>();
  readonly #names: string[] = [];
  #byVenue: MarketsToWatch['byVenue'] = {};
  #games: ReadonlySet<string> = new Set();
  readonly #settled = new NumberSet();
  readonly #told: ToldResults;
  #lastHeld: HeldMarkets = { markets: [], unheld: [], maybeOver: [] };
  #held: ReadonlyMap<Venue, ByName> = new Map();
  #unheld: ReadonlyMap<Venue, ByName> = new Map();

  /** @param told takes each result that a venue tells here */
  constructor(markets: MarketsToWatch, told: ToldResults) {
    this.#told = told;
    this.take(markets);
  }

  take({ named, marketNames, byVenue, games, settled }: MarketsToWatch): void {
    invariant(named === this.#names.length, 'the names of markets have a gap');
    for (const name of marketNames) this.#numbers.set(name, this.#names.push(name) - 1);
    // New markets may be held already.
    this.hold(this.#lastHeld);
    this.#byVenue = byVenue;
    this.#games = new Set(games);
    for (const market of settled) this.#settled.add(market);
  }

  marketNumber(venue: Venue, venueMarketId: string): MarketNumber | undefined {
    return this.#numbers.get(marketName(venue, venueMarketId));
  }

  hold(held: HeldMarkets): void {
    const { markets, unheld, maybeOver } = held;
    this.#lastHeld = held;
    const over = new Set(maybeOver);
    this.#held = this.#byName(markets, over);
    this.#unheld = this.#byName(unheld, over);
  }

  held(venue: Venue): ReadonlyMap<string, boolean> {
    return this.#held.get(venue) ?? NOTHING;
  }

  unheld(venue: Venue): ReadonlyMap<string, boolean> {
    return this.#unheld.get(venue) ?? NOTHING;
  }

  #byName(markets: readonly MarketNumber[], over: ReadonlySet<MarketNumber>): Map<Venue, ByName> {
    const byVenue = new Map<Venue, ByName>();
    for (const number of markets) {
      const name = this.#names[number] ?? '';
      const venue = venueOf(name);
      if (venue === undefined) continue;
      const ofVenue: ByName = byVenue.get(venue) ?? new Map();
      byVenue.set(venue, ofVenue);
      ofVenue.set(name.slice(venue.length + 1), over.has(number));
    }
    return byVenue;
  }

  isGame(slug: string): boolean {
    return this.#games.has(slug);
  }

  /** @param byVenue false: an operator or a game has given the result */
  settle(market: MarketNumber, byVenue: boolean): void {
    this.#settled.add(market);
    if (!byVenue) this.#told.forget(market);
  }

  /**
   * Watched markets with a result that their venue has not told here: others have given it, or it is
   * from before the start. Rules W107, W110.
   */
  untold(venue: Venue): ReadonlySet<string> {
    const isUntold = (name: string) => {
      const market = this.marketNumber(venue, name);
      return market !== undefined && this.#settled.has(market) && !this.#told.has(market);
    };
    return new Set(this.watchedMarkets(venue).filter(isUntold));
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

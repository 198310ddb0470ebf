/** The catalog that the server uses now, its source, and the markets to subscribe to. */

import type { MarketNumber, Venue } from '../../engine/base/units.ts';
import type { Catalog } from '../../engine/rules/catalog-entries.ts';
import type { FeeEntry } from '../../engine/rules/fees.ts';
import type { Shards } from '../../engine/shard/callers/shards.ts';
import {
  catalogProblem,
  listedMarkets,
  loadCatalog,
  watchCatalog,
} from '../../feeds/catalog/catalog.ts';
import { marketNumbers } from '../../feeds/catalog/market-numbers.ts';
import type { MarketsToWatch } from '../../feeds/catalog/watched-markets.ts';
import type { Log } from '../base/log.ts';
import { ConfigError } from '../config/config.ts';
import type { ControlStore } from '../identity/store.ts';

/** The catalog in use, its numbers, and its file. */
export class LiveCatalog {
  current: Catalog;
  /** Its fee table. Rule F20 (feeds/FORMATS.md). */
  fees: readonly FeeEntry[] = [];
  marketNumber: ReturnType<typeof marketNumbers>;
  /** Called with each catalog once the engine has it. */
  onUse: (catalog: Catalog) => void = () => {};
  readonly #file: string | null;
  readonly #identity: ControlStore;
  readonly #engine: Shards;
  /**
   * Markets to subscribe to although the catalog may no longer list them: somebody may have a
   * position there.
   */
  readonly #unsettled: Set<MarketNumber>;
  readonly #settled = new Set<MarketNumber>();

  constructor(
    file: string | null,
    identity: ControlStore,
    engine: Shards,
    openMarkets: MarketNumber[],
  ) {
    this.#file = file;
    this.#unsettled = new Set(openMarkets);
    this.#identity = identity;
    this.#engine = engine;
    const numbers = identity.numbers() ?? { marketNames: [], instrumentIds: [] };
    this.current = { games: [], instruments: [], ...numbers };
    this.marketNumber = marketNumbers(this.current);
  }

  /** Loads the file, or starts with an empty catalog; throws when the file has errors. */
  async start(): Promise<void> {
    if (this.#file === null) await this.#use(this.current);
    else await this.#load(this.#file);
  }

  /** Reads the file again whenever it changes; a file with errors changes nothing. */
  watch(log: Log, onChange: () => void): { close(): void } {
    const file = this.#file;
    if (file === null) return { close() {} };
    const reload = async () => {
      await this.#load(file);
      log.info({ file, instruments: this.current.instruments.length }, 'catalog loaded');
      onChange();
    };
    return watchCatalog(file, reload, log);
  }

  /** What the feeds of these venues must know of it. */
  marketsToWatch(venues: readonly Venue[]): MarketsToWatch {
    return {
      marketNames: this.current.marketNames,
      byVenue: Object.fromEntries(venues.map((venue) => [venue, this.watchedMarkets(venue)])),
      games: this.current.games.map(({ slug }) => slug),
      settled: [...this.#settled],
    };
  }

  /** Markets to subscribe to: those the catalog lists, and earlier ones without a result. */
  watchedMarkets(venue: Venue): string[] {
    const names = new Set(listedMarkets(this.current, venue));
    for (const number of this.#unsettled) {
      const name = this.current.marketNames[number]!;
      if (name.startsWith(`${venue}/`)) names.add(name.slice(venue.length + 1));
    }
    return [...names];
  }

  hasResult(market: MarketNumber): boolean {
    return this.#settled.has(market);
  }

  /** A market has its result: it needs no subscription any more. */
  settled(market: MarketNumber): void {
    this.#unsettled.delete(market);
    this.#settled.add(market);
  }

  async #load(file: string): Promise<void> {
    const reading = await loadCatalog(file, this.current);
    if (!reading.ok) {
      throw new ConfigError([catalogProblem(`PAPERBOOK_CATALOG ${file}`, reading.errors)]);
    }
    this.fees = reading.fees;
    await this.#use(reading.catalog);
  }

  /** Numbers are on disk before a fact names them. Rule D18 (engine/RULES.md). */
  async #use(catalog: Catalog): Promise<void> {
    const { marketNames, instrumentIds } = catalog;
    await this.#identity.putNumbers({ marketNames, instrumentIds });
    this.current = catalog;
    this.marketNumber = marketNumbers(catalog);
    for (const { listings } of catalog.instruments) {
      for (const { venue, venueMarketId } of listings) {
        const market = this.marketNumber(venue, venueMarketId)!;
        if (!this.#settled.has(market)) this.#unsettled.add(market);
      }
    }
    await this.#engine.setCatalog(catalog);
    this.onUse(catalog);
  }
}

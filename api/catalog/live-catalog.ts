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
import type { MarketBus } from './market-bus.ts';
import type { MarketStates } from './market-states.ts';

export type LiveCatalogParts = {
  /** Null: there is no file, and the catalog stays empty. */
  file: string | null;
  identity: Pick<ControlStore, 'numbers' | 'putNumbers'>;
  engine: Pick<Shards, 'setCatalog'>;
  /**
   * Markets to subscribe to although the catalog may no longer list them: somebody may have a
   * position there.
   */
  openMarkets: readonly MarketNumber[];
  states: Pick<MarketStates, 'isOver' | 'over'>;
  /** Told of each catalog once the engine has it. */
  bus: Pick<MarketBus, 'publish'>;
};

/** The catalog in use, its numbers, and its file. */
export class LiveCatalog {
  current: Catalog;
  /** Its fee table. Rule F20 (feeds/FORMATS.md). */
  fees: readonly FeeEntry[] = [];
  marketNumber: ReturnType<typeof marketNumbers>;
  readonly #parts: LiveCatalogParts;
  /** Every market that a catalog has listed since the start, and those that were open then. */
  readonly #listed: Set<MarketNumber>;

  constructor(parts: LiveCatalogParts) {
    this.#parts = parts;
    this.#listed = new Set(parts.openMarkets);
    const numbers = parts.identity.numbers() ?? { marketNames: [], instrumentIds: [] };
    this.current = { games: [], instruments: [], ...numbers };
    this.marketNumber = marketNumbers(this.current);
  }

  /** Loads the file, or starts with an empty catalog; throws when the file has errors. */
  async start(): Promise<void> {
    const { file } = this.#parts;
    if (file === null) await this.#use(this.current);
    else await this.#load(file);
  }

  /** Reads the file again whenever it changes; a file with errors changes nothing. */
  watch(log: Log): { close(): void } {
    const { file } = this.#parts;
    if (file === null) return { close() {} };
    const reload = async () => {
      await this.#load(file);
      log.info({ file, instruments: this.current.instruments.length }, 'catalog loaded');
    };
    return watchCatalog(file, reload, log);
  }

  /** What the feeds of these venues must know of it. */
  marketsToWatch(venues: readonly Venue[]): MarketsToWatch {
    return {
      marketNames: this.current.marketNames,
      byVenue: Object.fromEntries(venues.map((venue) => [venue, this.watchedMarkets(venue)])),
      games: this.current.games.map(({ slug }) => slug),
      settled: this.#parts.states.over(),
    };
  }

  /** Markets to subscribe to: those the catalog lists, and earlier ones without a result. */
  watchedMarkets(venue: Venue): string[] {
    const names = new Set(listedMarkets(this.current, venue));
    for (const number of this.#listed) {
      if (this.#parts.states.isOver(number)) continue;
      const name = this.current.marketNames[number]!;
      if (name.startsWith(`${venue}/`)) names.add(name.slice(venue.length + 1));
    }
    return [...names];
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
    await this.#parts.identity.putNumbers({ marketNames, instrumentIds });
    this.current = catalog;
    this.marketNumber = marketNumbers(catalog);
    for (const { listings } of catalog.instruments) {
      for (const { venue, venueMarketId } of listings) {
        this.#listed.add(this.marketNumber(venue, venueMarketId)!);
      }
    }
    await this.#parts.engine.setCatalog(catalog);
    this.#parts.bus.publish({ kind: 'catalog', catalog });
  }
}

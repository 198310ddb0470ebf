/**
 * The catalog that the server uses now, its sources, and the markets to subscribe to. Rules K51, K56,
 * K58 (feeds/FORMATS.md), G8 (api/RULES.md).
 */
import path from 'node:path';
import { NumberedNames } from '../../engine/base/text-numbers.ts';
import {
  type EpochMs,
  HOME_VENUE,
  type InstrumentNumber,
  type MarketNumber,
  marketName,
  type Venue,
} from '../../engine/base/units.ts';
import type { Catalog, CatalogInstrument } from '../../engine/rules/catalog-entries.ts';
import type { FeeEntry } from '../../engine/rules/fees.ts';
import type { Shards } from '../../engine/shard/callers/shards.ts';
import { NotLeader } from '../../engine/threads/unavailable.ts';
import {
  catalogProblem,
  fileVersion,
  listedMarkets,
  watchCatalog,
} from '../../feeds/catalog/catalog.ts';
import type { CatalogError } from '../../feeds/catalog/catalog-schema.ts';
import {
  type CombinedReading,
  combined,
  loadBoth,
  NOTHING_DISCOVERED,
  type OwnFile,
  readDiscovered,
  readOwn,
} from '../../feeds/catalog/discovered.ts';
import type { MarketsToWatch } from '../../feeds/catalog/watched-markets.ts';
import type { Log } from '../base/logger.ts';
import { ConfigError } from '../config/config.ts';
import type { ControlStore } from '../identity/store.ts';
import type { MarketBus } from './market-bus.ts';
import type { MarketStates } from './market-states.ts';
import { PastInstruments } from './past-instruments.ts';

/** The operator's own file as it was read once; the file is null if there is none. */
export type OwnCatalog = { file: string | null; version: string | null; own: OwnFile };

/** @throws ConfigError with every error of the file */
export async function readOwnCatalog(file: string | null): Promise<OwnCatalog> {
  // A change while it is read counts as a later one.
  const version = file === null ? null : fileVersion(file);
  const own = await readOwn(file);
  if ('own' in own) return { file, version, own };
  throw unusable(file, own.errors);
}

export type CatalogFiles = {
  /** The operator's own file; null: there is none. */
  file: string | null;
  /** The file of discoveries, which may be missing. */
  discoveredFile: string;
  past: PastInstruments;
  /** What the first two said, and which version of the first one; null: a start reads them. */
  first: { reading: CombinedReading; version: string | null } | null;
};

/**
 * Reads the catalog files of a server before it opens shards. Rule G8 (api/RULES.md).
 *
 * @throws ConfigError or DataDirError if one cannot be used
 */
export function openCatalogFiles(
  { file, version, own }: OwnCatalog,
  dataDir: string,
): CatalogFiles {
  const discoveredFile = path.join(dataDir, 'discovered.json');
  const reading = combined(own, readDiscovered(discoveredFile) ?? NOTHING_DISCOVERED);
  if (!reading.ok) throw unusable(file, reading.errors);
  const past = new PastInstruments(path.join(dataDir, 'retired.jsonl'));
  return { file, discoveredFile, past, first: { reading, version } };
}

function unusable(file: string | null, errors: readonly CatalogError[]): ConfigError {
  return new ConfigError([catalogProblem(`PAPERBOOK_CATALOG ${file}`, errors)]);
}

export type LiveCatalogParts = {
  files: CatalogFiles;
  identity: Pick<
    ControlStore,
    'numbers' | 'putNumbers' | 'isReplicated' | 'refusal' | 'onFollowed'
  >;
  engine: Pick<Shards, 'setCatalog' | 'setFees'>;
  /**
   * Markets to subscribe to although the catalog may no longer list them, because an account may
   * have a position there.
   */
  openMarkets: readonly MarketNumber[];
  states: Pick<MarketStates, 'isOver' | 'over'>;
  /** Called with each catalog once the engine has it. */
  bus: Pick<MarketBus, 'publish'>;
};

type Lists = Pick<Catalog, 'games' | 'instruments'>;

/** The catalog in use, its numbers, and its file. */
export class LiveCatalog {
  current: Catalog;
  /** Its fee table. Rule F20 (feeds/FORMATS.md). */
  fees: readonly FeeEntry[] = [];
  /** Kept under their ids. */
  readonly past: PastInstruments;
  readonly #marketNames = new NumberedNames();
  readonly #instrumentIds = new NumberedNames();
  readonly #parts: LiveCatalogParts;
  /** Instruments that only discovery knows, by their slugs. */
  #discovered: ReadonlySet<string> = new Set();
  /** Until it is in use. */
  #first: CatalogFiles['first'];
  /** Reads both files; a separate thread may do it. */
  #read: () => Promise<CombinedReading>;
  /** Catalogs are taken one after the other. */
  #turn: Promise<void> = Promise.resolve();
  /**
   * Every market that a catalog has listed since the start, and the markets that were open then.
   */
  readonly #listed: Set<MarketNumber>;

  constructor(parts: LiveCatalogParts) {
    const { file, discoveredFile, past, first } = parts.files;
    // It is kept until it is in use, and no longer.
    this.#parts = { ...parts, files: { ...parts.files, first: null } };
    this.past = past;
    this.#first = first;
    this.#read = () => loadBoth(file, discoveredFile);
    this.#listed = new Set(parts.openMarkets);
    const numbers = parts.identity.numbers() ?? { marketNames: [], instrumentIds: [] };
    this.current = { games: [], instruments: [], ...numbers };
    this.#number(this.current);
  }

  /** The number of a venue market of this catalog, or of an earlier one. */
  marketNumber(venue: Venue, venueMarketId: string): MarketNumber | undefined {
    return this.#marketNames.numberOf(marketName(venue, venueMarketId));
  }

  /** The number of an instrument of this catalog, or of an earlier one. */
  instrumentNumber(id: string): InstrumentNumber | undefined {
    return this.#instrumentIds.numberOf(id);
  }

  #number({ marketNames, instrumentIds }: Pick<Catalog, 'marketNames' | 'instrumentIds'>): void {
    this.#marketNames.extend(marketNames);
    this.#instrumentIds.extend(instrumentIds);
  }

  /** Uses what the files said first; throws if they are read now and one has errors. */
  async start(): Promise<void> {
    const first = this.#first;
    this.#first = null;
    await (first === null ? this.reload() : this.#inTurn(() => this.#take(first.reading)));
  }

  /** Reads the file again whenever it changes; a file with errors changes nothing. */
  watch(log: Log): { close(): void } {
    const { identity } = this.#parts;
    const { file } = this.#parts.files;
    identity.onFollowed('names', async () => {
      await this.reload().catch((error: unknown) => {
        log.error({ file, error: String(error) }, 'catalog not loaded for its new numbers');
      });
    });
    if (file === null) return { close() {} };
    const reload = async () => {
      await this.reload();
      log.info({ file, instruments: this.current.instruments.length }, 'catalog loaded');
    };
    const first = this.#first;
    return watchCatalog(file, reload, log, first === null ? {} : { since: first.version });
  }

  /** The files are read by `read` from now on. */
  readBy(read: () => Promise<CombinedReading>): void {
    this.#read = read;
  }

  /** Reads the files, and resolves once the engine has their catalog. */
  reload(): Promise<void> {
    return this.#inTurn(async () => this.#take(await this.#read()));
  }

  #inTurn(take: () => Promise<void>): Promise<void> {
    const turn = this.#turn.catch(() => undefined).then(take);
    this.#turn = turn;
    return turn;
  }

  /** How many instruments discovery alone knows, and how many are retired. */
  counts(): { discovered: number; retired: number } {
    return { discovered: this.#discovered.size, retired: this.past.count };
  }

  /**
   * Retires discovered instruments that have been over for long. They are kept as retired before
   * this returns, and stay listed until their file lacks them.
   *
   * @returns their slugs
   */
  retireDue(nowMs: EpochMs): string[] {
    const over = this.current.instruments.filter((instrument) => {
      return this.#discovered.has(instrument.slug) && this.#isOver(instrument);
    });
    const due = this.past.due(over, nowMs);
    this.past.retire(this.current, due);
    return due.map(({ slug }) => slug);
  }

  /** The catalog data that the feeds of these venues need. `named`: they know so many names. */
  marketsToWatch(venues: readonly Venue[], named: number): MarketsToWatch {
    return {
      named,
      marketNames: named === 0 ? this.current.marketNames : this.current.marketNames.slice(named),
      byVenue: Object.fromEntries(venues.map((venue) => [venue, this.watchedMarkets(venue)])),
      games: this.current.games.map(({ slug }) => slug),
      // Later results come one by one.
      settled: named === 0 ? this.#parts.states.over() : [],
    };
  }

  /** The markets to subscribe to: the catalog's, and earlier ones without a result. */
  watchedMarkets(venue: Venue): string[] {
    const names = new Set(listedMarkets(this.current, venue));
    for (const number of this.#listed) {
      if (this.#parts.states.isOver(number)) continue;
      const name = this.current.marketNames[number]!;
      if (name.startsWith(`${venue}/`)) names.add(name.slice(venue.length + 1));
    }
    return [...names];
  }

  async #take(reading: CombinedReading): Promise<void> {
    if (!reading.ok) throw unusable(this.#parts.files.file, reading.errors);
    this.fees = reading.fees;
    await this.#parts.engine.setFees(reading.fees);
    this.#discovered = new Set(reading.discovered);
    // An instrument that is over and in no file any more is kept for its traders.
    const ids = new Set(reading.catalog.instruments.map(({ id }) => id));
    const gone = this.current.instruments.filter(({ id }) => !ids.has(id));
    const over = gone.filter((one) => this.#isOver(one));
    this.past.retire(this.current, over);
    await this.#use(reading.catalog, gone);
  }

  /** Whether each of its markets that take orders has its result; if there is none, each market. */
  #isOver({ listings }: CatalogInstrument): boolean {
    const home = listings.filter(({ venue }) => venue === HOME_VENUE);
    const deciding = home.length > 0 ? home : listings;
    return (
      deciding.length > 0 &&
      deciding.every(({ venue, venueMarketId }) => {
        const market = this.marketNumber(venue, venueMarketId);
        return market !== undefined && this.#parts.states.isOver(market);
      })
    );
  }

  /**
   * Numbers are on disk before a fact names them. Rule D18 (engine/RULES.md). `gone`: the
   * instruments that only the catalog before has.
   */
  async #use(listed: Lists, gone: readonly CatalogInstrument[]): Promise<void> {
    const catalog = this.#numbered(this.#mayNumber(listed));
    const { marketNames, instrumentIds } = catalog;
    try {
      await this.#parts.identity.putNumbers({ marketNames, instrumentIds });
    } catch (error) {
      // It led when it numbered them.
      if (error instanceof NotLeader) return await this.#use(listed, gone);
      throw error;
    }
    const known = new Set(this.current.instruments);
    this.current = catalog;
    this.#number(catalog);
    // Nobody holds a retired instrument, so that its markets at other venues need no result.
    for (const one of gone) {
      if (!this.past.isRetired(one)) continue;
      for (const market of this.#marketsOf(one)) this.#listed.delete(market);
    }
    for (const one of catalog.instruments) {
      if (gone.length === 0 && known.has(one)) continue;
      for (const market of this.#marketsOf(one)) this.#listed.add(market);
    }
    await this.#parts.engine.setCatalog(catalog);
    this.#parts.bus.publish({ kind: 'catalog', catalog });
  }

  /**
   * The control leader numbers for all nodes. Another node takes its names, and leaves out what has
   * no number yet. Rule N138 (engine/RULES.md).
   */
  #mayNumber(listed: Lists): Lists {
    const { identity } = this.#parts;
    if (!identity.isReplicated) return listed;
    const stored = identity.numbers();
    if (stored !== null && stored.marketNames.length + stored.instrumentIds.length > this.#names) {
      this.current = { ...this.current, ...stored };
      this.#number(stored);
    }
    if (identity.refusal() === null) return listed;
    const isNumbered = ({ id, listings }: CatalogInstrument) =>
      this.#instrumentIds.numberOf(id) !== undefined &&
      listings.every(({ venue, venueMarketId }) => {
        return this.#marketNames.numberOf(marketName(venue, venueMarketId)) !== undefined;
      });
    return { ...listed, instruments: listed.instruments.filter(isNumbered) };
  }

  get #names(): number {
    return this.current.marketNames.length + this.current.instrumentIds.length;
  }

  *#marketsOf({ listings }: CatalogInstrument): Generator<MarketNumber> {
    for (const { venue, venueMarketId } of listings) yield this.marketNumber(venue, venueMarketId)!;
  }

  /** With the numbers of every catalog before: those stay, and new ones follow. */
  #numbered({ games, instruments }: Lists): Catalog {
    const [markets, ids] = [new Set<string>(), new Set<string>()];
    const known = new Set(this.current.instruments);
    for (const entry of instruments) {
      if (known.has(entry)) continue;
      const { id, listings } = entry;
      if (this.#instrumentIds.numberOf(id) === undefined) ids.add(id);
      for (const { venue, venueMarketId } of listings) {
        const name = marketName(venue, venueMarketId);
        if (this.#marketNames.numberOf(name) === undefined) markets.add(name);
      }
    }
    const { marketNames, instrumentIds } = this.current;
    return {
      ...{ games, instruments },
      marketNames: markets.size === 0 ? marketNames : [...marketNames, ...markets],
      instrumentIds: ids.size === 0 ? instrumentIds : [...instrumentIds, ...ids],
    };
  }

  close(): void {
    this.past.close();
  }
}

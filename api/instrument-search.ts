/**
 * Finds instruments by words, over an index of the catalog that is built between requests: a
 * hundred thousand instruments take a second, in slices of a few milliseconds. Rule A47
 * (api/RULES.md).
 */
import type { CatalogView, InstrumentEntry } from './catalog-view.ts';
import { InstrumentIndex } from './instrument-index.ts';

/** Instruments a slice: about 1 ms. */
const SLICE = 100;

export class InstrumentSearch {
  readonly #catalog: CatalogView;
  /** What the newest index is of, or will be when it is whole. */
  #source: readonly InstrumentEntry[] = [];
  #newest = new InstrumentIndex();
  /** The last whole one, until the newest is whole too. */
  #whole: InstrumentIndex | null = null;

  /** Begins to index what the catalog holds. */
  constructor(catalog: CatalogView) {
    this.#catalog = catalog;
    this.#refresh();
  }

  /**
   * The best `limit` matches, best first. While a new catalog is indexed: what the one before finds
   * and this one still lists. While the first is indexed: what is indexed by now.
   */
  find(query: string, league: string | undefined, limit: number): InstrumentEntry[] {
    this.#refresh();
    const index = this.#whole ?? this.#newest;
    const isOld = index !== this.#newest;
    const isWanted = (entry: InstrumentEntry) => {
      const isListed = !isOld || this.#catalog.instrument(entry.id) !== undefined;
      return isListed && (league === undefined || entry.instrument.league === league);
    };
    const found = index.find(query, limit, isWanted);
    return isOld ? found.map(({ id }) => this.#catalog.instrument(id)!) : found;
  }

  /** Whether all of the newest catalog is indexed. */
  get isWhole(): boolean {
    return this.#whole === this.#newest;
  }

  /** A catalog that has changed is indexed anew; a small one at once. */
  #refresh(): void {
    const source = this.#catalog.instruments();
    if (source === this.#source) return;
    this.#source = source;
    this.#newest = new InstrumentIndex();
    this.#indexSlice(this.#newest);
  }

  #indexSlice(index: InstrumentIndex): void {
    // A newer catalog has come meanwhile, and an index of its own is under way.
    if (index !== this.#newest) return;
    for (const entry of this.#source.slice(index.size, index.size + SLICE)) index.add(entry);
    if (index.size === this.#source.length) this.#whole = index;
    else setImmediate(() => this.#indexSlice(index));
  }
}

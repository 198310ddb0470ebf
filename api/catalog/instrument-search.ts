/**
 * Finds instruments by words, over an index of the catalog that is built between requests: a
 * hundred thousand instruments take a second, in slices of a few milliseconds. Rule A47
 * (api/RULES.md).
 */
import type { EpochMs, GameStatus } from '../../engine/base/units.ts';
import type { CatalogView, InstrumentEntry } from './catalog-view.ts';
import { InstrumentIndex } from './instrument-index.ts';

/** Instruments per slice: about 1 ms. */
const SLICE = 100;

export type SearchFilter = { league?: string | undefined; status?: GameStatus | undefined };

export class InstrumentSearch {
  readonly #catalog: CatalogView;
  /** The catalog of the newest index, which may still be incomplete. */
  #source: readonly InstrumentEntry[] = [];
  #newest = new InstrumentIndex();
  /** The last complete index, until the newest one is complete. */
  #whole: InstrumentIndex | null = null;

  /** Begins to index the catalog. */
  constructor(catalog: CatalogView) {
    this.#catalog = catalog;
    this.#refresh();
  }

  /**
   * The best `limit` matches, best first. While a new catalog is indexed, these are the old index's
   * matches that the new catalog still lists. While the first is indexed, they are from the part
   * indexed so far.
   *
   * Of equal matches, instruments that can be traded now are first.
   *
   * @param filter which instruments may be found, of the present catalog @param venueData whether
   * the venues' titles are searched, too
   */
  find(
    query: string,
    { league, status }: SearchFilter,
    limit: number,
    venueData: boolean,
    nowMs: EpochMs,
  ): InstrumentEntry[] {
    this.#refresh();
    const index = this.#whole ?? this.#newest;
    const isOld = index !== this.#newest;
    const currentOf = (entry: InstrumentEntry) =>
      isOld ? this.#catalog.instrument(entry.id) : entry;
    const isPreferred = (entry: InstrumentEntry) =>
      this.#catalog.isTradable(currentOf(entry)!, nowMs);
    const isWanted = (entry: InstrumentEntry) => {
      const current = currentOf(entry);
      if (current === undefined) return false;
      return (
        (league === undefined || current.instrument.league === league) &&
        (status === undefined || current.game?.status === status)
      );
    };
    const found = index.find(query, limit, venueData, isWanted, isPreferred);
    return isOld ? found.map(({ id }) => this.#catalog.instrument(id)!) : found;
  }

  /** Whether the newest catalog is completely indexed. */
  get isWhole(): boolean {
    return this.#whole === this.#newest;
  }

  /** Indexes a changed catalog again; a small one at once. */
  #refresh(): void {
    const source = this.#catalog.instruments();
    if (source === this.#source) return;
    this.#source = source;
    this.#newest = new InstrumentIndex();
    this.#indexSlice(this.#newest);
  }

  #indexSlice(index: InstrumentIndex): void {
    // A newer catalog arrived meanwhile, and its own index is being built.
    if (index !== this.#newest) return;
    for (const entry of this.#source.slice(index.size, index.size + SLICE)) index.add(entry);
    if (index.size === this.#source.length) this.#whole = index;
    else setImmediate(() => this.#indexSlice(index));
  }
}

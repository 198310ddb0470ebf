/**
 * A venue's answers as a catalog, alone or added to another, with the joined and left-out markets.
 * The command and a running server both use it. Rules K20, K43 (feeds/FORMATS.md).
 */
import type { Venue } from '../../engine/base/units.ts';
import type { CatalogFile } from '../catalog/catalog-schema.ts';
import { type Answer, Discovery } from './discovered-answers.ts';
import { apartGames, assemble } from './shared/assemble.ts';

export type DiscoverOptions = {
  /**
   * The found entries are added to this catalog; a function is called once all answers are there.
   */
  base?: CatalogFile | (() => CatalogFile);
  /** Whether a list without a market is one, as of a series between two games. */
  mayBeEmpty?: boolean;
  /** Whether markets that join several others are taken, too (K44). */
  combos?: boolean;
  /**
   * Whether any error ends it, even after good answers. The user's own answers must be complete.
   */
  needsAll?: boolean;
  /** After each answer: markets so far, and whether this one had any. */
  onAnswer?: (name: string, progress: { kept: number; isFound: boolean }) => void;
};

export type Discovered = {
  /** `incomplete`: the list did not end by itself. */
  catalog: CatalogFile;
  /** The error in which the list ended after good pages; null: all of it was read. */
  incomplete: string | null;
  /** Markets that make no instrument, by reason. */
  leftOut: ReadonlyMap<string, number>;
  /** Markets without a game, though their venue names one, by reason. */
  apart: ReadonlyMap<string, number>;
  /** Games of one day and the same teams that did not join, by their slugs (K41). */
  apartGames: readonly (readonly [string, string])[];
  /** Listings that were found for instruments which another venue lists, too. */
  joined: number;
};

/**
 * @param answers one at a time, as `restPages` gives them @throws if there is no market, if the
 * list fails before its first market, and beyond the bounds of a catalog.
 */
export async function discover(
  venue: Venue,
  answers: AsyncIterable<Answer>,
  { base, combos = false, needsAll = false, mayBeEmpty = false, onAnswer }: DiscoverOptions = {},
): Promise<Discovered> {
  const discovery = new Discovery(venue, { combos });
  let incomplete: string | null = null;
  const pages = answers[Symbol.asyncIterator]();
  for (;;) {
    let page: IteratorResult<Answer>;
    try {
      page = await pages.next();
    } catch (error) {
      if (needsAll || discovery.kept === 0) throw error;
      incomplete = (error as Error).message;
      break;
    }
    if (page.done === true) break;
    const isFound = discovery.take(page.value);
    onAnswer?.(page.value.name, { kept: discovery.kept, isFound });
  }
  const into = typeof base === 'function' ? base() : base;
  const { skipped, apart, ...found } = discovery.finding({ mayBeEmpty });
  const wanted = new Set(found.found.map(({ listing }) => listing.venueMarketId));
  const file = assemble(found, into);
  return {
    catalog: incomplete === null ? file : { ...file, incomplete: true },
    incomplete,
    leftOut: skipped,
    apart,
    apartGames: apartGames(file),
    joined: joinedIn(file, venue, wanted),
  };
}

function joinedIn({ instruments }: CatalogFile, venue: Venue, wanted: ReadonlySet<string>): number {
  let count = 0;
  for (const { listings } of instruments) {
    if (listings.length < 2) continue;
    const own = listings.find((listing) => listing.venue === venue);
    if (own !== undefined && wanted.has(own.venueMarketId)) count += 1;
  }
  return count;
}

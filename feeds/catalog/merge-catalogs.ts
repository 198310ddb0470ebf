/** One catalog file added to another. Rule K28 (feeds/FORMATS.md). */
import { feeKey } from './catalog-checks.ts';
import type { CatalogFile, InstrumentEntry } from './catalog-schema.ts';

/**
 * `base` with the entries of `added`: games and instruments of the same slug are replaced where
 * they stand, an instrument keeping its listings at venues that the new one does not name, and fee
 * lines of the same venue, series and time; the others follow. Both files have passed the checks.
 */
export function mergeCatalogs(base: CatalogFile, added: CatalogFile): CatalogFile {
  const games = replaced(base.games, added.games, ({ slug }) => slug, withId);
  const instruments = replaced(base.instruments, added.instruments, ({ slug }) => slug, withVenues);
  const fees = replaced(base.fees ?? [], added.fees ?? [], feeKey);
  const merged = { games: games.map(withoutCount), instruments };
  return fees.length === 0 ? merged : { ...merged, fees };
}

function replaced<T>(
  base: readonly T[],
  added: readonly T[],
  keyOf: (entry: T) => string,
  join: (before: T, after: T) => T = (_before, after) => after,
): T[] {
  const entries = new Map(base.map((entry) => [keyOf(entry), entry]));
  for (const entry of added) {
    const before = entries.get(keyOf(entry));
    entries.set(keyOf(entry), before === undefined ? entry : join(before, entry));
  }
  return [...entries.values()];
}

/** An id that was given stays, since positions name it. */
function withId<T extends { id?: string }>(before: T, after: T): T {
  return before.id === undefined ? after : { ...after, id: before.id };
}

/** `venues` is derived, and would have to be right. */
function withVenues(before: InstrumentEntry, { venues, ...after }: InstrumentEntry) {
  const named = new Set(after.listings.map(({ venue }) => venue));
  const kept = before.listings.filter(({ venue }) => !named.has(venue));
  const listings = [...kept, ...after.listings];
  return withId(before, { ...after, listings });
}

/** `instrumentCount` is derived, and changes with what is added. */
function withoutCount<T extends { instrumentCount?: number }>({ instrumentCount, ...game }: T) {
  return game;
}

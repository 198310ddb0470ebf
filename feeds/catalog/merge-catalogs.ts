/** One catalog file added to another. Rules K28, K32 (feeds/FORMATS.md). */
import { START_SOURCES } from '../../engine/base/units.ts';
import { feeKey } from './catalog-checks.ts';
import type { CatalogFile, GameEntry, InstrumentEntry } from './catalog-schema.ts';

/**
 * `base` with the entries of `added`. Games and instruments of the same slug are replaced in place,
 * and so are fee lines of the same venue, series and time. A replaced instrument keeps its listings
 * at venues that the new one does not name. The other entries follow. Both files have passed the
 * checks.
 */
export function mergeCatalogs(base: CatalogFile, added: CatalogFile): CatalogFile {
  const games = replaced(base.games, added.games, ({ slug }) => slug, withStart);
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

/** An id that was given stays, because positions name it. */
function withId<T extends { id?: string }>(before: T, after: T): T {
  return before.id === undefined ? after : { ...after, id: before.id };
}

type Source = GameEntry['startsAtSource'];

/** Whether a start of this source must not take the place of the other. Rule K32. */
export function isWorseStart(source: Source, before: Source): boolean {
  const rankOf = (one: Source) => START_SOURCES.indexOf(one ?? 'catalog');
  return rankOf(source) > rankOf(before);
}

/** A start with a better source stays. */
function withStart(before: GameEntry, after: GameEntry): GameEntry {
  const { startsAt, startsAtSource, note = null } = before;
  const isKept = startsAtSource != null && isWorseStart(after.startsAtSource, startsAtSource);
  return withId(before, isKept ? { ...after, startsAt, startsAtSource, note } : after);
}

/** `venues` is derived, and would have to be right. */
function withVenues(before: InstrumentEntry, { venues, ...after }: InstrumentEntry) {
  const named = new Set(after.listings.map(({ venue }) => venue));
  const kept = before.listings.filter(({ venue }) => !named.has(venue));
  const listings = [...kept, ...after.listings];
  return withId(before, { ...after, listings });
}

/** `instrumentCount` is derived, and changes with added instruments. */
function withoutCount<T extends { instrumentCount?: number }>({ instrumentCount, ...game }: T) {
  return game;
}

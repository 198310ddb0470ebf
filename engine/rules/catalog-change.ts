/**
 * What a catalog changes in the one before it. A log writes this for most changes, and a whole
 * catalog now and then, so that it grows with what changes and not with what was ever listed.
 * Rules K58, K60 (feeds/FORMATS.md).
 */
import { invariant } from '../base/invariant.ts';
import type { Catalog, CatalogGame, CatalogInstrument } from './catalog-entries.ts';

/** A part of a list: its entries from one place before another, or an entry that is new or changed. */
export type Part<Entry> = readonly [from: number, before: number] | Entry;

type Lists = Pick<Catalog, 'games' | 'instruments'>;
export type ListChange = { games: Part<CatalogGame>[]; instruments: Part<CatalogInstrument>[] };

/** Beside a new or changed instrument, its game is among the new entries, too. */
export type CatalogChange = ListChange & {
  /** How many markets and instruments had numbers before. */
  marketsBefore: number;
  instrumentsBefore: number;
  /** The names that follow those. */
  marketNames: string[];
  instrumentIds: string[];
};

/**
 * A name has the number that it had. The names of a catalog may be fewer, as those of a server on
 * the directory of a replay.
 */
export function checkNumbers(before: Catalog, now: Catalog): void {
  const isFirst = (names: readonly string[], before: readonly string[]) =>
    before.every((name, number) => (names[number] ?? name) === name);
  invariant(isFirst(now.marketNames, before.marketNames), 'a market changed its number');
  invariant(isFirst(now.instrumentIds, before.instrumentIds), 'an instrument changed its number');
}

/** Null: the catalogs are equal. */
export function changeOf(before: Catalog, now: Catalog): CatalogChange | null {
  const marketsBefore = before.marketNames.length;
  const instrumentsBefore = before.instrumentIds.length;
  checkNumbers(before, now);
  const marketNames = now.marketNames.slice(marketsBefore);
  const instrumentIds = now.instrumentIds.slice(instrumentsBefore);
  const idsBefore = new Map(before.games.map(({ slug, id }) => [slug, id]));
  const renamed = new Set(
    now.games.flatMap(({ slug, id }) => ((idsBefore.get(slug) ?? id) === id ? [] : [slug])),
  );
  const instruments = partsOf(before.instruments, now.instruments, {
    isNews: ({ gameSlug }) => renamed.has(gameSlug ?? ''),
  });
  const described = new Set(newIn(instruments).map(({ gameSlug }) => gameSlug));
  const games = partsOf(before.games, now.games, { isNews: ({ slug }) => described.has(slug) });
  const isSame =
    marketNames.length + instrumentIds.length === 0 &&
    isAllOf(instruments, before.instruments) &&
    isAllOf(games, before.games);
  if (isSame) return null;
  return { games, instruments, marketsBefore, instrumentsBefore, marketNames, instrumentIds };
}

/** The catalog that a change makes of the one before it. */
export function changed(before: Catalog, change: CatalogChange): Catalog {
  const { marketsBefore, instrumentsBefore, marketNames, instrumentIds } = change;
  const isNext =
    marketsBefore === before.marketNames.length &&
    instrumentsBefore === before.instrumentIds.length;
  invariant(isNext, 'a change is of another catalog');
  const withNew = (names: string[], more: string[]) =>
    more.length === 0 ? names : [...names, ...more];
  return {
    ...changedLists(before, change),
    marketNames: withNew(before.marketNames, marketNames),
    instrumentIds: withNew(before.instrumentIds, instrumentIds),
  };
}

/** The lists alone, without names. */
export function listChangeOf(before: Lists, now: Lists): ListChange {
  return {
    games: partsOf(before.games, now.games),
    instruments: partsOf(before.instruments, now.instruments),
  };
}

/** Entries that stay are the same objects. */
export function changedLists(before: Lists, { games, instruments }: ListChange): Lists {
  return {
    games: listOf(before.games, games),
    instruments: listOf(before.instruments, instruments),
  };
}

/** The entries of a list that are new or changed. */
export function newIn<Entry>(parts: readonly Part<Entry>[]): Entry[] {
  return parts.filter((part): part is Entry => !isRange(part));
}

function isRange<Entry>(part: Part<Entry>): part is readonly [number, number] {
  return Array.isArray(part);
}

/** One by slug, which is unique in a list. */
function partsOf<Entry extends { slug: string }>(
  before: readonly Entry[],
  now: readonly Entry[],
  { isNews }: { isNews(entry: Entry): boolean } = { isNews: () => false },
): Part<Entry>[] {
  const places = new Map(before.map(({ slug }, place) => [slug, place]));
  const parts: Part<Entry>[] = [];
  let range: [number, number] | null = null;
  for (const entry of now) {
    const place = places.get(entry.slug);
    const isKnown = place !== undefined && !isNews(entry) && isEqual(before[place]!, entry);
    if (isKnown && range !== null && range[1] === place) {
      range[1]++;
      continue;
    }
    range = isKnown ? [place, place + 1] : null;
    parts.push(range ?? entry);
  }
  return parts;
}

const isEqual = (one: unknown, other: unknown): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other);

function isAllOf<Entry>(parts: readonly Part<Entry>[], before: readonly Entry[]): boolean {
  if (before.length === 0) return parts.length === 0;
  const [part, ...more] = parts;
  if (part === undefined || more.length > 0 || !isRange(part)) return false;
  return part[0] === 0 && part[1] === before.length;
}

function listOf<Entry>(before: readonly Entry[], parts: readonly Part<Entry>[]): Entry[] {
  const list: Entry[] = [];
  for (const part of parts) {
    if (!isRange(part)) {
      list.push(part);
      continue;
    }
    const [from, end] = part;
    invariant(from >= 0 && from < end && end <= before.length, 'a part of a list is beyond it');
    for (let place = from; place < end; place++) list.push(before[place]!);
  }
  return list;
}

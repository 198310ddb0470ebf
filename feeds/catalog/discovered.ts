/**
 * The discoveries of a running server, beside the operator's own catalog file. They are kept in a
 * separate file, and both are joined when they are read. Discovery never overwrites the operator's
 * description of an instrument. Rules K50 to K52 (feeds/FORMATS.md).
 */
import { existsSync, readFileSync } from 'node:fs';
import { boundedText, readProblem } from '../../engine/base/bounded-json.ts';
import type { Catalog } from '../../engine/rules/catalog-entries.ts';
import type { FeeEntry } from '../../engine/rules/fees.ts';
import { type CatalogReading, catalogProblem, parseCatalog, readingOf } from './catalog.ts';
import { feeKey } from './catalog-checks.ts';
import type { CatalogError, CatalogFile, InstrumentEntry } from './catalog-schema.ts';
import { mergeCatalogs } from './merge-catalogs.ts';

export const NOTHING_DISCOVERED: CatalogFile = { games: [], instruments: [] };

/** Both files as one catalog, without numbers. */
export type CombinedReading =
  | {
      ok: true;
      catalog: Pick<Catalog, 'games' | 'instruments'>;
      fees: FeeEntry[];
      /** Instruments that only discovery knows, by their slugs. */
      discovered: string[];
    }
  | { ok: false; errors: CatalogError[] };

/** Null if the file does not exist; `not JSON` and errors of form name the file. */
export function readDiscovered(path: string): CatalogFile | null {
  if (!existsSync(path)) return null;
  const text = readFileSync(path, 'utf8');
  const reading = parseCatalog(text);
  if (!reading.ok) throw new Error(catalogProblem(path, reading.errors));
  return JSON.parse(text) as CatalogFile;
}

/** The operator's part of the catalog. */
export type OwnFile = { own: CatalogFile; ownReading: CatalogReading };

/** Reads the operator's file; null for none. */
export async function readOwn(
  file: string | null,
): Promise<OwnFile | { ok: false; errors: CatalogError[] }> {
  if (file === null) return { own: NOTHING_DISCOVERED, ownReading: readingOf(NOTHING_DISCOVERED) };
  let text: string;
  try {
    text = await boundedText(file);
  } catch (error) {
    return { ok: false, errors: [{ place: 'file', message: readProblem(error) }] };
  }
  const reading = parseCatalog(text);
  if (!reading.ok) return reading;
  return { own: JSON.parse(text) as CatalogFile, ownReading: reading };
}

/**
 * The catalog of both files. Errors are errors of the operator's file. @throws if the file of
 * discoveries is damaged
 */
export async function loadBoth(
  file: string | null,
  discoveredFile: string,
): Promise<CombinedReading> {
  const discovered = readDiscovered(discoveredFile) ?? NOTHING_DISCOVERED;
  const own = await readOwn(file);
  return 'own' in own ? combined(own, discovered) : own;
}

/** The catalog of the operator's part and of discoveries, `NOTHING_DISCOVERED` without a file. */
export function combined({ own, ownReading }: OwnFile, discovered: CatalogFile): CombinedReading {
  const reading =
    discovered === NOTHING_DISCOVERED ? ownReading : soundWith(discovered, own).reading;
  if (!reading.ok) return reading;
  const owned = new Set(own.instruments.map(({ slug }) => slug));
  const others = reading.catalog.instruments.flatMap(({ slug }) => (owned.has(slug) ? [] : [slug]));
  return { ok: true, catalog: reading.catalog, fees: reading.fees, discovered: others };
}

/**
 * Both as one file. An entry of the operator's stays unchanged, and gains listings at venues that
 * it does not name. A market that the operator lists under another slug is not listed twice.
 */
export function withOwn(discovered: CatalogFile, own: CatalogFile): CatalogFile {
  const slugs = new Set(own.instruments.map(({ slug }) => slug));
  const markets = new Set(own.instruments.flatMap((entry) => entry.listings.map(marketOf)));
  const others = discovered.instruments.flatMap((entry) => {
    if (slugs.has(entry.slug)) return [entry];
    const listings = entry.listings.filter((listing) => !markets.has(marketOf(listing)));
    return listings.length === 0 ? [] : [{ ...entry, listings }];
  });
  return mergeCatalogs(withoutIncomplete({ ...discovered, instruments: others }), own);
}

/** The entries that discovery adds to the operator's file, taken from a catalog that has both. */
export function beside(all: CatalogFile, own: CatalogFile): CatalogFile {
  const owned = new Map(own.instruments.map((entry) => [entry.slug, entry]));
  const instruments = all.instruments.flatMap((entry) => {
    const mine = owned.get(entry.slug);
    if (mine === undefined) return [entry];
    const venues = new Set(mine.listings.map(({ venue }) => venue));
    const listings = entry.listings.filter(({ venue }) => !venues.has(venue));
    return listings.length === 0 ? [] : [{ ...entry, listings }];
  });
  const named = new Set(instruments.map(({ gameSlug }) => gameSlug));
  const games = all.games.filter(({ slug }) => named.has(slug));
  const mine = new Set((own.fees ?? []).map(feeKey));
  const fees = (all.fees ?? []).filter((line) => !mine.has(feeKey(line)));
  return { games, instruments, ...(fees.length === 0 ? {} : { fees }) };
}

/** Removes these instruments, and then the games that no instrument names. */
export function without(
  file: CatalogFile,
  isGone: (entry: InstrumentEntry) => boolean,
): CatalogFile {
  const instruments = file.instruments.filter((entry) => !isGone(entry));
  const named = new Set(instruments.map(({ gameSlug }) => gameSlug));
  return { ...file, instruments, games: file.games.filter(({ slug }) => named.has(slug)) };
}

const ROUNDS_MAX = 20;

/**
 * The discoveries that make a valid catalog with the operator's, which is valid. One instrument
 * that does not fit must not keep all others out. `dropped` counts the removed ones; `reading` is
 * of both.
 */
export function soundWith(
  discovered: CatalogFile,
  own: CatalogFile,
): { discovered: CatalogFile; dropped: number; reading: CatalogReading } {
  let [sound, dropped] = [discovered, 0];
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const all = withOwn(sound, own);
    const reading = parsed(all);
    if (reading.ok) return { discovered: sound, dropped, reading };
    const wrong = slugsAt(all, reading.errors);
    const next = without(sound, ({ slug, gameSlug }) => wrong.has(slug) || wrong.has(gameSlug!));
    if (next.instruments.length === sound.instruments.length) break;
    dropped += sound.instruments.length - next.instruments.length;
    sound = next;
  }
  return {
    discovered: NOTHING_DISCOVERED,
    dropped: discovered.instruments.length,
    reading: parsed(withOwn(NOTHING_DISCOVERED, own)),
  };
}

const parsed = (file: CatalogFile) => parseCatalog(JSON.stringify(file));

/** The instruments and games that errors name; of a repetition the later one. */
function slugsAt(file: CatalogFile, errors: readonly CatalogError[]): Set<string> {
  const slugs = new Set<string>();
  for (const { place } of errors) {
    const [, list, index] = /^(games|instruments)\[(\d+)\]/.exec(place) ?? [];
    if (list === undefined) continue;
    slugs.add(file[list as 'games' | 'instruments'][Number(index)]!.slug);
  }
  return slugs;
}

function marketOf({ venue, venueMarketId, venueSideRef }: InstrumentEntry['listings'][number]) {
  return `${venue}/${venueMarketId}/${venueSideRef ?? ''}`;
}

function withoutIncomplete({ incomplete: _, ...file }: CatalogFile): CatalogFile {
  return file;
}

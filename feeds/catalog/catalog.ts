/**
 * Catalog files: games, instruments and the venue markets they list on. A file is taken whole or
 * not at all, and every error is reported with its place. Rules K1, K2, K7 to K11
 * (feeds/FORMATS.md).
 */
import { type BigIntStats, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import {
  boundedText,
  NestedTooDeep,
  parseJson,
  readProblem,
} from '../../engine/base/bounded-json.ts';
import { marketName, type StartSource, type Venue } from '../../engine/base/units.ts';
import type {
  Catalog,
  CatalogGame,
  CatalogInstrument,
  CatalogListing,
} from '../../engine/rules/catalog-entries.ts';
import type { FeeEntry } from '../../engine/rules/fees.ts';
import { crossErrors, gameIndex, gameNamedBy } from './catalog-checks.ts';
import {
  type CatalogError,
  type CatalogFile,
  type FeeLine,
  type GameEntry,
  type InstrumentEntry,
  type ListingEntry,
  schemaErrors,
} from './catalog-schema.ts';
import { gameIdOf, instrumentIdOf } from './ids.ts';

/** `fees` is the file's fee table. Rule F20 (feeds/FORMATS.md). */
export type CatalogReading =
  | { ok: true; catalog: Catalog; fees: FeeEntry[] }
  | { ok: false; errors: CatalogError[] };

/**
 * Reads a catalog file's text. Market and instrument numbers of `previous` stay as they are and new
 * ones follow in file order. Markets and instruments that the new file lacks keep their numbers.
 */
export function parseCatalog(
  text: string,
  { previous }: { previous?: Catalog } = {},
): CatalogReading {
  let file: unknown;
  try {
    file = parseJson(text);
  } catch (error) {
    const { message } = error as Error;
    const isDeep = error instanceof NestedTooDeep;
    return refused([{ place: 'file', message: isDeep ? message : `is not JSON: ${message}` }]);
  }
  const errors = fileErrors(file);
  return errors.length > 0 ? refused(errors) : readingOf(file as CatalogFile, previous);
}

/** What a file without errors says. */
export function readingOf(
  { games, instruments, fees = [] }: CatalogFile,
  previous?: Catalog,
): CatalogReading {
  const index = gameIndex(games);
  const instrumentsRead = instruments.map((entry) => {
    const game = gameNamedBy(entry, index);
    return instrumentOf(entry, game === undefined ? null : gameOf(game));
  });
  const catalog = numbered(games.map(gameOf), instrumentsRead, previous);
  return { ok: true, catalog, fees: fees.map(feeOf) };
}

/** Errors of form, and of references between the entries whose form is right. */
function fileErrors(file: unknown): CatalogError[] {
  const errors = schemaErrors(file);
  const damaged = new Set<string>();
  for (const { place } of errors) {
    const entry = /^(games|instruments|fees)\[\d+\]/.exec(place)?.[0];
    // The file's own shape is wrong, so there are no entries to check.
    if (entry === undefined && !hasEntries(file)) return errors;
    if (entry !== undefined) damaged.add(entry);
  }
  return [...errors, ...crossErrors(file as CatalogFile, (place) => !damaged.has(place))];
}

function hasEntries(file: unknown): boolean {
  const { games, instruments } = (file ?? {}) as Record<string, unknown>;
  return Array.isArray(games) && Array.isArray(instruments);
}

/** Reads a catalog file. A file that cannot be read is an ordinary error. */
export async function loadCatalog(path: string, previous?: Catalog): Promise<CatalogReading> {
  let text: string;
  try {
    text = await boundedText(path);
  } catch (error) {
    return refused([{ place: 'file', message: readProblem(error) }]);
  }
  return parseCatalog(text, previous === undefined ? {} : { previous });
}

/** `instruments[3].label: is required`, one line per error. */
export function catalogErrorText(errors: readonly CatalogError[]): string {
  return errors.map(({ place, message }) => `${place}: ${message}`).join('\n');
}

/** The same for people, with the name of the file. */
export function catalogProblem(file: string, errors: readonly CatalogError[]): string {
  return `${file} has errors:\n${catalogErrorText(errors)}`;
}

/**
 * Calls `onChange` after the file was written or replaced, one call at a time, and logs its
 * rejections. Only changes after `since` count, the version that was read; left out: after this call,
 * so watch first, then load. It polls, because file events miss renames and network disks. It does
 * not keep the process alive.
 */
export function watchCatalog(
  path: string,
  onChange: () => void | Promise<void>,
  log: { warn(fields: object, message: string): void },
  {
    intervalMs = 2000,
    since = fileVersion(path),
  }: { intervalMs?: number; since?: string | null } = {},
): { close(): void } {
  let closed = false;
  let seen = since;
  let busy = false;
  const look = async () => {
    const version = versionOf(await stat(path, { bigint: true }).catch(() => undefined));
    if (closed || version === seen) return;
    seen = version;
    if (version === null) log.warn({ path }, 'the catalog file is gone; the catalog in use stays');
    else await onChange();
  };
  const turn = async () => {
    if (busy) return; // a later turn sees changes that happen meanwhile
    busy = true;
    await look().catch((error) => {
      log.warn({ path, err: error }, 'the changed catalog could not be taken');
    });
    busy = false;
  };
  const timer = setInterval(turn, intervalMs).unref();
  return {
    close() {
      closed = true;
      clearInterval(timer);
    },
  };
}

/** Changes with every write and every replacement; null without a file. */
export function fileVersion(path: string): string | null {
  return versionOf(statSync(path, { bigint: true, throwIfNoEntry: false }));
}

function versionOf(stats: BigIntStats | undefined): string | null {
  return stats === undefined ? null : `${stats.mtimeNs} ${stats.size} ${stats.ino}`;
}

/** The venue's own names of the markets that this catalog lists now, for subscriptions. */
export function listedMarkets(catalog: Pick<Catalog, 'instruments'>, venue: Venue): string[] {
  const names = new Set<string>();
  for (const { listings } of catalog.instruments) {
    for (const listing of listings) if (listing.venue === venue) names.add(listing.venueMarketId);
  }
  return [...names];
}

function refused(errors: CatalogError[]): CatalogReading {
  return { ok: false, errors };
}

function numbered(
  games: CatalogGame[],
  instruments: CatalogInstrument[],
  previous: Catalog | undefined,
): Catalog {
  const marketNames = new Set(previous?.marketNames);
  const instrumentIds = new Set(previous?.instrumentIds);
  for (const { id, listings } of instruments) {
    instrumentIds.add(id);
    for (const { venue, venueMarketId } of listings)
      marketNames.add(marketName(venue, venueMarketId));
  }
  // Sets keep insertion order, so earlier numbers are first.
  return { games, instruments, marketNames: [...marketNames], instrumentIds: [...instrumentIds] };
}

function gameOf(entry: GameEntry): CatalogGame {
  return {
    id: entry.id ?? gameIdOf(entry.slug),
    slug: entry.slug,
    league: entry.league,
    startsAt: instant(entry.startsAt),
    ...sourceOf(entry.startsAtSource),
    status: entry.status,
    home: entry.home,
    away: entry.away,
    season: entry.season ?? null,
    seasonType: entry.seasonType ?? null,
    week: entry.week ?? null,
  };
}

function instrumentOf(entry: InstrumentEntry, game: CatalogGame | null): CatalogInstrument {
  return {
    id: entry.id ?? instrumentIdOf(entry.slug),
    slug: entry.slug,
    gameSlug: game?.slug ?? null,
    // Without a game both are required: catalog-checks.ts.
    league: entry.league ?? game?.league ?? '',
    marketType: entry.marketType,
    period: entry.period,
    line: entry.line ?? null,
    subject: entry.subject ?? null,
    label: entry.label,
    oppositeLabel: entry.oppositeLabel ?? null,
    yesMeans: entry.yesMeans,
    startsAt: entry.startsAt === undefined ? (game?.startsAt ?? '') : instant(entry.startsAt),
    ...sourceOf(
      entry.startsAtSource ?? (entry.startsAt === undefined ? game?.startsAtSource : null),
    ),
    opensAt: entry.opensAt == null ? null : instant(entry.opensAt),
    ...(entry.closesAt == null ? {} : { closesAt: instant(entry.closesAt) }),
    ...(entry.strike == null ? {} : { strike: entry.strike }),
    pushPossible: entry.pushPossible,
    stat: entry.stat ?? null,
    tieRule: entry.tieRule ?? null,
    settlesOn: entry.settlesOn ?? null,
    postponementWindowHours: entry.postponementWindowHours ?? null,
    rulesVersion: entry.rulesVersion ?? 1,
    listings: entry.listings.map(listingOf),
  };
}

/** `catalog` is the default. Rule K32 (feeds/FORMATS.md). */
function sourceOf(source: StartSource | null | undefined): { startsAtSource?: StartSource } {
  return source == null || source === 'catalog' ? {} : { startsAtSource: source };
}

function listingOf(entry: ListingEntry): CatalogListing {
  return {
    venue: entry.venue,
    polarity: entry.polarity,
    sideLabel: entry.sideLabel ?? null,
    fungibility: entry.fungibility,
    reviewed: entry.reviewed,
    note: entry.note ?? null,
    buyForYes: entry.polarity === 1 ? 'yes' : 'no',
    buyForNo: entry.polarity === 1 ? 'no' : 'yes',
    venueMarketId: entry.venueMarketId,
    venueSideRef: entry.venueSideRef ?? null,
    venueEvent: entry.venueEvent ?? null,
  };
}

function feeOf({ series, from, ...line }: FeeLine): FeeEntry {
  const left = { maker: '0', multiplier: '1', exponent: 1 };
  return { ...left, ...line, series: series ?? null, from: instant(from) };
}

function instant(text: string): string {
  return new Date(text).toISOString();
}

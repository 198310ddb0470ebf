/** Postponed games that are not played within their window. Rule S14 (engine/RULES.md). */

import { invariant } from '../base/invariant.ts';
import { type EpochMs, HOME_VENUE } from '../base/units.ts';
import type { CatalogInstrument } from './catalog-entries.ts';
import type { FactSink } from './fact-sink.ts';
import type { Instrument } from './reference-data.ts';
import { voidMarkets } from './settle-markets.ts';
import type { ShardState } from './state.ts';

const HOUR_MS = 3_600_000;

/** The first moment past the window of a postponed game's instrument; infinite: it has none. */
export function windowEndMs({
  startsAt,
  postponementWindowHours: hours,
}: Pick<CatalogInstrument, 'startsAt' | 'postponementWindowHours'>): EpochMs {
  if (startsAt === null || hours === null) return Number.POSITIVE_INFINITY;
  return Date.parse(startsAt) + hours * HOUR_MS + 1;
}

/**
 * When the next window ends; infinite: none does. It is computed again once results, games or
 * catalogs have changed.
 */
export function nextVoidMs(state: ShardState): EpochMs {
  const { nextVoid, referenceDataVersion, config } = state;
  if (config.voidsByResult === true) return Number.POSITIVE_INFINITY;
  if (nextVoid.version === referenceDataVersion) return nextVoid.atMs;
  let atMs = Number.POSITIVE_INFINITY;
  for (const [, endMs] of windowsOf(state)) atMs = Math.min(atMs, endMs);
  nextVoid.atMs = atMs;
  nextVoid.version = referenceDataVersion;
  return atMs;
}

/** Voids the unresolved instruments whose window has ended by now. */
export function voidPostponed(state: ShardState, atMs: EpochMs, facts: FactSink): void {
  const { referenceDataVersion: before } = state;
  for (const [instrument, endMs] of [...windowsOf(state)]) {
    if (endMs <= atMs) voidMarkets(state, instrument, { atMs, source: 'catalog' }, facts);
  }
  invariant(state.referenceDataVersion > before, 'a window has ended and nothing was voided');
}

/** The instruments of postponed games without a result, and the first time past their windows. */
function* windowsOf(state: ShardState): Generator<[Instrument, EpochMs]> {
  const postponed = postponedGames(state);
  if (postponed.size === 0) return;
  for (const instrument of state.instruments) {
    const { entry, listings } = instrument;
    if (entry === null || !postponed.has(entry.gameSlug ?? '')) continue;
    const endMs = windowEndMs(entry);
    if (endMs === Number.POSITIVE_INFINITY) continue;
    const isOpen = ({ market }: (typeof listings)[number]) =>
      market.venue === HOME_VENUE && market.outcome === null;
    if (listings.some(isOpen)) yield [instrument, endMs];
  }
}

/** A venue's status of a game outranks the catalog. Rule T123 (engine/RULES.md). */
function postponedGames({ games, catalog }: ShardState): Set<string> {
  const statuses = new Map(catalog.games.map(({ slug, status }) => [slug, status]));
  for (const [slug, { status }] of games) statuses.set(slug, status);
  return new Set([...statuses].flatMap(([slug, status]) => (status === 'postponed' ? [slug] : [])));
}

/**
 * What discovery finds in a venue's answer, before it is a catalog: markets, each with its listing
 * and the game it belongs to. Rules K20 to K27 (feeds/FORMATS.md).
 */
import { type EpochMs, HOME_VENUE, isoOf, type Venue } from '../../engine/rules/units.ts';
import type { FeeLine, GameEntry, InstrumentEntry, ListingEntry } from '../catalog-schema.ts';
import { parseInstant } from '../instant.ts';

export type Json = Record<string, unknown>;
export type Team = GameEntry['home'];

/** The code of a draw's leg, whatever its venue calls it. */
export const TIE = 'TIE';

export type FoundGame = {
  league: string;
  /** The day of its start in US Eastern time. */
  day: string;
  /** Of a day with two games of the same teams: `g1`, `g2`. */
  number: string | null;
  away: Team;
  home: Team;
  /** Null: the venue names the day alone. */
  startsAtMs: EpochMs | null;
  isOver: boolean;
};

/** An instrument's own fields, without its game and its listings. */
export type FoundEntry = Omit<InstrumentEntry, 'gameSlug' | 'listings'>;

export type Found = { listing: ListingEntry; game: FoundGame | null } & (
  | { kind: 'winner'; code: string; hasTie: boolean; game: FoundGame }
  | { kind: 'other'; entry: FoundEntry }
);

/** All of one or more answers; `skipped` counts markets that make no instrument, by reason. */
export type Finding = { found: Found[]; fees: FeeLine[]; skipped: Map<string, number> };

export function skip(skipped: Finding['skipped'], reason: string): void {
  skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
}

export type ListingOf = {
  venue: Venue;
  venueMarketId: string;
  polarity?: 1 | -1;
  sideLabel: string | null;
  venueEvent: string | null;
};

/** Venue_a prices every order, so there is nothing to review; others wait for a look (K26). */
export function listingOf({ polarity = 1, ...place }: ListingOf): ListingEntry {
  return {
    ...place,
    polarity,
    fungibility: 'exact',
    reviewed: place.venue === HOME_VENUE,
    note: null,
    venueSideRef: polarity === 1 ? 'yes' : 'no',
  };
}

/** A text or a number as text; empty for anything else, which may not even have a text. */
export function wordOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** A text that is not empty, cut to what a catalog takes. */
export function textOf(value: unknown, maxLength = 300): string | null {
  if (typeof value !== 'string') return null;
  const text = value.trim().slice(0, maxLength).trim();
  return text === '' ? null : text;
}

/** A date-time, also with a space and a short zone (`2026-08-07 00:00:00+00`), in the usual form. */
export function timeOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const atMs = parseInstant(value.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'));
  return atMs === null ? null : isoOf(atMs);
}

/** A slug of a venue's name: small letters, digits, `.`, `_` and `-`. */
export function slugOf(name: string): string {
  const slug = name.toLowerCase().replaceAll(/[^a-z0-9._-]+/g, '-');
  return slug.replace(/^[^a-z0-9]+/, '').slice(0, 160);
}

/** A league's name by the rule of catalogs; null for a text that gives none. */
export function leagueOf(name: string): string | null {
  const league = name.toLowerCase().replaceAll(/[^a-z0-9_-]+/g, '-');
  return /^[a-z0-9][a-z0-9_-]{0,31}$/.test(league) ? league : null;
}

export type BinaryOf = {
  name: string;
  league: string;
  label: string;
  yesMeans: string | null;
  opensAt: string | null;
  closesAt: string;
  strike?: InstrumentEntry['strike'];
};

/** The instrument of a market that is no game: it starts when it closes (K25). */
export function binaryEntry({ name, label, yesMeans, opensAt, ...rest }: BinaryOf): FoundEntry {
  const isOrdered = opensAt !== null && Date.parse(opensAt) < Date.parse(rest.closesAt);
  return {
    slug: slugOf(name),
    league: rest.league,
    startsAt: rest.closesAt,
    opensAt: isOrdered ? opensAt : null,
    closesAt: rest.closesAt,
    strike: rest.strike ?? null,
    marketType: 'other',
    period: 'season',
    label,
    yesMeans: yesMeans ?? label,
    pushPossible: false,
    settlesOn: 'official_result',
    rulesVersion: 1,
  };
}

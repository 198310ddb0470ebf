/**
 * What discovery finds in a venue's answer, before it is a catalog: markets, each with its listing
 * and the game it belongs to. Rules K20 to K29 (feeds/FORMATS.md).
 */
import { createHash } from 'node:crypto';
import { type EpochMs, HOME_VENUE, isoOf, type Venue } from '../../../engine/base/units.ts';
import type {
  FeeLine,
  GameEntry,
  InstrumentEntry,
  ListingEntry,
} from '../../catalog/catalog-schema.ts';
import { parseInstant } from '../../reading/instant.ts';

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

// What controls a terminal, or shows the text around it in another order; no venue has reason to.
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\u200b\u2060-\u2064\ufeff]/gu;

/** A text that is not empty, without controls, cut to what a catalog takes. */
export function textOf(value: unknown, maxLength = 300): string | null {
  if (typeof value !== 'string') return null;
  const text = value.replaceAll(CONTROLS, ' ').trim().slice(0, maxLength).trim();
  return text === '' ? null : text;
}

/** A date-time, also with a space and a short zone (`2026-08-07 00:00:00+00`), in the usual form. */
export function timeOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const atMs = parseInstant(value.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'));
  return atMs === null ? null : isoOf(atMs);
}

/** A league's name by the rule of catalogs; null for a text that gives none. */
export function leagueOf(name: string): string | null {
  const league = name.toLowerCase().replaceAll(/[^a-z0-9_-]+/g, '-');
  return /^[a-z0-9][a-z0-9_-]{0,31}$/.test(league) ? league : null;
}

export type BinaryOf = Pick<ListingOf, 'venue' | 'venueMarketId'> & {
  league: string;
  opensAt: string | null;
  closesAt: string;
  strike?: InstrumentEntry['strike'];
};

/** The instrument of a market that is no game: it starts when it closes (K25). */
export function binaryEntry({ opensAt, strike = null, ...market }: BinaryOf): FoundEntry {
  const { league, closesAt } = market;
  const isOrdered = opensAt !== null && Date.parse(opensAt) < Date.parse(closesAt);
  const mark = markOf(market);
  const asked = strike === null ? `market ${mark}` : strikeWords(strike);
  const label = `${league}: ${asked}, closes ${minuteOf(closesAt)}`;
  return {
    slug: `${league}-${closesAt.slice(0, 10)}-${mark}`,
    league,
    startsAt: closesAt,
    opensAt: isOrdered ? opensAt : null,
    closesAt,
    strike,
    marketType: 'other',
    period: 'season',
    label,
    yesMeans: label,
    pushPossible: false,
    settlesOn: 'official_result',
    rulesVersion: 1,
  };
}

const MARK_CHARACTERS = 8;

/** A short name of a venue's market that says nothing about it (K29). */
export function markOf({ venue, venueMarketId }: Pick<ListingOf, 'venue' | 'venueMarketId'>) {
  const hash = createHash('sha256').update(`${venue}/${venueMarketId}`).digest('hex');
  return hash.slice(0, MARK_CHARACTERS);
}

const STRIKE_WORDS = {
  greater: 'above',
  greater_or_equal: 'at least',
  less: 'below',
  less_or_equal: 'at most',
};

/** `at least 3,370.1`, `between 63 and 64`. */
function strikeWords({ type, floor, cap }: NonNullable<InstrumentEntry['strike']>): string {
  const [low, high] = [floor, cap].map((bound) => bound?.toLocaleString('en-US', PRECISE));
  if (type === 'between') return `between ${low} and ${high}`;
  return `${STRIKE_WORDS[type]} ${type.startsWith('less') ? high : low}`;
}

const PRECISE = { maximumFractionDigits: 8 } as const;

function minuteOf(dateTime: string): string {
  return `${dateTime.slice(0, 16).replace('T', ' ')} UTC`;
}

/**
 * The markets that discovery finds in a venue's answer, before they are a catalog. Each has its
 * listing and its game. Rules K20 to K29, K32, K38 to K41 (feeds/FORMATS.md).
 */
import { createHash } from 'node:crypto';
import {
  type EpochMs,
  HOME_VENUE,
  isoOf,
  type StartSource,
  type Venue,
} from '../../../engine/base/units.ts';
import type { FeeSchedule } from '../../../engine/rules/fees.ts';
import type {
  FeeLine,
  GameEntry,
  InstrumentEntry,
  ListingEntry,
} from '../../catalog/catalog-schema.ts';
import { parseInstant } from '../../reading/instant.ts';
import { easternDay, easternMs } from './eastern.ts';
import { leagueNamed } from './names.ts';

export type Json = Record<string, unknown>;
export type Team = GameEntry['home'];

/** The code of a draw's leg, whatever its venue calls it. */
export const TIE = 'TIE';

/** A start and its source (K32). */
export type Start = { atMs: EpochMs; source: Exclude<StartSource, 'catalog' | 'day'> };

export type FoundGame = {
  league: string;
  /** The day of its start in US Eastern time. */
  day: string;
  /** Of a day with two games of the same teams: `g1`, `g2`. */
  number: string | null;
  away: Team;
  home: Team;
  /** Null: the venue names the day alone. */
  start: Start | null;
  isOver: boolean;
};

/** An instrument's own fields, without its game and its listings. */
export type FoundEntry = Omit<InstrumentEntry, 'gameSlug' | 'listings'>;

export type Found = { listing: ListingEntry; game: FoundGame | null } & (
  | { kind: 'winner'; code: string; hasTie: boolean; game: FoundGame }
  | { kind: 'other'; entry: FoundEntry }
);

/** Markets by reason. */
export type Reasons = Map<string, number>;

/**
 * All of one or more answers. `skipped` counts markets that make no instrument. `apart` counts
 * markets whose venue names a game that they could not be joined to.
 */
export type Finding = { found: Found[]; fees: FeeLine[]; skipped: Reasons; apart: Reasons };

/** How a venue's REST API lists markets. */
export type Listing = {
  /** Its fee schedule; `published-fees.ts` has its lines. */
  schedule: FeeSchedule;
  /** All that is read of a market, and of what it holds. */
  fields: readonly string[];
  /** Whether an object of an answer is a market of this venue. */
  owns(market: Json): boolean;
  /** Whether it joins several others: an operator asks for these. Rule K44. */
  isCombo?(market: Json): boolean;
  idOf(market: Json): string;
  /** @param markets of one venue, each once. @param milestones starts by event */
  found(
    venue: Venue,
    markets: readonly Json[],
    counts: Counts,
    milestones: ReadonlyMap<string, EpochMs>,
  ): Found[];
  /** What a market says of its own fees. */
  ownFees?(venue: Venue, market: Json, from: string): FeeLine[];
};

/** Where a reading of markets counts what it could not use. */
export type Counts = Pick<Finding, 'skipped' | 'apart'>;

export function skip(reasons: Reasons, reason: string, count = 1): void {
  reasons.set(reason, (reasons.get(reason) ?? 0) + count);
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

// Characters that control a terminal, or reorder the text around them. No venue has reason to send
// them.
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\u200b\u2060-\u2064\ufeff]/gu;

/** A text that is not empty, without controls, cut to the catalog's length. */
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

/** The same for a game's league, whatever its venue calls it. Rule K35. */
export function gameLeagueOf(name: string): string | null {
  const league = leagueOf(name);
  return league === null ? null : leagueNamed(league);
}

export type BinaryOf = Pick<ListingOf, 'venue' | 'venueMarketId'> & {
  league: string;
  /** Null: it starts when it closes. */
  start?: Start | null;
  /** The day of an event whose start is not known. Such an event does not start when it closes. */
  day?: string | null;
  opensAt: string | null;
  closesAt: string;
  strike?: InstrumentEntry['strike'];
};

/** The instrument of a market that is no game: by default it starts when it closes (K25). */
export function binaryEntry({ opensAt, strike = null, ...market }: BinaryOf): FoundEntry {
  const { league, closesAt, start = null, day = null } = market;
  const dayMs = start === null && day !== null ? easternMs(day) : null;
  const isOrdered = opensAt !== null && Date.parse(opensAt) < Date.parse(closesAt);
  const mark = markOf(market);
  const asked = strike === null ? `market ${mark}` : strikeWords(strike);
  const label = `${league}: ${asked}, closes ${minuteOf(closesAt)}`;
  return {
    slug: slugOf(`${league}-${closesAt.slice(0, 10)}`, market),
    league,
    startsAt: start === null && dayMs === null ? closesAt : isoOf(start?.atMs ?? dayMs!),
    startsAtSource: start?.source ?? (dayMs === null ? 'venue' : 'day'),
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
function markOf(place: PlaceName): string {
  return hashOf(place).slice(0, MARK_CHARACTERS);
}

const SLUG_MARK_CHARACTERS = 32;

/**
 * A slug derived from all of the venue's name of a market: 128 bits, so that no two markets share
 * one. Rule K40.
 */
export function slugOf(begin: string, { venue, venueMarketId }: PlaceName): string {
  return `${begin}-${hashOf({ venue, venueMarketId }).slice(0, SLUG_MARK_CHARACTERS)}`;
}

type PlaceName = Pick<ListingOf, 'venue' | 'venueMarketId'>;

function hashOf({ venue, venueMarketId }: PlaceName): string {
  return createHash('sha256').update(`${venue}/${venueMarketId}`).digest('hex');
}

export type LineOf = PlaceName & {
  game: FoundGame;
  marketType: InstrumentEntry['marketType'];
  period: InstrumentEntry['period'];
  /** The counted event: `total bases`; null: the type tells it. */
  stat?: string | null;
  /** The team or person that it is about; null: the game. */
  subject?: Team | null;
  strike?: InstrumentEntry['strike'];
  line?: number | null;
  /** Whether neither number nor subject distinguishes it from its like. */
  isUntold?: boolean;
};

const PERIOD_WORDS: Partial<Record<InstrumentEntry['period'], string>> = {
  ...{ h1: '1st half', h2: '2nd half', set_1: '1st set', inning_1: '1st inning' },
  ...{ q1: '1st quarter', q2: '2nd quarter', q3: '3rd quarter', q4: '4th quarter' },
  ...{ p1: '1st period', p2: '2nd period', p3: '3rd period' },
};

/**
 * The instrument of a total, spread, prop or period of a game. It starts with the game. Its label
 * names its subject, the counted event, the line, the period, and the game. Rules K34, K39.
 */
export function lineEntry(of: LineOf): FoundEntry {
  const {
    game,
    marketType,
    period,
    isUntold = false,
    stat = null,
    subject = null,
    strike = null,
  } = of;
  const line = of.line ?? strike?.floor ?? strike?.cap ?? null;
  const isMargin = marketType === 'spread' && strike !== null;
  const typed = isMargin ? 'winning margin' : marketType.replace('team_', '').replace('_', ' ');
  const counted = stat ?? typed;
  const words = [PERIOD_WORDS[period], counted].filter((word) => word !== undefined);
  const number = strike === null ? (line === null ? null : String(line)) : strikeWords(strike);
  const asked = [...words, number, isUntold ? markOf(of) : null]
    .filter((word) => word !== null)
    .join(' ');
  const matchup = `${game.away.name} at ${game.home.name}`;
  const day = game.number === null ? game.day : `${game.day}, ${game.number}`;
  const label =
    subject === null
      ? `${matchup}: ${asked}, ${day}`
      : `${subject.name}: ${asked} (${matchup}, ${day})`;
  return {
    slug: slugOf(`${game.league}-${game.day}-${marketType}`.replaceAll('_', '-'), of),
    marketType,
    period,
    line,
    strike,
    subject,
    stat,
    label: label.slice(0, 300),
    yesMeans: label.slice(0, 300),
    pushPossible: strike === null && line !== null && Number.isInteger(line),
    settlesOn: 'official_result',
    postponementWindowHours: 48,
    rulesVersion: 1,
  };
}

/** The day of a game by its start, else the day that its venue names. */
export function dayOf(start: Start | null, named: string): string {
  return start === null ? named : easternDay(start.atMs);
}

const STRIKE_WORDS = {
  greater: 'above',
  greater_or_equal: 'at least',
  less: 'below',
  less_or_equal: 'at most',
};

/** `at least 3,370.1`, `between 63 and 64`. */
function strikeWords({ type, floor, cap }: NonNullable<InstrumentEntry['strike']>): string {
  const [low, high] = [floor, cap].map((bound) => (bound === null ? '' : numberText(bound)));
  if (type === 'between') return `between ${low} and ${high}`;
  return `${STRIKE_WORDS[type]} ${type.startsWith('less') ? high : low}`;
}

/** Made when a strike is first named: most threads that load this name none. */
let numbers: Intl.NumberFormat | null = null;

function numberText(bound: number): string {
  numbers ??= new Intl.NumberFormat('en-US', { maximumFractionDigits: 8 });
  return numbers.format(bound);
}

function minuteOf(dateTime: string): string {
  return `${dateTime.slice(0, 16).replace('T', ' ')} UTC`;
}

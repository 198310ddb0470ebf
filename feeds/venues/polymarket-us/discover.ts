/**
 * Polymarket US's market objects as instruments, by their slugs and sides. Rules W49, K22 to K25
 * (feeds/FORMATS.md).
 */
import type { Venue } from '../../../engine/base/units.ts';
import { easternDay, easternMs } from '../shared/eastern.ts';
import {
  binaryEntry,
  type Finding,
  type Found,
  type FoundGame,
  type Json,
  leagueOf,
  listingOf,
  markOf,
  skip,
  type Team,
  TIE,
  textOf,
  timeOf,
  wordOf,
} from '../shared/found.ts';

/** `aec-mlb-ath-cws-2026-07-12`, and what follows: a leg, a line, which of two games. */
const GAME_SLUG =
  /^(aec|atc|asc|tsc)-([a-z0-9]+)-([a-z0-9]+)-([a-z0-9]+)-(\d{4}-\d\d-\d\d)(?:-(.+))?$/;
const TYPES = { asc: 'spread', tsc: 'total' } as const;
const NUMBER = /^g\d$/;
const OVER = new Set(['MARKET_STATUS_RESOLVED', 'MARKET_STATUS_RESOLVING']);

/** All that is read of a market, and of what it holds. */
export const POLYMARKET_US_FIELDS = [
  ...['slug', 'question', 'title', 'status', 'line', 'marketSides', 'long', 'description'],
  ...['team', 'abbreviation', 'name', 'gameStartTime', 'startTime', 'startDate', 'endDate'],
] as const;

export function isPolymarketUsMarket({ slug, marketSides, conditionId }: Json): boolean {
  return typeof slug === 'string' && conditionId === undefined && Array.isArray(marketSides);
}

export function polymarketUsFound(
  venue: Venue,
  markets: readonly Json[],
  skipped: Finding['skipped'],
): Found[] {
  const tied = new Set(
    markets.flatMap(({ slug }) => {
      const legs = /^(atc-.+)-(?:draw|tie)$/.exec(wordOf(slug));
      return legs === null ? [] : [legs[1]!];
    }),
  );
  return markets.flatMap((market) => {
    const parts = GAME_SLUG.exec(wordOf(market.slug));
    const game = parts === null ? null : gameOf(market, parts);
    if (parts === null || game === null) return binaryOf(venue, market, skipped);
    const [slug, kind, , , , , rest] = parts;
    if (kind === 'aec') return winnersOf(venue, market, game, skipped);
    if (kind === 'atc') return legOf(venue, slug, rest, { game, tied }, skipped);
    return [lineOf(venue, market, game, TYPES[kind as keyof typeof TYPES])];
  });
}

function gameOf(market: Json, parts: RegExpExecArray): FoundGame | null {
  const [, , league, away, home, slugDay, rest] = parts;
  const start = timeOf(market.gameStartTime) ?? timeOf(market.startTime);
  const startsAtMs = start === null ? null : Date.parse(start);
  if (away === home || easternMs(slugDay!) === null) return null;
  return {
    league: league!,
    // The slug's day is that of the venue's own calendar, which the start may not contradict.
    day: startsAtMs === null ? slugDay! : easternDay(startsAtMs),
    number: NUMBER.test(rest ?? '') ? rest! : null,
    away: teamOf(market, away!),
    home: teamOf(market, home!),
    startsAtMs,
    isOver: OVER.has(wordOf(market.status)),
  };
}

type Side = { long: boolean; code: string | null; name: string | null };

function sidesOf({ marketSides }: Json): Side[] {
  if (!Array.isArray(marketSides)) return [];
  return marketSides.map((side: Json): Side => {
    const { long, description, team } = side ?? {};
    const { abbreviation, name } = (team ?? {}) as Json;
    return {
      long: long === true,
      code: typeof abbreviation === 'string' ? abbreviation.toLowerCase() : null,
      name: textOf(name, 120) ?? textOf(description, 120),
    };
  });
}

function teamOf(market: Json, code: string): Team {
  const side = sidesOf(market).find((one) => one.code === code);
  return { code: code.toUpperCase(), name: side?.name ?? code.toUpperCase() };
}

/** One market, two instruments: its yes is the long side's team, by its slug the first one. */
function winnersOf(
  venue: Venue,
  market: Json,
  game: FoundGame,
  skipped: Finding['skipped'],
): Found[] {
  const sides = sidesOf(market);
  const longs = sides.filter(({ long }) => long);
  if (sides.length !== 2 || longs.length !== 1) {
    skip(skipped, 'no two sides, long and short');
    return [];
  }
  const isHomeLong = longs[0]!.code === game.home.code.toLowerCase();
  return ([game.away, game.home] as const).map((team): Found => {
    const isLong = (team === game.home) === isHomeLong;
    const listing = listingOf({
      venue,
      venueMarketId: wordOf(market.slug),
      polarity: isLong ? 1 : -1,
      sideLabel: team.name,
      venueEvent: eventOf(wordOf(market.slug)),
    });
    return { kind: 'winner', code: team.code, hasTie: false, game, listing };
  });
}

function legOf(
  venue: Venue,
  slug: string,
  rest: string | undefined,
  { game, tied }: { game: FoundGame; tied: ReadonlySet<string> },
  skipped: Finding['skipped'],
): Found[] {
  const leg = rest?.split('-').at(-1)?.toUpperCase();
  const code = leg === 'DRAW' || leg === TIE ? TIE : leg;
  if (code !== TIE && code !== game.away.code && code !== game.home.code) {
    skip(skipped, 'a leg of no team');
    return [];
  }
  const hasTie = tied.has(slug.slice(0, slug.lastIndexOf('-')));
  const sideLabel = code === TIE ? 'Tie' : code;
  const place = { venue, venueMarketId: slug, sideLabel, venueEvent: eventOf(slug) };
  return [{ kind: 'winner', code, hasTie, game, listing: listingOf(place) }];
}

/** A spread or a total: an instrument of its game. */
function lineOf(
  venue: Venue,
  market: Json,
  game: FoundGame,
  marketType: 'spread' | 'total',
): Found {
  const slug = wordOf(market.slug);
  const title = textOf(market.title) ?? textOf(market.question);
  const place = { venue, venueMarketId: slug, sideLabel: title, venueEvent: eventOf(slug) };
  const line = typeof market.line === 'number' ? market.line : null;
  const mark = markOf(place);
  const teams = `${game.away.name} at ${game.home.name}`;
  const label = `${teams}: ${marketType}${line === null ? '' : ` ${line}`} (${mark})`;
  return {
    kind: 'other',
    game,
    entry: {
      slug: `${place.venueEvent}-${marketType}-${mark}`,
      marketType,
      period: 'game',
      line,
      label,
      yesMeans: label,
      pushPossible: line !== null && Number.isInteger(line),
      settlesOn: 'official_result',
      postponementWindowHours: 48,
    },
    listing: listingOf(place),
  };
}

/** The slug without its kind and leg: `mlb-ath-cws-2026-07-12`. */
function eventOf(slug: string): string {
  const [, , league, away, home, day] = GAME_SLUG.exec(slug)!;
  return `${league}-${away}-${home}-${day}`;
}

function binaryOf(venue: Venue, market: Json, skipped: Finding['skipped']): Found[] {
  const slug = wordOf(market.slug);
  const closesAt = timeOf(market.endDate);
  const title = textOf(market.question) ?? textOf(market.title);
  const league = leagueOf(slug.split('-')[1] ?? slug);
  if (closesAt === null || title === null || league === null) {
    skip(skipped, 'no endDate, question or league');
    return [];
  }
  const place = { venue, venueMarketId: slug, sideLabel: title, venueEvent: null };
  const entry = binaryEntry({ ...place, league, opensAt: timeOf(market.startDate), closesAt });
  return [{ kind: 'other', entry, game: null, listing: listingOf(place) }];
}

/**
 * Polymarket US's market objects as instruments, by their slugs and sides. Rules W49, K22 to K25
 * (feeds/FORMATS.md).
 */
import type { Venue } from '../../../engine/base/units.ts';
import { easternMs } from '../shared/eastern.ts';
import {
  binaryEntry,
  type Counts,
  dayOf,
  type Found,
  type FoundGame,
  gameLeagueOf,
  type Json,
  type Listing,
  leagueOf,
  lineEntry,
  listingOf,
  type Start,
  skip,
  type Team,
  TIE,
  textOf,
  timeOf,
  wordOf,
} from '../shared/found.ts';
import { codeNamed, isHomeFirst, knownTeam, namesOfCodes } from '../shared/names.ts';

/** `aec-mlb-ath-cws-2026-07-12`, and the rest: a leg, a line, which of two games. */
const GAME_SLUG =
  /^(aec|atc|asc|tsc)-([a-z0-9]+)-([a-z0-9]+)-([a-z0-9]+)-(\d{4}-\d\d-\d\d)(?:-(.+))?$/;
const TYPES = { asc: 'spread', tsc: 'total' } as const;
const NUMBER = /^g\d$/;
const OVER = new Set(['MARKET_STATUS_RESOLVED', 'MARKET_STATUS_RESOLVING']);

export const POLYMARKET_US_LISTING: Listing = {
  schedule: 'polymarket_us',
  fields: [
    ...['slug', 'question', 'title', 'status', 'line', 'marketSides', 'long', 'description'],
    ...['team', 'abbreviation', 'name', 'gameStartTime', 'startTime', 'startDate', 'endDate'],
  ],
  owns: isPolymarketUsMarket,
  idOf: ({ slug }) => wordOf(slug),
  found: polymarketUsFound,
};

export function isPolymarketUsMarket({ slug, marketSides, conditionId }: Json): boolean {
  return typeof slug === 'string' && conditionId === undefined && Array.isArray(marketSides);
}

export function polymarketUsFound(venue: Venue, markets: readonly Json[], counts: Counts): Found[] {
  const tied = new Set(
    markets.flatMap(({ slug }) => {
      const legs = /^(atc-.+)-(?:draw|tie)$/.exec(wordOf(slug));
      return legs === null ? [] : [legs[1]!];
    }),
  );
  return markets.flatMap((market) => {
    const parts = GAME_SLUG.exec(wordOf(market.slug));
    const game = parts === null ? null : gameOf(market, parts);
    if (parts === null || game === null) return binaryOf(venue, market, counts);
    const [slug, kind, , , , , rest] = parts;
    if (kind === 'aec') return winnersOf(venue, market, game, counts);
    if (kind === 'atc') return legOf(venue, slug, rest, { game, tied }, counts);
    return [lineOf(venue, market, game, TYPES[kind as keyof typeof TYPES])];
  });
}

function startOf(market: Json): Start | null {
  const start = timeOf(market.gameStartTime) ?? timeOf(market.startTime);
  return start === null ? null : { atMs: Date.parse(start), source: 'venue' };
}

function gameOf(market: Json, parts: RegExpExecArray): FoundGame | null {
  const [, , ownLeague, first, second, slugDay, rest] = parts;
  const league = gameLeagueOf(ownLeague!);
  if (first === second || easternMs(slugDay!) === null || league === null) return null;
  const start = startOf(market);
  const teams = [teamOf(market, league, first!), teamOf(market, league, second!)] as const;
  const [away, home] = isHomeFirst(league) ? [teams[1], teams[0]] : teams;
  return {
    league,
    // The slug's day is in the venue's own calendar, and the start may not contradict it.
    day: dayOf(start, slugDay!),
    number: NUMBER.test(rest ?? '') ? rest! : null,
    ...{ away, home, start },
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

function teamOf(market: Json, league: string, code: string): Team {
  const upper = code.toUpperCase();
  const side = sidesOf(market).find((one) => {
    return one.code !== null && codeNamed(league, one.code) === codeNamed(league, upper);
  });
  return { code: upper, name: side?.name ?? knownTeam(league, upper)?.name ?? upper };
}

/**
 * One market, two instruments: its yes is the long side's team. The code or the names tell which
 * team the side is, never an order.
 */
function winnersOf(venue: Venue, market: Json, game: FoundGame, counts: Counts): Found[] {
  const sides = sidesOf(market);
  const longs = sides.filter(({ long }) => long);
  if (sides.length !== 2 || longs.length !== 1) {
    skip(counts.skipped, 'no two sides, long and short');
    return [];
  }
  const named = namedBySides(game, longs[0]!, sides.find(({ long }) => !long)!);
  if (named === null) {
    skip(counts.apart, 'the sides do not fit the codes of the slug');
    return binaryOf(venue, market, counts);
  }
  const { long, away, home } = named;
  const whole = { ...game, away, home };
  return [away, home].map((team): Found => {
    const listing = listingOf({
      venue,
      venueMarketId: wordOf(market.slug),
      polarity: team.code === long ? 1 : -1,
      sideLabel: team.name,
      venueEvent: eventOf(wordOf(market.slug)),
    });
    return { kind: 'winner', code: team.code, hasTie: false, game: whole, listing };
  });
}

/** The code of the long side, and both teams by the names of the sides. */
function namedBySides(
  { league, away, home }: FoundGame,
  long: Side,
  short: Side,
): { long: string; away: Team; home: Team } | null {
  const codes = [away.code, home.code] as const;
  const atOf = ({ code }: Side) => {
    if (code === null) return -1;
    return codes.findIndex((one) => codeNamed(league, one) === codeNamed(league, code));
  };
  const [longAt, shortAt] = [atOf(long), atOf(short)];
  if (longAt >= 0 && shortAt >= 0 && longAt !== shortAt)
    return { long: codes[longAt]!, away, home };
  if (long.name === null || short.name === null) return null;
  const order = namesOfCodes(league, codes, [long.name, short.name]);
  if (order === null) return null;
  const [own, other] = order === 'straight' ? [long.name, short.name] : [short.name, long.name];
  return {
    long: order === 'straight' ? away.code : home.code,
    away: { ...away, name: own },
    home: { ...home, name: other },
  };
}

function legOf(
  venue: Venue,
  slug: string,
  rest: string | undefined,
  { game, tied }: { game: FoundGame; tied: ReadonlySet<string> },
  { skipped }: Counts,
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
  // Of a spread the slug names the team that has to win by more, where it names one.
  const parts = (GAME_SLUG.exec(slug)![6] ?? '').split('-');
  const subject =
    marketType === 'spread'
      ? [game.away, game.home].find(({ code }) => parts.includes(code.toLowerCase()))
      : undefined;
  const entry = lineEntry({
    ...{ venue, venueMarketId: slug },
    ...{ game, marketType, period: 'game', line, subject: subject ?? null },
    isUntold: line === null || (marketType === 'spread' && subject === undefined),
  });
  return { kind: 'other', game, entry, listing: listingOf(place) };
}

/** The slug without its kind and leg: `mlb-ath-cws-2026-07-12`. */
function eventOf(slug: string): string {
  const [, , league, away, home, day] = GAME_SLUG.exec(slug)!;
  return `${league}-${away}-${home}-${day}`;
}

function binaryOf(venue: Venue, market: Json, { skipped }: Counts): Found[] {
  const slug = wordOf(market.slug);
  const closesAt = timeOf(market.endDate);
  const title = textOf(market.question) ?? textOf(market.title);
  const league = leagueOf(slug.split('-')[1] ?? slug);
  if (closesAt === null || title === null || league === null) {
    skip(skipped, 'no endDate, question or league');
    return [];
  }
  const place = { venue, venueMarketId: slug, sideLabel: title, venueEvent: null };
  const opensAt = timeOf(market.startDate);
  const start = startOf(market);
  const day = GAME_SLUG.exec(slug)?.[5] ?? null;
  const entry = binaryEntry({ ...place, league, opensAt, closesAt, start, day });
  return [{ kind: 'other', entry, game: null, listing: listingOf(place) }];
}

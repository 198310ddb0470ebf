/**
 * Polymarket's (Gamma's) market objects as instruments. A listing names an outcome's token. Rules
 * K22 to K25, K34, K38 (feeds/FORMATS.md).
 */

import { parseJson } from '../../../engine/base/bounded-json.ts';
import type { Venue } from '../../../engine/base/units.ts';
import { isBoundedRate } from '../../../engine/rules/fees.ts';
import type { FeeLine } from '../../catalog/catalog-schema.ts';
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
import { isHomeFirst, isSameName, knownTeam, namesOfCodes } from '../shared/names.ts';

/** `nfl-car-ari-2026-08-07`, and after it a leg: `-car`, `-draw`, or another market's name. */
const GAME_SLUG = /^([a-z0-9]+)-([a-z0-9]+)-([a-z0-9]+)-(\d{4}-\d\d-\d\d)(?:-(.+))?$/;

export function isPolymarketMarket({ conditionId, clobTokenIds }: Json): boolean {
  return typeof conditionId === 'string' && clobTokenIds !== undefined;
}

export const POLYMARKET_LISTING: Listing = {
  schedule: 'polymarket',
  fields: [
    ...['conditionId', 'clobTokenIds', 'outcomes', 'slug', 'question', 'category', 'closed'],
    ...['sportsMarketType', 'line', 'gameStartTime', 'eventStartTime', 'startDate', 'endDate'],
    ...['teams', 'abbreviation', 'ordering', 'name', 'groupItemTitle'],
    ...['feesEnabled', 'feeSchedule', 'rate', 'exponent'],
  ],
  owns: isPolymarketMarket,
  idOf: ({ conditionId }) => wordOf(conditionId),
  found: polymarketFound,
  ownFees: polymarketFees,
};

type Outcome = { name: string; token: string };

export function polymarketFound(venue: Venue, markets: readonly Json[], counts: Counts): Found[] {
  const slugs = new Set(markets.map(({ slug }) => wordOf(slug)));
  const titles = titlesOf(markets);
  const games = new Map<string, FoundGame>();
  const legs = new Map<Json, Found[]>();
  for (const market of markets) {
    const outcomes = outcomesOf(market);
    if (outcomes.length !== 2 || !isOfAGame(market, 'moneyline')) continue;
    const found = legsOf(venue, market, outcomes, { slugs, titles });
    if (found === null) continue;
    legs.set(market, found);
    games.set(eventOf(market), found[0]!.game!);
  }
  return markets.flatMap((market) => {
    const outcomes = outcomesOf(market);
    if (outcomes.length !== 2) {
      skip(counts.skipped, 'no two outcomes with tokens');
      return [];
    }
    const found = legs.get(market);
    if (found !== undefined) return found;
    if (isOfAGame(market, 'moneyline')) {
      skip(counts.apart, 'the outcomes do not fit the codes of the slug');
    } else if (isOfAGame(market)) {
      const game = games.get(eventOf(market)) ?? gameOfSlug(market);
      if (game !== null) return [lineOf(venue, market, outcomes, game)];
    }
    return binaryOf(venue, market, outcomes, counts);
  });
}

/** Whether its slug and its type are a game's. */
function isOfAGame({ slug, sportsMarketType }: Json, type = wordOf(sportsMarketType)): boolean {
  return type !== '' && sportsMarketType === type && GAME_SLUG.test(wordOf(slug));
}

/** The event's slug, which the slugs of a game's markets begin with. */
function eventOf({ slug }: Json): string {
  const [, league, first, second, day] = GAME_SLUG.exec(wordOf(slug))!;
  return `${league}-${first}-${second}-${day}`;
}

/** Lists inside texts: `"[\"Yes\",\"No\"]"`; plain lists are taken as well. */
export function listIn(value: unknown): string[] {
  let list = value;
  if (typeof value === 'string') {
    try {
      list = parseJson(value);
    } catch {
      return [];
    }
  }
  const isTexts = Array.isArray(list) && list.every((one) => typeof one === 'string');
  return isTexts ? (list as string[]) : [];
}

function outcomesOf({ outcomes, clobTokenIds }: Json): Outcome[] {
  const names = listIn(outcomes);
  const tokens = listIn(clobTokenIds);
  if (names.length !== tokens.length || tokens.some((token) => !/^[!-~]{1,256}$/.test(token))) {
    return [];
  }
  return names.map((name, at) => ({ name: textOf(name, 120) ?? '', token: tokens[at]! }));
}

function isYesNo(outcomes: readonly Outcome[]): boolean {
  return outcomes[0]!.name === 'Yes' && outcomes[1]!.name === 'No';
}

/** The start that the market or its event names. */
function startOf(market: Json): Start | null {
  const start = timeOf(market.gameStartTime) ?? timeOf(market.eventStartTime);
  return start === null ? null : { atMs: Date.parse(start), source: 'venue' };
}

/** The event's data about the team of a code. */
function toldOf({ teams }: Json, code: string): { name: string | null; ordering: string | null } {
  const list: (Json | null)[] = Array.isArray(teams) ? teams : [];
  const team = list.find((one) => wordOf(one?.abbreviation).toLowerCase() === code);
  const ordering = team?.ordering;
  return {
    name: textOf(team?.name, 120),
    ordering: ordering === 'home' || ordering === 'away' ? ordering : null,
  };
}

/** The venue's names of the legs of games, by their slugs. One leg tells the opponent of another. */
function titlesOf(markets: readonly Json[]): Map<string, string> {
  const titles = new Map<string, string>();
  for (const market of markets) {
    const title = textOf(market.groupItemTitle, 120);
    if (title === null || !isOfAGame(market, 'moneyline')) continue;
    titles.set(wordOf(market.slug), title);
  }
  return titles;
}

/**
 * The winner's markets of a game. A slug has the codes, and outcomes have the names. The names tell
 * which belongs to which, never their order. Null: they do not fit.
 */
function legsOf(
  venue: Venue,
  market: Json,
  outcomes: readonly Outcome[],
  { slugs, titles }: { slugs: ReadonlySet<string>; titles: ReadonlyMap<string, string> },
): Found[] | null {
  const [, ownLeague, first, second, , rest] = GAME_SLUG.exec(wordOf(market.slug))!;
  const league = gameLeagueOf(ownLeague!);
  if (league === null) return null;
  const event = eventOf(market);
  const codes = [first!.toUpperCase(), second!.toUpperCase()] as const;
  const told = [toldOf(market, first!), toldOf(market, second!)] as const;
  const leg = rest === 'draw' || rest === 'tie' ? TIE : rest?.toUpperCase();
  const named = (at: 0 | 1) =>
    told[at].name ?? titles.get(`${event}-${codes[at].toLowerCase()}`) ?? null;
  let names: [string | null, string | null] = [named(0), named(1)];
  let order: 'straight' | 'crossed' = 'straight';
  if (isYesNo(outcomes)) {
    const at = codes.indexOf(leg ?? '');
    if (leg !== TIE && at < 0) return null;
    // The venue's name of the leg, which must be the team that the slug names.
    const own = leg === TIE ? null : textOf(market.groupItemTitle, 120);
    if (own !== null && names[at] !== null && !isSameName(own, names[at]!)) return null;
    const other = names[1 - at] ?? null;
    if (own !== null && other !== null && names[at] === null && isSameName(own, other)) return null;
    if (own !== null) names = at === 0 ? [names[0] ?? own, names[1]] : [names[0], names[1] ?? own];
  } else {
    if (rest !== undefined && !/^g\d$/.test(rest)) return null;
    const own = [outcomes[0]!.name, outcomes[1]!.name] as const;
    const found = namesOfCodes(league, codes, own, names);
    if (found === null) return null;
    order = found;
    names = order === 'straight' ? [own[0], own[1]] : [own[1], own[0]];
  }
  const game = gameOf(market, names, /^g\d$/.test(rest ?? '') ? rest! : null);
  if (game === null) return null;
  const hasTie = slugs.has(`${event}-draw`) || slugs.has(`${event}-tie`);
  const winner = (code: string, { name, token }: Outcome): Found => {
    const place = { venue, venueMarketId: token, sideLabel: name, venueEvent: event };
    return { kind: 'winner', code, hasTie, game, listing: listingOf(place) };
  };
  if (isYesNo(outcomes))
    return [winner(leg!, { ...outcomes[0]!, name: leg === TIE ? 'Tie' : leg! })];
  const [own, other] = order === 'straight' ? [0, 1] : [1, 0];
  return [winner(codes[0], outcomes[own]!), winner(codes[1], outcomes[other]!)];
}

/** The game of a slug; `names` belong to its codes, if they are known. */
function gameOf(
  market: Json,
  names: readonly [string | null, string | null],
  number: string | null,
): FoundGame | null {
  const [, ownLeague, first, second, slugDay] = GAME_SLUG.exec(wordOf(market.slug))!;
  const league = gameLeagueOf(ownLeague!);
  if (first === second || easternMs(slugDay!) === null || league === null) return null;
  const told = [toldOf(market, first!), toldOf(market, second!)] as const;
  const start = startOf(market);
  const teams = [first!, second!].map((one, at): Team => {
    const code = one.toUpperCase();
    return { code, name: names[at] ?? knownTeam(league, code)?.name ?? code };
  });
  const isFirstHome =
    told[0].ordering === null && told[1].ordering === null
      ? isHomeFirst(league)
      : told[0].ordering === 'home' || told[1].ordering === 'away';
  const [home, away] = isFirstHome ? [teams[0]!, teams[1]!] : [teams[1]!, teams[0]!];
  return {
    ...{ league, day: dayOf(start, slugDay!), number, away, home, start },
    isOver: market.closed === true,
  };
}

/** Of a market whose game has no winner's market here. */
function gameOfSlug(market: Json): FoundGame | null {
  const [, , first, second] = GAME_SLUG.exec(wordOf(market.slug))!;
  return gameOf(market, [toldOf(market, first!).name, toldOf(market, second!).name], null);
}

const LINE_TYPES: Record<string, 'spread' | 'total' | 'team_total'> = {
  ...{ spreads: 'spread', totals: 'total', team_totals: 'team_total' },
};

/** A spread, total, prop or period: an instrument of its game. Rule K34. */
function lineOf(venue: Venue, market: Json, outcomes: readonly Outcome[], game: FoundGame): Found {
  const own = wordOf(market.sportsMarketType).toLowerCase();
  const isHalf = /^(?:first_half|1h)_/.test(own);
  const core = own.replace(/^(?:first_half|1h)_/, '');
  const names = [outcomes[0]!.name, outcomes[1]!.name] as const;
  const codes = [game.away.code, game.home.code] as const;
  const order = namesOfCodes(game.league, codes, names, [game.away.name, game.home.name]);
  const subject = order === null ? null : order === 'straight' ? game.away : game.home;
  const type = LINE_TYPES[core] ?? 'other';
  const isWhole = type === 'total' || (type === 'spread' && subject !== null);
  const number = typeof market.line === 'number' ? market.line : null;
  const bound = Math.abs(number ?? 0);
  const isOver = type === 'total' && number !== null && /^over$/i.test(names[0]);
  const isUnder = type === 'total' && number !== null && /^under$/i.test(names[0]);
  const { name, token } = outcomes[0]!;
  const place = { venue, venueMarketId: token };
  const entry = lineEntry({
    ...{ ...place, game, period: isHalf ? 'h1' : 'game', line: number, subject },
    marketType: isWhole ? type : 'other',
    stat: isWhole ? null : core.replaceAll(/[^a-z0-9]+/g, ' ').trim(),
    ...(isOver ? { strike: { type: 'greater', floor: bound, cap: null } } : {}),
    ...(isUnder ? { strike: { type: 'less', floor: null, cap: bound } } : {}),
    isUntold: !isWhole || number === null || (type === 'total' && !isOver && !isUnder),
  });
  const question = textOf(market.question);
  const sideLabel = isYesNo(outcomes) ? question : textOf(`${question ?? ''} (${name})`);
  const listing = listingOf({ ...place, sideLabel, venueEvent: eventOf(market) });
  return { kind: 'other', entry, game, listing };
}

function binaryOf(
  venue: Venue,
  market: Json,
  outcomes: readonly Outcome[],
  { skipped }: Counts,
): Found[] {
  const closesAt = timeOf(market.endDate);
  const question = textOf(market.question);
  const slug = textOf(market.slug, 160);
  if (closesAt === null || question === null || slug === null) {
    skip(skipped, 'no endDate, question or slug');
    return [];
  }
  const { name, token } = outcomes[0]!;
  const sideLabel = isYesNo(outcomes) ? question : textOf(`${question} (${name})`);
  const place = { venue, venueMarketId: token, sideLabel, venueEvent: slug };
  const league = leagueOf(wordOf(market.category)) ?? 'polymarket';
  const start = startOf(market);
  const day = market.sportsMarketType == null ? null : (GAME_SLUG.exec(slug)?.[4] ?? null);
  const opensAt = timeOf(market.startDate);
  const planned = binaryEntry({ ...place, league, opensAt, closesAt, start, day });
  // Markets trade on past the end date until they are resolved.
  const { closesAt: _nominal, ...entry } = planned;
  return [{ kind: 'other', entry, game: null, listing: listingOf(place) }];
}

/** A market's own fees, a line for each token; none if it states no fees. */
export function polymarketFees(venue: Venue, market: Json, from: string): FeeLine[] {
  const { rate, exponent } = (market.feeSchedule ?? {}) as Json;
  const isOff = market.feesEnabled === false;
  const taker = isOff ? '0' : rateText(rate);
  if (taker === null) return [];
  const power = typeof exponent === 'number' && [1, 2, 3, 4].includes(exponent) ? exponent : 1;
  return outcomesOf(market).map(({ token }) => {
    return { venue, series: token, from, schedule: 'polymarket', taker, exponent: power };
  });
}

function rateText(rate: unknown): string | null {
  const text = wordOf(rate);
  const isRate = /^\d{1,6}(?:\.\d{1,8})?$/.test(text);
  return isRate && isBoundedRate(text, '1') ? text : null;
}

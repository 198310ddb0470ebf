/**
 * Polymarket's (Gamma's) market objects as instruments. A listing names an outcome's token. Rules
 * K22 to K25 (feeds/FORMATS.md).
 */

import { parseJson } from '../../../engine/base/bounded-json.ts';
import type { Venue } from '../../../engine/base/units.ts';
import type { FeeLine } from '../../catalog/catalog-schema.ts';
import { easternDay, easternMs } from '../shared/eastern.ts';
import {
  binaryEntry,
  type Finding,
  type Found,
  type FoundGame,
  type Json,
  leagueOf,
  listingOf,
  skip,
  TIE,
  textOf,
  timeOf,
  wordOf,
} from '../shared/found.ts';

/** `nfl-car-ari-2026-08-07`, and after it a leg: `-car`, `-draw`, or another market's name. */
const GAME_SLUG = /^([a-z0-9]+)-([a-z0-9]+)-([a-z0-9]+)-(\d{4}-\d\d-\d\d)(?:-(.+))?$/;

export function isPolymarketMarket({ conditionId, clobTokenIds }: Json): boolean {
  return typeof conditionId === 'string' && clobTokenIds !== undefined;
}

/** All that is read of a market, and of what it holds. */
export const POLYMARKET_FIELDS = [
  ...['conditionId', 'clobTokenIds', 'outcomes', 'slug', 'question', 'category', 'closed'],
  ...['sportsMarketType', 'gameStartTime', 'eventStartTime', 'startDate', 'endDate'],
  ...['teams', 'abbreviation', 'ordering'],
  ...['feesEnabled', 'feeSchedule', 'rate', 'exponent'],
] as const;

type Outcome = { name: string; token: string };

export function polymarketFound(
  venue: Venue,
  markets: readonly Json[],
  skipped: Finding['skipped'],
): Found[] {
  const slugs = new Set(markets.map(({ slug }) => wordOf(slug)));
  return markets.flatMap((market) => {
    const outcomes = outcomesOf(market);
    if (outcomes.length !== 2) {
      skip(skipped, 'no two outcomes with tokens');
      return [];
    }
    const game = market.sportsMarketType === 'moneyline' ? gameOf(market, outcomes) : null;
    if (game === null) return binaryOf(venue, market, outcomes, skipped);
    return (
      legsOf(venue, market, { game, outcomes, slugs }) ?? binaryOf(venue, market, outcomes, skipped)
    );
  });
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

/** The event's slug, which the parts of a game's markets begin with. */
function gameOf(market: Json, outcomes: readonly Outcome[]): FoundGame | null {
  const parts = GAME_SLUG.exec(wordOf(market.slug));
  if (parts === null) return null;
  const [, league, first, second, slugDay] = parts;
  const start = timeOf(market.gameStartTime) ?? timeOf(market.eventStartTime);
  const startsAtMs = start === null ? null : Date.parse(start);
  if (first === second || easternMs(slugDay!) === null) return null;
  const names = isYesNo(outcomes) ? [first!, second!] : outcomes.map(({ name }) => name);
  const isHomeFirst = orderingOf(market, first!) === 'home';
  const teams = [first!, second!].map((code, at) => {
    const upper = code.toUpperCase();
    return { code: upper, name: names[at] === code ? upper : names[at]! };
  });
  const [away, home] = isHomeFirst ? [teams[1]!, teams[0]!] : [teams[0]!, teams[1]!];
  return {
    league: league!,
    day: startsAtMs === null ? slugDay! : easternDay(startsAtMs),
    number: null,
    away,
    home,
    startsAtMs,
    isOver: market.closed === true,
  };
}

/** Soccer's slugs name the home team first; the event's teams say so where they are given. */
function orderingOf({ teams }: Json, code: string): string | null {
  if (!Array.isArray(teams)) return null;
  const team = teams.find((one: Json | null) => wordOf(one?.abbreviation).toLowerCase() === code);
  return typeof team?.ordering === 'string' ? team.ordering : null;
}

function legsOf(
  venue: Venue,
  market: Json,
  { game, outcomes, slugs }: { game: FoundGame; outcomes: Outcome[]; slugs: ReadonlySet<string> },
): Found[] | null {
  const [, league, first, second, day, rest] = GAME_SLUG.exec(wordOf(market.slug))!;
  const event = `${league}-${first}-${second}-${day}`;
  const hasTie = slugs.has(`${event}-draw`) || slugs.has(`${event}-tie`);
  const winner = (code: string, { name, token }: Outcome): Found => {
    const place = { venue, venueMarketId: token, sideLabel: name, venueEvent: event };
    return { kind: 'winner', code, hasTie, game, listing: listingOf(place) };
  };
  if (rest === undefined && !isYesNo(outcomes)) {
    return [first!, second!].map((code, at) => winner(code.toUpperCase(), outcomes[at]!));
  }
  const code = rest === 'draw' || rest === 'tie' ? TIE : rest?.toUpperCase();
  if (!isYesNo(outcomes) || code === undefined) return null;
  if (code !== TIE && code !== game.away.code && code !== game.home.code) return null;
  return [winner(code, { ...outcomes[0]!, name: code === TIE ? 'Tie' : code })];
}

function binaryOf(
  venue: Venue,
  market: Json,
  outcomes: readonly Outcome[],
  skipped: Finding['skipped'],
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
  const planned = binaryEntry({ ...place, league, opensAt: timeOf(market.startDate), closesAt });
  // Markets trade on past the end date until they are resolved.
  const { closesAt: _nominal, ...entry } = planned;
  return [{ kind: 'other', entry, game: null, listing: listingOf(place) }];
}

/** What a market says of its own fees, a line for each token; none where it says nothing. */
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
  return /^\d{1,6}(?:\.\d{1,8})?$/.test(text) ? text : null;
}

/**
 * Kalshi's market objects as instruments: a game's markets by their ticker, every other market as a
 * binary of its own. Rules K22 to K25, K30 (feeds/FORMATS.md).
 */
import { STRIKE_TYPES, type Venue } from '../../../engine/base/units.ts';
import type { InstrumentEntry } from '../../catalog/catalog-schema.ts';
import { easternMs } from '../shared/eastern.ts';
import {
  binaryEntry,
  type Finding,
  type Found,
  type FoundGame,
  type Json,
  leagueOf,
  listingOf,
  skip,
  type Team,
  TIE,
  textOf,
  timeOf,
  wordOf,
} from '../shared/found.ts';

/** Series of game winners, as `KXMLBGAME`; the part between is the league. */
const WINNER_SERIES = /^KX([A-Z0-9]+?)(?:GAME|MATCH|FIGHT)$/;
/** `26JUL101840MILPITG1`: day, New York time (some leagues leave it out), teams, which of two. */
const GAME_EVENT = /^(\d\d)([A-Z]{3})(\d\d)(\d{4})?([A-Z][A-Z0-9]*?)(G\d)?$/;
const MONTHS = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ');
/** Leagues that other venues call otherwise. */
const LEAGUES: Record<string, string> = { ncaaf: 'cfb', ncaamb: 'cbb', ncaab: 'cbb' };
const OVER = new Set(['determined', 'settled', 'finalized']);

/** All that is read of a market. */
export const KALSHI_FIELDS = [
  ...['ticker', 'event_ticker', 'title', 'yes_sub_title', 'status', 'market_type'],
  ...['open_time', 'close_time', 'strike_type', 'floor_strike', 'cap_strike'],
] as const;

type Market = { ticker: string; event: string; fields: Json };

export function isKalshiMarket({ ticker, event_ticker }: Json): boolean {
  return typeof ticker === 'string' && typeof event_ticker === 'string';
}

/** A market of legs in other markets, of which a day has some 100,000. Rule K44. */
export function isKalshiCombo(market: Json): boolean {
  const { ticker, mve_collection_ticker, mve_selected_legs } = market;
  const hasLegs = Array.isArray(mve_selected_legs) && mve_selected_legs.length > 0;
  const isNamed = wordOf(ticker).startsWith('KXMVE') || wordOf(mve_collection_ticker) !== '';
  return isKalshiMarket(market) && (isNamed || hasLegs);
}

/** @param markets of one venue, each once. */
export function kalshiFound(
  venue: Venue,
  markets: readonly Json[],
  skipped: Finding['skipped'],
): Found[] {
  const events = new Map<string, Market[]>();
  for (const fields of markets) {
    const market = { ticker: wordOf(fields.ticker), event: wordOf(fields.event_ticker), fields };
    const ofEvent = events.get(market.event);
    if (ofEvent === undefined) events.set(market.event, [market]);
    else ofEvent.push(market);
  }
  return [...events.values()].flatMap((ofEvent) => {
    return winnersOf(venue, ofEvent) ?? ofEvent.flatMap((one) => binaryOf(venue, one, skipped));
  });
}

/** The markets of a game: one a team, and a tie's. Null: the event is no game that can be read. */
function winnersOf(venue: Venue, markets: readonly Market[]): Found[] | null {
  const game = gameOf(markets);
  if (game === null) return null;
  const hasTie = markets.some((market) => codeOf(market) === TIE);
  return markets.map((market): Found => {
    const code = codeOf(market);
    const { ticker, event } = market;
    const sideLabel = code === TIE ? 'Tie' : nameOf(market);
    const place = { venue, venueMarketId: ticker, sideLabel, venueEvent: event };
    return { kind: 'winner', code, hasTie, game, listing: listingOf(place) };
  });
}

function gameOf(markets: readonly Market[]): FoundGame | null {
  const [series, stamp, ...more] = markets[0]!.event.split('-');
  const name = WINNER_SERIES.exec(series ?? '')?.[1]?.toLowerCase();
  const parts = GAME_EVENT.exec(stamp ?? '');
  if (name === undefined || parts === null || more.length > 0) return null;
  const [, year, month, date, time, codes, number] = parts;
  const monthNumber = String(MONTHS.indexOf(month!) + 1).padStart(2, '0');
  const day = `20${year}-${monthNumber}-${date}`;
  const midnightMs = easternMs(day);
  const startsAtMs =
    time === undefined ? null : easternMs(day, `${time.slice(0, 2)}:${time.slice(2)}`);
  const teams = teamsOf(markets, codes!);
  if (midnightMs === null || teams === null || (time !== undefined && startsAtMs === null)) {
    return null;
  }
  return {
    league: LEAGUES[name] ?? name,
    day,
    number: number?.toLowerCase() ?? null,
    ...teams,
    startsAtMs,
    isOver: markets.every(({ fields }) => OVER.has(wordOf(fields.status))),
  };
}

/** Both teams, from the markets' codes and the event's, which has the away team's first. */
function teamsOf(markets: readonly Market[], codes: string): { away: Team; home: Team } | null {
  const legs = markets.filter((market) => codeOf(market) !== TIE);
  const named = new Map(legs.map((market) => [codeOf(market), nameOf(market)]));
  if (named.size === 0 || named.size > 2) return null;
  const titled = titleOf(legs[0]!);
  for (const code of named.keys()) {
    const [away, home] = codes.startsWith(code)
      ? [code, codes.slice(code.length)]
      : [codes.slice(0, -code.length), code];
    const isWhole = away !== '' && home !== '' && away + home === codes && away !== home;
    if (!isWhole || [...named.keys()].some((one) => one !== away && one !== home)) continue;
    return {
      away: { code: away, name: named.get(away) ?? titled?.[0] ?? away },
      home: { code: home, name: named.get(home) ?? titled?.[1] ?? home },
    };
  }
  return null;
}

function codeOf({ ticker }: Market): string {
  return ticker.slice(ticker.lastIndexOf('-') + 1);
}

function nameOf(market: Market): string {
  return textOf(market.fields.yes_sub_title, 120) ?? codeOf(market);
}

/** `Milwaukee vs Pittsburgh Winner?`: away, home. */
function titleOf({ fields }: Market): [string, string] | null {
  const match = /^(.{1,120}?) (?:vs\.?|at) (.{1,120}?)(?: Winner)?\??$/.exec(wordOf(fields.title));
  return match === null ? null : [match[1]!, match[2]!];
}

function binaryOf(venue: Venue, { ticker, event, fields }: Market, skipped: Finding['skipped']) {
  const closesAt = timeOf(fields.close_time);
  const league = leagueOf(event.split('-')[0]!.replace(/^KX(?=.)/, ''));
  const title = textOf(fields.title);
  if (closesAt === null) skip(skipped, 'no close_time');
  else if (league === null || title === null || fields.market_type === 'scalar') {
    skip(skipped, 'no binary with a title');
  } else {
    const side = textOf(fields.yes_sub_title);
    const sideLabel = side === null || title.includes(side) ? title : textOf(`${title} (${side})`);
    const place = { venue, venueMarketId: ticker, sideLabel, venueEvent: event };
    const opensAt = timeOf(fields.open_time);
    const entry = binaryEntry({ ...place, league, opensAt, closesAt, strike: strikeOf(fields) });
    return [{ kind: 'other', entry, game: null, listing: listingOf(place) } satisfies Found];
  }
  return [];
}

function strikeOf({ strike_type, floor_strike, cap_strike }: Json): InstrumentEntry['strike'] {
  const type = STRIKE_TYPES.find((one) => one === strike_type);
  const floor = numberOf(floor_strike);
  const cap = numberOf(cap_strike);
  const needsFloor = type !== undefined && !type.startsWith('less');
  const needsCap = type !== undefined && !type.startsWith('greater');
  const isWhole = (floor !== null || !needsFloor) && (cap !== null || !needsCap);
  return type === undefined || !isWhole ? null : { type, floor, cap };
}

function numberOf(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

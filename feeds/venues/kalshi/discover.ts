/**
 * Kalshi's market objects as instruments: a game's markets by the code of their event, every other
 * market as a separate binary. Rules K22 to K25, K30, K33, K34, K38 (feeds/FORMATS.md).
 */
import { type EpochMs, STRIKE_TYPES, type Venue } from '../../../engine/base/units.ts';
import type { InstrumentEntry } from '../../catalog/catalog-schema.ts';
import { parseInstant } from '../../reading/instant.ts';
import { easternDay, easternMs } from '../shared/eastern.ts';
import {
  binaryEntry,
  type Counts,
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
import {
  codeNamed,
  isHomeFirst,
  isSameName,
  knownTeam,
  leagueBefore,
  namesOfCodes,
  partedByNames,
  partedCodes,
} from '../shared/names.ts';

/** Series of game winners, as `KXMLBGAME`; the part between is the league. */
const WINNER_SERIES = /^KX([A-Z0-9]+?)(?:GAME|MATCH|FIGHT)$/;
/** `26JUL101840MILPITG1`: day, New York time (some leagues leave it out), teams, which of two. */
const GAME_EVENT = /^(\d\d)([A-Z]{3})(\d\d)((?:[01]\d|2[0-3])[0-5]\d)?([A-Z0-9]+)$/;
const MONTHS = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ');
const OVER = new Set(['determined', 'settled', 'finalized']);

/**
 * `occurrence_datetime` and `expected_expiration_time` of a game are three hours after its start, in
 * all leagues: KXMLBGAME-26JUL101840MILPIT has both at 01:40Z and starts at 22:40Z.
 */
const EXPECTED_AFTER_MS = 3 * 3_600_000;

export const KALSHI_LISTING: Listing = {
  schedule: 'kalshi',
  fields: [
    ...['ticker', 'event_ticker', 'title', 'yes_sub_title', 'status', 'market_type'],
    ...['open_time', 'close_time', 'strike_type', 'floor_strike', 'cap_strike'],
    ...['occurrence_datetime', 'expected_expiration_time', 'eventTitle'],
  ],
  owns: isKalshiMarket,
  isCombo: isKalshiCombo,
  idOf: ({ ticker }) => wordOf(ticker),
  found: kalshiFound,
};

type Market = { ticker: string; event: string; fields: Json };
/** Starts by event ticker, as milestones say. */
export type Milestones = ReadonlyMap<string, EpochMs>;

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
  counts: Counts,
  milestones: Milestones = new Map(),
): Found[] {
  const events = new Map<string, Market[]>();
  for (const fields of markets) {
    const market = { ticker: wordOf(fields.ticker), event: wordOf(fields.event_ticker), fields };
    const ofEvent = events.get(market.event);
    if (ofEvent === undefined) events.set(market.event, [market]);
    else ofEvent.push(market);
  }
  const games = new Games(milestones);
  const winners = new Map<string, FoundGame>();
  for (const [event, ofEvent] of events) {
    const game = games.ofWinners(ofEvent);
    if (game !== null) winners.set(event, game);
  }
  return [...events].flatMap(([event, ofEvent]) => {
    const game = winners.get(event);
    if (game !== undefined) return winnersOf(venue, ofEvent, game);
    if (isOfAGame(event)) {
      skip(counts.apart, NAMES_DO_NOT_FIT, ofEvent.length);
      const timing = games.timingOf(ofEvent);
      return ofEvent.flatMap((one) => binaryOf(venue, one, timing, counts));
    }
    const line = games.ofLines(ofEvent);
    if (line !== null && line.game !== null) {
      const of = { rest: line.rest, number: line.number, game: line.game };
      return ofEvent.flatMap((market) => lineOf(venue, market, of, counts));
    }
    const timing = line ?? games.timingOf(ofEvent);
    return ofEvent.flatMap((one) => binaryOf(venue, one, timing, counts));
  });
}

const NAMES_DO_NOT_FIT = 'its ticker and names do not tell the teams';

function isOfAGame(event: string): boolean {
  const [series, stamp = ''] = event.split('-');
  return WINNER_SERIES.test(series ?? '') && GAME_EVENT.test(stamp);
}

/** The markets of a game: one a team, and a tie's. */
function winnersOf(venue: Venue, markets: readonly Market[], game: FoundGame): Found[] {
  const hasTie = markets.some((market) => codeOf(market) === TIE);
  return markets.map((market): Found => {
    const code = codeOf(market);
    const { ticker, event } = market;
    const sideLabel = code === TIE ? 'Tie' : nameOf(market);
    const place = { venue, venueMarketId: ticker, sideLabel, venueEvent: event };
    return { kind: 'winner', code, hasTie, game, listing: listingOf(place) };
  });
}

/** When an event starts; without a start the day that its ticker names, if it is a game's. */
type Timing = { start: Start | null; day: string | null };

/** The game of an event that asks for a part of it; without the game, only its start. */
type Line = Timing & {
  game: FoundGame | null;
  /** The part of its series after the league. */
  rest: string;
  /** Which set or map of the game the event asks for. */
  number: number | null;
};

/** An event's ticker after the series. */
type Stamp = { day: string; tickerMs: EpochMs | null; codes: string };

function stampOf(stamp: string): Stamp | null {
  const parts = GAME_EVENT.exec(stamp);
  if (parts === null) return null;
  const [, year, month, date, time, codes] = parts;
  const monthNumber = String(MONTHS.indexOf(month!) + 1).padStart(2, '0');
  const day = `20${year}-${monthNumber}-${date}`;
  if (easternMs(day) === null) return null;
  const tickerMs =
    time === undefined ? null : easternMs(day, `${time.slice(0, 2)}:${time.slice(2)}`);
  return { day, tickerMs, codes: codes! };
}

/** The games of some answers, by the code of their events. */
class Games {
  readonly #milestones: Milestones;
  /** By the code of both teams; `name` is the league's in the series of its winners. */
  readonly #games = new Map<string, { name: string; day: string; game: FoundGame }[]>();

  constructor(milestones: Milestones) {
    this.#milestones = milestones;
  }

  /** Null: the event is no game, or its teams cannot be told. */
  ofWinners(markets: readonly Market[]): FoundGame | null {
    const [series, stampText, ...more] = markets[0]!.event.split('-');
    const name = WINNER_SERIES.exec(series ?? '')?.[1]?.toLowerCase();
    const stamp = stampOf(stampText ?? '');
    if (name === undefined || stamp === null || more.length > 0) return null;
    const league = gameLeagueOf(name) ?? name;
    const teams = teamsOf(markets, stamp.codes, league);
    if (teams === null) return null;
    return this.#add(name, league, stamp, {
      ...teams,
      start: this.#startOf(markets, stamp),
      isOver: markets.every(({ fields }) => OVER.has(wordOf(fields.status))),
    });
  }

  /** The game of totals, spreads, props and periods. Null: the event is of no game. Rule K65. */
  ofLines(markets: readonly Market[]): Line | null {
    const [series, stampText, part = ''] = markets[0]!.event.split('-');
    const stamp = stampOf(stampText ?? '');
    const ofSeries = (series ?? '').replace(/^KX(?=.)/, '').toLowerCase();
    if (stamp === null) return null;
    const number = /^\d{1,2}$/.test(part) ? Number(part) : null;
    const start = this.#startOf(markets, stamp);
    const { day } = stamp;
    const known = this.#known(ofSeries, stamp);
    if (known !== null) {
      const { name, game } = known;
      return { game, rest: ofSeries.slice(name.length), number, start: game.start, day };
    }
    const named = leagueBefore(ofSeries);
    if (named === null)
      return stamp.tickerMs === null ? null : { game: null, rest: '', number, start, day };
    const { league, rest } = named;
    const told = teamsByTable(markets, stamp.codes, league);
    if (told === null) return { game: null, rest, number, start, day };
    const { codes, ...teams } = told;
    const name = ofSeries.slice(0, ofSeries.length - rest.length);
    const game = this.#add(name, league, { ...stamp, codes }, { ...teams, start, isOver: false });
    return { game, rest, number, start, day };
  }

  #add(
    name: string,
    league: string,
    stamp: Stamp,
    { away, home, number, ...more }: Teams & Pick<FoundGame, 'start' | 'isOver'>,
  ): FoundGame {
    const game = { league, day: stamp.day, number, away, home, ...more };
    const { day, codes } = stamp;
    this.#games.set(codes, [...(this.#games.get(codes) ?? []), { name, day, game }]);
    return game;
  }

  /**
   * On that day, else the only one a day before or after, because some series have the day of UTC.
   */
  #known(
    ofSeries: string,
    { day, tickerMs, codes }: Stamp,
  ): { name: string; game: FoundGame } | null {
    const all = [codes, ...withoutTeam(codes)]
      .flatMap((one) => this.#games.get(one) ?? [])
      .filter(({ name }) => ofSeries.startsWith(name));
    const ofDay = all.filter((one) => one.day === day);
    const timed = ofDay.find(({ game }) => tickerMs !== null && game.start?.atMs === tickerMs);
    if (timed !== undefined) return timed;
    if (ofDay.length === 1 && (tickerMs === null || ofDay[0]!.game.start?.source !== 'ticker')) {
      return ofDay[0]!;
    }
    if (ofDay.length > 0 || tickerMs !== null) return null;
    const near = all.filter((one) => Math.abs(Date.parse(one.day) - Date.parse(day)) <= DAY_MS);
    return near.length === 1 ? near[0]! : null;
  }

  /** Of an event whose game is not known: its own time or day, or its milestone. */
  timingOf(markets: readonly Market[]): Timing {
    const [series = '', text = ''] = markets[0]!.event.split('-');
    const stamp = WINNER_SERIES.test(series) ? stampOf(text) : null;
    if (stamp !== null) return { start: this.#startOf(markets, stamp), day: stamp.day };
    const atMs = this.#milestones.get(markets[0]!.event);
    return { start: atMs === undefined ? null : { atMs, source: 'milestone' }, day: null };
  }

  #startOf(markets: readonly Market[], { day, tickerMs }: Stamp): Start | null {
    if (tickerMs !== null) return { atMs: tickerMs, source: 'ticker' };
    const milestoneMs = this.#milestones.get(markets[0]!.event);
    if (milestoneMs !== undefined) return { atMs: milestoneMs, source: 'milestone' };
    // Far from the ticker's day it is no time of this game; some tickers have the day of the place.
    const lessUsual = (name: string, offMs: number) => {
      const times = markets.map(({ fields }) => parseInstant(fields[name]));
      const found = times.find((atMs) => {
        if (atMs === null) return false;
        const days = Date.parse(easternDay(atMs - EXPECTED_AFTER_MS)) - Date.parse(day);
        return Math.abs(days) <= offMs;
      });
      return found == null ? null : found - EXPECTED_AFTER_MS;
    };
    const venueMs = lessUsual('occurrence_datetime', DAY_MS);
    if (venueMs !== null) return { atMs: venueMs, source: 'venue' };
    const estimateMs = lessUsual('expected_expiration_time', 0);
    return estimateMs === null ? null : { atMs: estimateMs, source: 'estimate' };
  }
}

const DAY_MS = 24 * 3_600_000;

type Teams = Pick<FoundGame, 'away' | 'home' | 'number'>;

/** Both teams of an event's code, whose first is the away team's, in soccer the home team's. */
function inOrder(league: string, first: Team, second: Team) {
  return isHomeFirst(league) ? { home: first, away: second } : { away: first, home: second };
}

/** The code, and the code without the number of a game of two that it may end in. */
function waysOf(codes: string): { codes: string; number: string | null }[] {
  const numbered = /^(.+)(G\d)$/.exec(codes);
  const whole = { codes, number: null };
  if (numbered === null) return [whole];
  return [whole, { codes: numbered[1]!, number: numbered[2]!.toLowerCase() }];
}

const TEAM_CODE_MAX = 5;

/** If the code ends in one of its teams once more, as `KCDENKC` does, it without that. Rule K65. */
function withoutTeam(codes: string): string[] {
  return Array.from({ length: TEAM_CODE_MAX - 1 }, (_, at) => at + 2).flatMap((length) => {
    const [game, team] = [codes.slice(0, -length), codes.slice(-length)];
    const teams = game.replace(/G\d$/, '');
    const isOne = teams.length > team.length && (teams.startsWith(team) || teams.endsWith(team));
    return isOne ? [game] : [];
  });
}

/** Both teams, from the markets' codes and names. Null: they do not fit the event's code. */
function teamsOf(markets: readonly Market[], stampCodes: string, league: string): Teams | null {
  const legs = markets.filter((market) => codeOf(market) !== TIE);
  const named = new Map(legs.map((market) => [codeOf(market), nameOf(market)]));
  if (named.size === 0 || named.size > 2) return null;
  for (const { codes, number } of waysOf(stampCodes)) {
    for (const code of named.keys()) {
      const pair = [
        [code, codes.slice(code.length)],
        [codes.slice(0, -code.length), code],
      ].find(([first, second]) => {
        const isWhole = first !== '' && second !== '' && first! + second! === codes;
        return (
          isWhole &&
          first !== second &&
          [...named.keys()].every((one) => one === first || one === second)
        );
      });
      if (pair === undefined) continue;
      const [first, second] = pair as [string, string];
      const names = [first, second].map((one) => named.get(one)) as [string?, string?];
      if (isCrossed(league, [first, second], names)) return null;
      const teams = [first, second].map((one, at): Team => {
        const name = names[at] ?? opponentOf(legs[0]!) ?? knownTeam(league, one)?.name ?? one;
        return { code: one, name };
      });
      return { ...inOrder(league, teams[0]!, teams[1]!), number };
    }
  }
  return null;
}

/** Whether the two names belong to each other's codes. */
function isCrossed(league: string, codes: [string, string], names: [string?, string?]): boolean {
  const [first, second] = names;
  if (first === undefined || second === undefined) return false;
  return first === second || namesOfCodes(league, codes, [first, second]) === 'crossed';
}

/**
 * Without a winner's market: by the league's table, else by the names in a title. `codes`: the event's
 * code without a team that it names once more.
 */
function teamsByTable(
  markets: readonly Market[],
  stampCodes: string,
  league: string,
): (Teams & { codes: string }) | null {
  const all = [stampCodes, ...withoutTeam(stampCodes)].flatMap((whole) => {
    return waysOf(whole).map((way) => ({ whole, ...way }));
  });
  for (const { whole, codes, number } of all) {
    const parted = partedCodes(league, codes);
    if (parted !== null) {
      const [first, second] = parted.map((code) => knownTeam(league, code)!);
      return { ...inOrder(league, first!, second!), number, codes: whole };
    }
    const names = pairIn(markets[0]!);
    const pair = names === null ? null : partedByNames(league, codes, names);
    if (names === null || pair === null) continue;
    const order = namesOfCodes(league, pair, names);
    if (order === null) continue;
    const [a, b] = order === 'straight' ? names : [names[1], names[0]];
    const teams = inOrder(league, { code: pair[0], name: a }, { code: pair[1], name: b });
    return { ...teams, number, codes: whole };
  }
  return null;
}

function codeOf({ ticker }: Market): string {
  return ticker.slice(ticker.lastIndexOf('-') + 1);
}

function nameOf(market: Market): string {
  return textOf(market.fields.yes_sub_title, 120) ?? codeOf(market);
}

const SPORT_WORDS =
  'football|basketball|baseball|hockey|soccer|tennis|cricket|rugby|boxing|MMA|League of Legends|' +
  'Dota 2|Counter-Strike 2|Counter-Strike|CS2|Valorant|Call of Duty|Rocket League|Overwatch|' +
  'Rainbow Six|table tennis|volleyball|handball|lacrosse|darts|snooker|chess|badminton';
/** The text of a title after the second name. */
const AFTER_NAMES = new RegExp(
  '(?::.*|\\s+(?:Winner|Total .*|Spread.*|' +
    `(?:(?:professional|pro|college|men's|women's|${SPORT_WORDS})\\s+)*` +
    '(?:game|match|fight|bout|series|matchup|map \\d.*))|\\s*\\([^)]*\\)).*$|\\?+$',
  'i',
);

const QUESTION = /^(?:will|who|what|which|how|does|did|is|can)\s/i;
/** The names that a question ends in: `Will Coco Gauff win set 1 in the Korneeva vs Gauff`. */
const ASKED_OF =
  /^(?:will|who|what|which|how|does|did|is|can)\s.*\b(?:the|of|in|during|between) (.{1,120}? (?:vs\.?|v\.?|at|@) .+)$/i;

/**
 * The two names of a title, in its order: of `Milwaukee vs Pittsburgh Winner?`, and of `Will Coco
 * Gauff win the Korneeva vs Gauff: Round Of 16 match?`.
 */
function pairIn({ fields }: Market): [string, string] | null {
  for (const text of [fields.title, fields.eventTitle]) {
    const words = textOf(text) ?? '';
    const asked = ASKED_OF.exec(words)?.[1] ?? words;
    if (QUESTION.test(asked)) continue;
    const match = /^(.{1,120}?) (?:vs\.?|v\.?|at|@) (.{1,200})$/i.exec(asked);
    if (match === null) continue;
    const [first, second] = [match[1]!, match[2]!].map((name) => {
      return name.replace(AFTER_NAMES, '').trim();
    });
    if (first !== '' && second !== '') return [first!, second!.slice(0, 120)];
  }
  return null;
}

/** The name in a title that is not this market's. Null: none, or both are like its own. */
function opponentOf(market: Market): string | null {
  const pair = pairIn(market);
  if (pair === null) return null;
  const own = nameOf(market);
  const isOwn = pair.map((name) => isSameName(name, own) || isBegunBy(name, own));
  if (isOwn[0] === isOwn[1]) return null;
  return isOwn[0] ? pair[1] : pair[0];
}

/** Of a title with text after the name. */
const isBegunBy = (text: string, name: string) => text.startsWith(`${name} `);

/** Of a series after its league: which part of a game, and how that is written. */
const PERIOD_PARTS: [pattern: RegExp, period: InstrumentEntry['period'], word: string | null][] = [
  [/^(?:1h|fh|firsthalf)|(?:1h|firsthalf)$/, 'h1', null],
  [/^(?:2h|secondhalf)|(?:2h|secondhalf)$/, 'h2', null],
  [/^(?:1q|q1)|(?:1q|q1)$/, 'q1', null],
  [/^(?:2q|q2)|(?:2q|q2)$/, 'q2', null],
  [/^(?:3q|q3)|(?:3q|q3)$/, 'q3', null],
  [/^(?:4q|q4)|(?:4q|q4)$/, 'q4', null],
  [/^1p(?!t)|1p$/, 'p1', null],
  [/^2p(?!t)|2p$/, 'p2', null],
  [/^3p(?!t)|3p$/, 'p3', null],
  [/^(?=rfi$)/, 'inning_1', null],
  [/^(?:set1|1set|s1(?!\w))|set1$/, 'set_1', null],
  [/^f5/, 'game', 'first 5 innings'],
];

/** The counted event of a series. Source: titles of Kalshi's series. */
const STATS: Record<string, string> = {
  ...{ tb: 'total bases', hr: 'home runs', hit: 'hits', ks: 'strikeouts', rbi: 'RBIs' },
  ...{ hrr: 'hits, runs and RBIs', sb: 'stolen bases', er: 'earned runs', outs: 'outs' },
  ...{ pts: 'points', reb: 'rebounds', ast: 'assists', '3pt': 'three-pointers', stl: 'steals' },
  ...{ blk: 'blocks', pra: 'points, rebounds and assists', '2d': 'double double' },
  ...{ '3d': 'triple double', passyds: 'passing yards', recyds: 'receiving yards' },
  ...{ rshyds: 'rushing yards', rec: 'receptions', passtds: 'passing touchdowns' },
  ...{ anytd: 'any touchdown', firsttd: 'first touchdown', '2td': 'two touchdowns' },
  ...{ goal: 'goals', firstgoal: 'first goal', saves: 'saves', sog: 'shots on goal' },
  ...{
    rfi: 'runs',
    btts: 'both teams score',
    corners: 'corners',
    score: 'score',
    gtotal: 'total games',
  },
  ...{ map: 'map', totalmaps: 'total maps', setwinner: 'set winner', winner: 'winner' },
};
const TYPES: Record<string, InstrumentEntry['marketType']> = {
  spread: 'spread',
  total: 'total',
  teamtotal: 'team_total',
  tt: 'team_total',
};

/** A total, spread, prop or period: an instrument of its game. */
function lineOf(
  venue: Venue,
  market: Market,
  { rest, number, game }: Pick<Line, 'rest' | 'number'> & { game: FoundGame },
  counts: Counts,
): Found[] {
  const { ticker, event, fields } = market;
  if (fields.market_type === 'scalar') {
    skip(counts.skipped, 'no binary with a title');
    return [];
  }
  const part = PERIOD_PARTS.find(([pattern]) => pattern.test(rest));
  const core = part === undefined ? rest : rest.replace(part[0], '');
  const words = part?.[2] ?? null;
  const strike = strikeOf(fields) ?? null;
  const team = teamOf(market, game);
  const told = TYPES[core];
  const isTeams = told === 'spread' || told === 'team_total';
  const marketType = told === undefined || (isTeams && team === null) ? undefined : told;
  const person = told === undefined && team === null ? personOf(market) : null;
  const named = told ?? STATS[core] ?? (core === '' ? 'winner' : core);
  const counted = number === null ? named : `${named} ${number}`;
  const stat =
    told !== undefined && words === null && number === null
      ? null
      : [words, counted].filter(Boolean).join(' ');
  const type = marketType ?? (person === null ? 'other' : 'player_prop');
  const subject = type === 'total' ? null : (team ?? person);
  const yes = textOf(fields.yes_sub_title, 120);
  const isTold =
    strike !== null || (subject !== null && yes !== null && isSameName(subject.name, yes));
  const entry = lineEntry({
    ...{ venue, venueMarketId: ticker, game, marketType: type },
    ...{
      period: part?.[1] ?? 'game',
      stat: stat ?? (type === 'other' ? counted : null),
      subject,
      strike,
    },
    isUntold: !isTold,
  });
  const side = yes;
  const title = textOf(fields.title);
  const both =
    title === null || side === null || title.includes(side) ? title : `${title} (${side})`;
  const place = {
    venue,
    venueMarketId: ticker,
    sideLabel: textOf(both) ?? side,
    venueEvent: event,
  };
  return [{ kind: 'other', entry, game, listing: listingOf(place) }];
}

/**
 * The team that the ticker's last part names, as `SEA2` of a spread, or that its event names once
 * more, as `KCDENKC`.
 */
function teamOf(market: Market, { league, away, home }: FoundGame): Team | null {
  const code = codeOf(market);
  const ofEvent = stampOf(market.event.split('-')[1] ?? '')?.codes ?? '';
  const again = withoutTeam(ofEvent).map((game) => ofEvent.slice(game.length));
  const codes = [code, code.replace(/\d+$/, ''), ...again].map((one) => codeNamed(league, one));
  return [away, home].find((team) => codes.includes(codeNamed(league, team.code))) ?? null;
}

/** `Andrew Benintendi: 2+` is about a person, whom the ticker names as CWSABENINTENDI23. */
function personOf(market: Market): Team | null {
  const { ticker, fields } = market;
  const name = textOf(textOf(fields.yes_sub_title, 120)?.split(':')[0], 120);
  const parts = ticker.split('-').slice(2);
  const isNamed = parts.some((part) => /[A-Z]{3}/.test(part));
  if (name === null || !isNamed || !/^[\p{L}][\p{L}\p{M}.'’ -]+$/u.test(name)) return null;
  return /^(?:over|under|yes|no|tie|draw|both|any|none)\b/i.test(name)
    ? null
    : { code: name.toUpperCase().replaceAll(' ', '-'), name };
}

function binaryOf(
  venue: Venue,
  { ticker, event, fields }: Market,
  timing: Timing,
  { skipped }: Counts,
): Found[] {
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
    const strike = strikeOf(fields) ?? null;
    const start = timing.start ?? (timing.day === null ? ownStart(fields, closesAt) : null);
    const entry = binaryEntry({ ...place, league, opensAt, closesAt, strike, ...timing, start });
    return [{ kind: 'other', entry, game: null, listing: listingOf(place) }];
  }
  return [];
}

/** When the venue says that it happens, if that is while the market is open. Rule K66. */
function ownStart({ occurrence_datetime, open_time }: Json, closesAt: string): Start | null {
  const atMs = parseInstant(occurrence_datetime);
  if (atMs === null || atMs >= Date.parse(closesAt)) return null;
  const opensMs = parseInstant(open_time);
  return opensMs !== null && atMs < opensMs ? null : { atMs, source: 'venue' };
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

/**
 * Which simulated games exist, when they start, and how they end: a pure function of the seed, the
 * first start and the game's number. So a restarted demo has the same games. Long games last a day;
 * express games settle within minutes. Rules N20, N22, N24 (feeds/FORMATS.md).
 */

import type { EpochMs } from '../../engine/base/units.ts';
import type { Team } from '../../engine/rules/catalog-entries.ts';
import { draw, drawBetween, keyOf } from './random.ts';

export type Schedule = {
  seed: number;
  /** When the demo was started for the first time. */
  firstStartMs: EpochMs;
  /** Long games at a time, 0..26; 6 by default. */
  longGames?: number;
  /** Express games listed before this do not exist; left out: all do. Rule N24. */
  expressSinceMs?: EpochMs;
};

/** A league of the simulator: its name in catalogs, and what its totals count. */
export type SimLeague = {
  name: string;
  stat: string;
  /** The least and the largest line of a total, without its half. */
  lines: readonly [low: number, high: number];
  teams: readonly Team[];
};

export type SimMarket = {
  /** Part of every venue's ticker: `L0A-ML`. */
  key: string;
  kind: 'moneyline' | 'total';
  /** Of a total; null for a moneyline, whose yes is the away team. */
  line: number | null;
  /** Mean of the fair value before the game, in cents. */
  baseCents: number;
  result: 'yes' | 'no' | 'void';
};

export type SimGame = {
  slug: string;
  league: Pick<SimLeague, 'name' | 'stat'>;
  away: Team;
  home: Team;
  /** Markets open. */
  listedAtMs: EpochMs;
  startsAtMs: EpochMs;
  /** Markets close. */
  endsAtMs: EpochMs;
  /** Results are known, and the game is final or, with every result void, cancelled. */
  resolvesAtMs: EpochMs;
  cancelled: boolean;
  /** It settles within minutes. */
  isExpress: boolean;
  markets: SimMarket[];
};

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const SETTLE_MS = 5_000;

/** A generation of long games per day, listed before the one before it is over. */
const LONG = {
  everyMs: 24 * HOUR,
  listedMs: -2 * HOUR,
  startsMs: 20 * HOUR,
  apartMs: 30 * MINUTE,
  lastsMs: 3 * HOUR,
};
const LONG_GAMES_MAX = 26;
const EXPRESS = {
  everyMs: 3 * MINUTE,
  listedMs: -4 * MINUTE,
  startsMs: 2 * MINUTE,
  lastsMs: 4 * MINUTE,
};

const BASEBALL: readonly Team[] = [
  { code: 'ALD', name: 'Alder Bay Herons' },
  { code: 'BRK', name: 'Brackwater Otters' },
  { code: 'CAL', name: 'Calloway Lanterns' },
  { code: 'DUN', name: 'Dunmore Badgers' },
  { code: 'EVE', name: 'Everfall Comets' },
  { code: 'FEN', name: 'Fenwick Cranes' },
  { code: 'GLA', name: 'Glasshill Rams' },
  { code: 'HOL', name: 'Hollin Port Gulls' },
  { code: 'IVE', name: 'Iverton Millers' },
  { code: 'JUN', name: 'Juniper Foxes' },
  { code: 'KES', name: 'Kestrel Point Kites' },
  { code: 'LOR', name: 'Lorne Valley Stags' },
  { code: 'MAR', name: 'Marrow Creek Pikes' },
  { code: 'NOR', name: 'Northam Bells' },
  { code: 'OAK', name: 'Oakmere Owls' },
  { code: 'PEL', name: 'Pellworth Anchors' },
];

const BASKETBALL: readonly Team[] = [
  { code: 'AMB', name: 'Amberley Sparks' },
  { code: 'BEL', name: 'Belmont Quay Tides' },
  { code: 'CRE', name: 'Crestwick Falcons' },
  { code: 'DRI', name: 'Drift Harbor Sails' },
  { code: 'ELM', name: 'Elmstead Giants' },
  { code: 'FAR', name: 'Farrow Hill Hounds' },
  { code: 'GRA', name: 'Granby Thunder' },
  { code: 'HAZ', name: 'Hazelgate Wasps' },
  { code: 'ION', name: 'Iona Falls Torrents' },
  { code: 'KIN', name: 'Kingsmere Lions' },
];

const HOCKEY: readonly Team[] = [
  { code: 'ARC', name: 'Arcwell Bears' },
  { code: 'BOR', name: 'Boreal City Wolves' },
  { code: 'COL', name: 'Coldwater Seals' },
  { code: 'DEE', name: 'Deepford Moose' },
  { code: 'EIS', name: 'Eisenholm Anvils' },
  { code: 'FRO', name: 'Frosthaven Huskies' },
  { code: 'GLE', name: 'Glenrime Hawks' },
  { code: 'HAR', name: 'Harrow Lake Pucks' },
];

/** A game's league goes by its number, so that the games of a day are of all leagues. */
const LEAGUES: readonly SimLeague[] = [
  { name: 'sim-baseball', stat: 'runs', lines: [6, 10], teams: BASEBALL },
  { name: 'sim-basketball', stat: 'points', lines: [205, 235], teams: BASKETBALL },
  { name: 'sim-hockey', stat: 'goals', lines: [4, 7], teams: HOCKEY },
];

const LANE = { shuffle: 0, away: 1, home: 2, cancelled: 3, base: 4, result: 5, line: 6 } as const;

/**
 * Every game listed by `untilMs`, in the order of listing, so that a later call only appends.
 * `sinceMs` leaves out games that were over by then.
 */
export function scheduleUntil(
  schedule: Schedule,
  untilMs: EpochMs,
  { sinceMs = 0 }: { sinceMs?: EpochMs } = {},
): SimGame[] {
  return gamesBetween(schedule, sinceMs, untilMs).sort((a, b) => a.listedAtMs - b.listedAtMs);
}

/** Which games of a catalog are over, and how early a game is in it. */
export type Listed = {
  aheadMs: number;
  /** Express games that are over, the newest. */
  expressOver: number;
  /** Long games stay so long after their result. */
  longOverMs: number;
};

/**
 * The games of a catalog at a time: the games listed by `aheadMs` later, and of games that are over
 * the newest. In the order of listing. Rule N21 (feeds/FORMATS.md).
 */
export function listedGames(
  schedule: Schedule,
  nowMs: EpochMs,
  { aheadMs, expressOver, longOverMs }: Listed,
): SimGame[] {
  // So many express games alone have ended since.
  const expressMs = (expressOver + 1) * EXPRESS.everyMs;
  const sinceMs = nowMs - Math.max(expressMs, longOverMs);
  const games = scheduleUntil(schedule, nowMs + aheadMs, { sinceMs });
  const ended = games.filter(({ isExpress, resolvesAtMs }) => isExpress && resolvesAtMs <= nowMs);
  ended.sort((a, b) => b.resolvesAtMs - a.resolvesAtMs);
  const left = new Set(ended.slice(expressOver));
  return games.filter((game) => {
    return !left.has(game) && (game.isExpress || game.resolvesAtMs > nowMs - longOverMs);
  });
}

/** Games listed by `toMs` and not yet resolved before `fromMs`. */
export function gamesBetween(schedule: Schedule, fromMs: EpochMs, toMs: EpochMs): SimGame[] {
  const { firstStartMs } = schedule;
  const games: SimGame[] = [];
  const add = (game: SimGame) => {
    if (game.listedAtMs <= toMs && game.resolvesAtMs >= fromMs) games.push(game);
  };

  const longLifeMs = LONG.startsMs + LONG_GAMES_MAX * LONG.apartMs + LONG.lastsMs + SETTLE_MS;
  const firstDay = firstIndex(fromMs - firstStartMs - longLifeMs, LONG.everyMs);
  const lastDay = Math.floor((toMs - firstStartMs - LONG.listedMs) / LONG.everyMs);
  for (let day = firstDay; day <= lastDay; day++) {
    for (let slot = 0; slot < longGamesOf(schedule); slot++) add(longGame(schedule, day, slot));
  }

  const expressLifeMs = EXPRESS.startsMs + EXPRESS.lastsMs + SETTLE_MS;
  const first = Math.max(
    firstIndex(fromMs - firstStartMs - expressLifeMs, EXPRESS.everyMs),
    firstExpress(schedule),
  );
  const last = Math.floor((toMs - firstStartMs - EXPRESS.listedMs) / EXPRESS.everyMs);
  for (let n = first; n <= last; n++) add(expressGame(schedule, n));
  return games;
}

/** The game of this market key, at any time; undefined for a key that is not ours. */
export function gameOfKey(schedule: Schedule, key: string): SimGame | undefined {
  const fields = /^(?:L(\d{1,6})([A-Z])|X(\d{1,9}))-[A-Z]+$/.exec(key);
  if (fields === null) return undefined;
  const [, day, letter, number] = fields;
  let game: SimGame;
  if (letter === undefined) {
    if (Number(number) < firstExpress(schedule)) return undefined;
    game = expressGame(schedule, Number(number));
  } else {
    const slot = letter.charCodeAt(0) - 65;
    if (slot >= longGamesOf(schedule)) return undefined;
    game = longGame(schedule, Number(day), slot);
  }
  // Also refuses other spellings, such as a leading zero.
  return game.markets.some((market) => market.key === key) ? game : undefined;
}

function longGamesOf({ longGames = 6 }: Schedule): number {
  return Math.min(longGames, LONG_GAMES_MAX);
}

/** The number of the first express game that exists. */
function firstExpress({ firstStartMs, expressSinceMs = firstStartMs }: Schedule): number {
  return Math.max(0, Math.ceil((expressSinceMs - firstStartMs) / EXPRESS.everyMs));
}

function firstIndex(offsetMs: number, everyMs: number): number {
  return Math.max(0, Math.floor(offsetMs / everyMs));
}

function longGame(schedule: Schedule, day: number, slot: number): SimGame {
  const name = `L${day}${String.fromCharCode(65 + slot)}`;
  const league = LEAGUES[slot % LEAGUES.length]!;
  const teams = shuffledTeams(schedule.seed, day, league);
  const pair = 2 * Math.floor(slot / LEAGUES.length);
  const dayMs = schedule.firstStartMs + day * LONG.everyMs;
  return gameOf(schedule, {
    name,
    league,
    away: teams[pair % teams.length]!,
    home: teams[(pair + 1) % teams.length]!,
    listedAtMs: dayMs + LONG.listedMs,
    startsAtMs: dayMs + LONG.startsMs + slot * LONG.apartMs,
    lastsMs: LONG.lastsMs,
    withTotal: slot % 2 === 0,
    cancelledShare: 0.02,
    isExpress: false,
  });
}

function expressGame(schedule: Schedule, n: number): SimGame {
  const key = keyOf(schedule.seed, `express ${n}`);
  const league = LEAGUES[n % LEAGUES.length]!;
  const { teams } = league;
  const away = drawBetween(key, LANE.away, 0, 0, teams.length - 1);
  const home = (away + drawBetween(key, LANE.home, 0, 1, teams.length - 1)) % teams.length;
  const slotMs = schedule.firstStartMs + n * EXPRESS.everyMs;
  return gameOf(schedule, {
    name: `X${n}`,
    league,
    away: teams[away]!,
    home: teams[home]!,
    listedAtMs: slotMs + EXPRESS.listedMs,
    startsAtMs: slotMs + EXPRESS.startsMs,
    lastsMs: EXPRESS.lastsMs,
    withTotal: false,
    cancelledShare: 0.04,
    isExpress: true,
  });
}

type GamePlan = {
  name: string;
  league: SimLeague;
  away: Team;
  home: Team;
  listedAtMs: EpochMs;
  startsAtMs: EpochMs;
  lastsMs: number;
  withTotal: boolean;
  cancelledShare: number;
  isExpress: boolean;
};

function gameOf({ seed }: Schedule, plan: GamePlan): SimGame {
  const { name, league, away, home, startsAtMs, isExpress } = plan;
  const cancelled = draw(keyOf(seed, name), LANE.cancelled, 0) < plan.cancelledShare;
  const date = new Date(startsAtMs).toISOString().slice(0, 10);
  const markets = [marketOf(seed, `${name}-ML`, { kind: 'moneyline', league, cancelled })];
  if (plan.withTotal) {
    markets.push(marketOf(seed, `${name}-TOT`, { kind: 'total', league, cancelled }));
  }
  return {
    slug: `sim-${away.code}-${home.code}-${date}-${name}`.toLowerCase(),
    league: { name: league.name, stat: league.stat },
    away,
    home,
    listedAtMs: plan.listedAtMs,
    startsAtMs,
    endsAtMs: startsAtMs + plan.lastsMs,
    resolvesAtMs: startsAtMs + plan.lastsMs + SETTLE_MS,
    cancelled,
    isExpress,
    markets,
  };
}

function marketOf(
  seed: number,
  marketKey: string,
  { kind, league, cancelled }: Pick<SimMarket, 'kind'> & { league: SimLeague; cancelled: boolean },
): SimMarket {
  const key = keyOf(seed, marketKey);
  const [low, high] = kind === 'total' ? [42, 58] : [28, 72];
  const baseCents = drawBetween(key, LANE.base, 0, low, high);
  // The price is right on average: yes wins as often as its base says.
  const yes = draw(key, LANE.result, 0) * 100 < baseCents;
  return {
    key: marketKey,
    kind,
    line: kind === 'total' ? drawBetween(key, LANE.line, 0, ...league.lines) + 0.5 : null,
    baseCents,
    result: cancelled ? 'void' : yes ? 'yes' : 'no',
  };
}

function shuffledTeams(seed: number, day: number, league: SimLeague): Team[] {
  const key = keyOf(seed, `long ${day} ${league.name}`);
  const teams = [...league.teams];
  for (let i = teams.length - 1; i > 0; i--) {
    const j = drawBetween(key, LANE.shuffle, i, 0, i);
    [teams[i], teams[j]] = [teams[j]!, teams[i]!];
  }
  return teams;
}

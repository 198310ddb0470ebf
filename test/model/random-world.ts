/** The state of a generated run: its clock, its catalog, its prices, its earlier steps. */

import { type EpochMs, HOME_VENUE, type Side, type Uuid } from '../../engine/base/units.ts';
import type {
  AmendOrder,
  MakeOrderGroup,
  PlaceOrder,
  QuoteTick,
} from '../../engine/rules/messages.ts';
import type { Realism } from '../../engine/rules/realism.ts';
import type { NaiveEngine } from './naive-engine.ts';
import { type RandomCatalog, type RandomMarket, randomCatalogOf } from './random-catalog.ts';
import { createRandomSource, type RandomSource } from './random-source.ts';

/** The generator's questions about the system under test, so that sells and cancels often hit. */
export type Feedback = Pick<
  NaiveEngine,
  'openTradeIds' | 'openSides' | 'orderIds' | 'spendableCents' | 'roomCents'
>;

export type RandomBook = Omit<QuoteTick, 'kind' | 'atMs' | 'source' | 'market'>;

export type ShownLevels = Record<Side, Map<number, number>>;
type Decrease = { number: number; side: Side; price: number; contracts: number; atMs: number };

/** What the venue shows of each market, level by level. */
export type RandomLevels = {
  random: RandomSource;
  books: Map<string, ShownLevels>;
  /** By market: those that no print has explained. */
  decreases: Map<string, Decrease[]>;
  count: number;
};

function createRandomLevels(seed: number): RandomLevels {
  const random = createRandomSource(seed + 2_000_000);
  return { random, books: new Map(), decreases: new Map(), count: 0 };
}

export type RandomWorld = {
  random: RandomSource;
  countedOneIn: number;
  feedback: Feedback;
  nowMs: EpochMs;
  accounts: Uuid[];
  rounds: number;
  known: RandomCatalog;
  /** By theme, about where its yes trades. */
  fairs: Map<string, number>;
  /** By market name, the last book. */
  books: Map<string, RandomBook>;
  /** Names of markets that were given a result. */
  resolved: Set<string>;
  /** How often results were corrected, and a separate random source for that. */
  corrections: { random: RandomSource; count: number };
  /** Changes of orders and order groups, with a random source of their own. */
  changes: {
    random: RandomSource;
    made: AmendOrder[];
    count: number;
    groups: MakeOrderGroup[];
  };
  /** For what accounts have chosen; null: all have the preset `simple`. */
  realism: RandomSource | null;
  /** Which order groups latch, and their changes. */
  groupChanges: RandomSource;
  /** Which orders net. */
  nets: RandomSource;
  /** T158: what each account has chosen; null: all have the preset `simple`, some with latency. */
  chosen: { random: RandomSource; of: Map<Uuid, Realism> } | null;
  /** No two steps are of one millisecond, and none goes back without the operator. */
  apart: boolean;
  /** What fee tables say, and which orders pay fees. */
  fees: RandomSource;
  /** Null: ticks of levels are left out. */
  levels: RandomLevels | null;
  /** The latest placements, to place some again. */
  placed: PlaceOrder[];
  keysMade: number;
  /** Trade and order ids seen earlier, to page from. */
  seen: { list: 'orders' | 'trades'; account: Uuid; id: Uuid }[];
};

export const DAY_MS = 24 * 3600 * 1000;
const START_MS = Date.UTC(2026, 1, 1, 12);
const FAIR_START_CENTS = 50;

/** The character of a run. */
export type WorldOptions = {
  seed: number;
  /** 4 by default. */
  accounts?: number;
  /** How seldom a command counts towards the hard trade limits; one in 10 by default. */
  countedOneIn?: number;
  /** Ticks of levels are among the ticks. */
  levels?: boolean;
  /** Some orders are under latency. */
  latency?: boolean;
  /** Accounts choose models and liquidity of their own. */
  perAccount?: boolean;
  /** Each step is later than the last: of one moment shards cannot tell displays apart (T232). */
  apart?: boolean;
};

export function createRandomWorld(options: WorldOptions, feedback: Feedback): RandomWorld {
  const { seed, accounts = 4, countedOneIn = 10 } = options;
  const { levels = false, latency = false, perAccount = false } = options;
  const random = createRandomSource(seed);
  return {
    random,
    countedOneIn,
    feedback,
    nowMs: START_MS,
    accounts: Array.from({ length: accounts }, () => random.uuid(START_MS)),
    rounds: 1,
    known: randomCatalogOf(1),
    fairs: new Map(),
    books: new Map(),
    resolved: new Set(),
    corrections: { random: createRandomSource(seed + 1_000_000), count: 0 },
    changes: { random: createRandomSource(seed + 4_000_000), made: [], count: 0, groups: [] },
    realism: latency ? createRandomSource(seed + 2_000_000) : null,
    groupChanges: createRandomSource(seed + 6_000_000),
    nets: createRandomSource(seed + 5_000_000),
    chosen: perAccount ? { random: createRandomSource(seed + 4_000_000), of: new Map() } : null,
    apart: options.apart ?? false,
    fees: createRandomSource(seed + 3_000_000),
    levels: levels ? createRandomLevels(seed) : null,
    placed: [],
    keysMade: 0,
    seen: [],
  };
}

/** The last account trades seldom, so that it is at times without a position, and bust. */
export function someAccount({ random, accounts }: RandomWorld): Uuid {
  return random.oneIn(15) ? accounts.at(-1)! : random.pick(accounts.slice(0, -1));
}

/** About where yes of a market trades, 1..99. */
export function fairCentsOf(world: RandomWorld, market: RandomMarket): number {
  const theme = world.fairs.get(market.theme) ?? FAIR_START_CENTS;
  return market.sign === 1 ? theme : 100 - theme;
}

/** Moves the price that a market follows, mostly a little. */
export function walkPrice(world: RandomWorld, market: RandomMarket): void {
  const { random } = world;
  const before = world.fairs.get(market.theme) ?? random.int(15, 85);
  const jump = random.oneIn(10) ? random.int(-15, 15) : random.int(-2, 2);
  world.fairs.set(market.theme, clampPrice(before + jump));
}

export function clampPrice(cents: number): number {
  return Math.min(99, Math.max(1, cents));
}

/** True when half of the latest round's venue_a markets have a result. */
export function needsNewGames(world: RandomWorld): boolean {
  const home = world.known.markets.filter(
    (market) => market.venue === HOME_VENUE && market.theme.endsWith(`-${world.rounds - 1}`),
  );
  return home.filter((market) => world.resolved.has(market.name)).length * 2 >= home.length;
}

/** Usually nothing or a moment; sometimes up to or past the freshness bound, an hour, a year. */
export function stepMs(random: RandomSource, quoteMaxAgeMs: number): number {
  const jump = random.weighted({
    none: 500,
    moment: 400,
    while: 60,
    bound: 12,
    long: 4,
    year: 0.2,
    back: 4,
  });
  switch (jump) {
    case 'none':
      return 0;
    case 'moment':
      return random.int(1, 400);
    case 'while':
      return random.int(1000, 5000);
    case 'bound':
      return quoteMaxAgeMs + random.int(-1, 1);
    case 'long':
      return random.int(1, 48) * 3_600_000;
    case 'year':
      return 366 * DAY_MS;
    case 'back':
      return -random.int(1, 2 * 3_600_000);
  }
}

/** Generated ticks: prices that walk, and everything that interrupts them. */

import { type EpochMs, HOME_VENUE, NO_PRICE } from '../../engine/base/units.ts';
import type { DepthLevel, MarketResult, SettleMarket, Tick } from '../../engine/rules/messages.ts';
import type { RandomMarket } from './random-catalog.ts';
import type { RandomSource } from './random-source.ts';
import {
  clampPrice,
  fairCentsOf,
  type RandomBook,
  type RandomWorld,
  walkPrice,
} from './random-world.ts';

/** How many of the newest markets get most of the ticks. */
const FRESH_MARKETS = 16;

type On = { atMs: EpochMs; source: number; market: number };

export function randomTick(world: RandomWorld): Tick {
  const { random } = world;
  const market = someMarket(world);
  const source = random.oneIn(200) ? random.int(0, 4) : market.source;
  const atMs = tickTime(world);
  const on: On = { atMs, source, market: world.known.markets.indexOf(market) };
  const weights = {
    quote: 60,
    heartbeat: 20,
    status: 6,
    closing: 1,
    trade: 4,
    time: 4,
    down: 2,
    end: 1,
  };
  switch (random.weighted(weights)) {
    case 'quote':
      return { kind: 'quote', ...on, ...nextBook(world, market) };
    case 'trade': {
      const yesPriceCents = random.oneIn(20) ? NO_PRICE : fairCentsOf(world, market);
      const side = random.pick(['yes', 'no'] as const);
      return { kind: 'trade', ...on, yesPriceCents, contracts: random.int(1, 500), side };
    }
    case 'status':
      return { kind: 'status', ...on, status: random.weighted({ open: 12, paused: 2, closed: 1 }) };
    case 'closing': {
      const closesAtMs = random.oneIn(3) ? null : atMs + random.int(-60_000, 3_600_000);
      return { kind: 'closing', ...on, closesAtMs };
    }
    case 'heartbeat':
      return { kind: 'heartbeat', atMs, source };
    case 'down':
      return { kind: 'down', atMs, source };
    case 'time':
      return { kind: 'time', atMs };
    case 'end':
      return random.oneIn(3) ? gameTick(world, atMs, source) : resultTick(world, on, market);
  }
}

/** Mostly a market that may still trade; now and then one that is over or listed no more. */
function someMarket(world: RandomWorld): RandomMarket {
  const { markets } = world.known;
  if (world.random.oneIn(50)) return world.random.pick(markets);
  const fresh = markets.filter((market) => !world.resolved.has(market.name));
  return world.random.pick(fresh.slice(-FRESH_MARKETS));
}

/** Venues' clocks are not ours: some ticks are a little late, some early. */
function tickTime({ random, nowMs, apart }: RandomWorld): EpochMs {
  if (apart) return nowMs;
  if (random.oneIn(10)) return nowMs - random.int(1, 60);
  return random.oneIn(20) ? nowMs + random.int(1, 60) : nowMs;
}

/** A new book, or now and then the last one once more. */
function nextBook(world: RandomWorld, market: RandomMarket): RandomBook {
  const { random, books } = world;
  const last = books.get(market.name);
  if (last !== undefined && random.oneIn(6)) return last;
  walkPrice(world, market);
  const book = withDepth(world, randomBook(world, fairCentsOf(world, market)));
  books.set(market.name, book);
  return random.oneIn(4) ? withChanges(book, last) : book;
}

/** With the levels that differ from the last book in place of all, where both have levels. */
function withChanges({ depth, ...top }: RandomBook, last?: RandomBook): RandomBook {
  if (depth === undefined || last?.depth === undefined) return depth ? { ...top, depth } : top;
  const { yesBids, yesAsks } = last.depth;
  return {
    ...top,
    depthChange: {
      yesBids: changesOf(yesBids, depth.yesBids),
      yesAsks: changesOf(yesAsks, depth.yesAsks),
    },
  };
}

function changesOf(before: readonly DepthLevel[], after: readonly DepthLevel[]): DepthLevel[] {
  const [was, is] = [new Map(before), new Map(after)];
  const gone = before.filter(([cents]) => !is.has(cents)).map(([cents]): DepthLevel => [cents, 0]);
  return [...gone, ...after.filter(([cents, contracts]) => was.get(cents) !== contracts)];
}

/** Mostly with levels after the top, of sizes that often repeat; else with the top alone. */
function withDepth({ random }: RandomWorld, book: RandomBook): RandomBook {
  if (random.oneIn(4)) return book;
  const side = (topCents: number, topContracts: number, step: 1 | -1): DepthLevel[] => {
    if (topCents === NO_PRICE) return [];
    const levels: DepthLevel[] = [[topCents, topContracts]];
    const count = random.int(0, 4);
    for (let cents = topCents + step; levels.length <= count; cents += step * random.int(1, 3)) {
      if (cents < 1 || cents > 99) break;
      levels.push([cents, random.pick([1, 40, 250, 3000])]);
    }
    return levels;
  };
  const yesBids = side(book.yesBidCents, book.yesBidContracts, -1);
  const yesAsks = side(book.yesAskCents, book.yesAskContracts, 1);
  return { ...book, depth: { yesBids, yesAsks } };
}

function randomBook({ random }: RandomWorld, fairCents: number): RandomBook {
  const yesBidCents = clampPrice(fairCents - random.int(0, 3));
  const yesAskCents = clampPrice(Math.max(yesBidCents + 1, fairCents + random.int(0, 3)));
  const book = {
    yesBidCents,
    yesBidContracts: random.int(1, 1000),
    yesAskCents,
    yesAskContracts: random.int(1, 1000),
    crossed: yesBidCents >= yesAskCents,
  };
  const noBid = { yesBidCents: NO_PRICE, yesBidContracts: 0, crossed: false };
  const noAsk = { yesAskCents: NO_PRICE, yesAskContracts: 0, crossed: false };
  const shape = { whole: 40, noBid: 2, noAsk: 2, empty: 1, crossed: 2, crossedInside: 1 };
  switch (random.weighted(shape)) {
    case 'whole':
      return book;
    case 'noBid':
      return { ...book, ...noBid };
    case 'noAsk':
      return { ...book, ...noAsk };
    case 'empty':
      return { ...book, ...noBid, ...noAsk };
    case 'crossed':
      return { ...book, yesBidCents: yesAskCents, yesAskCents: yesBidCents, crossed: true };
    case 'crossedInside':
      // Crossed at the venue by less than a cent: rounding to whole cents hides it.
      return { ...book, crossed: true };
  }
}

function gameTick(world: RandomWorld, atMs: EpochMs, source: number): Tick {
  const { random, known } = world;
  const game = random.oneIn(20) ? 'no-such-game' : random.pick(known.catalog.games).slug;
  const status = random.weighted({ inprogress: 4, final: 2, postponed: 1, cancelled: 1 });
  if (status === 'cancelled') {
    known.catalog.instruments
      .filter((instrument) => instrument.gameSlug === game)
      .flatMap((instrument) => instrument.listings)
      .filter((listing) => listing.venue === HOME_VENUE)
      .forEach((listing) => {
        world.resolved.add(`${HOME_VENUE}/${listing.venueMarketId}`);
      });
  }
  return { kind: 'game', atMs, source, game, status };
}

/** Of any market, sometimes one with a result. */
export function randomSettlement(world: RandomWorld): SettleMarket {
  const market = someMarket(world);
  const number = world.known.markets.indexOf(market);
  return {
    kind: 'settle',
    atMs: world.nowMs,
    market: number,
    correction: null,
    ...randomResult(world, market),
  };
}

/** Mostly of a market that has a result, and is corrected for the first time or again. */
export function randomCorrection(world: RandomWorld): SettleMarket {
  const { corrections, known, resolved } = world;
  const { random } = corrections;
  const over = known.markets.filter(({ name }) => resolved.has(name));
  const isAny = over.length === 0 || random.oneIn(10);
  const market = random.pick(isAny ? known.markets : over);
  corrections.count += random.oneIn(10) ? 0 : 1;
  return {
    kind: 'settle',
    atMs: world.nowMs,
    market: world.known.markets.indexOf(market),
    correction: corrections.count,
    ...someResult(random),
  };
}

function resultTick(world: RandomWorld, on: On, market: RandomMarket): Tick {
  return { kind: 'result', ...on, ...randomResult(world, market) };
}

function randomResult(world: RandomWorld, market: RandomMarket): MarketResult {
  world.resolved.add(market.name);
  return someResult(world.random);
}

function someResult(random: RandomSource): MarketResult {
  const outcome = random.weighted({ yes: 5, no: 5, void: 2, scalar: 2 });
  const value = random.int(1, 99);
  // A scalar rounds both sides down: yes gets its value, no 100 minus the value rounded up.
  const payouts = {
    yes: [100, 0],
    no: [0, 100],
    void: [0, 0],
    scalar: [value, random.oneIn(2) ? 99 - value : 100 - value],
  } as const;
  const [yesPayoutCents, noPayoutCents] = payouts[outcome];
  return { outcome, yesPayoutCents, noPayoutCents };
}

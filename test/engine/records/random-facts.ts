/**
 * Random facts of some accounts, as engines with one shard or more would write them. The same
 * events are kept as plain objects, from which `naive-records.ts` calculates.
 */

import { type EpochMs, PLAIN, type Side, type Uuid } from '../../../engine/base/units.ts';
import type { Catalog } from '../../../engine/rules/catalog-entries.ts';
import type {
  Fact,
  FactPlace,
  OrderEndedFact,
  OrderPlacedFact,
} from '../../../engine/rules/facts.ts';
import type { MarketOutcome } from '../../../engine/rules/messages.ts';
import { type TradeTerms, USUAL_TERMS } from '../../../engine/rules/order-terms.ts';
import { shardOfAccount } from '../../../engine/shard/callers/shard-of.ts';
import { createRandomSource, type RandomSource } from '../../model/random-source.ts';
import { CATALOG, NOON_MS } from '../fixtures.ts';
import { append, openLog } from '../shard/logged-facts.ts';

export type NaiveTrade = {
  id: Uuid;
  trader: Uuid;
  instrument: number;
  market: number;
  side: Side;
  instrumentSide: Side;
  contracts: number;
  costCents: number;
  entryCents: number;
  statedPct: number | null;
  placedPrivate: boolean;
  /** Its order was placed under the preset `realistic`. */
  realistic: boolean;
  /** Its account paid fees, of 0 cents here. */
  charged: boolean;
  openedAtMs: EpochMs;
  /** Null: it is open. */
  end: {
    how: 'sold' | 'settled' | 'reset';
    outcome: MarketOutcome | null;
    atMs: EpochMs;
    proceedsCents: number;
    /** By its result, without the parts that were sold before. */
    paidCents?: number;
  } | null;
  parlay: Uuid | null;
  combine: boolean;
};

export type NaiveAccount = {
  id: Uuid;
  run: number;
  resets: { atMs: EpochMs; run: number }[];
  busts: number;
  bustedRun: number;
  /** Cash of the run with open trades at cost. */
  worthCents: number;
  resting: Uuid[];
};

export type World = {
  /** In order; facts without an account are in every shard. */
  facts: Fact[];
  accounts: NaiveAccount[];
  /** In the order of opening. */
  trades: NaiveTrade[];
  catalog: Catalog;
  /** Markets whose result an operator has replaced. */
  corrected: Set<number>;
  nowMs: EpochMs;
};

const HOUR_MS = 3_600_000;
export const GAMES = 30;
const POLARITIES = [1, -1] as const;
const WEIGHTS = {
  ...{ buy: 50, grow: 4, reduce: 3, sell: 4, rest: 6, settle: 3, adjust: 2, bust: 1 },
  reset: 1,
};
const OUTCOMES = ['yes', 'no', 'yes', 'no', 'void', 'scalar'] as const;

/** @param marks how often an operator tags a trade: 50 is as often as one is bought */
export function randomWorld(seed: number, steps: number, accounts = 7, marks = 6): World {
  const random = createRandomSource(seed);
  const corrections = createRandomSource(seed + 1_000_000);
  const catalog = randomCatalog();
  const catalogFact: Fact = { kind: 'catalog_replaced', atMs: NOON_MS, catalog };
  const world: World = {
    ...{ facts: [catalogFact], accounts: [], trades: [], catalog },
    ...{ corrected: new Set(), nowMs: NOON_MS },
  };
  for (let at = 0; at < accounts; at++) openAccount(world, random.uuid(NOON_MS));
  const results = new Map<number, MarketOutcome>();
  for (let step = 0; step < steps; step++) {
    world.nowMs += random.oneIn(3) ? 0 : random.int(1, 2 * HOUR_MS);
    doSomething(world, random, results, marks);
    if (corrections.oneIn(40)) correct(world, corrections, results);
  }
  return world;
}

/** Two instruments of opposite polarity on each game's market, and one without a game. */
function randomCatalog(): Catalog {
  const [sample] = CATALOG.instruments;
  const [listing] = sample!.listings;
  const games = Array.from({ length: GAMES }, (_, at) => ({
    ...CATALOG.games[0]!,
    id: `game_${String(at).padStart(10, '0')}`,
    slug: `game-${at}`,
  }));
  const instruments = Array.from({ length: GAMES * 2 }, (_, at) => {
    const market = at >> 1;
    const startsAt = new Date(NOON_MS + (market + 2) * 20 * HOUR_MS).toISOString();
    return {
      ...sample!,
      id: `ins_${String(at).padStart(12, '0')}`,
      slug: `i-${at}`,
      label: `Instrument ${at}`,
      gameSlug: market === 0 ? null : `game-${market}`,
      startsAt,
      listings: [{ ...listing!, venueMarketId: `M${market}`, polarity: POLARITIES[at & 1]! }],
    };
  });
  return {
    games,
    instruments,
    marketNames: games.map((_, market) => `venue_a/M${market}`),
    instrumentIds: instruments.map(({ id }) => id),
  };
}

function openAccount(world: World, id: Uuid): void {
  world.facts.push({ kind: 'account_opened', atMs: world.nowMs, account: id });
  const none = { busts: 0, bustedRun: 0, resting: [], resets: [] };
  world.accounts.push({ id, run: 1, worthCents: 10_000_000, ...none });
}

function doSomething(
  world: World,
  random: RandomSource,
  results: Map<number, MarketOutcome>,
  marks: number,
) {
  const account = random.pick(world.accounts);
  switch (random.weighted({ ...WEIGHTS, mark: marks })) {
    case 'buy':
      return buy(world, random, account, results);
    case 'grow':
      return grow(world, random, account);
    case 'reduce':
      return reduce(world, random, account);
    case 'sell': {
      const trade = openOf(world, account, random);
      if (trade === null) return;
      const proceeds = random.int(1, 99) * trade.contracts;
      return endTrade(world, trade, { how: 'sold', outcome: null, proceedsCents: proceeds });
    }
    case 'rest':
      return restOrEnd(world, random, account);
    case 'settle': {
      const market = random.int(0, GAMES - 1);
      if (!results.has(market)) settle(world, market, random.pick(OUTCOMES), results, random);
      return;
    }
    case 'adjust':
      return adjust(world, account, random.int(-5000, 5000));
    case 'reset':
      return reset(world, account);
    case 'mark':
      return mark(world, random, account);
    case 'bust':
      return adjust(world, account, 50 - account.worthCents);
  }
}

function buy(
  world: World,
  random: RandomSource,
  account: NaiveAccount,
  results: ReadonlyMap<number, MarketOutcome>,
): void {
  const instrument = random.int(0, GAMES * 2 - 1);
  const market = instrument >> 1;
  if (results.has(market)) return;
  const side = random.pick(['yes', 'no'] as const);
  const instrumentSide = POLARITIES[instrument & 1] === 1 ? side : side === 'yes' ? 'no' : 'yes';
  const contracts = random.int(1, 500);
  const priceCents = random.int(1, 99);
  const trade: NaiveTrade = {
    id: random.uuid(world.nowMs),
    ...{ trader: account.id, instrument, market, side, instrumentSide, contracts },
    costCents: contracts * priceCents,
    entryCents: priceCents,
    statedPct: random.oneIn(2) ? random.int(1, 99) : null,
    placedPrivate: random.oneIn(4) && world.accounts.indexOf(account) % 3 === 0,
    realistic: world.trades.length % 3 !== 0,
    charged: world.trades.length % 4 === 1,
    openedAtMs: world.nowMs,
    end: null,
    parlay: null,
    combine: false,
  };
  world.trades.push(trade);
  world.facts.push({
    kind: 'trade_opened',
    atMs: world.nowMs,
    account: account.id,
    trade: trade.id,
    order: random.uuid(world.nowMs),
    ...{ market, instrument, contracts, side, instrumentSide, priceCents, venue: 0 },
    ...{ cents: contracts * priceCents, feeCents: trade.charged ? 0 : null },
    ...termsOf(trade),
  });
}

function termsOf({ statedPct, placedPrivate, realistic }: NaiveTrade) {
  const terms: TradeTerms = { statedProbPct: statedPct, placedVia: 'api', placedPrivate };
  return { ...terms, fillModel: 'top_of_book', realistic } as const;
}

function grow(world: World, random: RandomSource, account: NaiveAccount): void {
  const trade = openOf(world, account, random);
  if (trade === null) return;
  const [contracts, priceCents] = [random.int(1, 50), random.int(1, 99)];
  const order = random.uuid(world.nowMs);
  const of = { atMs: world.nowMs, account: account.id, trade: trade.id, order, venue: 0 };
  const money = { priceCents, cents: contracts * priceCents, feeCents: null };
  world.facts.push({ kind: 'trade_grown', ...of, contracts, ...money });
  trade.contracts += contracts;
  trade.costCents += contracts * priceCents;
  trade.entryCents = Math.ceil(trade.costCents / trade.contracts);
}

/** A part is sold: its end has the totals of all parts. */
function reduce(world: World, random: RandomSource, account: NaiveAccount): void {
  const trade = openOf(world, account, random);
  if (trade === null || trade.contracts < 2) return;
  const contracts = random.int(1, trade.contracts - 1);
  const priceCents = random.int(1, 99);
  const costCents = Math.floor((trade.costCents * contracts) / trade.contracts);
  const order = random.uuid(world.nowMs);
  const of = { atMs: world.nowMs, account: account.id, trade: trade.id, order, venue: 0 };
  const money = { priceCents, cents: contracts * priceCents, feeCents: null, costCents };
  world.facts.push({ kind: 'trade_reduced', ...of, contracts, ...money });
  account.worthCents += contracts * priceCents - costCents;
  parts.set(trade.id, {
    contracts: contracts + (parts.get(trade.id)?.contracts ?? 0),
    costCents: costCents + (parts.get(trade.id)?.costCents ?? 0),
    proceedsCents: contracts * priceCents + (parts.get(trade.id)?.proceedsCents ?? 0),
  });
  trade.contracts -= contracts;
  trade.costCents -= costCents;
}

/** The sold parts of open trades. */
const parts = new Map<Uuid, { contracts: number; costCents: number; proceedsCents: number }>();

type End = Omit<NonNullable<NaiveTrade['end']>, 'atMs'>;

function endTrade(world: World, trade: NaiveTrade, end: End): void {
  const account = accountOf(world, trade);
  account.worthCents += end.proceedsCents - trade.costCents;
  const part = parts.get(trade.id);
  parts.delete(trade.id);
  const { contracts, costCents } = trade;
  held.set(trade.id, { contracts, costCents, run: account.run });
  trade.contracts += part?.contracts ?? 0;
  trade.costCents += part?.costCents ?? 0;
  const proceedsCents = end.proceedsCents + (part?.proceedsCents ?? 0);
  trade.end = { ...end, proceedsCents, atMs: world.nowMs };
  const fact = {
    atMs: world.nowMs,
    account: trade.trader,
    trade: trade.id,
    market: trade.market,
    instrument: trade.instrument,
    contracts: trade.contracts,
    side: trade.side,
    instrumentSide: trade.instrumentSide,
    venue: 0,
    ...termsOf(trade),
    costCents: trade.costCents,
    entryPriceCents: trade.entryCents,
    proceedsCents,
    parlay: trade.parlay,
    feesCents: trade.charged ? 0 : null,
  } as const;
  world.facts.push(
    end.outcome === null
      ? {
          kind: 'trade_closed',
          ...fact,
          closeReason: end.how === 'sold' ? 'sold' : 'account_reset',
        }
      : { kind: 'trade_settled', ...fact, outcome: end.outcome },
  );
  countBust(world, account);
}

function settle(
  world: World,
  market: number,
  outcome: MarketOutcome,
  results: Map<number, MarketOutcome>,
  random: RandomSource,
): void {
  results.set(market, outcome);
  world.facts.push({
    kind: 'market_resolved',
    atMs: world.nowMs,
    market,
    outcome,
    source: 'venue_result',
  });
  const yesCents = outcome === 'scalar' ? random.int(1, 99) : outcome === 'yes' ? 100 : 0;
  const open = world.trades.filter((trade) => trade.market === market && trade.end === null);
  // A shard settles them in no order that anyone may rely on.
  for (const trade of open.reverse()) {
    const payout = trade.side === 'yes' ? yesCents : 100 - yesCents;
    const proceeds = outcome === 'void' ? trade.costCents : payout * trade.contracts;
    endTrade(world, trade, {
      how: 'settled',
      outcome,
      proceedsCents: proceeds,
      paidCents: proceeds,
    });
  }
}

/** The trade of an end, and its run. */
const held = new Map<Uuid, { contracts: number; costCents: number; run: number }>();

/** An operator replaces a result, by another or by the same word with another value. */
function correct(world: World, random: RandomSource, results: Map<number, MarketOutcome>): void {
  if (results.size === 0) return;
  const market = random.pick([...results.keys()]);
  const to = random.pick(OUTCOMES);
  results.set(market, to);
  world.corrected.add(market);
  const { nowMs: atMs } = world;
  const yesCents = to === 'scalar' ? random.int(1, 99) : to === 'yes' ? 100 : 0;
  const correction = world.facts.length;
  const payouts = { yesPayoutCents: yesCents, noPayoutCents: 100 - yesCents };
  const of = { kind: 'market_corrected', atMs, market } as const;
  world.facts.push({ ...of, outcome: to, ...payouts, correction });
  for (const trade of world.trades) {
    if (trade.market !== market || trade.end?.how !== 'settled') continue;
    const { contracts, costCents, run } = held.get(trade.id)!;
    const payout = trade.side === 'yes' ? yesCents : 100 - yesCents;
    const cents = to === 'void' ? costCents : payout * contracts;
    const { outcome: from, paidCents = 0 } = trade.end;
    const changedByCents = cents - paidCents;
    const proceedsCents = trade.end.proceedsCents + changedByCents;
    trade.end = { ...trade.end, outcome: to, proceedsCents, paidCents: cents };
    const account = accountOf(world, trade);
    const cashCents = run === account.run ? changedByCents : 0;
    account.worthCents += cashCents;
    const { id, instrument, side, instrumentSide } = trade;
    world.facts.push({
      ...{ kind: 'trade_corrected', atMs, account: trade.trader, trade: id, correction },
      ...{ market, instrument, side, instrumentSide, from: from!, to },
      ...{ proceedsCents, changedByCents, cashCents },
    });
    countBust(world, account);
  }
}

function restOrEnd(world: World, random: RandomSource, account: NaiveAccount): void {
  const of = { atMs: world.nowMs, account: account.id, market: 0, instrument: 0 };
  const { length } = world.facts;
  if (length % 4 === 0) {
    // It ends at once, and never rests.
    const order = `${account.id.slice(0, -12)}${String(length).padStart(12, '0')}`;
    world.facts.push({ kind: 'order_placed', ...of, ...RESTING, rests: false, order });
    world.facts.push({ kind: 'order_ended', ...of, ...CANCELED, order });
    countBust(world, account);
  }
  const order = account.resting.pop();
  if (order === undefined) {
    const id = random.uuid(world.nowMs);
    account.resting.push(id);
    world.facts.push({ kind: 'order_placed', ...of, ...RESTING, order: id });
    return;
  }
  if (length % 3 === 0) {
    // Its fill changes no money in this world.
    world.facts.push({ kind: 'order_filled', ...of, ...FILLED, order, trade: order });
    return;
  }
  world.facts.push({ kind: 'order_ended', ...of, ...CANCELED, order });
  countBust(world, account);
}

const FILLED = {
  ...{ contracts: 1, priceCents: 5, venue: 0, fillPriceCents: 5, fillVenue: 0 },
  ...{ cents: 5, feeCents: null, feesCents: null },
  placed: { record: 0, offset: 0 },
};
const RESTING: Omit<
  OrderPlacedFact,
  'kind' | 'atMs' | 'account' | 'market' | 'instrument' | 'order'
> = {
  ...{ idempotencyKey: 'k', byTicker: false, contracts: 1, trade: null, rests: true },
  ...{ side: 'yes', instrumentSide: 'yes', fillModel: 'top_of_book', feeEachMicros: null },
  ...{ postOnly: false, group: null, netting: null },
  ...PLAIN,
  ...{ ...USUAL_TERMS, timeInForce: 'gtc', limitPriceCents: 5 },
};
const CANCELED: Omit<
  OrderEndedFact,
  'kind' | 'atMs' | 'account' | 'market' | 'instrument' | 'order'
> = {
  ...{ status: 'canceled', reason: 'canceled_by_owner', fillPriceCents: null, fillVenue: null },
  ...{ filledContracts: null, trade: null, placed: { record: 0, offset: 0 }, feesCents: null },
};

function adjust(world: World, account: NaiveAccount, amountCents: number): void {
  world.facts.push({ kind: 'cash_adjusted', atMs: world.nowMs, account: account.id, amountCents });
  account.worthCents += amountCents;
  countBust(world, account);
}

function countBust(world: World, account: NaiveAccount): void {
  const isOpen = world.trades.some(({ trader, end }) => trader === account.id && end === null);
  if (isOpen || account.resting.length > 0 || account.worthCents >= 100) return;
  if (account.bustedRun === account.run) return;
  account.bustedRun = account.run;
  account.busts++;
}

/** Orders end, open trades are closed at some price, and the next run begins. */
function reset(world: World, account: NaiveAccount): void {
  for (const order of account.resting.splice(0)) {
    const of = { atMs: world.nowMs, account: account.id, market: 0, instrument: 0 };
    world.facts.push({ kind: 'order_ended', ...of, ...CANCELED, order });
    countBust(world, account);
  }
  for (const trade of world.trades) {
    if (trade.trader !== account.id || trade.end !== null) continue;
    const proceedsCents = 40 * trade.contracts;
    endTrade(world, trade, { how: 'reset', outcome: null, proceedsCents });
  }
  account.run++;
  account.worthCents = 10_000_000;
  account.resets.push({ atMs: world.nowMs, run: account.run });
  const of = { atMs: world.nowMs, account: account.id };
  world.facts.push({ kind: 'account_reset', ...of, run: account.run });
}

/** An operator tags any trade, open or over. */
function mark(world: World, random: RandomSource, account: NaiveAccount): void {
  const own = world.trades.filter(({ trader }) => trader === account.id);
  if (own.length === 0) return;
  const trade = random.pick(own);
  trade.parlay = random.oneIn(4) ? null : `${account.id.slice(0, -1)}${random.int(0, 2)}`;
  trade.combine = random.oneIn(6);
  const { id, parlay, combine } = trade;
  const of = { atMs: world.nowMs, account: account.id };
  world.facts.push({ kind: 'trade_marked', ...of, trade: id, parlay, combine });
}

function openOf(world: World, { id }: NaiveAccount, random: RandomSource): NaiveTrade | null {
  const open = world.trades.filter(({ trader, end }) => trader === id && end === null);
  return open.length === 0 ? null : random.pick(open);
}

function accountOf({ accounts }: World, { trader }: NaiveTrade): NaiveAccount {
  return accounts.find(({ id }) => id === trader)!;
}

/** Writes the logs of so many shards, with records of one to five facts. */
export function writeLogs(dataDir: string, { facts }: Pick<World, 'facts'>, shards: number): void {
  for (let shard = 0; shard < shards; shard++) {
    const log = openLog(dataDir, shard, 20_000);
    const own = facts.filter((fact) => {
      return !('account' in fact) || shardOfAccount(fact.account, shards) === shard;
    });
    const placed = new Map<Uuid, FactPlace>();
    for (let at = 0, size = 1; at < own.length; at += size, size = 1 + (at % 5)) {
      const last = own[at + size - 1];
      // What ends at once does so in its own record.
      if (last?.kind === 'order_placed' && !last.rests) size++;
      append(log, own.slice(at, at + size), placed);
    }
    log.close();
  }
}

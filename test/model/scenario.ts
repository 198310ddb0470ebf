/**
 * An engine on a catalog small enough to reckon by hand. WIN is the venue_a market of a game; HOME is
 * its yes and AWAY its no. venue_b lists HOME upside down (exact), venue_c lists it near.
 */

import test, { type ExecutionContext } from 'ava';
import { digest } from '../../engine/audit/digest.ts';
import {
  type AccountRow,
  type EpochMs,
  type FillModelName,
  isoOf,
  type Side,
  type Uuid,
  type Venue,
} from '../../engine/base/units.ts';
import { EquityFold, MONEY } from '../../engine/equity/fold.ts';
import { ByteReader } from '../../engine/format/bytes.ts';
import { readFact } from '../../engine/format/fact-layouts.ts';
import type { Catalog, CatalogListing } from '../../engine/rules/catalog-entries.ts';
import { sideOf } from '../../engine/rules/flags.ts';
import {
  BLANK_ORDER,
  type DepthLevel,
  type PlaceOrder,
  type Reply,
  type Tick,
} from '../../engine/rules/messages.ts';
import type { ShardState } from '../../engine/rules/state.ts';
import { createMemoryEngine, type MemoryEngine } from '../engine/memory-engine.ts';
import { besideModel } from './beside-model.ts';
import { createNaiveEngine } from './naive-engine.ts';
import type { TradingEngine, TradingOptions, UserQuery } from './trading-engine.ts';

const START_MS = Date.UTC(2026, 2, 1, 12);
export const MAX_AGE_MS = 15_000;
export const HOUR_MS = 3_600_000;
export const ALICE = '019ca8d0-0000-7000-8000-00000000a11c';
export const BOB = '019ca8d0-0000-7000-8000-000000000b0b';

export const HOME = 'ins_HHHHHHHHHHHH';
export const AWAY = 'ins_AAAAAAAAAAAA';
export const OVER = 'ins_VVVVVVVVVVVV';
export const LONELY = 'ins_NNNNNNNNNNNN';
export const TWICE = 'ins_TTTTTTTTTTTT';

/** Market numbers; TOTAL is listed by OVER alone, as its no. */
export const WIN = 0;
export const WIN_B = 1;
export const WIN_C = 2;
export const TOTAL = 3;
const MARKET_NAMES = [
  'venue_a/WIN',
  'venue_b/WIN-B',
  'venue_c/WIN-C',
  'venue_a/TOTAL',
  'venue_a/X',
  'venue_a/Y',
];

/** The connection of a market: 0 for venue_a, 1 for venue_b, 2 for venue_c. */
const sourceOf = (market: number) => (market === WIN_B ? 1 : market === WIN_C ? 2 : 0);

type Reading = { code: string | null; body: Record<string, unknown> };

export type Scenario = {
  engine: TradingEngine;
  /** The scenario's clock; later steps happen at this time. */
  nowMs: number;
  /** A whole quote; 0 is an empty side. */
  quote(market: number, yesBidCents: number, yesAskCents: number, crossed?: boolean): void;
  /** A whole quote by its levels, best first, as `[cents, contracts]`. */
  book(market: number, yesBids: DepthLevel[], yesAsks: DepthLevel[]): void;
  /** A catalog that says when an instrument opens. */
  opensAt(instrumentId: string, atMs: number): void;
  /** A catalog that gives an instrument a closing time, and nothing else new. */
  closesAt(instrumentId: string, atMs: number): void;
  tick(tick: DistributiveOmit<Tick, 'atMs'>): void;
  place(order: Partial<PlaceOrder>): Reading;
  buy(contracts: number, order?: Partial<PlaceOrder>): Reading;
  limitBuy(limitPriceCents: number, contracts: number, order?: Partial<PlaceOrder>): Reading;
  sell(tradeId: string, order?: Partial<PlaceOrder>): Reading;
  cancel(orderId: string, account?: string): Reading;
  ask(query: DistributiveOmit<UserQuery, 'atMs'>): Reading;
  account(id?: string): Record<string, unknown>;
  order(orderId: string): Record<string, unknown>;
};

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/** `startMs`: noon of a day in March, where it is left out. */
type ScenarioOptions = { venueData?: boolean; fillModel?: FillModelName; startMs?: EpochMs };

export type CreateScenario = (options?: ScenarioOptions) => Scenario;

type CreateEngine = (options: TradingOptions) => TradingEngine;

const createEngine: CreateEngine = (options) => besideModel(createMemoryEngine(options), options);

/** On the engine, for values that the model leaves open, such as the words of a refusal. */
export function createEngineScenario(
  options?: ScenarioOptions,
  create: CreateEngine = createEngine,
): Scenario {
  return scenarioOn(create, options);
}

/**
 * A test of a single rule, on each engine: `createScenario` makes one of its kind. What the facts of
 * the engine's scenario alone say must be true.
 */
export function scenarioTest(
  title: string,
  play: (t: ExecutionContext, createScenario: CreateScenario) => void,
): void {
  test(`${title} (the model)`, (t) => {
    play(t, (options) => scenarioOn(createNaiveEngine, options));
  });
  test(`${title} (the engine)`, (t) => {
    const engines: MemoryEngine[] = [];
    const create: CreateEngine = (options) => {
      const engine = createMemoryEngine(options);
      engines.push(engine);
      return besideModel(engine, options);
    };
    play(t, (options) => scenarioOn(create, options));
    for (const engine of engines) checkFacts(t, engine);
  });
}

/** A state that folds them is the engine's (D3). So is the last moment of each account's equity (A93). */
function checkFacts(t: ExecutionContext, engine: MemoryEngine): void {
  const state = engine.state();
  t.deepEqual(digest(engine.folded()), digest(state));
  const folds = new Map<Uuid, EquityFold>();
  for (const row of state.accounts.rows()) folds.set(state.accountIds.idOf(row), new EquityFold());
  for (const { payload } of engine.records()) {
    for (const from = new ByteReader(payload); !from.isAtEnd; ) {
      const fact = readFact(from);
      if ('account' in fact) folds.get(fact.account)?.take(fact);
    }
  }
  const { balanceCents, heldCents, openStakeCents, realizedCents, run } = state.accounts.col;
  for (const row of state.accounts.rows()) {
    const { money, sides, holdings } = folds.get(state.accountIds.idOf(row))!;
    const columns = [balanceCents, heldCents, openStakeCents, realizedCents, run];
    const expected = columns.map((column) => column.get(row));
    t.deepEqual(
      MONEY.map((column) => money[column].at(-1)),
      expected,
    );
    const held = heldBy(state, row);
    t.deepEqual(
      holdings
        .filter(({ contracts }) => contracts > 0)
        .map(textOf)
        .sort(),
      held,
    );
    t.is(sides.at(-1), held.length);
  }
}

type Held = EquityFold['holdings'][number];

const textOf = ({ market, side, contracts, cents }: Held): string => {
  return `${contracts} ${side} of ${market} for ${cents}`;
};

/** The open contracts of an account by side of a market, and their cost. */
function heldBy({ positions, positionsOfAccount }: ShardState, account: AccountRow): string[] {
  const { col } = positions;
  const held = new Map<string, Held>();
  for (const row of positionsOfAccount.of(account)) {
    const [market, side] = [col.market.get(row), sideOf(col.flags.get(row))];
    const { contracts, cents } = held.get(`${market} ${side}`) ?? { contracts: 0, cents: 0 };
    const all = contracts + col.contracts.get(row);
    held.set(`${market} ${side}`, {
      ...{ market, side, contracts: all, cents: cents + col.costCents.get(row) },
    });
  }
  return [...held.values()].map(textOf).sort();
}

function scenarioOn(create: CreateEngine, options: ScenarioOptions = {}): Scenario {
  const { fillModel = 'top_of_book', startMs = START_MS } = options;
  const engine = create({ quoteMaxAgeMs: MAX_AGE_MS, routingBandCents: 10, fillModel });
  let orders = 0;
  engine.command({ kind: 'catalog', atMs: startMs, catalog: catalog() });
  engine.command({
    kind: 'switches',
    atMs: startMs,
    venueData: options.venueData ?? true,
    selfReset: false,
  });

  const scenario: Scenario = {
    engine,
    nowMs: startMs,
    quote: (market, yesBidCents, yesAskCents, crossed = false) =>
      scenario.tick({
        kind: 'quote',
        source: sourceOf(market),
        market,
        yesBidCents,
        yesBidContracts: 100,
        yesAskCents,
        yesAskContracts: 200,
        crossed,
      }),
    book(market, yesBids, yesAsks) {
      const [[yesBidCents, yesBidContracts] = [0, 0]] = yesBids;
      const [[yesAskCents, yesAskContracts] = [0, 0]] = yesAsks;
      const bid = { yesBidCents, yesBidContracts };
      const ask = { yesAskCents, yesAskContracts };
      const depth = { yesBids, yesAsks };
      const place = { source: sourceOf(market), market };
      scenario.tick({ kind: 'quote', ...place, ...bid, ...ask, crossed: false, depth });
    },
    opensAt(instrumentId, atMs) {
      const changed = catalog();
      changed.instruments.find(({ id }) => id === instrumentId)!.opensAt = isoOf(atMs);
      engine.command({ kind: 'catalog', atMs: scenario.nowMs, catalog: changed });
    },
    closesAt(instrumentId, atMs) {
      const changed = catalog();
      changed.instruments.find(({ id }) => id === instrumentId)!.closesAt = isoOf(atMs);
      engine.command({ kind: 'catalog', atMs: scenario.nowMs, catalog: changed });
    },
    tick: (tick) => engine.tick({ ...tick, atMs: scenario.nowMs } as Tick),
    place: (order) => {
      orders += 1;
      return reading(engine.command({ ...blankOrder(scenario.nowMs, orders), ...order }));
    },
    buy: (contracts, order = {}) =>
      scenario.place({ action: 'buy', ...what(order), contracts, ...order }),
    limitBuy: (limitPriceCents, contracts, order = {}) =>
      scenario.place({
        action: 'buy',
        timeInForce: 'gtc',
        ...what(order),
        limitPriceCents,
        contracts,
        ...order,
      }),
    sell: (tradeId, order = {}) => scenario.place({ action: 'sell', tradeId, ...order }),
    cancel: (orderId, account = ALICE) =>
      reading(
        engine.command({ kind: 'cancel', atMs: scenario.nowMs, account, orderId, counting: null }),
      ),
    ask: (query) => reading(engine.query({ ...query, atMs: scenario.nowMs } as UserQuery)),
    account: (account = ALICE) =>
      scenario.ask({ kind: 'portfolio', account, organizationSlug: null }).body.account as never,
    order: (orderId) => {
      const query = { kind: 'order', account: ALICE, organizationSlug: null } as const;
      const found = scenario.ask({ ...query, orderId });
      return found.body.order as Record<string, unknown>;
    },
  };
  return scenario;
}

/** HOME yes, unless the order names another side. */
function what(order: Partial<PlaceOrder>): Partial<PlaceOrder> {
  const side: Side = 'yes';
  return order.ticker === undefined ? { instrumentId: HOME, side } : { side };
}

export function idOf(prefix: string, number: number): string {
  return `${prefix}-7000-8000-${number.toString(16).padStart(12, '0')}`;
}

function blankOrder(atMs: number, number: number): PlaceOrder {
  const time = atMs.toString(16).padStart(12, '0');
  return {
    ...BLANK_ORDER,
    atMs,
    account: ALICE,
    orderId: idOf(`${time.slice(0, 8)}-${time.slice(8)}`, number * 16),
    idempotencyKey: `key-${number}`,
  };
}

function reading(reply: Reply): Reading {
  if (!reply.ok) return { code: reply.code, body: {} };
  return { code: null, body: JSON.parse(reply.body) as Record<string, unknown> };
}

export function catalog(): Catalog {
  const exact = { fungibility: 'exact', reviewed: true } as const;
  const near = { fungibility: 'near', reviewed: true } as const;
  const instruments = [
    instrument(HOME, 'Home wins', [
      // Not in the order of VENUES, in which a Quote lists them.
      listing('venue_c', 'WIN-C', 1, near),
      listing('venue_b', 'WIN-B', -1, exact),
      listing('venue_a', 'WIN', 1, exact),
    ]),
    instrument(AWAY, 'Away wins', [
      listing('venue_a', 'WIN', -1, exact),
      listing('venue_b', 'WIN-B', 1, exact),
    ]),
    instrument(OVER, 'Over', [listing('venue_a', 'TOTAL', -1, exact)]),
    instrument(LONELY, 'Lonely', [listing('venue_b', 'WIN-B', 1, exact)]),
    instrument(TWICE, 'Twice', [
      listing('venue_a', 'X', 1, exact),
      listing('venue_a', 'Y', 1, exact),
    ]),
  ];
  return {
    games: [
      {
        id: 'game_GGGGGGGGGG',
        slug: 'away-at-home',
        league: 'test',
        startsAt: '2026-03-01T18:00:00.000Z',
        status: 'scheduled',
        home: { code: 'HOM', name: 'Homers' },
        away: { code: 'AWY', name: 'Visitors' },
        season: 2026,
        seasonType: 'regular',
        week: 1,
      },
    ],
    instruments,
    marketNames: MARKET_NAMES,
    instrumentIds: instruments.map((one) => one.id),
  };
}

function instrument(
  id: string,
  label: string,
  listings: CatalogListing[],
): Catalog['instruments'][number] {
  return {
    id,
    slug: label.toLowerCase().replace(' ', '-'),
    gameSlug: id === TWICE ? null : 'away-at-home',
    league: 'test',
    marketType: 'moneyline',
    period: 'game',
    line: null,
    subject: null,
    label,
    oppositeLabel: `not: ${label}`,
    yesMeans: `${label} it is`,
    startsAt: '2026-03-01T18:00:00.000Z',
    opensAt: null,
    pushPossible: false,
    stat: null,
    tieRule: null,
    settlesOn: null,
    postponementWindowHours: null,
    rulesVersion: 1,
    listings,
  };
}

function listing(
  venue: Venue,
  venueMarketId: string,
  polarity: 1 | -1,
  trust: Pick<CatalogListing, 'fungibility' | 'reviewed'>,
): CatalogListing {
  return {
    venue,
    polarity,
    sideLabel: `${venueMarketId} side`,
    ...trust,
    note: `about ${venueMarketId}`,
    buyForYes: polarity === 1 ? 'yes' : 'no',
    buyForNo: polarity === 1 ? 'no' : 'yes',
    venueMarketId,
    venueSideRef: null,
    venueEvent: null,
  };
}

type Row = Record<string, unknown>;
/** Of what a placement answers. */
export const tradeOf = (reading: { body: Row }) => reading.body.trade as Row;
export const orderOf = (reading: { body: Row }) => reading.body.order as Row;
export const idOfTrade = (reading: { body: Row }) => tradeOf(reading).tradeId as string;
export const idOfOrder = (reading: { body: Row }) => orderOf(reading).orderId as string;

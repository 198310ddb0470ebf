import test from 'ava';
import { cursorOf, ROW_ID } from '../../../engine/base/cursors.ts';
import { InvariantError, invariant } from '../../../engine/base/invariant.ts';
import { dollarsOf, type OrderRow, PLAIN } from '../../../engine/base/units.ts';
import { OwnerIndex } from '../../../engine/memory/owner-index.ts';
import { Table } from '../../../engine/memory/table.ts';
import { UuidIndex } from '../../../engine/memory/uuid-index.ts';
import { applyTick, keepAges } from '../../../engine/rules/apply-tick.ts';
import { replaceCatalog } from '../../../engine/rules/catalog.ts';
import type { OrderPlaced } from '../../../engine/rules/events.ts';
import { evolve } from '../../../engine/rules/evolve.ts';
import { type Fill, tradeOf } from '../../../engine/rules/fill-model.ts';
import { fillModels } from '../../../engine/rules/fill-models.ts';
import { writeTradeId } from '../../../engine/rules/ids.ts';
import {
  adjust,
  costCents,
  countPayable,
  hold,
  realize,
  stake,
} from '../../../engine/rules/ledger.ts';
import { growPosition, shrinkPosition, startSale } from '../../../engine/rules/positions.ts';
import type { Market } from '../../../engine/rules/reference-data.ts';
import { rest } from '../../../engine/rules/resting.ts';
import { settle } from '../../../engine/rules/settle-markets.ts';
import type { ShardState } from '../../../engine/rules/state.ts';
import {
  accountRow,
  CATALOG,
  NOON_MS,
  orderRow,
  orderTerms,
  placeOrder,
  positionRow,
  quoteTick,
} from '../fixtures.ts';
import { createMemoryEngine, rowsOf } from '../memory-engine.ts';

const ACCOUNT = accountRow(0);

test('a broken invariant is an InvariantError, which says what does not hold', (t) => {
  const error = t.throws(() => invariant(false, 'two and two'), { instanceOf: InvariantError });
  t.is(error?.name, 'InvariantError');
  t.is(error?.message, 'invariant: two and two');
});

test('C2: of the times that the clock was set back from, the latest is kept', (t) => {
  const state = tradedState();
  for (const [atMs, fromMs] of [
    [500, 900],
    [100, 600],
  ] as const) {
    evolve(state, { kind: 'clock_set', atMs, fromMs });
    t.is(state.nowMs, atMs);
    t.is(state.setBackFromMs, 900);
  }
});

/** An account with an open position and a resting buy, both in rows 0. */
function tradedState(): ShardState {
  const engine = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10 });
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  engine.tick(quoteTick());
  engine.command(placeOrder());
  engine.command(placeOrder({ limitPriceCents: 20 }));
  return engine.state();
}

const held = ({ positions }: ShardState) => positions.col.contracts.get(positionRow(0));

type Mistake = [what: string, make: (state: ShardState) => void, message: RegExp];
const MISTAKES: Mistake[] = [
  ['more is released than is held', (s) => hold(s, ACCOUNT, -1e6), /a hold went below zero/],
  ['more is taken than there is', (s) => adjust(s, ACCOUNT, -1e9), /a balance went below zero/],
  ['a cost is not in whole cents', (s) => hold(s, ACCOUNT, 0.5), /left the safe integers/],
  ['a position costs less than nothing', (s) => stake(s, ACCOUNT, -1, 0, 0), /less than nothing/],
  ['more stake ends than there is', (s) => realize(s, ACCOUNT, 1e9, 0), /stake went below zero/],
  ['money moves for no account', (s) => hold(s, accountRow(7), 1), /does not add up/],
  [
    'more is sold than is held',
    (s) => shrinkPosition(s, positionRow(0), { contracts: held(s) + 1, cost: 0, cents: 0 }),
    /a partial sell leaves no contracts/,
  ],
  [
    'an order fills beyond what is left',
    (s) =>
      evolve(s, {
        kind: 'order_part_filled',
        atMs: NOON_MS,
        order: orderRow(0),
        contracts: 1e6,
        ...{ priceCents: 20, venue: 0, cents: 20e6, feeCents: null, carryMicros: 0 },
      }),
    /filled beyond what is left/,
  ],
  ['an order is of no account', (s) => place(s, { account: accountRow(9) }), /names no account/],
  ['an order is of no market', (s) => place(s, { market: 99 }), /names no market/],
  ['an order has no contracts', (s) => place(s, { contracts: 0 }), /no contracts was placed/],
  ['a fill is at nothing', (s) => fillAt(s, 0), /fill is not 1 to 99 cents/],
  ['a fill is at all that is paid', (s) => fillAt(s, 100), /fill is not 1 to 99 cents/],
  [
    'a market order rests',
    (s) => place(s, { rests: true, terms: orderTerms() }),
    /rests without a limit/,
  ],
  ['an order rests in a settled market', restSettled, /rests in a settled market/],
  ['an order leaves its book twice', removeTwice, /is on no ladder/],
  ['an order waits twice', (s) => s.ladders.add(0, 20, orderRow(0)), /on a ladder twice/],
  [
    'an order waits at no price',
    (s) => s.ladders.add(0, 100, orderRow(5)),
    /a price level is not 1 to 99/,
  ],
  ['a correction is not in whole cents', (s) => adjust(s, ACCOUNT, 0.5), /correction is not in/],
  [
    'payouts are not of whole contracts',
    (s) => countPayable(s, ACCOUNT, 0.5),
    /contracts is not whole/,
  ],
  ['a cost is half a cent', () => costCents(0.5, 3), /a cost is not in whole cents/],
  ['a cost is too large to count', () => costCents(99, 1e15), /too large to count/],
  ['a part of nothing is sold', (s) => shrink(s, { contracts: 0 }), /sell has no contracts/],
  [
    'a part brings less than nothing',
    (s) => shrink(s, { cents: -1 }),
    /proceeds of a partial sell/,
  ],
  ['a part had a negative cost', (s) => shrink(s, { cost: -1 }), /cost of a partial sell/],
  ['a position grows by nothing', (s) => growPosition(s, POSITION, 0, 0), /grew by no contracts/],
  ['a sale is at no venue', (s) => startSale(s, POSITION, 9), /is sold at no venue/],
  ['an order rests twice', (s) => rest(s, orderRow(0)), /on a ladder twice/],
  ['an order rests that is done', (s) => rest(s, orderRow(7)), /put on a book that is done/],
  ['a catalog forgets markets', (s) => replace(s, { marketNames: [] }), /number of a market/],
  ['a catalog forgets ids', (s) => replace(s, { instrumentIds: [] }), /number of an instrument/],
  [
    'a market gets another number',
    (s) => replace(s, { marketNames: CATALOG.marketNames.toReversed() }),
    /a market changed its number/,
  ],
  [
    'an id gets another number',
    (s) => replace(s, { instrumentIds: CATALOG.instrumentIds.toReversed() }),
    /an instrument changed its number/,
  ],
  ['a catalog numbers an id twice', numberTwice, /an instrument has two numbers/],
  ['a market is of no venue', (s) => nameMarket(s, 'venue_z/A'), /no known venue/],
  ['a market has two numbers', (s) => nameMarket(s, CATALOG.marketNames[0]!), /has two numbers/],
  ['an instrument has no number', listUnknown, /lists an instrument without a number/],
  ['a tick is of no market', (s) => tick(s, { market: 99 }), /market that does not exist/],
  ['a tick has no time', (s) => tick(s, { atMs: Number.NaN }), /no time in whole milliseconds/],
  ['a tick is of no connection', (s) => tick(s, { source: -1 }), /no valid connection number/],
  ['a quote asks 100', (s) => tick(s, { yesAskCents: 100 }), /ask of a quote is not 1 to/],
  [
    'a quote bids less than nothing',
    (s) => tick(s, { yesBidCents: -1 }),
    /bid of a quote is not 1 to/,
  ],
  ['quotes become younger', (s) => keepAges(s, -1), /set back by less/],
  ['a result pays 101 cents', payTooMuch, /a contract pays 0 to 100 cents/],
  ['a fill model gives nothing', () => tradeOf('buy', { ...FILL, contracts: 0 }), /no contracts/],
  [
    'a fill model has no price',
    () => tradeOf('sell', { ...FILL, askCents: 100 }),
    /fill model is not 1 to 99/,
  ],
  ['a fill model gives too much', (s) => fillWith(s, { contracts: 1e6 }), /more than is left/],
  ['a fill model passes the limit', (s) => fillWith(s, { askCents: 50 }), /beyond the limit/],
  ['an id of no time', () => writeTradeIdAt(2 ** 48), /time of an id is out of range/],
  ['a list goes on after no id', () => cursorOf('', 'x', ROW_ID), /an id that is no uuid/],
  ['money is shown in parts of cents', () => dollarsOf(0.5), /not in whole cents/],
];

const POSITION = positionRow(0);
const MARKET = { venue: 'venue_a' } as Market;
const FILL: Fill = {
  ...{ contracts: 1, askCents: 20, paidCents: 20, levels: null, market: MARKET },
  consumption: null,
};
const NO_FACTS = { record: 0, offset: 0, add() {} };

function shrink(state: ShardState, over: { contracts?: number; cost?: number; cents?: number }) {
  shrinkPosition(state, POSITION, { contracts: 1, cost: 0, cents: 0, ...over });
}

function replace(state: ShardState, over: Partial<typeof CATALOG>): void {
  replaceCatalog(state, { ...CATALOG, ...over });
}

function numberTwice(state: ShardState): void {
  const { instrumentIds } = CATALOG;
  replace(state, { instrumentIds: [...instrumentIds, instrumentIds[0]!] });
}

function nameMarket(state: ShardState, name: string): void {
  replace(state, { marketNames: [...CATALOG.marketNames, name] });
}

function listUnknown(state: ShardState): void {
  const [first] = CATALOG.instruments;
  replace(state, { instruments: [{ ...first!, id: 'unknown' }] });
}

function tick(state: ShardState, over: Parameters<typeof quoteTick>[0]): void {
  applyTick(state, quoteTick(over), NO_FACTS);
}

function payTooMuch(state: ShardState): void {
  const result = { outcome: 'scalar', source: 'operator', yesPayoutCents: 101 } as const;
  settle(state, { ...result, noPayoutCents: 0, atMs: NOON_MS, market: 0 }, NO_FACTS);
}

/** A quote that reaches the resting buy of 20 cents, under a model that is wrong. */
function fillWith(state: ShardState, over: Partial<Fill>): void {
  const orderArrives = () => ({ ...FILL, ...over });
  const fillModel = Object.assign(fillModels('top_of_book', state.liquidity), { orderArrives });
  tick({ ...state, fillModel }, { yesBidCents: 10, yesAskCents: 15 });
}

function writeTradeIdAt(atMs: number): void {
  const ids = { word: () => 0, set() {} };
  writeTradeId(ids, POSITION, ids, orderRow(0), { openedAtMs: atMs, place: 0 });
}

function place(state: ShardState, over: Partial<OrderPlaced>): void {
  const order = state.orders.nextRow as OrderRow;
  const { orderId, idempotencyKey } = placeOrder();
  evolve(state, {
    kind: 'order_placed',
    atMs: NOON_MS,
    order,
    account: ACCOUNT,
    orderId,
    idempotencyKey,
    market: 0,
    instrument: 0,
    side: 'yes',
    instrumentSide: 'yes',
    byTicker: false,
    contracts: 1,
    position: null,
    tradeId: null,
    terms: orderTerms({ limitPriceCents: 20 }),
    fillModel: 'top_of_book',
    feeEachMicros: null,
    netting: null,
    postOnly: false,
    group: null,
    ...PLAIN,
    rests: true,
    ...over,
  });
}

function fillAt(state: ShardState, priceCents: number): void {
  const order = orderRow(0);
  const money = { priceCents, venue: 0, cents: priceCents, feeCents: null };
  evolve(state, { kind: 'order_filled', atMs: NOON_MS, order, ...money });
}

function restSettled(state: ShardState): void {
  evolve(state, {
    kind: 'market_resolved',
    atMs: NOON_MS,
    market: 1,
    outcome: 'void',
    source: 'venue_result',
  });
  place(state, { market: 1, instrument: 2 });
}

function removeTwice({ ladders }: ShardState): void {
  ladders.remove(orderRow(0));
  ladders.remove(orderRow(0));
}

for (const [what, make, message] of MISTAKES) {
  test(`D15, M10, T2, C1: a caller's mistake stops the shard: ${what}`, (t) => {
    const state = tradedState();
    t.throws(() => make(state), { name: 'InvariantError', message });
  });
}

test('D15: a free row is never changed, nor given back twice', (t) => {
  const table = new Table('rows', { id: 'uuid', cents: 'f64' }, {});
  const index = new UuidIndex(table);
  t.throws(() => table.change(0), { message: /changed a free row/ });
  const row = table.claim();
  index.set(row, '00000000-0000-7000-8000-000000000001');
  index.remove(row);
  t.throws(() => index.remove(row), { message: /more ids were removed/ });
  table.release(row);
  t.throws(() => table.release(row), { message: /released a free row/ });
});

test('D15: a row joins the list of its own owner alone, and nobody leaves an empty one', (t) => {
  const table = new Table('owned', { sequence: 'f64', owner: 'i32' }, {}, 'owner');
  const lists = new OwnerIndex(table, table.col.owner);
  lists.ensureOwners(2);
  const row = table.claim();
  table.change(row).owner.set(row, 1);
  t.throws(() => lists.add(0, row), { message: /joined another's list/ });
  t.throws(() => lists.remove(0), { message: /left an owner without rows/ });
});

test('D3: a stored column is changed by way of its row alone, so that a checkpoint takes it', (t) => {
  const table = new Table('rows', { cents: 'f64' }, {});
  for (let count = 0; count < 4; count++) table.claim();
  rowsOf(table, 1);
  table.change(2).cents.set(2, 5);
  t.is(rowsOf(table, 2)[0], 2);
  // @ts-expect-error: what is read has no way to be written
  t.is(typeof table.col.cents.set, 'function');
});

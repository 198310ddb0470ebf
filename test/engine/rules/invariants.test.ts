import test from 'ava';
import { OwnerIndex } from '../../../engine/memory/owner-index.ts';
import { Table } from '../../../engine/memory/table.ts';
import { UuidIndex } from '../../../engine/memory/uuid-index.ts';
import type { OrderPlaced } from '../../../engine/rules/events.ts';
import { evolve } from '../../../engine/rules/evolve.ts';
import { adjust, hold, realize, stake } from '../../../engine/rules/ledger.ts';
import { shrinkPosition } from '../../../engine/rules/positions.ts';
import type { ShardState } from '../../../engine/rules/state.ts';
import type { OrderRow } from '../../../engine/rules/units.ts';
import {
  accountRow,
  CATALOG,
  NOON_MS,
  orderRow,
  placeOrder,
  positionRow,
  quoteTick,
} from '../fixtures.ts';
import { createMemoryEngine, rowsOf } from '../memory-engine.ts';

const ACCOUNT = accountRow(0);

/** An account with an open position and a resting buy, both in rows 0. */
function tradedState(): ShardState {
  const engine = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10 });
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  engine.tick(quoteTick());
  engine.command(placeOrder());
  engine.command(placeOrder({ type: 'limit', limitPriceCents: 20 }));
  return engine.state();
}

const held = ({ positions }: ShardState) => positions.col.contracts.get(positionRow(0));

type Mistake = [what: string, make: (state: ShardState) => void, message: RegExp];
const MISTAKES: Mistake[] = [
  ['more is released than is held', (s) => hold(s, ACCOUNT, -1e6), /a hold went below zero/],
  ['more is taken than there is', (s) => adjust(s, ACCOUNT, -1e9), /a balance went below zero/],
  ['a cost is not in whole cents', (s) => hold(s, ACCOUNT, 0.5), /left the safe integers/],
  ['a position costs less than nothing', (s) => stake(s, ACCOUNT, -1, 0), /less than nothing/],
  ['more stake ends than there is', (s) => realize(s, ACCOUNT, 1e9, 0), /stake went below zero/],
  ['money moves for no account', (s) => hold(s, accountRow(7), 1), /./],
  [
    'more is sold than is held',
    (s) => shrinkPosition(s, positionRow(0), { contracts: held(s) + 1, cost: 0, cents: 0 }),
    /a part was sold of all there is, or more/,
  ],
  [
    'an order fills beyond what is left',
    (s) =>
      evolve(s, {
        kind: 'order_part_filled',
        atMs: NOON_MS,
        order: orderRow(0),
        contracts: 1e6,
        priceCents: 20,
        venue: 0,
      }),
    /filled beyond what is left/,
  ],
  ['an order is of no account', (s) => place(s, { account: accountRow(9) }), /by no account/],
  ['an order is of no market', (s) => place(s, { market: 99 }), /names no market/],
  ['an order has no contracts', (s) => place(s, { contracts: 0 }), /no contracts was placed/],
  ['a fill is at nothing', (s) => fillAt(s, 0), /no price of 1 to 99 cents/],
  ['a fill is at all that is paid', (s) => fillAt(s, 100), /no price of 1 to 99 cents/],
  [
    'a market order rests',
    (s) => place(s, { rests: true, limitPriceCents: null }),
    /rests without a limit/,
  ],
  ['an order rests in a settled market', restSettled, /rests in a settled market/],
  ['an order leaves its book twice', removeTwice, /removed an order that waits nowhere/],
  ['an order waits twice', (s) => s.ladders.add(0, 20, orderRow(0)), /an order waits twice/],
  ['an order waits at no price', (s) => s.ladders.add(0, 100, orderRow(5)), /no price of 1 to 99/],
];

function place(state: ShardState, over: Partial<OrderPlaced>): void {
  const order = state.orders.nextRow as OrderRow;
  const { action, orderId, idempotencyKey } = placeOrder({ type: 'limit' });
  evolve(state, {
    kind: 'order_placed',
    atMs: NOON_MS,
    order,
    account: ACCOUNT,
    orderId,
    idempotencyKey,
    action,
    market: 0,
    instrument: 0,
    side: 'yes',
    instrumentSide: 'yes',
    byTicker: false,
    contracts: 1,
    position: null,
    tradeId: null,
    limitPriceCents: 20,
    boundPriceCents: null,
    timeInForce: 'gtc',
    expiresAtMs: null,
    routing: 'venue_a',
    statedProbPct: null,
    placedVia: 'api',
    placedPrivate: false,
    rests: true,
    ...over,
  });
}

function fillAt(state: ShardState, priceCents: number): void {
  const order = orderRow(0);
  evolve(state, { kind: 'order_filled', atMs: NOON_MS, order, priceCents, venue: 0 });
}

function restSettled(state: ShardState): void {
  evolve(state, { kind: 'market_resolved', atMs: NOON_MS, market: 1, outcome: 'void' });
  place(state, { market: 1, instrument: 2 });
}

function removeTwice({ ladders }: ShardState): void {
  ladders.remove(orderRow(0));
  ladders.remove(orderRow(0));
}

for (const [what, make, message] of MISTAKES) {
  test(`D15: a caller's mistake stops the shard: ${what}`, (t) => {
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
  t.throws(() => index.remove(row), { message: /more ids left an index/ });
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
  t.throws(() => lists.remove(0), { message: /left an owner who has none/ });
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

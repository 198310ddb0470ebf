/**
 * Turns a fact back into its event, in a state that has applied everything before it: uuids become
 * their current rows. Rule D3 (engine/RULES.md).
 */

import type { AccountRow, OrderRow, PositionRow, Uuid } from '../base/units.ts';
import { NO_ROW } from '../base/units.ts';
import type { Event, OrderPlaced } from '../rules/events.ts';
import type { DerivedFact, Fact, OrderPlacedFact, PrimaryFact } from '../rules/facts.ts';
import type { PlacedOrder } from '../rules/finished-records.ts';
import { pairMoney } from '../rules/net-orders.ts';
import type { ShardState } from '../rules/state.ts';

const DERIVED: ReadonlySet<Fact['kind']> = new Set<DerivedFact['kind']>([
  'trade_opened',
  'trade_grown',
  'trade_reduced',
  'trade_closed',
]);

/**
 * Whether the fact is primary and so has an event. A derived fact follows from the fact before it.
 */
export function isPrimary(fact: Fact): fact is PrimaryFact {
  if (fact.kind === 'trade_closed') return fact.closeReason === 'account_reset';
  return !DERIVED.has(fact.kind);
}

/** Throws if the fact names something that the state does not have. */
export function eventOf(state: ShardState, fact: PrimaryFact): Event {
  switch (fact.kind) {
    case 'order_placed':
      return placedEvent(state, fact);
    case 'fill_nets': {
      const { kind, atMs, contracts } = fact;
      const of = { account: accountOf(state, fact.account), order: orderOf(state, fact.order) };
      const position = fact.trade === null ? null : positionOf(state, fact.trade);
      return { kind, atMs, ...of, position, contracts };
    }
    case 'pair_closed': {
      const { kind, atMs, contracts, cents } = fact;
      const of = { account: accountOf(state, fact.account), order: orderOf(state, fact.order) };
      const money = pairMoney(contracts, cents);
      return { kind, atMs, ...of, position: positionOf(state, fact.trade), contracts, ...money };
    }
    case 'order_queued': {
      const { kind, atMs, aheadE2, partE2 } = fact;
      const of = { account: accountOf(state, fact.account), order: orderOf(state, fact.order) };
      return { kind, atMs, ...of, aheadE2, partE2 };
    }
    case 'queue_met':
      return {
        ...fact,
        account: accountOf(state, fact.account),
        order: orderOf(state, fact.order),
      };
    case 'order_arrived':
    case 'order_amended':
    case 'order_cancel_accepted': {
      const { account, order } = fact;
      return { ...fact, account: accountOf(state, account), order: orderOf(state, order) };
    }
    case 'order_filled': {
      const { kind, atMs, priceCents, venue, cents, feeCents } = fact;
      const order = orderOf(state, fact.order);
      return { kind, atMs, order, priceCents, venue, cents, feeCents };
    }
    case 'order_part_filled': {
      const { kind, atMs, contracts, priceCents, venue, cents, feeCents, carryMicros } = fact;
      const money = { priceCents, venue, cents, feeCents, carryMicros };
      return { kind, atMs, order: orderOf(state, fact.order), contracts, ...money };
    }
    case 'order_ended': {
      const { atMs, status, reason } = fact;
      return { kind: 'order_ended', atMs, order: orderOf(state, fact.order), status, reason };
    }
    case 'trade_settled': {
      const { atMs, outcome } = fact;
      const position = positionOf(state, fact.trade);
      // The remaining proceeds are from parts that were sold earlier.
      const proceedsCents = fact.proceedsCents - state.positions.col.soldCents.get(position);
      return { kind: 'position_settled', atMs, position, proceedsCents, outcome };
    }
    case 'trade_closed': {
      const { atMs } = fact;
      const position = positionOf(state, fact.trade);
      const proceedsCents = fact.proceedsCents - state.positions.col.soldCents.get(position);
      return { kind: 'position_reset', atMs, position, proceedsCents };
    }
    case 'account_reset':
    case 'privacy_changed':
    case 'trade_marked':
    case 'trade_corrected':
    case 'order_group_made':
    case 'order_group_changed':
    case 'order_group_removed':
      return { ...fact, account: accountOf(state, fact.account) };
    case 'account_opened': {
      const { kind, atMs } = fact;
      return { kind, atMs, account: state.accounts.nextRow, accountId: fact.account };
    }
    case 'cash_adjusted': {
      const { kind, atMs, amountCents } = fact;
      return { kind, atMs, account: accountOf(state, fact.account), amountCents };
    }
    case 'trade_counted': {
      const { kind, atMs, account, closing } = fact;
      return { kind, atMs, account, keyId: fact.key, closing };
    }
    case 'fill_noted':
    case 'liquidity_taken':
    case 'book_missed':
    case 'market_resolved':
    case 'market_corrected':
    case 'market_valued':
    case 'game_changed':
    case 'catalog_replaced':
    case 'catalog_changed':
    case 'clock_set':
      return fact;
    default:
      return fact satisfies never;
  }
}

function placedEvent(state: ShardState, fact: OrderPlacedFact): OrderPlaced {
  return {
    kind: 'order_placed',
    order: state.orders.nextRow,
    account: accountOf(state, fact.account),
    position: fact.trade === null ? null : positionOf(state, fact.trade),
    ...placementOf(fact),
  };
}

/** The fields of an order that need no row. */
export function placementOf(fact: OrderPlacedFact): Omit<PlacedOrder, 'account' | 'place'> {
  return {
    atMs: fact.atMs,
    orderId: fact.order,
    idempotencyKey: fact.idempotencyKey,
    market: fact.market,
    instrument: fact.instrument,
    side: fact.side,
    instrumentSide: fact.instrumentSide,
    byTicker: fact.byTicker,
    contracts: fact.contracts,
    tradeId: fact.trade,
    terms: fact,
    fillModel: fact.fillModel,
    feeEachMicros: fact.feeEachMicros,
    netting: fact.netting,
    latencyMs: fact.latencyMs,
    feesOn: fact.feesOn,
    liquidity: fact.liquidity,
    realistic: fact.realistic,
    postOnly: fact.postOnly,
    group: fact.group,
    rests: fact.rests,
  };
}

function accountOf(state: ShardState, id: Uuid): AccountRow {
  return found(state.accountIds.find(id), `account ${id} is not open`);
}

function orderOf(state: ShardState, id: Uuid): OrderRow {
  return found(state.orderIds.find(id), `order ${id} was not placed, or is done`);
}

function positionOf(state: ShardState, id: Uuid): PositionRow {
  return found(state.positionIds.find(id), `trade ${id} is not open`);
}

function found<Row extends number>(row: Row, otherwise: string): Row {
  if ((row as number) === NO_ROW) throw new Error(otherwise);
  return row;
}

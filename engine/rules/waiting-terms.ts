/**
 * The terms of an unfinished order, and the money that it holds. A pending order may be of any type;
 * any other unfinished order is gtc. Rules M4, T161 (engine/RULES.md).
 */

import type { Cents, Contracts, OrderRow, PriceCents } from '../base/units.ts';
import { costCents } from './ledger.ts';
import { ORDER_TERMS, type OrderTerms } from './order-terms.ts';
import { orderTermsAt } from './row-terms.ts';
import type { ShardState } from './state.ts';

const TIMES_IN_FORCE = ORDER_TERMS.timeInForce.is.words as readonly ('gtc' | 'ioc' | 'fok')[];

/** On disk: one more than its index, 0 for a market order. */
export function timeInForceCode(timeInForce: OrderTerms['timeInForce']): number {
  return timeInForce === null ? 0 : TIMES_IN_FORCE.indexOf(timeInForce) + 1;
}

/** The terms of an order that waits, or has just ended. */
export function waitingTermsAt({ orders, realism }: ShardState, order: OrderRow): OrderTerms {
  const terms = orderTermsAt(orders.col, order);
  if (realism.latencyMs(order) === 0) return terms;
  const timeInForce = TIMES_IN_FORCE[realism.timeInForce(order) - 1] ?? null;
  return { ...terms, timeInForce, boundPriceCents: realism.boundPriceCents(order) };
}

/** The most that a contract of a buy can cost, which it holds while it waits. Rules M4, T161. */
export function holdPriceCents({
  limitPriceCents,
  boundPriceCents,
}: Pick<OrderTerms, 'limitPriceCents' | 'boundPriceCents'>): PriceCents {
  return limitPriceCents ?? boundPriceCents ?? DEAREST_CENTS;
}

const DEAREST_CENTS = 99;

/** What so many contracts of a buy hold while it waits. */
export function heldCents(
  terms: Pick<OrderTerms, 'limitPriceCents' | 'boundPriceCents'>,
  contracts: Contracts,
): Cents {
  return costCents(holdPriceCents(terms), contracts);
}

/** The same, of the row of an unfinished buy. */
export function heldCentsAt(
  { orders: { col }, realism }: ShardState,
  order: OrderRow,
  contracts: Contracts,
): Cents {
  const limitPriceCents = col.limitPriceCents.get(order) || null;
  const boundPriceCents = limitPriceCents === null ? realism.boundPriceCents(order) : null;
  return heldCents({ limitPriceCents, boundPriceCents }, contracts);
}

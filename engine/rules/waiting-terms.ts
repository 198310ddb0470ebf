/**
 * The terms of an unfinished order, and the money that it holds. A pending order may be of any type;
 * any other unfinished order is gtc. Rules M4, M15, T161 (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
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

const CENT_MICROS = 10_000;

/** What a buy holds for the fees of so many contracts while it waits. Rule M15. */
export function heldForFees(eachMicros: number, contracts: Contracts, carryMicros: number): Cents {
  const owed = eachMicros * contracts - carryMicros;
  invariant(Number.isSafeInteger(owed), 'the fees of an order are too large to count');
  return Math.max(0, Math.ceil(owed / CENT_MICROS));
}

/** `eachMicros` null: it pays no fees. `carryMicros`: charged beyond its venue's fees so far. */
export type HeldFees = { eachMicros: number | null; carryMicros: number };

/** What so many contracts of a buy hold while it waits, with their worst fees. Rules M4, M15. */
export function heldCents(
  terms: Pick<OrderTerms, 'limitPriceCents' | 'boundPriceCents'>,
  contracts: Contracts,
  { eachMicros, carryMicros }: HeldFees,
): Cents {
  const cents = costCents(holdPriceCents(terms), contracts);
  return eachMicros === null ? cents : cents + heldForFees(eachMicros, contracts, carryMicros);
}

/** The same, of the row of an unfinished buy. */
export function heldCentsAt(
  { orders: { col }, realism, orderFees }: ShardState,
  order: OrderRow,
  contracts: Contracts,
  carryMicros = orderFees.carryMicros(order),
): Cents {
  const limitPriceCents = col.limitPriceCents.get(order) || null;
  const boundPriceCents = limitPriceCents === null ? realism.boundPriceCents(order) : null;
  const cents = costCents(holdPriceCents({ limitPriceCents, boundPriceCents }), contracts);
  if (!orderFees.has(order)) return cents;
  return cents + heldForFees(orderFees.eachMicros(order), contracts, carryMicros);
}

/**
 * Refusals that say how far an order was off. Prices, and costs that follow from them, are venue
 * data. Rules V3, A82 (api/RULES.md).
 */

import { type Cents, dollarsOf, type PriceCents } from '../base/units.ts';
import { REJECTIONS } from './rejections.ts';
import type { ShardState } from './state.ts';

/** Of `price_moved`. */
export function movedText({ switches }: ShardState, priceCents: PriceCents): string {
  if (!switches.venueData) return REJECTIONS.price_moved;
  return `The live price is ${priceCents} cents, beyond the bound of the order.`;
}

/** Of `insufficient_balance`. */
export function shortText({ switches }: ShardState, needed: Cents, balance: Cents): string {
  const available = dollarsOf(balance).toFixed(2);
  if (!switches.venueData) {
    return `The cost is above the spendable balance of ${available} dollars.`;
  }
  return `The order needs ${dollarsOf(needed).toFixed(2)} dollars; ${available} can be spent.`;
}

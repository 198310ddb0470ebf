/** Execution at a venue: its scope, and why nothing is sent. Rule A35 (api/RULES.md). */

import type { ExecutionVenue } from '../base/common-schemas.ts';
import type { ErrorCode } from '../base/errors.ts';
import type { Scope } from '../identity/keys.ts';
import type { OrderBody } from '../schemas/order-body.ts';

/** Execution at a venue needs that venue's own scope. */
export function scopeOfExecution({ execution }: OrderBody): Scope | null {
  if (execution === 'venue_a') return 'trade:write:venue_a';
  if (execution === 'venue_c_intl') return 'trade:write:venue_c_intl';
  return null;
}

/**
 * Nothing is sent to a venue yet, so every execution but paper is refused. Such an order was never
 * placed before, so there is no replay to answer, and the switch is checked first. Null: paper.
 */
export function refusalOfExecution(
  execution: OrderBody['execution'],
  mayTrade: boolean,
  venueKeyAt: (venue: ExecutionVenue) => unknown,
): ErrorCode | null {
  if (execution === undefined || execution === 'paper') return null;
  if (!mayTrade) return 'trading_off';
  if (execution === 'venue_c') return 'us_not_eligible';
  return venueKeyAt(execution) === undefined
    ? `${execution}_key_missing`
    : 'live_trading_unavailable';
}

/**
 * The values on which the naive model and the engine must agree, without values that the rules
 * leave open.
 */

import type { Uuid } from '../../engine/base/units.ts';
import type { Reply } from '../../engine/rules/messages.ts';
import type { Ending } from './trading-engine.ts';

/** The words of a refusal are the engine's own. */
export function readable(reply: Reply): unknown {
  return reply.ok ? JSON.parse(reply.body) : { code: reply.code };
}

/**
 * Orders that ended, each kind of ending in its order. Rules T45, T47, T66 and T122 give one to
 * fills, expiries and drops. No rule orders the cancels of a result (S4).
 */
export function comparableEndings(endings: readonly Ending[]): Map<string, Uuid[]> {
  const ordersOf = new Map<string, Uuid[]>();
  for (const { orderId, status, reason } of endings) {
    const how = reason === null ? status : `${status}, ${reason}`;
    ordersOf.set(how, [...(ordersOf.get(how) ?? []), orderId]);
  }
  ordersOf.get('canceled, market_resolved')?.sort();
  return ordersOf;
}

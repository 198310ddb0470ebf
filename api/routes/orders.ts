/** Orders: place, cancel, one, list. SPEC.md section 4, Trading; CONTRACT.md sections 2 and 3. */
import { idOfCursor, isUuid } from '../../engine/core/ids.ts';
import type { Uuid } from '../../engine/core/units.ts';
import type { Caller } from '../access.ts';
import type { Deps } from '../deps.ts';
import { ApiError, invalidRequest } from '../errors.ts';
import type { Scope } from '../identity/keys.ts';
import { countingOf } from '../identity/users.ts';
import { placeOrderOf, readOrderBody } from '../order-request.ts';
import { keyed, type Route } from '../route.ts';
import { NoQuery } from '../schemas/common.ts';
import {
  OrderAnswer,
  type OrderBody,
  OrdersAnswer,
  OrdersQuery,
  PlacementAnswer,
} from '../schemas/trading.ts';
import { newUuid } from '../uuid.ts';
import { parseObject } from '../validation.ts';

export function orderRoutes({ engine }: Deps): Route<Caller>[] {
  return [
    keyed({
      method: 'POST',
      path: '/portfolio/orders',
      scope: 'trade:write',
      takesOrganization: true,
      needs: 'trading',
      query: NoQuery,
      response: PlacementAnswer,
      readBody: (text) => readOrderBody(parseObject(text)),
      scopeOfBody: scopeOfExecution,
      run: ({ caller: { user, key }, body }) => {
        refuseExecution(body.execution);
        const atMs = engine.nowMs();
        return engine.call(
          user.id,
          placeOrderOf(body, {
            atMs,
            account: user.id,
            orderId: newUuid(atMs),
            placedVia: 'api',
            placedPrivate: user.private,
            mayOpen: user.plan !== 'none',
            counting: countingOf(user, key.id),
          }),
        );
      },
    }),
    keyed({
      method: 'GET',
      path: '/portfolio/orders',
      scope: 'portfolio:read',
      takesOrganization: true,
      query: OrdersQuery,
      response: OrdersAnswer,
      prepare: (query) => ({ ...query, before: beforeOf('orders', query.cursor) }),
      run: ({ caller: { user }, query }) =>
        engine.call(user.id, {
          kind: 'orders',
          atMs: engine.nowMs(),
          account: user.id,
          organizationSlug: null,
          status: query.status ?? null,
          limit: query.limit,
          before: query.before,
        }),
    }),
    keyed({
      method: 'GET',
      path: '/portfolio/orders/{orderId}',
      scope: 'portfolio:read',
      takesOrganization: true,
      query: NoQuery,
      response: OrderAnswer,
      run: ({ caller: { user }, param }) =>
        engine.call(user.id, {
          kind: 'order',
          atMs: engine.nowMs(),
          account: user.id,
          orderId: orderIdOf(param),
        }),
    }),
    keyed({
      method: 'DELETE',
      path: '/portfolio/orders/{orderId}',
      scope: 'trade:write',
      takesOrganization: true,
      query: NoQuery,
      response: OrderAnswer,
      run: ({ caller: { user, key }, param }) =>
        engine.call(user.id, {
          kind: 'cancel',
          atMs: engine.nowMs(),
          account: user.id,
          orderId: orderIdOf(param),
          counting: countingOf(user, key.id),
        }),
    }),
  ];
}

/** Execution at a venue needs that venue's own scope. SPEC.md section 5. */
function scopeOfExecution({ execution }: OrderBody): Scope | null {
  if (execution === 'venue_a') return 'trade:write:venue_a';
  if (execution === 'venue_c_intl') return 'trade:write:venue_c_intl';
  return null;
}

/** No venue credential can be stored yet, so no execution but paper goes further than this. */
function refuseExecution(execution: OrderBody['execution']): void {
  if (execution === undefined || execution === 'paper') return;
  if (execution === 'venue_c') throw new ApiError('us_not_eligible');
  throw new ApiError(execution === 'venue_a' ? 'venue_a_key_missing' : 'venue_c_intl_key_missing');
}

function orderIdOf(param: string): Uuid {
  if (!isUuid(param)) throw new ApiError('order_not_found');
  return param.toLowerCase();
}

/** The last row of the previous page. Throws `invalid_request` on a malformed cursor. */
export function beforeOf(list: 'orders' | 'trades', cursor: string | undefined): Uuid | null {
  if (cursor === undefined) return null;
  const id = idOfCursor(list, cursor);
  if (id === null) throw invalidRequest('cursor is malformed');
  return id;
}

/**
 * Orders: place, change, cancel, one, list. Rules A30 to A38, A42 to A44, A74, A184 to A187
 * (api/RULES.md).
 */

import { type QueryTag, ROW_ID } from '../../../engine/base/cursors.ts';
import type { Uuid } from '../../../engine/base/units.ts';
import { isUuid } from '../../../engine/rules/ids.ts';
import type { RowFilter } from '../../../engine/rules/queries.ts';
import { NoQuery } from '../../base/common-schemas.ts';
import { placeOf, tagOf } from '../../base/cursors.ts';
import type { Engine } from '../../base/engine.ts';
import { ApiError, type ErrorCode, invalidRequest } from '../../base/errors.ts';
import { windowIn } from '../../base/instants.ts';
import { bodyReader } from '../../base/validation.ts';
import type { Caller } from '../../dispatch/access.ts';
import { ofAccount, type Route } from '../../dispatch/route.ts';
import { countingOf, type PaperAccount } from '../../identity/accounts.ts';
import { ORDER } from '../../schemas/examples.ts';
import { OrderBodySchema, OrderRequestSchema } from '../../schemas/order-body.ts';
import { AmendBody } from '../../schemas/order-groups.ts';
import { CanceledAnswer, CancelOrdersQuery, PlacementAnswer } from '../../schemas/placing.ts';
import { OrderAnswer, OrderId, OrdersAnswer, OrdersQuery } from '../../schemas/trading.ts';
import { cancelAll } from '../cancel-all.ts';
import { scopeOfExecution } from '../execution.ts';
import { checkOrderBody } from '../order-request.ts';
import { orderGroupRoutes } from './order-groups.ts';
import { ABOUT_PLACING, commandOf, PLACING_ERRORS, type PlacingContext } from './placing.ts';

/** The parts that a thread has which calls the shards beside the main one. */
export type TradingContext = PlacingContext & {
  engine: Pick<Engine, 'nowMs' | 'ask' | 'trade'>;
};
type Context = TradingContext;

export function orderRoutes(context: Context): Route<Caller>[] {
  return [
    placeOrder(context),
    listOrders(context),
    getOrder(context),
    cancelOrder(context),
    cancelOrders(context),
    amendOrder(context),
    ...orderGroupRoutes(context),
  ];
}

function placeOrder(context: Context): Route<Caller> {
  return ofAccount({
    method: 'POST',
    path: '/portfolio/orders',
    about: ABOUT_PLACING,
    errors: PLACING_ERRORS,
    scope: 'trade:write',
    mayBeUnavailable: true,
    query: NoQuery,
    response: PlacementAnswer,
    readBody: bodyReader(OrderBodySchema, checkOrderBody, OrderRequestSchema),
    scopeOfBody: scopeOfExecution,
    run: (call, waiter) => {
      const command = commandOf(context, call, context.engine.nowMs());
      if (typeof command === 'string') throw new ApiError(command);
      return context.engine.trade(call.caller.user.id, command, waiter);
    },
  });
}

function listOrders({ engine }: Context): Route<Caller> {
  return ofAccount({
    method: 'GET',
    path: '/portfolio/orders',
    about: {
      operationId: 'listOrders',
      tag: 'Portfolio',
      summary: 'Limit orders in any status, newest first',
      example: { orders: [ORDER], nextCursor: null, venueData: true, mode: 'paper' },
    },
    scope: 'portfolio:read',
    mayBeUnavailable: true,
    query: OrdersQuery,
    response: OrdersAnswer,
    prepare: (query) => ({ ...query, ...placeIn('orders', query), only: filterOf(query) }),
    run: ({ account, query }, waiter) =>
      engine.ask(
        account.id,
        {
          kind: 'orders',
          atMs: engine.nowMs(),
          status: query.status ?? null,
          ...pageOf(account, query),
        },
        waiter,
      ),
  });
}

function getOrder({ engine }: Context): Route<Caller> {
  return ofAccount({
    method: 'GET',
    path: '/portfolio/orders/{orderId}',
    about: {
      operationId: 'getOrder',
      tag: 'Portfolio',
      summary: 'One limit order in any status',
      param: OrderId,
      example: { order: ORDER, venueData: true, mode: 'paper' },
    },
    errors: ['order_not_found'],
    scope: 'portfolio:read',
    mayBeUnavailable: true,
    query: NoQuery,
    response: OrderAnswer,
    run: ({ account, param }, waiter) =>
      engine.ask(
        account.id,
        {
          kind: 'order',
          atMs: engine.nowMs(),
          account: account.id,
          organizationSlug: account.organizationSlug,
          orderId: orderIdOf(param),
        },
        waiter,
      ),
  });
}

function amendOrder({ engine, switches }: Context): Route<Caller> {
  return ofAccount({
    method: 'PATCH',
    path: '/portfolio/orders/{orderId}',
    about: {
      operationId: 'amendOrder',
      tag: 'Trading',
      summary: 'Change the contracts or the limit of a resting order',
      description:
        'The order keeps its id. Fewer contracts keep its place in the queue. Anything else meets ' +
        'the book as a new order does: it takes where it crosses, and rests last otherwise. ' +
        '`contracts` counts what has traded, and must be more. A sell covers its whole position, ' +
        'so only its limit can change. If a change is refused, nothing changes.',
      param: OrderId,
      bodyExamples: {
        'Fewer contracts': { idempotencyKey: 'change-1', contracts: 5 },
        'Another limit': { idempotencyKey: 'change-2', limitPriceCents: 41 },
      },
      example: {
        order: { ...ORDER, contracts: 5, remainingContracts: 5, holdDollars: 2 },
        venueData: true,
        mode: 'paper',
      },
    },
    errors: AMENDING_ERRORS,
    scope: 'trade:write',
    mayBeUnavailable: true,
    query: NoQuery,
    response: OrderAnswer,
    readBody: READ_AMEND,
    run: ({ caller: { user, credentialId }, account, param, body }, waiter) =>
      engine.trade(
        user.id,
        {
          kind: 'amend',
          atMs: engine.nowMs(),
          account: account.id,
          orderId: orderIdOf(param),
          idempotencyKey: body.idempotencyKey,
          contracts: body.contracts ?? null,
          limitPriceCents: body.limitPriceCents ?? null,
          mayOpen: user.plan !== 'none',
          mayTrade: switches.trading,
          counting: countingOf(user, credentialId, account),
        },
        waiter,
      ),
  });
}

const READ_AMEND = bodyReader(AmendBody, checkAmendBody);

/** Rule A185 (api/RULES.md). */
const AMENDING_ERRORS: readonly ErrorCode[] = [
  'trading_off',
  'idempotency_key_reused',
  'rate_limited',
  'membership_required',
  'order_not_found',
  'already_closed',
  'market_not_open',
  'would_take',
  'insufficient_balance',
];

function checkAmendBody(body: AmendBody): AmendBody {
  if (body.contracts === undefined && body.limitPriceCents === undefined) {
    throw invalidRequest('contracts or limitPriceCents must be sent');
  }
  return body;
}

function cancelOrder({ engine }: Context): Route<Caller> {
  return ofAccount({
    method: 'DELETE',
    path: '/portfolio/orders/{orderId}',
    about: {
      operationId: 'cancelOrder',
      tag: 'Trading',
      summary: 'Cancel a resting order',
      description: 'Works while trading is switched off, too.',
      param: OrderId,
      example: {
        order: {
          ...ORDER,
          status: 'canceled',
          cancelReason: 'canceled_by_owner',
          holdDollars: 0,
        },
        venueData: true,
        mode: 'paper',
      },
    },
    errors: ['order_not_found', 'already_closed', 'rate_limited'],
    scope: 'trade:write',
    mayBeUnavailable: true,
    query: NoQuery,
    response: OrderAnswer,
    run: ({ caller: { user, credentialId }, account, param }, waiter) =>
      engine.trade(
        user.id,
        {
          kind: 'cancel',
          atMs: engine.nowMs(),
          account: account.id,
          orderId: orderIdOf(param),
          counting: countingOf(user, credentialId, account),
        },
        waiter,
      ),
  });
}

function cancelOrders({ engine }: Context): Route<Caller> {
  return ofAccount({
    method: 'DELETE',
    path: '/portfolio/orders',
    about: {
      operationId: 'cancelOrders',
      tag: 'Trading',
      summary: 'Cancel all resting orders, or only the orders on one instrument',
      description:
        'Cancels the orders in one durable step; more than 2,000 take several steps. It counts as ' +
        'one cancel. Works while trading is switched off, too.',
      example: { canceled: [ORDER.orderId], count: 1, mode: 'paper' },
    },
    errors: ['instrument_not_found', 'rate_limited'],
    scope: 'trade:write',
    mayBeUnavailable: true,
    query: CancelOrdersQuery,
    response: CanceledAnswer,
    run: ({ caller: { user, credentialId }, account, query }, waiter) =>
      cancelAll(
        engine,
        user.id,
        {
          kind: 'cancel_all',
          atMs: engine.nowMs(),
          account: account.id,
          instrumentId: query.instrumentId ?? null,
          counting: countingOf(user, credentialId, account),
        },
        waiter,
      ),
  });
}

function orderIdOf(param: string): Uuid {
  if (!isUuid(param)) throw new ApiError('order_not_found');
  return param.toLowerCase();
}

type RowsQuery = {
  limit: number;
  before: Uuid | null;
  tag: QueryTag;
  only: RowFilter | null;
};

/** The filter of a list of rows for an account. */
export function pageOf(
  { id, organizationSlug }: Pick<PaperAccount, 'id' | 'organizationSlug'>,
  { limit, before, tag, only }: RowsQuery,
) {
  return { account: id, organizationSlug, limit, before, tag, ...(only === null ? {} : { only }) };
}

type FilterQuery = { instrumentId?: string; idempotencyKey?: string; from?: string; to?: string };

/** Null: every row. Throws `invalid_request` as `windowIn` does. Rule A79 (api/RULES.md). */
export function filterOf({
  instrumentId,
  idempotencyKey,
  from,
  to,
}: FilterQuery): RowFilter | null {
  if ([instrumentId, idempotencyKey, from, to].every((given) => given === undefined)) return null;
  return {
    instrumentId: instrumentId ?? null,
    idempotencyKey: idempotencyKey ?? null,
    ...windowIn({ from, to }),
  };
}

/** `before`: the last row of the previous page. Throws `invalid_request` on a malformed cursor. */
export function placeIn(
  list: 'orders' | 'trades' | 'userTrades',
  query: { cursor?: string },
): { before: Uuid | null; tag: QueryTag } {
  const tag = tagOf(list, query);
  return { before: placeOf(tag, query.cursor, ROW_ID), tag };
}

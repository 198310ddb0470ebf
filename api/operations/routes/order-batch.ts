/** Several independent orders in one request. Rules J30 to J32 (api/RULES.md). */
import { type Static, Type } from '@sinclair/typebox';
import type { TradeLimitsLeft } from '../../../engine/rules/limits-left.ts';
import type { Reply } from '../../../engine/rules/messages.ts';
import { NoQuery, strict } from '../../base/common-schemas.ts';
import { type BodyReader, bodyReader } from '../../base/validation.ts';
import type { Caller } from '../../dispatch/access.ts';
import type { OrderEntry } from '../../dispatch/order-entry.ts';
import { type Call, ofAccount, type Route } from '../../dispatch/route.ts';
import { LIMIT_BUY, MARKET_BUY } from '../../schemas/examples.ts';
import { BatchAnswer, OrderBatch } from '../../schemas/order-batch.ts';
import { ABOUT_PLACING } from './placing.ts';

/** @param entry how a single order is placed, known once the server runs */
export function orderBatchRoute(entry: () => OrderEntry): Route<Caller> {
  return ofAccount({
    method: 'POST',
    path: '/portfolio/orders/batch',
    about: {
      operationId: 'placeOrders',
      tag: 'Trading',
      summary: 'Place up to 100 orders',
      description:
        'Each order is independent and has the answer of `POST /portfolio/orders`. An order ' +
        'that is refused affects no other. Each order counts as one order and one request. ' +
        'The results are in the order of the request.',
      bodyExamples: { 'Two orders': { orders: TWO_ORDERS } },
      example: { results: [{ status: 200, body: ABOUT_PLACING.example! }, REFUSED], mode: 'paper' },
    },
    scope: 'trade:write',
    mayBeUnavailable: true,
    query: NoQuery,
    response: BatchAnswer,
    readBody: READ_BATCH,
    run: (call) => placeAll(entry().place, call),
  });
}

const TWO_ORDERS = [MARKET_BUY, LIMIT_BUY];
const REFUSED: Static<typeof BatchAnswer>['results'][number] = {
  status: 409,
  body: {
    error: { code: 'insufficient_balance', message: 'The account has too little to spend.' },
  },
};

type Orders = { orders: unknown[] };

/** The orders are read one by one later, so that a bad one refuses only itself. */
const READ_BATCH: BodyReader<Orders> = bodyReader(
  strict({ orders: Type.Array(Type.Unknown(), { minItems: 1, maxItems: 100 }) }),
  (body) => body,
  OrderBatch,
);

function placeAll(
  place: OrderEntry['place'],
  { caller, organization, body: { orders } }: Call<unknown, Orders, Caller>,
): Promise<Reply> {
  return new Promise((resolve) => {
    const results: string[] = [];
    /** Of each order that the engine has answered. */
    const limits: TradeLimitsLeft[] = [];
    let left = orders.length;
    for (const [at, order] of orders.entries()) {
      // The request has counted as one already.
      const call = { caller, param: '', body: order, organization, isCounted: at > 0 };
      place.take(call, (status, body, ofOrder) => {
        results[at] = `{"status":${status},"body":${body}}`;
        if (ofOrder !== undefined) limits[at] = ofOrder;
        left--;
        if (left === 0) resolve(batchReply(results, limits.at(-1)));
      });
    }
  });
}

function batchReply(results: readonly string[], limits: TradeLimitsLeft | undefined): Reply {
  const body = `{"results":[${results.join(',')}],"mode":"paper"}`;
  return limits === undefined ? { ok: true, body } : { ok: true, body, limits };
}

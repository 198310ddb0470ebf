/**
 * From an order body to the core's `PlaceOrder`: the fields that each kind of order has, and their
 * defaults. No HTTP here: the replay's orders file has the same bodies. Rules
 * A30 to A33 (api/RULES.md).
 */

import {
  type EpochMs,
  instantOf,
  type PlacedVia,
  type StreamConnection,
  type TimeInForce,
  type Uuid,
} from '../../engine/base/units.ts';
import type { PlaceOrder, TradeCounting } from '../../engine/rules/messages.ts';
import type { Realism } from '../../engine/rules/realism.ts';
import { invalidRequest } from '../base/errors.ts';
import { valueReader } from '../base/validation.ts';
import { ORDER_KINDS, type OrderBody, OrderBodySchema } from '../schemas/order-body.ts';

const checkSchema = valueReader(OrderBodySchema, 'field');

/** The parts of an order that its caller and the server give, not its body. */
export type OrderContext = {
  atMs: EpochMs;
  account: Uuid;
  /** A new uuid v7 whose time is `atMs`. */
  orderId: Uuid;
  placedVia: PlacedVia;
  placedPrivate: boolean;
  /** The connection that it ends with; null: none. Rule J18 (api/RULES.md). */
  connection: StreamConnection | null;
  /** Whether the caller's plan allows opening positions. */
  mayOpen: boolean;
  /** Whether trading with keys is on. */
  mayTrade: boolean;
  /** What the account has chosen; null: the preset `simple`. */
  realism: Realism | null;
  counting: TradeCounting | null;
};

/**
 * Reads a parsed JSON object as an order body. Throws `invalid_request` naming the field that is
 * unknown, wrong, missing or not part of an order of its action and type.
 */
export function readOrderBody(value: unknown): OrderBody {
  return checkOrderBody(checkSchema(value));
}

/** Checks rules of an order body that its schema cannot express. Throws `invalid_request`. */
export function checkOrderBody(body: OrderBody): OrderBody {
  checkFields(body);
  exactlyOne(body, 'idempotencyKey', 'clientOrderId');
  return checkTerms(body);
}

/** `checkOrderBody` of an order that is not placed: it needs no key. Rule A76 (api/RULES.md). */
export function checkPreviewBody(body: OrderBody): OrderBody {
  checkFields(body);
  if (body.idempotencyKey !== undefined) exactlyOne(body, 'idempotencyKey', 'clientOrderId');
  return checkTerms(body);
}

function checkFields(body: OrderBody): void {
  const kind = ORDER_KINDS[body.action][body.type];
  for (const field of kind.refused) {
    if (body[field] !== undefined) throw invalidRequest(`${field} does not belong to ${kind.name}`);
  }
  for (const field of kind.required) {
    if (body[field] === undefined) throw invalidRequest(`${field} is required for ${kind.name}`);
  }
}

function checkTerms(body: OrderBody): OrderBody {
  if (body.action === 'buy') exactlyOne(body, 'instrumentId', 'ticker');
  if (body.reduceOnly === true && body.action === 'buy') {
    throw invalidRequest('reduceOnly does not belong to a buy: a buy never reduces a position');
  }
  if (body.postOnly === true && timeInForceOf(body) !== 'gtc') {
    throw invalidRequest('postOnly belongs to a gtc order only');
  }
  if (body.expiresAt !== undefined && timeInForceOf(body) !== 'gtc') {
    throw invalidRequest('expiresAt belongs to a gtc order only');
  }
  return body;
}

/** The command of a body that `checkOrderBody` passed. */
export function placeOrderOf(body: OrderBody, context: OrderContext): PlaceOrder {
  return {
    kind: 'place',
    atMs: context.atMs,
    account: context.account,
    orderId: context.orderId,
    // Only a preview has none.
    idempotencyKey: body.idempotencyKey ?? body.clientOrderId ?? '',
    action: body.action,
    instrumentId: body.instrumentId ?? null,
    ticker: body.ticker ?? null,
    side: body.side ?? null,
    contracts: body.count ?? null,
    tradeId: body.tradeId?.toLowerCase() ?? null,
    netting: null,
    limitPriceCents: body.limitPriceCents ?? null,
    boundPriceCents: body.maxPriceCents ?? body.minPriceCents ?? null,
    timeInForce: timeInForceOf(body),
    // The core checks that it is in the future and within 365 days, after the replay check.
    expiresAtMs: body.expiresAt === undefined ? null : instantOf(body.expiresAt),
    routing: body.routing ?? 'venue_a',
    statedProbPct: body.statedProbPct ?? null,
    placedVia: context.placedVia,
    placedPrivate: context.placedPrivate,
    connection: context.connection,
    postOnly: body.postOnly ?? false,
    orderGroupId: body.orderGroupId?.toLowerCase() ?? null,
    mayOpen: context.mayOpen,
    mayTrade: context.mayTrade,
    rejectIfLaterThanMs:
      body.rejectIfLaterThan === undefined ? null : instantOf(body.rejectIfLaterThan),
    realism: context.realism,
    counting: context.counting,
  };
}

type Field = keyof OrderBody;

function exactlyOne(body: OrderBody, first: Field, second: Field): void {
  if ((body[first] === undefined) !== (body[second] === undefined)) return;
  throw invalidRequest(`exactly one of ${first} and ${second} must be sent`);
}

const SHORT: Record<NonNullable<OrderBody['timeInForce']>, TimeInForce> = {
  gtc: 'gtc',
  ioc: 'ioc',
  fok: 'fok',
  good_till_canceled: 'gtc',
  immediate_or_cancel: 'ioc',
  fill_or_kill: 'fok',
};

/** The short name; gtc for a limit order that states none, null for a market order. */
function timeInForceOf(body: OrderBody): TimeInForce | null {
  if (body.type === 'market') return null;
  return SHORT[body.timeInForce ?? 'gtc'];
}

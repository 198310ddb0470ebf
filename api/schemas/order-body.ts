/** The body of an order. Rule A30 (api/RULES.md). */

import { type Static, Type } from '@sinclair/typebox';
import {
  DateTime,
  described,
  EXECUTION_VENUES,
  IdempotencyKey,
  InstrumentId,
  oneOf,
  PriceCents,
  SideSchema,
  strict,
  Uuid,
} from '../base/common-schemas.ts';
import { ActionSchema, OrderTypeSchema, ProbabilityPct } from './trading.ts';

/** `order-request.ts` decides which of these belong to which action and type. */
export const OrderBodySchema = strict(
  {
    action: ActionSchema,
    type: OrderTypeSchema,
    idempotencyKey: Type.Optional(
      described(
        IdempotencyKey,
        'One per order. The same key with the same order answers the stored order and places ' +
          'nothing, so send it again after a timeout or a 503.',
      ),
    ),
    clientOrderId: Type.Optional(
      described(IdempotencyKey, 'Another name for idempotencyKey: send exactly one of the two.'),
    ),
    instrumentId: Type.Optional(described(InstrumentId, 'Of a buy: what to buy.')),
    ticker: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description: "Of a buy, in place of instrumentId: a venue market; side is the market's.",
      }),
    ),
    side: Type.Optional(described(SideSchema, 'Of a buy: the side to buy.')),
    count: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000_000_000, description: 'Of a buy: contracts.' }),
    ),
    tradeId: Type.Optional(described(Uuid, 'Of a sell: the open position, all of it.')),
    limitPriceCents: Type.Optional(
      described(
        PriceCents,
        'Of a limit order: cents a contract of the side; filled at that or better.',
      ),
    ),
    timeInForce: Type.Optional(
      oneOf(['gtc', 'ioc', 'fok', 'good_till_canceled', 'immediate_or_cancel', 'fill_or_kill'], {
        description: 'Of a limit order: gtc (the default) rests, the others fill now or cancel.',
      }),
    ),
    expiresAt: Type.Optional(
      described(
        DateTime,
        'Of a gtc order: when it stops resting, at most 365 days ahead. Seconds may be left out.',
      ),
    ),
    maxPriceCents: Type.Optional(
      described(PriceCents, 'Of a market buy: fill at this or less, else 409 price_moved.'),
    ),
    minPriceCents: Type.Optional(
      described(PriceCents, 'Of a market sell: fill at this or more, else 409 price_moved.'),
    ),
    routing: Type.Optional(
      oneOf(['venue_a', 'best'], {
        description:
          'best: a fill may have the price of venue_b or venue_c. venue_a when left out.',
      }),
    ),
    statedProbPct: Type.Optional(
      described(ProbabilityPct, 'Of a buy: your probability of the side, in percent.'),
    ),
    rejectIfLaterThan: Type.Optional(
      described(
        DateTime,
        'An order that the engine takes later is 409 too_late, and its key is not used. An order ' +
          'that was placed before is answered all the same.',
      ),
    ),
    execution: Type.Optional(
      oneOf(['paper', ...EXECUTION_VENUES, 'venue_c'], {
        description: 'paper when left out; any other needs its own scope.',
      }),
    ),
  },
  { title: 'OrderRequest' },
);
export type OrderBody = Static<typeof OrderBodySchema>;

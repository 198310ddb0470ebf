/**
 * The body of an order: one schema that validates each kind of order, and the kinds, of which the
 * description and the clients have a schema each. Rules A30, A167 (api/RULES.md).
 */

import { type Static, type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox';
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

/** All fields of all kinds, since one flat schema names a wrong field best. */
export const OrderBodySchema = strict({
  action: ActionSchema,
  type: OrderTypeSchema,
  idempotencyKey: Type.Optional(
    described(
      IdempotencyKey,
      'One key per order. The same key with the same order returns the stored order and places ' +
        'nothing. After a timeout or a 503, send the order again with its key.',
    ),
  ),
  clientOrderId: Type.Optional(
    described(IdempotencyKey, 'Another name for idempotencyKey: send exactly one of the two.'),
  ),
  instrumentId: Type.Optional(described(InstrumentId, 'Of a buy: the instrument to buy.')),
  ticker: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description:
        "Of a buy, instead of instrumentId: a venue market. The side is in the market's terms.",
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
      description: 'Of a limit order: gtc (default) rests; ioc and fok fill now or cancel.',
    }),
  ),
  expiresAt: Type.Optional(
    described(
      DateTime,
      'Of a gtc order: the time it stops resting, at most 365 days ahead. Seconds are optional.',
    ),
  ),
  postOnly: Type.Optional(
    Type.Boolean({
      description:
        'Of a gtc order: true if it may only rest. Where it would take, it is refused with 409 ' +
        'would_take; under latency it is canceled with would_take. Default false.',
    }),
  ),
  reduceOnly: Type.Optional(
    Type.Boolean({
      description: 'Of a sell, which knows nothing else. True of a buy is 400. Default false.',
    }),
  ),
  orderGroupId: Type.Optional(described(Uuid, 'The order group whose cap its fills count for.')),
  maxPriceCents: Type.Optional(
    described(PriceCents, 'Of a market buy: fill at this or less, else 409 price_moved.'),
  ),
  minPriceCents: Type.Optional(
    described(PriceCents, 'Of a market sell: fill at this or more, else 409 price_moved.'),
  ),
  routing: Type.Optional(
    oneOf(['venue_a', 'best'], {
      description: 'best: a fill may have the price of venue_b or venue_c. Default venue_a.',
    }),
  ),
  statedProbPct: Type.Optional(
    described(ProbabilityPct, 'Of a buy: your probability of the side, in percent.'),
  ),
  rejectIfLaterThan: Type.Optional(
    described(
      DateTime,
      'An order that the engine takes later is 409 too_late, and its key is not used. An order ' +
        'that was placed before returns the stored order.',
    ),
  ),
  execution: Type.Optional(
    oneOf(['paper', ...EXECUTION_VENUES, 'venue_c'], {
      description: 'Default paper; each other value needs its own scope.',
    }),
  ),
});
export type OrderBody = Static<typeof OrderBodySchema>;

type Field = keyof OrderBody;
type Kind = { name: string; required: readonly Field[]; refused: readonly Field[] };

const OF_LIMIT = ['limitPriceCents', 'timeInForce', 'expiresAt', 'postOnly'] as const;
const OF_BUY = ['instrumentId', 'ticker', 'side', 'count', 'statedProbPct'] as const;

/** The fields that each kind of order needs, and the fields that it refuses. */
export const ORDER_KINDS: Record<OrderBody['action'], Record<OrderBody['type'], Kind>> = {
  buy: {
    market: {
      name: 'a market buy',
      required: ['side', 'count'],
      refused: [...OF_LIMIT, 'tradeId', 'minPriceCents'],
    },
    limit: {
      name: 'a limit buy',
      required: ['side', 'count', 'limitPriceCents'],
      refused: ['tradeId', 'maxPriceCents', 'minPriceCents'],
    },
  },
  sell: {
    market: {
      name: 'a market sell',
      required: ['tradeId'],
      refused: [...OF_LIMIT, ...OF_BUY, 'maxPriceCents'],
    },
    limit: {
      name: 'a limit sell',
      required: ['tradeId', 'limitPriceCents'],
      refused: [...OF_BUY, 'maxPriceCents', 'minPriceCents'],
    },
  },
};

/** What the description shows of `OrderBodySchema`: a schema for each kind of order. */
export const OrderRequestSchema = Type.Union(
  [
    kindSchema('buy', 'market', { title: 'MarketBuy', needs: 'instrumentId', lacks: 'ticker' }),
    kindSchema('buy', 'limit', { title: 'LimitBuy', needs: 'instrumentId', lacks: 'ticker' }),
    kindSchema('sell', 'market', { title: 'MarketSell' }),
    kindSchema('sell', 'limit', { title: 'LimitSell' }),
    kindSchema('buy', 'market', {
      title: 'MarketTickerBuy',
      needs: 'ticker',
      lacks: 'instrumentId',
    }),
    kindSchema('buy', 'limit', { title: 'LimitTickerBuy', needs: 'ticker', lacks: 'instrumentId' }),
  ],
  { title: 'OrderRequest' },
);

type Shown = { title: string; needs?: Field; lacks?: Field };

function kindSchema(
  action: OrderBody['action'],
  type: OrderBody['type'],
  { title, needs, lacks }: Shown,
): TObject {
  const { name, required, refused } = ORDER_KINDS[action][type];
  const isLeftOut = (field: string) => field === lacks || refused.includes(field as Field);
  const isNeeded = (field: string) => field === needs || required.includes(field as Field);
  const properties: TProperties = { action: Type.Literal(action), type: Type.Literal(type) };
  for (const [field, schema] of Object.entries<TSchema>(OrderBodySchema.properties)) {
    if (field in properties || isLeftOut(field)) continue;
    properties[field] = isNeeded(field) ? Type.Optional(schema, false) : schema;
  }
  return strict(properties, { title, description: `The body of ${name}.` });
}

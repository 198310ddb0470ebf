/**
 * Wire schemas of the answers to placing and canceling, and of previews. Rules A36, A74 to A77
 * (api/RULES.md).
 */
import { Type } from '@sinclair/typebox';
import {
  Contracts,
  Count,
  DateTime,
  Dollars,
  described,
  ErrorCodeSchema,
  InstrumentId,
  Mode,
  nullable,
  oneOf,
  PriceCents,
  strict,
  Uuid,
  VenueDataOn,
  VenueSchema,
} from '../base/common-schemas.ts';
import { ActionSchema, FillPriceCents, Order, OrderTypeSchema, Trade } from './trading.ts';

/** Rule A74 (api/RULES.md). */
export const CanceledAnswer = strict(
  {
    canceled: Type.Array(Uuid, { description: 'Ids of the orders that it canceled.' }),
    count: Count,
    mode: Mode,
  },
  { title: 'CanceledOrders' },
);
export const CancelOrdersQuery = strict({
  instrumentId: Type.Optional(described(InstrumentId, 'Only those on this instrument.')),
});

/** Rule A36 (api/RULES.md). */
export const PlacementAnswer = strict(
  {
    status: oneOf(['executed', 'resting', 'canceled'], {
      description: 'canceled: an ioc or fok that did not fill; nothing was spent.',
    }),
    action: ActionSchema,
    type: OrderTypeSchema,
    idempotencyKey: Type.String(),
    replayed: Type.Boolean({
      description:
        'True if the key was used before: this is the stored order, and nothing new was placed.',
    }),
    originalCreatedAt: nullable(DateTime, {
      description: 'On a replay, the time of the first placement.',
    }),
    order: nullable(Order, { description: 'Null for a market order: a fill, not an order.' }),
    trade: nullable(Trade, {
      description: 'The trade that it opened or closed; null while resting and after a cancel.',
    }),
    fillVenue: nullable(VenueSchema, { description: 'Venue that priced the fill; paper only.' }),
    mode: Mode,
    venueData: VenueDataOn,
    fillPriceCents: FillPriceCents,
  },
  { title: 'OrderPlacement' },
);

const WOULD = oneOf(['execute', 'rest', 'cancel', 'refuse']);

/** Rules A75 to A77, V10 (api/RULES.md). */
export const PreviewAnswer = strict(
  {
    would: nullable(WOULD, {
      description:
        'rest: the contracts that do not trade at once rest. cancel: an ioc or fok without a fill, ' +
        'or a market order under latency without one.',
    }),
    code: Type.Optional(
      described(ErrorCodeSchema, 'Reason of a refusal; absent without a refusal.'),
    ),
    fills: nullable(
      Type.Array(
        strict({
          priceCents: described(PriceCents, 'Price of the traded side.'),
          contracts: Contracts,
          venue: described(VenueSchema, 'Venue that would price the fill.'),
        }),
      ),
      { description: 'Fills that would trade at once.' },
    ),
    costDollars: nullable(Dollars, {
      description: 'Cost of the fills, without fees; 0 for a sell.',
    }),
    holdDollars: described(
      Dollars,
      'Hold while it rests, with its fees. While venue data is off, the hold if no contract trades at once.',
    ),
    feeDollars: nullable(Dollars, {
      description: 'Fee of the fills; for an account that pays no fees, the fee at the venue.',
    }),
    quoteAgeMs: nullable(Count, {
      description: 'Time since the last message on the connection of the quote; null without one.',
    }),
    latencyMs: nullable(strict({ min: Count, max: Count }), {
      description:
        'The order meets the book so much later, and would, fills and costs are of the book as ' +
        'it is now. Null: it meets the book at once.',
    }),
    mode: Mode,
  },
  {
    title: 'OrderPreview',
    description:
      'While the venue-data switch is off, would, fills, costDollars, feeDollars and quoteAgeMs ' +
      'are null. The fields code and holdDollars depend on no price.',
  },
);

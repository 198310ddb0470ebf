/**
 * Wire schemas of what placing and canceling answer, and of previews. Rules A36, A74 to A77
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
      description: 'The key was used before: this is the stored order, nothing new was placed.',
    }),
    originalCreatedAt: nullable(DateTime, { description: 'On a replay, when it was placed.' }),
    order: nullable(Order, { description: 'Null for a market order: a fill, not an order.' }),
    trade: nullable(Trade, {
      description: 'What it opened or closed; null while resting and when canceled.',
    }),
    fillVenue: nullable(VenueSchema, { description: 'Where the fill was priced; paper only.' }),
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
      description: 'rest: what does not trade at once rests. cancel: an ioc or fok without a fill.',
    }),
    code: Type.Optional(described(ErrorCodeSchema, 'Why it would be refused; else left out.')),
    fills: nullable(
      Type.Array(
        strict({
          priceCents: described(PriceCents, 'Of the side traded.'),
          contracts: Contracts,
          venue: described(VenueSchema, 'Where the fill would be priced.'),
        }),
      ),
      { description: 'What would trade at once.' },
    ),
    costDollars: nullable(Dollars, { description: 'What its fills would cost; 0 for a sell.' }),
    holdDollars: described(
      Dollars,
      'What it would hold while it rests; while venue data is off, if none of it traded at once.',
    ),
    feeDollars: nullable(Dollars, {
      description: 'What the venue would charge; a paper trade pays no fee.',
    }),
    quoteAgeMs: nullable(Count, {
      description: 'Since the connection of the quote was last heard from; null without one.',
    }),
    mode: Mode,
  },
  {
    title: 'OrderPreview',
    description:
      'While the venue-data switch is off would, fills, costDollars, feeDollars and quoteAgeMs ' +
      'are null; code and holdDollars say what follows without a price.',
  },
);

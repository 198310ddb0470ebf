/**
 * Wire schemas of orders, trades and the portfolio. An optional field of an answer is venue data,
 * absent while the switch is off. Rules A36, A40 to A44, T24, T25, S8 (api/RULES.md,
 * engine/RULES.md).
 */
import { Type } from '@sinclair/typebox';
import { FILL_MODELS, PLACED_VIA } from '../../engine/base/units.ts';
import { CANCEL_REASONS } from '../../engine/rules/events.ts';
import {
  AsOf,
  Contracts,
  Count,
  Cursor,
  DateTime,
  Dollars,
  described,
  IdempotencyKey,
  InstrumentId,
  instant,
  limitOf,
  Mode,
  NextCursor,
  nullable,
  oneOf,
  PriceCents,
  SideSchema,
  strict,
  Uuid,
  VenueDataOn,
  VenueSchema,
} from '../base/common-schemas.ts';

const OrderStatus = oneOf(['resting', 'executed', 'canceled', 'expired'], {
  title: 'OrderStatus',
});
export const ActionSchema = oneOf(['buy', 'sell'], { title: 'Action' });
export const OrderTypeSchema = oneOf(['market', 'limit'], { title: 'OrderType' });
const PlacedViaSchema = oneOf(PLACED_VIA, { description: 'Source of the order.' });
export const ProbabilityPct = Type.Integer({ minimum: 1, maximum: 99 });
export const Organization = Type.Optional(
  strict(
    { slug: Type.String() },
    { description: "Present when an organization's sandbox answered, not the personal account." },
  ),
);
const MarketTicker = Type.Optional(Type.String({ description: "The venue market's ticker." }));
export const FillPriceCents = Type.Optional(
  nullable(PriceCents, { description: 'Price of the fill; null before a fill.' }),
);

/** Fields of everything that concerns an instrument. */
const SUBJECT = {
  instrumentId: nullable(InstrumentId, {
    description: 'Null if the instrument has left the catalog.',
  }),
  instrumentLabel: nullable(Type.String()),
  instrumentSide: described(SideSchema, 'The side in the terms of the instrument.'),
};
const PLACED = {
  statedProbPct: nullable(ProbabilityPct, {
    description: "The caller's stated probability of the side, in percent.",
  }),
  placedVia: PlacedViaSchema,
  placedPrivate: Type.Boolean({ description: 'Whether the account was private at the time.' }),
  fillModel: nullable(oneOf(FILL_MODELS), {
    description: 'Fill model of the order; null if it is older than this field.',
  }),
  feesDollars: nullable(Dollars, {
    description:
      'Fees of its fills so far; below zero: rebates. Null: it pays no fees. ' +
      'Neither costDollars nor prices have them.',
  }),
};

const OF_ORDER = {
  postOnly: Type.Boolean({ description: 'Whether it may only rest, and never takes.' }),
  orderGroupId: nullable(Uuid, { description: 'Its order group; null: it is of none.' }),
};

/** The fields of a resting order in the portfolio list. */
const PORTFOLIO_ORDER = {
  orderId: Uuid,
  action: ActionSchema,
  ...SUBJECT,
  orderSide: described(SideSchema, 'The side in the terms of the venue market.'),
  contracts: Contracts,
  filledContracts: Count,
  remainingContracts: Count,
  limitCents: nullable(PriceCents, {
    description: 'The limit, in cents a contract of the side traded; null: a market order.',
  }),
  holdDollars: described(Dollars, 'Part of the balance that it holds, with its worst fees.'),
  timeInForce: nullable(oneOf(['gtc', 'ioc', 'fok']), { description: 'Null: a market order.' }),
  expiresAt: nullable(DateTime, { description: 'Time when it stops resting; null: never.' }),
  status: OrderStatus,
  pendingUntil: nullable(DateTime, {
    description:
      'Under latency: when the order, or its cancel, meets the book. Null once it has met it.',
  }),
  createdAt: DateTime,
  executedAt: nullable(DateTime, {
    description: 'Time when the whole order had traded, else null.',
  }),
  canceledAt: nullable(DateTime, { description: 'Time of the cancel, else null.' }),
  updatedAt: described(DateTime, 'Time of its last change of status.'),
  ...PLACED,
  ...OF_ORDER,
  marketTicker: MarketTicker,
};

const PortfolioOrder = strict(PORTFOLIO_ORDER, {
  title: 'RestingOrder',
  description:
    'A resting limit order. marketTicker is present only while the venue-data switch is on.',
});

export const Order = strict(
  {
    ...PORTFOLIO_ORDER,
    type: OrderTypeSchema,
    cancelReason: nullable(oneOf(CANCEL_REASONS), {
      description: 'Reason of a cancel or expiry; else null.',
    }),
    tradeId: nullable(Uuid, { description: 'Trade that the order opened or closes.' }),
    fillPriceCents: FillPriceCents,
  },
  {
    title: 'Order',
    description:
      'A limit order, or a market order under latency. marketTicker and fillPriceCents are present only while the venue-data ' +
      'switch is on.',
  },
);

const POSITION = {
  tradeId: Uuid,
  ...SUBJECT,
  boughtSide: described(
    SideSchema,
    'The side in the terms of the venue market. Its yes may be the no of the instrument: never ' +
      'compare it with resolvedOutcome.',
  ),
  contracts: Contracts,
  costDollars: described(Dollars, 'Cost in dollars, without fees.'),
  ...PLACED,
  parlayId: nullable(Uuid),
  fillVenue: nullable(VenueSchema, { description: 'Venue that priced the fill; paper only.' }),
  openedAt: DateTime,
  marketTicker: MarketTicker,
  entryCents: Type.Optional(described(PriceCents, 'Price paid, in cents a contract.')),
};

const Position = strict(
  {
    ...POSITION,
    markCents: Type.Optional(
      nullable(PriceCents, { description: 'The live bid of the side; null without one.' }),
    ),
    valueDollars: Type.Optional(
      described(Dollars, 'Value in net worth: at the live bid; without a bid at cost.'),
    ),
    unrealizedPnlDollars: Type.Optional(described(Dollars, 'valueDollars less the cost.')),
  },
  {
    title: 'Position',
    description:
      'An open trade. marketTicker, entryCents, markCents, valueDollars and unrealizedPnlDollars ' +
      'are present only while the venue-data switch is on.',
  },
);

export const Trade = strict(
  {
    ...POSITION,
    status: oneOf(['open', 'closed', 'settled', 'void', 'reset'], {
      title: 'TradeStatus',
      description: 'closed: sold by an order. reset: closed by an account reset.',
    }),
    closedAt: nullable(DateTime),
    closeReason: nullable(oneOf(['sold', 'settled', 'voided', 'account_reset'])),
    pnlDollars: nullable(Dollars, {
      description: 'Profit or loss in dollars, less its fees; null while open.',
    }),
    resolvedOutcome: nullable(SideSchema, {
      description:
        'The result in the terms of the instrument, as instrumentSide: if the two are equal, ' +
        'the trade won. Null without a result, after a void, and for a result between yes and no.',
    }),
    exitCents: Type.Optional(
      nullable(Type.Integer({ minimum: 0, maximum: 100 }), {
        description: 'Mean exit price of a contract, rounded down; null while open.',
      }),
    ),
  },
  {
    title: 'Trade',
    description:
      'A position in any status. marketTicker, entryCents and exitCents are present only ' +
      'while the venue-data switch is on.',
  },
);

export const Account = strict(
  {
    balanceDollars: described(
      Dollars,
      'Spendable cash, without holds. A corrected result can take it below zero.',
    ),
    netWorthDollars: described(
      Dollars,
      'Balance, holds, and open positions at the live bid; without a bid at cost.',
    ),
    openStakeDollars: described(Dollars, 'Cost of the open positions.'),
    heldDollars: described(Dollars, 'Dollars held by resting buys.'),
    openPositions: Count,
    restingOrders: Count,
    run: described(Contracts, 'Number of the run: 1, and one more after each reset.'),
    runStartedAt: DateTime,
    startBalanceDollars: described(Dollars, 'Balance at the start of the run.'),
    adjustmentsInRunDollars: described(
      Dollars,
      'Sum of the adjustments of the operator in this run.',
    ),
    pnlSinceResetDollars: described(Dollars, 'Profit or loss of this run.'),
    selfResetEnabled: Type.Boolean(),
    resetBlockedBy: nullable(oneOf(['reset_not_enabled', 'reset_too_soon']), {
      description: 'Reason why the account cannot be reset now.',
    }),
    nextResetAt: nullable(DateTime, {
      description: 'If a reset is too soon: 30 days after the last reset.',
    }),
    lifetimePnlDollars: described(Dollars, 'Profit or loss over all runs.'),
    resets: Count,
    busts: described(Count, 'Runs whose net worth fell below a dollar.'),
    lastResetAt: nullable(DateTime),
  },
  { title: 'Account' },
);

export const PortfolioAnswer = strict(
  {
    account: nullable(Account, { description: 'Null before the first trade.' }),
    positions: Type.Array(Position, { maxItems: 500 }),
    positionsCount: described(Count, 'Number of all open positions, listed or not.'),
    positionsTruncated: Type.Boolean({ description: 'Whether there are more than 500.' }),
    orders: Type.Array(PortfolioOrder, { maxItems: 200 }),
    ordersCount: described(Count, 'Number of all resting orders, listed or not.'),
    ordersTruncated: Type.Boolean({ description: 'Whether there are more than 200.' }),
    asOf: AsOf,
    venueData: VenueDataOn,
    mode: Mode,
    organization: Organization,
  },
  { title: 'Portfolio' },
);

const PageEnvelope = {
  nextCursor: NextCursor,
  venueData: VenueDataOn,
  mode: Mode,
  organization: Organization,
};

export const TradesAnswer = strict(
  { trades: Type.Array(Trade), ...PageEnvelope },
  { title: 'TradesPage' },
);
export const OrdersAnswer = strict(
  { orders: Type.Array(Order), ...PageEnvelope },
  { title: 'OrdersPage' },
);
/** The organization is included where the order is read, but not where it is canceled. */
export const OrderAnswer = strict(
  { order: Order, mode: Mode, venueData: VenueDataOn, organization: Organization },
  { title: 'OrderAnswer' },
);

const OfInstrument = Type.Optional(described(InstrumentId, 'Only on this instrument.'));

export const TradesQuery = strict({
  status: Type.Optional(
    oneOf(['open', 'closed', 'settled', 'void'], { description: 'Only in this status.' }),
  ),
  instrumentId: OfInstrument,
  from: Type.Optional(instant('Only trades that were opened at this time or later')),
  to: Type.Optional(instant('Only trades that were opened before this time')),
  limit: limitOf(200, 50),
  cursor: Type.Optional(Cursor),
});

export const OrdersQuery = strict({
  status: Type.Optional(described(OrderStatus, 'Only in this status.')),
  instrumentId: OfInstrument,
  idempotencyKey: Type.Optional(described(IdempotencyKey, 'Only the order with this key.')),
  from: Type.Optional(instant('Only orders that were placed at this time or later')),
  to: Type.Optional(instant('Only orders that were placed before this time')),
  limit: limitOf(200, 50),
  cursor: Type.Optional(Cursor),
});

/** The `{orderId}` of a path. */
export const OrderId = described(Uuid, 'Id of the order, in either case.');
/** The `{tradeId}` of a path. */
export const TradeId = described(Uuid, 'Id of the trade, in either case.');

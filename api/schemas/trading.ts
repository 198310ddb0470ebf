/**
 * Wire shapes of orders, trades and the portfolio. SPEC.md section 2; values of CONTRACT.md
 * section 4. An optional field of an answer is venue data, absent while the switch is off.
 */
import { type Static, Type } from '@sinclair/typebox';
import {
  Contracts,
  Count,
  Cursor,
  DateTime,
  Dollars,
  InstrumentId,
  limitOf,
  Mode,
  NextCursor,
  nullable,
  oneOf,
  PriceCents,
  SideSchema,
  strict,
  Uuid,
  VenueSchema,
} from './common.ts';

const ORDER_STATUSES = ['resting', 'executed', 'canceled', 'expired'] as const;
const ActionSchema = oneOf(['buy', 'sell']);
const OrderTypeSchema = oneOf(['market', 'limit']);
const PlacedViaSchema = oneOf(['api', 'web', 'cli']);
const ProbabilityPct = Type.Integer({ minimum: 1, maximum: 99 });
/** An organization's sandbox answered, not the personal account. */
const Organization = Type.Optional(strict({ slug: Type.String() }));

/** Null where the catalog of now does not know the instrument any more. */
const SUBJECT = {
  instrumentId: nullable(InstrumentId),
  instrumentLabel: nullable(Type.String()),
};

/** The fields a resting order has in the portfolio list. */
const PORTFOLIO_ORDER = {
  orderId: Uuid,
  action: ActionSchema,
  ...SUBJECT,
  instrumentSide: SideSchema,
  orderSide: SideSchema,
  contracts: Contracts,
  filledContracts: Count,
  remainingContracts: Count,
  limitCents: PriceCents,
  holdDollars: Dollars,
  timeInForce: oneOf(['gtc', 'ioc', 'fok']),
  expiresAt: nullable(DateTime),
  status: oneOf(ORDER_STATUSES),
  createdAt: DateTime,
  statedProbPct: nullable(ProbabilityPct),
  placedVia: PlacedViaSchema,
  placedPrivate: Type.Boolean(),
  marketTicker: Type.Optional(Type.String()),
};

const PortfolioOrder = strict(PORTFOLIO_ORDER);

const Order = strict({
  ...PORTFOLIO_ORDER,
  type: Type.Literal('limit'),
  cancelReason: nullable(
    oneOf([
      'canceled_by_owner',
      'ioc_not_filled',
      'fok_not_filled',
      'market_resolved',
      'position_closed',
      'account_reset',
      'expired',
    ]),
  ),
  tradeId: nullable(Uuid),
  fillPriceCents: Type.Optional(nullable(PriceCents)),
});

const POSITION = {
  tradeId: Uuid,
  ...SUBJECT,
  instrumentSide: SideSchema,
  boughtSide: SideSchema,
  contracts: Contracts,
  costDollars: Dollars,
  statedProbPct: nullable(ProbabilityPct),
  placedVia: PlacedViaSchema,
  placedPrivate: Type.Boolean(),
  parlayId: nullable(Uuid),
  fillVenue: nullable(VenueSchema),
  openedAt: DateTime,
  marketTicker: Type.Optional(Type.String()),
  entryCents: Type.Optional(PriceCents),
};

const Position = strict(POSITION);

const Trade = strict({
  ...POSITION,
  status: oneOf(['open', 'closed', 'settled', 'void', 'reset']),
  closedAt: nullable(DateTime),
  closeReason: nullable(oneOf(['sold', 'settled', 'voided', 'account_reset'])),
  pnlDollars: nullable(Dollars),
  resolvedOutcome: nullable(SideSchema),
});

const Account = strict({
  balanceDollars: Dollars,
  netWorthDollars: Dollars,
  openStakeDollars: Dollars,
  heldDollars: Dollars,
  openPositions: Count,
  restingOrders: Count,
  run: Contracts,
  runStartedAt: DateTime,
  startBalanceDollars: Dollars,
  adjustmentsInRunDollars: Dollars,
  pnlSinceResetDollars: Dollars,
  selfResetEnabled: Type.Boolean(),
  resetBlockedBy: nullable(oneOf(['reset_not_enabled', 'reset_too_soon'])),
  nextResetAt: nullable(DateTime),
  lifetimePnlDollars: Dollars,
  resets: Count,
  busts: Count,
  lastResetAt: nullable(DateTime),
});

export const PortfolioAnswer = strict({
  account: nullable(Account),
  positions: Type.Array(Position, { maxItems: 500 }),
  positionsCount: Count,
  positionsTruncated: Type.Boolean(),
  orders: Type.Array(PortfolioOrder, { maxItems: 200 }),
  ordersCount: Count,
  ordersTruncated: Type.Boolean(),
  asOf: DateTime,
  venueData: Type.Boolean(),
  mode: Mode,
  organization: Organization,
});

const PageEnvelope = {
  nextCursor: NextCursor,
  venueData: Type.Boolean(),
  mode: Mode,
  organization: Organization,
};

export const TradesAnswer = strict({ trades: Type.Array(Trade), ...PageEnvelope });
export const OrdersAnswer = strict({ orders: Type.Array(Order), ...PageEnvelope });
/** The organization stands where the order is read, not where it is canceled. */
export const OrderAnswer = strict({
  order: Order,
  mode: Mode,
  venueData: Type.Boolean(),
  organization: Organization,
});

/** SPEC.md section 2, Order placement result. */
export const PlacementAnswer = strict({
  status: oneOf(['executed', 'resting', 'canceled']),
  action: ActionSchema,
  type: OrderTypeSchema,
  idempotencyKey: Type.String(),
  replayed: Type.Boolean(),
  originalCreatedAt: nullable(DateTime),
  order: nullable(Order),
  trade: nullable(Trade),
  fillVenue: nullable(VenueSchema),
  mode: Mode,
  venueData: Type.Boolean(),
  fillPriceCents: Type.Optional(nullable(PriceCents)),
});

export const TradesQuery = strict({
  status: Type.Optional(oneOf(['open', 'closed', 'settled', 'void'])),
  limit: limitOf(200, 50),
  cursor: Type.Optional(Cursor),
});

export const OrdersQuery = strict({
  status: Type.Optional(oneOf(ORDER_STATUSES)),
  limit: limitOf(200, 50),
  cursor: Type.Optional(Cursor),
});

const IdempotencyKey = Type.String({
  pattern: '^[!-~]{1,128}$',
  description: '1 to 128 visible ASCII characters',
});

/**
 * The order body. Which of these belong to which action and type is `order-request.ts`'s.
 * SPEC.md section 4, Trading; names of CONTRACT.md section 3.
 */
export const OrderBodySchema = strict({
  action: ActionSchema,
  type: OrderTypeSchema,
  idempotencyKey: Type.Optional(IdempotencyKey),
  clientOrderId: Type.Optional(IdempotencyKey),
  instrumentId: Type.Optional(InstrumentId),
  ticker: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  side: Type.Optional(SideSchema),
  count: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000 })),
  tradeId: Type.Optional(Uuid),
  limitPriceCents: Type.Optional(PriceCents),
  timeInForce: Type.Optional(
    oneOf(['gtc', 'ioc', 'fok', 'good_till_canceled', 'immediate_or_cancel', 'fill_or_kill']),
  ),
  expiresAt: Type.Optional(DateTime),
  maxPriceCents: Type.Optional(PriceCents),
  minPriceCents: Type.Optional(PriceCents),
  routing: Type.Optional(oneOf(['venue_a', 'best'])),
  statedProbPct: Type.Optional(ProbabilityPct),
  execution: Type.Optional(oneOf(['paper', 'venue_a', 'venue_c_intl', 'venue_c'])),
});
export type OrderBody = Static<typeof OrderBodySchema>;

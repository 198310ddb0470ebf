/**
 * Placing an order: its API description, and the command of a call. Rules A30 to A36, A38, T100, V6
 * (api/RULES.md, engine/RULES.md).
 */
import type { Static } from '@sinclair/typebox';
import type { EpochMs, Uuid } from '../../../engine/base/units.ts';
import type { PlaceOrder } from '../../../engine/rules/messages.ts';
import type { ExecutionVenue } from '../../base/common-schemas.ts';
import type { ErrorCode } from '../../base/errors.ts';
import { newOrderId } from '../../base/uuid.ts';
import type { Caller } from '../../dispatch/access.ts';
import type { About, Call } from '../../dispatch/route.ts';
import { countingOf, type PaperAccount } from '../../identity/accounts.ts';
import type { Switches } from '../../identity/switches.ts';
import { LIMIT_BUY, LIMIT_SELL, MARKET_BUY, MARKET_SELL, TRADE } from '../../schemas/examples.ts';
import type { OrderBody } from '../../schemas/order-body.ts';
import type { PlacementAnswer } from '../../schemas/placing.ts';
import { refusalOfExecution } from '../execution.ts';
import { placeOrderOf } from '../order-request.ts';

/** What the command of a call depends on besides the call. */
export type PlacingContext = {
  /** Undefined: the user has no credential at the venue. */
  identity: { venueKey(userId: Uuid, venue: ExecutionVenue): unknown };
  switches: Pick<Switches, 'trading'>;
};

/** The refusals of the operation's own rules: the API's first, then the engine's in its order. */
export const PLACING_ERRORS: readonly ErrorCode[] = [
  'trading_off',
  'us_not_eligible',
  'venue_a_key_missing',
  'venue_c_intl_key_missing',
  'live_trading_unavailable',
  'idempotency_key_reused',
  'rate_limited',
  'too_late',
  'membership_required',
  'order_group_not_found',
  'order_group_limit',
  'instrument_not_found',
  'no_tradable_listing',
  'trade_not_found',
  'already_closed',
  'market_resolved',
  'market_not_open',
  'no_liquidity',
  'price_moved',
  'would_take',
  'insufficient_balance',
];

export const ABOUT_PLACING: About<Static<typeof PlacementAnswer>, OrderBody> = {
  operationId: 'placeOrder',
  tag: 'Trading',
  summary: 'Place an order',
  description:
    'A market order fills now at the live price or is refused. A limit order fills at its limit ' +
    'or better. Otherwise a gtc order rests until it fills, is canceled or expires. An ioc or ' +
    'fok order is canceled at once. A sell covers the whole position. A refused order stores ' +
    "nothing and does not use its key up. Execution at a venue needs that venue's scope besides " +
    '`trade:write`. In the examples, put an instrument of `GET /instruments?tradable=true` and a ' +
    'trade of `GET /portfolio/trades?status=open`.',
  bodyExamples: {
    'Market buy': MARKET_BUY,
    'Limit buy that rests': LIMIT_BUY,
    'Market sell': MARKET_SELL,
    'Limit sell': LIMIT_SELL,
  },
  example: {
    status: 'executed',
    action: 'buy',
    type: 'market',
    idempotencyKey: 'buy-1',
    replayed: false,
    originalCreatedAt: null,
    order: null,
    trade: TRADE,
    fillVenue: 'venue_a',
    mode: 'paper',
    venueData: true,
    fillPriceCents: 44,
  },
};

type PlacingCall = Pick<Call<unknown, OrderBody, Caller>, 'caller' | 'body' | 'connection'> & {
  account: PaperAccount;
};

/**
 * The command of a call that places or previews an order. A code: the order is refused before it.
 */
export function commandOf(
  { identity, switches }: PlacingContext,
  { caller: { user, credentialId, placedVia }, account, body, connection }: PlacingCall,
  atMs: EpochMs,
): PlaceOrder | ErrorCode {
  const mayTrade = switches.trading;
  const refused = refusalOfExecution(body.execution, mayTrade, (venue) =>
    identity.venueKey(user.id, venue),
  );
  if (refused !== null) return refused;
  return placeOrderOf(body, {
    atMs,
    account: account.id,
    orderId: newOrderId(atMs),
    placedVia,
    placedPrivate: account.isPrivate,
    connection: connection?.placing(account.id) ?? null,
    // Also in an organization the plan of the caller counts.
    mayOpen: user.plan !== 'none',
    // Only the engine knows whether this request repeats an order it has placed.
    mayTrade,
    realism: account.realism,
    counting: countingOf(user, credentialId, account),
  });
}

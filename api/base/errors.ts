/**
 * Every error code of the service with its status, message and cause. The wire body
 * is `{error: {code, message}}`. Rules E1 to E3 (api/RULES.md).
 */
import { REJECTIONS } from '../../engine/rules/rejections.ts';

type ErrorRow = { status: number; message: string; when: string };

export const ERRORS = {
  invalid_request: {
    status: 400,
    message: REJECTIONS.invalid_request,
    when: 'bad query, body, cursor or X-Service-Org; 413 for a body too large; 403 from history',
  },
  unauthorized: {
    status: 401,
    message: 'Send an API key: "Authorization: Bearer svc_sk_..." or "x-service-key: svc_sk_...".',
    when: 'no credential, or a session cookie that another site could have sent',
  },
  invalid_token: {
    status: 401,
    message: 'The API key is not valid.',
    when: 'malformed, unknown, revoked or expired key or session',
  },
  session_required: {
    status: 401,
    message: 'This call takes a signed-in session, not a key.',
    when: 'a key presented on a call for sessions: key management, PATCH /me and /me/sessions',
  },
  insufficient_scope: {
    status: 403,
    message: 'The API key lacks the scope of this call.',
    when: 'key or session lacks the scope of the endpoint or of the chosen execution',
  },
  guest_account: {
    status: 403,
    message: 'A guest has no account; sign in or sign up.',
    when: 'session of a guest',
  },
  scope_not_available: {
    status: 403,
    message: 'The scope trade:write is not available now.',
    when: 'trade:write requested while trading with keys is off',
  },
  venue_data_off: {
    status: 403,
    message: 'Venue data is switched off.',
    when: 'quotes or history routes while the switch is off',
  },
  trading_off: {
    status: 403,
    message: REJECTIONS.trading_off,
    when: 'trading with keys is switched off',
  },
  membership_required: {
    status: 403,
    message: REJECTIONS.membership_required,
    when: 'opening a position without the basic plan or a higher one',
  },
  us_not_eligible: {
    status: 403,
    message: 'The US variant of venue_c is not offered.',
    when: 'execution venue_c',
  },
  organization_forbidden: {
    status: 403,
    message: 'This key cannot use that organization.',
    when: 'organization the key cannot use',
  },
  organization_not_found: {
    status: 404,
    message: 'No such organization.',
    when: 'unknown organization',
  },
  route_not_found: { status: 404, message: 'No such path.', when: 'unknown path' },
  market_not_found: {
    status: 404,
    message: 'No such market.',
    when: 'unknown market of a history route, or 404 from a history service',
  },
  instrument_not_found: {
    status: 404,
    message: REJECTIONS.instrument_not_found,
    when: 'unknown or malformed instrument ref',
  },
  game_not_found: {
    status: 404,
    message: 'No such game.',
    when: 'unknown or malformed game ref',
  },
  trader_not_found: { status: 404, message: 'No such trader.', when: 'unknown trader' },
  account_not_found: {
    status: 404,
    message: REJECTIONS.account_not_found,
    when: 'the account of the key is gone or closed',
  },
  key_not_found: {
    status: 404,
    message: 'No such key.',
    when: 'no such key of this account, or it is revoked, expired or (for rotate) not active',
  },
  session_not_found: {
    status: 404,
    message: 'No such session.',
    when: 'no such session of this person, or it has ended',
  },
  trade_not_found: {
    status: 404,
    message: REJECTIONS.trade_not_found,
    when: 'unknown trade, or of another account',
  },
  order_not_found: {
    status: 404,
    message: REJECTIONS.order_not_found,
    when: 'unknown order, or of another account',
  },
  order_group_not_found: {
    status: 404,
    message: REJECTIONS.order_group_not_found,
    when: 'unknown order group, or of another account',
  },
  method_not_allowed: {
    status: 405,
    message: 'This path does not take that method; see Allow.',
    when: 'wrong method on a known path',
  },
  too_late: {
    status: 409,
    message: REJECTIONS.too_late,
    when: 'the order arrived later than its rejectIfLaterThan',
  },
  idempotency_key_reused: {
    status: 409,
    message: REJECTIONS.idempotency_key_reused,
    when: 'same idempotency key, different order',
  },
  no_tradable_listing: {
    status: 409,
    message: REJECTIONS.no_tradable_listing,
    when: 'instrument does not list on one live venue_a market',
  },
  price_moved: {
    status: 409,
    message: REJECTIONS.price_moved,
    when: 'price cap or floor of a market order not met',
  },
  insufficient_balance: {
    status: 409,
    message: REJECTIONS.insufficient_balance,
    when: 'cost above the spendable balance',
  },
  market_not_open: {
    status: 409,
    message: REJECTIONS.market_not_open,
    when: 'the venue market is paused or closed',
  },
  market_resolved: {
    status: 409,
    message: REJECTIONS.market_resolved,
    when: 'the venue market has a result',
  },
  no_liquidity: {
    status: 409,
    message: REJECTIONS.no_liquidity,
    when: 'no quote, an empty side, or a quote older than the freshness bound',
  },
  already_closed: {
    status: 409,
    message: REJECTIONS.already_closed,
    when: 'the trade is not open, or the order is not resting',
  },
  venue_a_key_missing: {
    status: 409,
    message: 'No credential for venue_a is stored.',
    when: 'execution venue_a with its scope and no venue credential stored',
  },
  venue_c_intl_key_missing: {
    status: 409,
    message: 'No credential for venue_c_intl is stored.',
    when: 'execution venue_c_intl with its scope and no venue credential stored',
  },
  venue_a_rejected: {
    status: 409,
    message: 'venue_a refused the order.',
    when: 'the venue refused the order; not yet given, since nothing is sent to a venue',
  },
  venue_c_intl_rejected: {
    status: 409,
    message: 'venue_c_intl refused the order.',
    when: 'the venue refused the order; not yet given, since nothing is sent to a venue',
  },
  live_trading_unavailable: {
    status: 409,
    message: 'Live trading is not open yet; nothing was sent.',
    when: 'execution chosen with its scope and a stored credential',
  },
  key_limit_reached: {
    status: 409,
    message: 'The account holds 10 active keys already.',
    when: 'the account holds 10 active keys; rotating ones are not counted',
  },
  would_take: {
    status: 409,
    message: REJECTIONS.would_take,
    when: 'a post-only order that would take at the live price',
  },
  order_group_limit: {
    status: 409,
    message: REJECTIONS.order_group_limit,
    when: 'the group has traded its limit within its window',
  },
  order_groups_full: {
    status: 409,
    message: REJECTIONS.order_groups_full,
    when: 'the account holds 25 order groups',
  },
  reset_not_available: {
    status: 409,
    message: 'The account cannot be reset now; see resetBlockedBy.',
    when: 'self-reset is blocked',
  },
  rate_limited: {
    status: 429,
    message: 'Too many requests in this minute.',
    when: 'over the minute limit, or a hard trade limit',
  },
  quota_exceeded: {
    status: 429,
    message: 'The requests of this month are used up.',
    when: 'over the month',
  },
  key_creation_limited: {
    status: 429,
    message: 'Too many keys were created today.',
    when: 'more than 20 keys created in a UTC day',
  },
  internal_error: {
    status: 500,
    message: 'Something went wrong on our side.',
    when: 'a fault of ours; 503 while the engine, or a service that is asked, cannot be used',
  },
  not_leader: {
    status: 503,
    message: 'Another node of the cluster takes this request.',
    when: 'another node leads the shard of the account, or the users and keys; `leader` is its address, null: none does now',
  },
  not_configured: {
    status: 503,
    message: 'This server is configured without this service.',
    when: 'a forwarded service that is configured away',
  },
} as const satisfies Record<string, ErrorRow> & Record<keyof typeof REJECTIONS, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;

export type ErrorOptions = {
  message?: string;
  /** Set if it differs from the code's own status: 413, 503. */
  status?: number;
  retryAfterSeconds?: number;
  /** Header names and values in turn. */
  headers?: readonly string[];
  /** The address of the node that takes the request; null: none does now. */
  leader?: string | null;
};

/** A refusal for the caller. Any check may throw it; the dispatcher writes it. */
export class Refusal extends Error {
  readonly code: string;
  readonly status: number;
  readonly retryAfterSeconds: number | null;
  readonly headers: readonly string[];
  readonly leader: string | null | undefined;

  constructor(code: string, row: { status: number; message: string }, options: ErrorOptions = {}) {
    super(options.message ?? row.message);
    this.name = 'Refusal';
    this.code = code;
    this.status = options.status ?? row.status;
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
    this.headers = options.headers ?? [];
    this.leader = options.leader;
  }
}

/** A refusal with a code of the table above. */
export class ApiError extends Refusal {
  declare readonly code: ErrorCode;

  constructor(code: ErrorCode, options: ErrorOptions = {}) {
    super(code, ERRORS[code], options);
    this.name = 'ApiError';
  }
}

/** A 400 `invalid_request` whose message names the field and its problem. */
export function invalidRequest(message: string): ApiError {
  return new ApiError('invalid_request', { message });
}

/** The wire body of a refusal; each base path may have its own form. */
export type ErrorBody = (
  code: string,
  message: string,
  retryAfterSeconds: number | null,
  status: number,
  leader?: string | null,
) => string;

/** The wire body of an error. Rule E1 (api/RULES.md), N114 (engine/RULES.md). */
export function errorBody(
  code: string,
  message: string,
  retryAfterSeconds: number | null,
  _status?: number,
  leader?: string | null,
): string {
  const retry = retryAfterSeconds === null ? {} : { retryAfterSeconds };
  // JSON leaves out what is undefined.
  return JSON.stringify({ error: { code, message, ...retry, leader } });
}

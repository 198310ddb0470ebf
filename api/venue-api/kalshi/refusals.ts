/**
 * Refusals in the venue's form: `{"error":{"code","message","details"}}`, with its own codes and
 * statuses. Rules A203, A204 (api/RULES.md).
 */
import type { Refusal as EngineRefusal } from '../../../engine/rules/messages.ts';
import type { RejectionCode } from '../../../engine/rules/rejections.ts';
import { Refusal } from '../../base/errors.ts';

type Row = { status: number; code: string };

/** A refusal with a code of the venue. */
export class VenueError extends Refusal {
  constructor(
    { status, code }: Row,
    details: string,
    retryAfterSeconds: number | null = null,
    headers: readonly string[] = [],
  ) {
    const options = retryAfterSeconds === null ? {} : { retryAfterSeconds };
    super(code, { status, message: details }, { ...options, headers: [...headers] });
  }
}

export const INVALID_PARAMETERS: Row = { status: 400, code: 'invalid_parameters' };
const INVALID_ORDER: Row = { status: 400, code: 'invalid_order' };
const INVALID_PRICE: Row = { status: 400, code: 'invalid_price' };
const INVALID_COUNT: Row = { status: 400, code: 'invalid_count' };
const NOT_FOUND: Row = { status: 404, code: 'not_found' };
const PAUSED: Row = { status: 409, code: 'trading_is_paused' };

export const invalidParameters = (details: string) => new VenueError(INVALID_PARAMETERS, details);
export const invalidOrder = (details: string) => new VenueError(INVALID_ORDER, details);
export const invalidPrice = (details: string) => new VenueError(INVALID_PRICE, details);
export const invalidCount = (details: string) => new VenueError(INVALID_COUNT, details);
export const notFound = (details: string) => new VenueError(NOT_FOUND, details);
export const fokKilled = () =>
  new VenueError(
    { status: 409, code: 'fill_or_kill_insufficient_resting_volume' },
    'fill or kill insufficient resting volume',
  );
export const alreadyExists = () =>
  new VenueError({ status: 409, code: 'order_already_exists' }, 'order already exists');

/** Of the engine's codes; the others keep code and status. */
const ROWS: Partial<Record<RejectionCode | string, Row>> = {
  idempotency_key_reused: { status: 409, code: 'order_already_exists' },
  invalid_request: INVALID_PARAMETERS,
  insufficient_balance: { status: 400, code: 'insufficient_balance' },
  no_tradable_listing: NOT_FOUND,
  instrument_not_found: NOT_FOUND,
  trade_not_found: NOT_FOUND,
  order_not_found: NOT_FOUND,
  order_group_not_found: NOT_FOUND,
  key_not_found: NOT_FOUND,
  account_not_found: NOT_FOUND,
  already_closed: INVALID_ORDER,
  would_take: INVALID_ORDER,
  order_group_limit: INVALID_ORDER,
  order_groups_full: INVALID_PARAMETERS,
  market_resolved: { status: 409, code: 'market_closed' },
  market_not_open: PAUSED,
  no_liquidity: PAUSED,
  price_moved: INVALID_ORDER,
  trading_off: { status: 403, code: 'permission_denied' },
  membership_required: { status: 403, code: 'permission_denied' },
  key_limit_reached: INVALID_PARAMETERS,
};
/** By the venue's own words, which clients look for. */
const WORDS: Partial<Record<string, string>> = {
  would_take: 'post only cross',
  already_closed: 'the order is not resting, or nothing is left to reduce',
};

/** A refusal of the engine, thrown. */
export function refusalOfEngine(refusal: EngineRefusal): VenueError {
  const { code, message, retryAfterSeconds } = refusal;
  const row = ROWS[code] ?? { status: code === 'rate_limited' ? 429 : 409, code };
  return new VenueError(row, WORDS[code] ?? message, retryAfterSeconds ?? null);
}

/** Codes of refusals that all routes share. */
const SHARED: Readonly<Record<string, string>> = {
  unauthorized: 'authentication_error',
  invalid_token: 'authentication_error',
  insufficient_scope: 'permission_denied',
  trading_off: 'permission_denied',
  venue_data_off: 'permission_denied',
  membership_required: 'permission_denied',
  route_not_found: 'not_found',
  account_not_found: 'not_found',
  method_not_allowed: 'method_not_allowed',
  invalid_request: 'invalid_parameters',
  rate_limited: 'too_many_requests',
  quota_exceeded: 'too_many_requests',
  not_configured: 'service_unavailable',
  not_leader: 'service_unavailable',
};

/** The wire body of a refusal. `message` repeats the code in words, as the venue does. */
export function venueErrorBody(
  code: string,
  message: string,
  _retryAfterSeconds: number | null,
  status: number,
): string {
  return JSON.stringify({ error: errorOf(code, message, status) });
}

export type VenueErrorView = { code: string; message: string; details: string; service: string };

export function errorOf(code: string, details: string, status: number): VenueErrorView {
  // The engine cannot take the request now.
  const ours = status === 503 ? 'service_unavailable' : code;
  const shown = SHARED[ours] ?? ours;
  return { code: shown, message: shown.replaceAll('_', ' '), details, service: 'paperbook' };
}

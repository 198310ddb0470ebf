import test from 'ava';
import { ErrorAnswer } from '../../../api/base/common-schemas.ts';
import { ApiError, ERRORS, type ErrorCode, errorBody } from '../../../api/base/errors.ts';
import { createAjv } from '../../../api/base/validation.ts';
import { REJECTIONS } from '../../../engine/rules/rejections.ts';

const CODES_BY_STATUS: Record<number, ErrorCode[]> = {
  400: ['invalid_request'],
  401: ['unauthorized', 'invalid_token', 'session_required'],
  403: [
    'insufficient_scope',
    'guest_account',
    'scope_not_available',
    'venue_data_off',
    'organization_forbidden',
    'membership_required',
    'trading_off',
    'us_not_eligible',
  ],
  404: [
    'organization_not_found',
    'route_not_found',
    'market_not_found',
    'key_not_found',
    'session_not_found',
    'trader_not_found',
    'account_not_found',
    'instrument_not_found',
    'game_not_found',
    'trade_not_found',
    'order_not_found',
    'order_group_not_found',
  ],
  405: ['method_not_allowed'],
  409: [
    'idempotency_key_reused',
    'no_tradable_listing',
    'price_moved',
    'key_limit_reached',
    'venue_a_key_missing',
    'venue_c_intl_key_missing',
    'venue_a_rejected',
    'venue_c_intl_rejected',
    'live_trading_unavailable',
    'insufficient_balance',
    'market_not_open',
    'market_resolved',
    'no_liquidity',
    'reset_not_available',
    'already_closed',
    'too_late',
    'would_take',
    'order_group_limit',
    'order_groups_full',
  ],
  429: ['rate_limited', 'quota_exceeded', 'key_creation_limited'],
  500: ['internal_error'],
  503: ['not_configured', 'not_leader'],
};

test('E2: every code has its status', (t) => {
  const listed = Object.entries(CODES_BY_STATUS).flatMap(([status, codes]) =>
    codes.map((code) => [code, Number(status)] as const),
  );
  const table = Object.entries(ERRORS).map(([code, { status }]) => [code, status] as const);
  t.deepEqual(new Map(table.sort()), new Map(listed.sort()));
});

test('every error has a sentence and says when it is given', (t) => {
  for (const [code, { message, when }] of Object.entries(ERRORS)) {
    t.regex(message, /^[A-Za-z].+\.$/, code);
    t.true(when.length > 0, code);
  }
});

test('E1: the wire body', (t) => {
  const validate = createAjv().compile(ErrorAnswer);
  for (const retryAfterSeconds of [null, 7]) {
    const body = JSON.parse(errorBody('rate_limited', 'Too many.', retryAfterSeconds));
    t.true(validate(body));
    t.is(body.error.retryAfterSeconds, retryAfterSeconds ?? undefined);
  }
});

test('an error of the table carries its own sentence and status by default', (t) => {
  const error = new ApiError('trade_not_found');
  t.like(error, { status: 404, message: 'No such trade.', retryAfterSeconds: null });
  t.like(new ApiError('invalid_request', { status: 413, message: 'x' }), {
    status: 413,
    message: 'x',
  });
});

test('A38: membership_required says who grants the plan', (t) => {
  const { message } = ERRORS.membership_required;
  t.regex(message, /The operator of this server grants it \(paperbook admin plan USER_ID basic\)/);
  t.is(REJECTIONS.membership_required, message, 'in the words of the core, too');
});

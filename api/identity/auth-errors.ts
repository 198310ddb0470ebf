/**
 * Refusals of /auth/v1, with the codes, messages and form of GoTrue that its client libraries read.
 * Rule I32 (api/RULES.md).
 */
import { type ErrorOptions, Refusal } from '../base/errors.ts';
import { PASSWORD_CHARACTERS_MIN } from './passwords.ts';

const AUTH_ERRORS = {
  validation_failed: { status: 400, message: 'The request cannot be used.' },
  invalid_credentials: { status: 400, message: 'Invalid login credentials' },
  phone_provider_disabled: { status: 400, message: 'Sign-in by phone is not offered' },
  user_already_exists: { status: 422, message: 'User already registered' },
  weak_password: {
    status: 422,
    message: `Password should be at least ${PASSWORD_CHARACTERS_MIN} characters.`,
  },
  same_password: {
    status: 422,
    message: 'New password should be different from the old password.',
  },
  current_password_required: {
    status: 400,
    message: 'Current password required when setting new password.',
  },
  current_password_invalid: { status: 400, message: 'The current password is not right.' },
  refresh_token_not_found: {
    status: 400,
    message: 'Invalid Refresh Token: Refresh Token Not Found',
  },
  refresh_token_already_used: { status: 400, message: 'Invalid Refresh Token: Already Used' },
  no_authorization: { status: 401, message: 'This endpoint requires a valid Bearer token' },
  bad_jwt: { status: 403, message: 'invalid JWT: it is malformed, expired or not of this server' },
  session_not_found: {
    status: 403,
    message: 'Session from session_id claim in JWT does not exist',
  },
  otp_expired: { status: 403, message: 'Email link is invalid or has expired' },
  over_request_rate_limit: { status: 429, message: 'Too many attempts. Try again later.' },
} as const;

type AuthErrorCode = keyof typeof AUTH_ERRORS;

/** GoTrue's codes for refusals of the dispatcher itself. */
const SHARED_CODES: Record<string, string> = {
  invalid_request: 'validation_failed',
  internal_error: 'unexpected_failure',
  route_not_found: 'not_found',
};

export class AuthError extends Refusal {
  declare readonly code: AuthErrorCode;

  constructor(code: AuthErrorCode, options: ErrorOptions = {}) {
    super(code, AUTH_ERRORS[code], options);
    this.name = 'AuthError';
  }
}

/** `{code: status, error_code, msg}`. */
export function authErrorBody(
  code: string,
  message: string,
  _retryAfterSeconds: number | null,
  status: number,
): string {
  const reasons = code === 'weak_password' ? { weak_password: { reasons: ['length'] } } : {};
  const errorCode = SHARED_CODES[code] ?? code;
  return JSON.stringify({ code: status, error_code: errorCode, msg: message, ...reasons });
}

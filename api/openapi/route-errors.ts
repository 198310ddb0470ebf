/**
 * The errors of a route: errors that follow from its declaration, and errors that it lists itself.
 * Rules A17, E2 (api/RULES.md).
 */
import { ERRORS, type ErrorCode } from '../base/errors.ts';
import type { Route } from '../dispatch/route.ts';

export type RouteError = { status: number; code: ErrorCode };

type Declared = Pick<
  Route<never>,
  | 'access'
  | 'isCounted'
  | 'scope'
  | 'ofAccount'
  | 'needs'
  | 'readBody'
  | 'mayBeUnavailable'
  | 'writesControl'
  | 'errors'
>;

/** Each status and code once, in the order of checks. Rule A17 (api/RULES.md). */
export function errorsOf(route: Declared): RouteError[] {
  const errors: RouteError[] = [];
  const add = (code: ErrorCode, status: number = ERRORS[code].status) => {
    if (errors.some((known) => known.code === code && known.status === status)) return;
    errors.push({ status, code });
  };
  // A session takes the place of a key, too.
  const takesSession = route.access === 'key' || route.access === 'session';
  if (route.access !== 'open') {
    add('unauthorized');
    add('invalid_token');
  }
  if (route.access === 'session') add('session_required');
  if (takesSession) add('guest_account');
  if (route.scope !== null) add('insufficient_scope');
  if (route.access === 'key' && route.isCounted) {
    add('rate_limited');
    add('quota_exceeded');
  }
  add('invalid_request');
  if (route.readBody !== null) add('invalid_request', 413);
  if (route.ofAccount) {
    add('organization_not_found');
    add('organization_forbidden');
  }
  if (route.needs === 'venueData') add('venue_data_off');
  for (const error of route.errors) {
    if (typeof error === 'string') add(error);
    else add(error.code, error.status);
  }
  // The session may belong to an outside auth server, whose keys cannot always be fetched. There
  // may be no memory for another body.
  const mayLack = takesSession || route.readBody !== null;
  if (route.mayBeUnavailable || mayLack) add('internal_error', 503);
  // In a cluster another node may lead the shard of the account, or the control data.
  if (route.mayBeUnavailable || route.writesControl) add('not_leader');
  if (route.access !== 'open') add('internal_error');
  return errors;
}

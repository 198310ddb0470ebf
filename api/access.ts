/**
 * Who may call what: keys and scopes from the headers, then the organization and the switches.
 * SPEC.md sections 4 (Organization header) and 5; CONTRACT.md section 1.
 */
import { isUuid } from '../engine/core/ids.ts';
import { ApiError, invalidRequest } from './errors.ts';
import type { Exchange } from './http.ts';
import { hashOfToken, isLastUseStale, type Key, keyStatus, type Scope } from './identity/keys.ts';
import type { ControlStore } from './identity/store.ts';
import type { User } from './identity/users.ts';
import type { Call, Route } from './route.ts';
import type { Switches } from './switches.ts';

export type Caller = { user: User; key: Key };

const BEARER = /^bearer +/i;

/** The key of the request's credential headers, whose use it keeps. */
export function authorizer(store: ControlStore, onWriteFailed: (error: unknown) => void) {
  return (exchange: Exchange): Caller => {
    const token = credentialOf(exchange);
    // Keys live on the wall clock, whatever clock the engine is on. CONTRACT.md section 8.
    const nowMs = Date.now();
    const key = store.keyByHash(hashOfToken(token));
    if (key === undefined) throw invalidToken();
    const status = keyStatus(key, nowMs);
    if (status === 'revoked' || status === 'expired') throw invalidToken();
    const user = store.users.get(key.userId);
    if (user === undefined) throw new ApiError('account_not_found');
    if (isLastUseStale(key, nowMs)) {
      store.putKey({ ...key, lastUsedAtMs: nowMs }).catch(onWriteFailed);
    }
    return { user, key };
  };
}

/** Throws unless the caller's key holds the scope of the route. */
export function permit({ scope }: Route<Caller>, { key }: Caller): void {
  if (scope !== null) requireScope(key, scope);
}

/** The checks behind the body, in order: the scope a body asks for, organization, switch. */
export function admitter(switches: Switches) {
  return (route: Route<Caller>, call: Call<unknown, unknown, Caller>): void => {
    const scope = route.scopeOfBody(call.body);
    if (scope !== null) requireScope(call.caller.key, scope);
    if (call.organization !== null) throw organizationRefusal(call.organization);
    if (route.needs === 'venueData' && !switches.venueData) throw new ApiError('venue_data_off');
    if (route.needs === 'trading' && !switches.trading) throw new ApiError('trading_off');
  };
}

/**
 * The token of either header; both may name the same key. An Authorization header of another
 * scheme is not a key, so it counts as none.
 */
function credentialOf(exchange: Exchange): string {
  const authorization = exchange.header('authorization');
  const ownHeader = exchange.header('x-service-key');
  const bearer = BEARER.test(authorization) ? authorization.replace(BEARER, '') : '';
  if (bearer === '' && ownHeader === '') {
    if (/^bearer$/i.test(authorization)) throw invalidToken();
    throw new ApiError('unauthorized', {
      headers: ['WWW-Authenticate', 'Bearer error="invalid_request"'],
    });
  }
  if (bearer !== '' && ownHeader !== '' && bearer !== ownHeader) {
    throw invalidRequest('Authorization and x-service-key carry two different keys');
  }
  return bearer === '' ? ownHeader : bearer;
}

function invalidToken(): ApiError {
  return new ApiError('invalid_token', {
    headers: ['WWW-Authenticate', 'Bearer error="invalid_token"'],
  });
}

function requireScope(key: Key, scope: Scope): void {
  if (key.scopes.includes(scope)) return;
  throw new ApiError('insufficient_scope', {
    message: `The API key lacks the scope ${scope}.`,
    headers: ['WWW-Authenticate', `Bearer error="insufficient_scope", scope="${scope}"`],
  });
}

/** No organization exists yet, so every well-formed id is unknown. */
function organizationRefusal(id: string): ApiError {
  return isUuid(id)
    ? new ApiError('organization_not_found')
    : invalidRequest('X-Service-Org must be an organization id');
}

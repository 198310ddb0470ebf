/**
 * A person's session as a credential: the cookie of a browser, or a bearer token of the command
 * line. Rules I20 to I23 (api/RULES.md).
 */
import type { Uuid } from '../../engine/rules/units.ts';
import { credentialHeader } from '../credential-header.ts';
import { ApiError, invalidRequest } from '../errors.ts';
import type { Exchange } from '../exchange.ts';
import { isKeyToken, type Key } from './keys.ts';
import type { User } from './users.ts';

/** A caller with a session. `sessionId` is null where an outside server keeps the sessions. */
export type SessionCaller = { user: User; sessionId: Uuid | null; via: Key['createdVia'] };

/** The holder of a valid token; a guest is no user. */
export type Person = { user: User; sessionId: Uuid | null } | 'guest';

/** The source of sessions: the embedded auth server or an outside one. */
export interface SessionSource {
  /** The person of an access token; null when it is not valid. Rejects when that is unknown now. */
  personOf(accessToken: string): Promise<Person | null>;
  /** Whether a session has not ended yet. */
  isLive(sessionId: Uuid): boolean;
}

const COOKIE = 'sb-access-token';
const BEARER = /^bearer( +|$)/i;
const JSON_TYPE = /^application\/json *(;|$)/i;
const BODY_METHODS = ['POST', 'PUT', 'PATCH'];

/**
 * Reads the session of a request. Throws `unauthorized` without one, `session_required` for a key,
 * and rejects with `invalid_token` or `guest_account`, then with `invalid_request` when the request
 * declares a body other than JSON. `scheme` is the one browsers see.
 */
export function sessionReader(source: SessionSource, scheme: 'http' | 'https') {
  return (exchange: Exchange): Promise<SessionCaller> => {
    const { token, via } = sessionToken(exchange, scheme);
    return callerOf(source, token, via, isJsonOrNothing(exchange));
  };
}

/** Throws `invalid_token` when the session ended after it was read. */
export function requireLiveSession(source: SessionSource, { sessionId }: SessionCaller): void {
  if (sessionId !== null && !source.isLive(sessionId)) throw invalidSession();
}

async function callerOf(
  source: SessionSource,
  token: string,
  via: SessionCaller['via'],
  isJson: boolean,
): Promise<SessionCaller> {
  const person = await source.personOf(token);
  if (person === null) throw invalidSession();
  if (person === 'guest') throw new ApiError('guest_account');
  if (!isJson) throw invalidRequest('Content-Type must be application/json');
  return { ...person, via };
}

type SessionToken = { token: string; via: SessionCaller['via'] };

function sessionToken(exchange: Exchange, scheme: string): SessionToken {
  const authorization = credentialHeader(exchange, 'authorization');
  const bearer = BEARER.test(authorization) ? authorization.replace(BEARER, '') : null;
  if (
    credentialHeader(exchange, 'x-service-key') !== '' ||
    (bearer !== null && isKeyToken(bearer))
  ) {
    throw new ApiError('session_required', { headers: ['WWW-Authenticate', 'Bearer'] });
  }
  if (bearer !== null) return { token: bearer, via: 'cli' };
  const cookie = cookieOf(exchange.joinedHeader('cookie', '; ') ?? '');
  if (cookie === null) throw unauthorized('Send the access token of a session: sign in first.');
  requireSameOriginJson(exchange, scheme);
  return { token: cookie, via: 'web' };
}

/**
 * A browser sends the cookie even with a request that another site caused, so the request must
 * prove that it is the site's own: by the origin that browsers state and, where it changes
 * something, by a content type that another site's form cannot send.
 */
function requireSameOriginJson(exchange: Exchange, scheme: string): void {
  const site = exchange.header('sec-fetch-site');
  const origin = exchange.header('origin');
  const isForeign =
    (site !== '' && site !== 'same-origin') ||
    (origin !== '' && origin !== `${scheme}://${exchange.header('host')}`);
  if (isForeign) throw unauthorized('The cookie counts only on requests of the same origin.');
  if (BODY_METHODS.includes(exchange.method) && exchange.header('content-type') === '') {
    throw unauthorized('The cookie counts only on requests with Content-Type: application/json.');
  }
}

/** Whether a request declares JSON, or has no body. */
function isJsonOrNothing(exchange: Exchange): boolean {
  const type = exchange.joinedHeader('content-type');
  return type === null ? !exchange.hasBody() : JSON_TYPE.test(type);
}

function cookieOf(header: string): string | null {
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    if (pair.slice(0, equals).trim() === COOKIE) return pair.slice(equals + 1).trim();
  }
  return null;
}

function unauthorized(message: string): ApiError {
  return new ApiError('unauthorized', {
    message,
    headers: ['WWW-Authenticate', 'Bearer error="invalid_request"'],
  });
}

function invalidSession(): ApiError {
  return new ApiError('invalid_token', {
    message: 'The session is not valid. Sign in again.',
    headers: ['WWW-Authenticate', 'Bearer error="invalid_token"'],
  });
}

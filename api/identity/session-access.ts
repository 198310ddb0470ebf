/**
 * A person's session as a credential: the cookie of a browser, or a bearer token of the command
 * line. It can replace a key, too. Rules I20 to I29 (api/RULES.md).
 */
import type { EpochMs, Uuid } from '../../engine/base/units.ts';
import { ApiError, invalidRequest } from '../base/errors.ts';
import type { HttpContext } from '../http/http-context.ts';
import { credentialHeader } from './credential-header.ts';
import { DEFAULT_SCOPES, isKeyToken, type Scope } from './keys.ts';
import type { User } from './users.ts';

/** The holder of a valid token; a guest is no user. */
export type Person = Signed | 'guest';
type Signed = {
  user: User;
  /** The same for all tokens of a session. */
  sessionId: Uuid;
  /** When the token ends. */
  validUntilMs: EpochMs;
};

/** A caller with a session, with the fields of a caller with a key. */
export type SessionCaller = {
  user: User;
  key: null;
  /** The id that the trade limits of a key count by: here the session's id. */
  credentialId: Uuid;
  scopes: readonly Scope[];
  /** `web`: by the cookie. */
  placedVia: 'web' | 'cli';
  /** As the caller sent it; calls to an outside service forward it. */
  token: string;
  /** When the token ends. */
  validUntilMs: EpochMs;
};

/** The source of sessions: the embedded auth server or an outside one. */
export interface SessionSource {
  /** The person of an access token; null when it is not valid. Rejects when that is unknown now. */
  personOf(accessToken: string): Promise<Person | null>;
  /** Whether a session has not ended yet. */
  isLive(sessionId: Uuid): boolean;
}

const COOKIE = 'sb-access-token';
const BEARER = /^bearer( +|$)/i;
/** The form of a signed token (RFC 7515, 3.1), which no key has. */
const SIGNED_TOKEN = /^[\w-]+\.[\w-]+\.[\w-]*$/;
/** Rule I25 (api/RULES.md). */
const WHILE_TRADING: readonly Scope[] = [...DEFAULT_SCOPES, 'trade:write'];
const JSON_TYPE = /^application\/json *(;|$)/i;
const BODY_METHODS = ['POST', 'PUT', 'PATCH'];

/** Whether a credential has the form of a session's token. */
export function isAccessToken(token: string): boolean {
  return SIGNED_TOKEN.test(token);
}

export type SessionOptions = {
  source: SessionSource;
  /** The scheme that browsers see. */
  scheme: 'http' | 'https';
  switches: { trading: boolean };
};

/**
 * Reads the session of a request; null without one. Throws `session_required` for a key, and
 * `unauthorized` for a cookie that another site could have sent. Rejects with `invalid_token` or
 * `guest_account`, and with `invalid_request` when the request declares a body other than JSON.
 */
export function sessionReader({ source, scheme, switches }: SessionOptions) {
  return (http: HttpContext): Promise<SessionCaller> | null => {
    const found = sessionToken(http, scheme);
    if (found === null) return null;
    return callerOf(source, found, isJsonOrNothing(http), scopesNow(switches));
  };
}

/** Reads a session's caller again, with the present owner and switch. Throws the 401. */
export function sessionAgain(
  { source, switches }: Pick<SessionOptions, 'source' | 'switches'>,
  users: { get(id: Uuid): User | undefined },
) {
  return (caller: SessionCaller): SessionCaller => {
    requireLiveSession(source, caller);
    const user = users.get(caller.user.id);
    if (user === undefined) throw invalidSession();
    return { ...caller, user, scopes: scopesNow(switches) };
  };
}

/** Throws `invalid_token` when the session, or its token, ended after it was read. */
export function requireLiveSession(
  source: SessionSource,
  { credentialId, validUntilMs }: SessionCaller,
): void {
  if (Date.now() >= validUntilMs || !source.isLive(credentialId)) throw invalidSession();
}

function scopesNow({ trading }: SessionOptions['switches']): readonly Scope[] {
  return trading ? WHILE_TRADING : DEFAULT_SCOPES;
}

async function callerOf(
  source: SessionSource,
  { token, placedVia }: SessionToken,
  isJson: boolean,
  scopes: readonly Scope[],
): Promise<SessionCaller> {
  const person = await source.personOf(token);
  if (person === null) throw invalidSession();
  if (person === 'guest') throw new ApiError('guest_account');
  if (!isJson) throw invalidRequest('Content-Type must be application/json');
  const { user, sessionId, validUntilMs } = person;
  return { user, key: null, credentialId: sessionId, scopes, placedVia, token, validUntilMs };
}

type SessionToken = Pick<SessionCaller, 'token' | 'placedVia'>;

function sessionToken(http: HttpContext, scheme: string): SessionToken | null {
  const authorization = credentialHeader(http, 'authorization');
  const bearer = BEARER.test(authorization) ? authorization.replace(BEARER, '') : null;
  if (credentialHeader(http, 'x-service-key') !== '' || (bearer !== null && isKeyToken(bearer))) {
    throw new ApiError('session_required', { headers: ['WWW-Authenticate', 'Bearer'] });
  }
  if (bearer !== null) return { token: bearer, placedVia: 'cli' };
  const [token, ...others] = cookiesOf(http.joinedHeader('cookie', '; ') ?? '');
  if (token === undefined) return null;
  requireSameOriginJson(http, scheme);
  if (others.length > 0) {
    throw unauthorized(`The request has two different cookies ${COOKIE}, so neither counts.`);
  }
  return { token, placedVia: 'web' };
}

/**
 * A browser sends the cookie even with a request that another site caused. So the request must
 * prove that it is the site's own, by the origin that browsers state. If it changes something, it
 * must also have a content type that another site's form cannot send. A read that states no origin
 * counts, because no other site can see its answer. The page that opened a WebSocket can read it,
 * and browsers always state that page's origin. Rules I22, I28 (api/RULES.md).
 */
function requireSameOriginJson(http: HttpContext, scheme: string): void {
  const site = http.header('sec-fetch-site');
  const origin = http.header('origin');
  const isForeign =
    (site !== '' && site !== 'same-origin') ||
    (origin !== '' && origin !== `${scheme}://${http.header('host')}`);
  if (http.handshake !== null && origin === '') {
    throw unauthorized('The cookie opens a WebSocket only with the Origin of this server.');
  }
  if (isForeign) throw unauthorized('The cookie counts only on requests of the same origin.');
  if (BODY_METHODS.includes(http.method) && http.header('content-type') === '') {
    throw unauthorized('The cookie counts only on requests with Content-Type: application/json.');
  }
}

/** Whether a request declares JSON, or has no body. */
function isJsonOrNothing(http: HttpContext): boolean {
  const type = http.joinedHeader('content-type');
  return type === null ? !http.hasBody() : JSON_TYPE.test(type);
}

/** The different values of the session's cookie. Rule A193 (api/RULES.md). */
function cookiesOf(header: string): string[] {
  const values = header.split(';').flatMap((pair) => {
    const equals = pair.indexOf('=');
    return pair.slice(0, equals).trim() === COOKIE ? [pair.slice(equals + 1).trim()] : [];
  });
  return [...new Set(values)];
}

/** The refusal of a request without a usable session. */
export function unauthorized(message?: string): ApiError {
  return new ApiError('unauthorized', {
    ...(message === undefined ? {} : { message }),
    headers: ['WWW-Authenticate', 'Bearer error="invalid_request"'],
  });
}

function invalidSession(): ApiError {
  return new ApiError('invalid_token', {
    message: 'The session is not valid. Sign in again.',
    headers: ['WWW-Authenticate', 'Bearer error="invalid_token"'],
  });
}

/**
 * Who may call what: keys and scopes from the headers, then the organization and the switches.
 * Rules A17, A19, I2, I60, V2 (api/RULES.md).
 */
import { isUuid } from '../engine/rules/ids.ts';
import type { EpochMs, Uuid } from '../engine/rules/units.ts';
import { credentialHeader } from './credential-header.ts';
import { ApiError, invalidRequest } from './errors.ts';
import type { Exchange } from './exchange.ts';
import { personalAccount } from './identity/accounts.ts';
import { isLastUseStale, type Key, keyStatus, type Scope } from './identity/keys.ts';
import { RecentTokens } from './identity/recent-tokens.ts';
import {
  requireLiveSession,
  type SessionCaller,
  type SessionSource,
  sessionReader,
} from './identity/session-access.ts';
import type { ControlStore } from './identity/store.ts';
import type { User } from './identity/users.ts';
import type { Organizations } from './organizations.ts';
import type { Call, Route } from './route.ts';
import type { Switches } from './switches.ts';

/** `token`: the key as the caller sent it; calls to an outside service forward it. */
export type Caller = { user: User; key: Key; token: string };

const BEARER = /^bearer +/i;

type ReadKey = (exchange: Exchange) => Caller;

/** Identifies the caller by the kind of credential that the route requires. */
export function authorizer(
  callerByKey: ReadKey,
  sessions: SessionSource,
  scheme: 'http' | 'https',
) {
  const callerBySession = sessionReader(sessions, scheme);
  return (exchange: Exchange, route: Route<Caller>): Caller | Promise<Caller> => {
    if (route.access === 'key') return callerByKey(exchange);
    // A session route declares that its caller is a session.
    return callerBySession(exchange) as Promise<unknown> as Promise<Caller>;
  };
}

/** Identifies the caller where no route requires a credential; null without a valid key. */
export function callerIfAny(callerByKey: ReadKey) {
  return (exchange: Exchange): Caller | null => {
    try {
      return callerByKey(exchange);
    } catch (error) {
      if (error instanceof ApiError) return null;
      throw error;
    }
  };
}

/** Reads the key of a request's credential headers and records its use. */
export function keyReader(store: ControlStore, onWriteFailed: (error: unknown) => void): ReadKey {
  const tokens = new RecentTokens(store, tokenOf);
  const callerOf = ownerReader(store, onWriteFailed);
  return (exchange: Exchange): Caller => {
    const authorization = credentialHeader(exchange, 'authorization');
    const ownHeader = credentialHeader(exchange, 'x-service-key');
    // Keys expire by the wall clock, whatever clock the engine uses. Rule C10 (engine/RULES.md).
    const nowMs = Date.now();
    const credential = tokens.find(authorization, ownHeader, nowMs);
    if (credential === undefined) throw invalidToken();
    const key = usableKey(store, credential.keyId, nowMs);
    exchange.keyPrefix = key.tokenPrefix;
    return callerOf(key, credential.token, nowMs);
  };
}

/**
 * Reads again who calls on a connection that began with a key, as key and owner are now, and keeps
 * that it was used. Throws what reading the key threw at first.
 */
export function callerAgain(store: ControlStore, onWriteFailed: (error: unknown) => void) {
  const callerOf = ownerReader(store, onWriteFailed);
  return ({ key: { id }, token }: Caller): Caller => {
    const nowMs = Date.now();
    return callerOf(usableKey(store, id, nowMs), token, nowMs);
  };
}

function ownerReader(store: ControlStore, onWriteFailed: (error: unknown) => void) {
  return (key: Key, token: string, nowMs: EpochMs): Caller => {
    const user = store.users.get(key.userId);
    if (user === undefined) throw new ApiError('account_not_found');
    if (isLastUseStale(key, nowMs)) {
      store.noteUse(key, nowMs, onWriteFailed);
    }
    return { user, key, token };
  };
}

/** Throws unless the caller's key holds the scope of the route. */
export function permit({ scope }: Route<Caller>, { key }: Caller): void {
  if (scope !== null) permitScope(key, scope);
}

export type AdmitterParts = {
  store: ControlStore;
  sessions: SessionSource;
  switches: Switches;
  organizations: Organizations;
};

/**
 * The checks that follow the body, in order: credential still valid, scope that the body
 * requires, organization, switch. The credential is checked again because reading a body and
 * asking an organization service take time, in which it can expire or be revoked.
 */
export function admitter({ store, sessions, switches, organizations }: AdmitterParts) {
  return (route: Route<Caller>, call: Call<unknown, unknown, Caller>): void | Promise<void> => {
    const { caller, body, organization } = call;
    if (route.access === 'session') {
      requireLiveSession(sessions, caller as unknown as SessionCaller);
      return;
    }
    if (route.readBody !== null) usableKey(store, caller.key.id, Date.now());
    const scope = route.scopeOfBody(body);
    if (scope !== null) permitScope(caller.key, scope);
    if (!route.ofAccount) {
      requireSwitch(switches, route);
      return;
    }
    const account =
      organization === null
        ? personalAccount(caller.user)
        : organizations.accountOf(caller, organizationId(organization));
    if (account instanceof Promise) {
      return account.then((found) => {
        usableKey(store, caller.key.id, Date.now());
        call.account = found;
        requireSwitch(switches, route);
      });
    }
    call.account = account;
    requireSwitch(switches, route);
  };
}

function requireSwitch(switches: Switches, { needs }: Route<Caller>): void {
  if (needs === 'venueData' && !switches.venueData) throw new ApiError('venue_data_off');
}

/** Throws `invalid_token` when the key has ended, be it since it was read. */
function usableKey(store: ControlStore, id: Uuid, nowMs: EpochMs): Key {
  const key = store.keys.get(id);
  if (key === undefined || !isUsable(key, nowMs)) throw invalidToken();
  return key;
}

function isUsable(key: Key, nowMs: number): boolean {
  const status = keyStatus(key, nowMs);
  return status === 'active' || status === 'rotating';
}

/**
 * The token of either header; both may carry the same key. An Authorization header of another
 * scheme counts as no key.
 */
function tokenOf(authorization: string, ownHeader: string): string {
  const scheme = BEARER.exec(authorization);
  const bearer = scheme === null ? '' : authorization.slice(scheme[0].length);
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

/** Throws unless the key holds the scope. */
export function permitScope(key: Key, scope: Scope): void {
  if (key.scopes.includes(scope)) return;
  throw new ApiError('insufficient_scope', {
    message: `The API key lacks the scope ${scope}.`,
    headers: ['WWW-Authenticate', `Bearer error="insufficient_scope", scope="${scope}"`],
  });
}

/** The header's value as an id. An empty header is ignored: it does not select the own account. */
function organizationId(header: string): Uuid {
  if (!isUuid(header)) throw invalidRequest('X-Service-Org must be an organization id');
  return header.toLowerCase();
}

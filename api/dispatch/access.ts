/**
 * Who may call which route: a key or a session from the headers, then scopes, the organization and
 * the switches. Rules A17, A19, A161, I25, I26, I60, V2 (api/RULES.md).
 */

import { invariant } from '../../engine/base/invariant.ts';
import type { Uuid } from '../../engine/base/units.ts';
import { isUuid } from '../../engine/rules/ids.ts';
import { ApiError, invalidRequest } from '../base/errors.ts';
import type { HttpContext } from '../http/http-context.ts';
import { personalAccount } from '../identity/accounts.ts';
import { type GuestCaller, guestOf } from '../identity/guest.ts';
import { type KeyCaller, keyAgain, keyReader, requireUsable } from '../identity/key-access.ts';
import type { Key, Scope } from '../identity/keys.ts';
import type { Organizations } from '../identity/organization-access.ts';
import type { RealismTable } from '../identity/realism-table.ts';
import {
  requireLiveSession,
  type SessionCaller,
  type SessionOptions,
  type SessionSource,
  sessionAgain,
  sessionReader,
  unauthorized,
} from '../identity/session-access.ts';
import type { ControlStore } from '../identity/store.ts';
import type { SwitchFlags } from '../identity/switches.ts';
import type { Call, Route } from './route.ts';

/** A caller with a key, with a person's session in its place, or a visitor without either. */
export type Caller = KeyCaller | SessionCaller | GuestCaller;

export function isGuest(caller: Caller): caller is GuestCaller {
  return 'network' in caller;
}

export type CallerOptions = {
  store: ControlStore;
  sessions: SessionOptions;
  /** Whether visitors read public routes. Rule A161. */
  hasGuests: boolean;
  /** The last use of a key could not be written. */
  onWriteFailed(error: unknown): void;
};

type Found = Caller | Promise<Caller>;

/** Identifies the caller of a request: one of the first two, or null, by the last. */
export function callerReaders({ store, sessions, hasGuests, onWriteFailed }: CallerOptions) {
  const callerByKey = keyReader(store, onWriteFailed);
  const callerBySession = sessionReader(sessions);
  const eitherOf = (http: HttpContext, isPublic = false): Found => {
    const caller = callerByKey(http) ?? callerBySession(http);
    if (caller !== null) return caller;
    if (!isPublic || !hasGuests) throw unauthorized();
    requireOwnOrigin(http, sessions.scheme);
    return guestOf(http);
  };
  return {
    /** By the kind of credential that the route takes. */
    authorize: (http: HttpContext, { access, isPublic }: Route<Caller>): Found => {
      if (access === 'key') return eitherOf(http, isPublic);
      const caller = callerBySession(http);
      if (caller !== null) return caller;
      throw unauthorized('Send the access token of a session: sign in first.');
    },
    /** For requests where no route takes a credential; null without a valid one. */
    callerIfAny: (http: HttpContext): Caller | Promise<Caller | null> | null => {
      try {
        const caller = eitherOf(http);
        return caller instanceof Promise ? caller.catch(nullIfRefused) : caller;
      } catch (error) {
        return nullIfRefused(error);
      }
    },
  };
}

function nullIfRefused(error: unknown): null {
  if (error instanceof ApiError) return null;
  throw error;
}

/**
 * Reads the caller of a connection again, with the present credential and owner. Throws the error
 * of the first reading of the credential.
 */
export function callerAgain({ store, sessions, onWriteFailed }: Omit<CallerOptions, 'hasGuests'>) {
  const byKey = keyAgain(store, onWriteFailed);
  const bySession = sessionAgain(sessions, store.users);
  return (caller: Caller): Caller => {
    if (isGuest(caller)) return caller;
    return caller.key === null ? bySession(caller) : byKey(caller);
  };
}

/** A page of another site opens no stream without a credential in the name of its visitors. */
function requireOwnOrigin(http: HttpContext, scheme: string): void {
  const origin = http.header('origin');
  if (http.handshake === null || origin === '') return;
  if (origin !== `${scheme}://${http.header('host')}`) throw unauthorized();
}

/** Throws unless the caller holds the scope of the route. */
export function permit({ scope }: Route<Caller>, caller: Caller): void {
  if (scope !== null) permitScope(caller, scope);
}

export type AdmitterParts = {
  /** The key of a caller as it is now; undefined: it is gone. */
  keyNow(caller: KeyCaller): Key | undefined;
  /** Null: no caller has a session. */
  sessions: SessionSource | null;
  switches: SwitchFlags;
  /** Null: no request names an organization. */
  organizations: Organizations | null;
  /** What people have chosen for their personal accounts. */
  realism: Pick<RealismTable, 'of'>;
};

/**
 * The checks that follow the body, in order: credential still valid, scope that the body requires,
 * organization, switch. The credential is checked again, because it can expire or be revoked while
 * the body is read and an organization service answers.
 */
export function admitter({ keyNow, sessions, switches, organizations, realism }: AdmitterParts) {
  const requireValid = (caller: Caller): void => {
    if (isGuest(caller)) return;
    if (caller.key === null) {
      invariant(sessions !== null, 'a session calls where only keys do');
      requireLiveSession(sessions, caller);
    } else requireUsable(keyNow(caller), Date.now());
  };
  const accountOf = (caller: Caller, organization: string | null) => {
    if (organization === null) return personalAccount(caller.user, realism.of(caller.user.id));
    if (isGuest(caller)) throw unauthorized();
    invariant(organizations !== null, 'a request names an organization where none may');
    return organizations.accountOf(caller, organizationId(organization));
  };
  return (route: Route<Caller>, call: Call<unknown, unknown, Caller>): void | Promise<void> => {
    const { caller, body, organization } = call;
    // An open route has no caller. A session is read while other requests run.
    const isCalled = route.access !== 'open';
    if (isCalled && (body !== null || caller.key === null)) requireValid(caller);
    const scope = route.scopeOfBody(body);
    if (scope !== null) permitScope(caller, scope);
    if (!route.ofAccount) {
      requireSwitch(switches, route);
      return;
    }
    const account = accountOf(caller, organization);
    if (account instanceof Promise) {
      return account.then((found) => {
        requireValid(caller);
        call.account = found;
        requireSwitch(switches, route);
      });
    }
    call.account = account;
    requireSwitch(switches, route);
  };
}

function requireSwitch(switches: SwitchFlags, { needs }: Route<Caller>): void {
  if (needs === 'venueData') switches.requireVenueData();
}

/** Throws unless the key or the session holds the scope. */
export function permitScope(caller: Caller, scope: Scope): void {
  const { key, scopes } = caller;
  if (scopes.includes(scope)) return;
  // It would need a credential, and no other scope.
  if (isGuest(caller)) throw unauthorized();
  const who = key === null ? 'session' : 'API key';
  throw new ApiError('insufficient_scope', {
    message: `The ${who} lacks the scope ${scope}.`,
    headers: ['WWW-Authenticate', `Bearer error="insufficient_scope", scope="${scope}"`],
  });
}

/** The header's value as an id. An empty header is ignored: it does not select the own account. */
function organizationId(header: string): Uuid {
  if (!isUuid(header)) throw invalidRequest('X-Service-Org must be an organization id');
  return header.toLowerCase();
}

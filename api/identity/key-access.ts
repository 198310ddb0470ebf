/** An API key as a credential, read of a request's headers. Rules I2, I5 (api/RULES.md). */
import type { EpochMs, PlacedVia, Uuid } from '../../engine/base/units.ts';
import { ApiError, invalidRequest } from '../base/errors.ts';
import type { HttpContext } from '../http/http-context.ts';
import { credentialHeader } from './credential-header.ts';
import type { SeenRow } from './credential-versions.ts';
import { isLastUseStale, isUsable, type Key, type Scope } from './keys.ts';
import { RecentTokens } from './recent-tokens.ts';
import { isAccessToken } from './session-access.ts';
import type { ControlStore } from './store.ts';
import type { User } from './users.ts';

/** A caller with a key. */
export type KeyCaller = {
  user: User;
  key: Key;
  /** The id that the trade limits of a key count by: here the key's id. */
  credentialId: Uuid;
  scopes: readonly Scope[];
  placedVia: PlacedVia;
  /** As the caller sent it; calls to an outside service forward it. */
  token: string;
  /** What says in this thread whether `key` and `user` are current; null: look them up. */
  seen: { readonly key: SeenRow; readonly owner: SeenRow } | null;
};

export function keyCallerOf(user: User, key: Key, token: string): KeyCaller {
  const credentialId = key.id;
  return { user, key, credentialId, scopes: key.scopes, placedVia: 'api', token, seen: null };
}

/**
 * Finds the caller of credential headers that carry a usable key; null: they carry none, or another.
 * It records no use.
 */
export function keyFinder(store: ControlStore) {
  const tokens = new RecentTokens(store, tokenOf);
  return (authorization: string, ownHeader: string): KeyCaller | null => {
    const nowMs = Date.now();
    const credential = tokens.find(authorization, ownHeader, nowMs);
    const key = credential == null ? undefined : store.keys.get(credential.keyId);
    if (credential == null || key === undefined || !isUsable(key, nowMs)) return null;
    const user = store.users.get(key.userId);
    return user === undefined ? null : keyCallerOf(user, key, credential.token);
  };
}

type OnWriteFailed = (error: unknown) => void;

const BEARER = /^bearer +/i;

/**
 * Reads the key of a request's credential headers and records its use. Null: the headers carry no
 * key, so a session may be in its place.
 */
export function keyReader(store: ControlStore, onWriteFailed: OnWriteFailed) {
  const tokens = new RecentTokens<KeyCaller>(store, tokenOf);
  const callerOf = callerReader(store, onWriteFailed);
  const again = presentCaller(store, callerOf);
  return (http: HttpContext): KeyCaller | null => {
    const authorization = credentialHeader(http, 'authorization');
    const ownHeader = credentialHeader(http, 'x-service-key');
    // Keys expire by the wall clock, whatever clock the engine uses. Rule C10 (engine/RULES.md).
    const nowMs = Date.now();
    const credential = tokens.find(authorization, ownHeader, nowMs);
    if (credential === null) return null;
    if (credential === undefined) throw invalidKey();
    const { caller } = credential;
    credential.caller =
      caller === null ? callerOf(credential.keyId, credential.token, nowMs) : again(caller, nowMs);
    http.keyPrefix = credential.caller.key.tokenPrefix;
    return credential.caller;
  };
}

/** Reads a key's caller again, with the present key and owner, and records the use. */
export function keyAgain(store: ControlStore, onWriteFailed: OnWriteFailed) {
  const again = presentCaller(store, callerReader(store, onWriteFailed));
  return (caller: KeyCaller): KeyCaller => again(caller, Date.now());
}

type CallerReader = (keyId: Uuid, token: string, nowMs: EpochMs) => KeyCaller;

/** A caller whose key and owner have not changed is the same object, without a look by their ids. */
function presentCaller(store: ControlStore, callerOf: CallerReader) {
  return (caller: KeyCaller, nowMs: EpochMs): KeyCaller => {
    const { seen, key, token } = caller;
    const { versions } = store;
    store.keys.requireCurrent();
    const isCurrent = seen !== null && versions.isAsSeen(seen.key) && versions.isAsSeen(seen.owner);
    if (isCurrent && isUsable(key, nowMs) && !isLastUseStale(key, nowMs)) return caller;
    return callerOf(key.id, token, nowMs);
  };
}

function callerReader(store: ControlStore, onWriteFailed: OnWriteFailed): CallerReader {
  return (keyId, token, nowMs) => {
    let key = requireUsable(store.keys.get(keyId), nowMs);
    const user = store.users.get(key.userId);
    if (user === undefined) throw new ApiError('account_not_found');
    if (isLastUseStale(key, nowMs)) {
      store.noteUse(key, nowMs, onWriteFailed);
      key = store.keys.get(keyId)!;
    }
    const { versions } = store;
    const seen = { key: versions.see(keyId), owner: versions.see(key.userId) };
    return { ...keyCallerOf(user, key, token), seen };
  };
}

/** The key of a caller as it is now; undefined: it is gone. Throws as `KeyTable.get` does. */
export function keyNow(store: ControlStore, { seen, key }: KeyCaller): Key | undefined {
  if (seen === null || !store.versions.isAsSeen(seen.key)) return store.keys.get(key.id);
  store.keys.requireCurrent();
  return key;
}

/** Throws `invalid_token` when the key has ended, even since it was read. */
export function requireUsable(key: Key | undefined, nowMs: EpochMs): Key {
  if (key === undefined || !isUsable(key, nowMs)) throw invalidKey();
  return key;
}

/**
 * The token of either header; both may carry the same key. An Authorization header of another
 * scheme counts as no key. Null: neither carries one, or the bearer is a session's.
 */
function tokenOf(authorization: string, ownHeader: string): string | null {
  const scheme = BEARER.exec(authorization);
  const bearer = scheme === null ? '' : authorization.slice(scheme[0].length);
  if (bearer === '' && ownHeader === '') {
    if (/^bearer$/i.test(authorization)) throw invalidKey();
    return null;
  }
  if (bearer !== '' && ownHeader !== '' && bearer !== ownHeader) {
    throw invalidRequest('Authorization and x-service-key carry two different credentials');
  }
  if (ownHeader === '' && isAccessToken(bearer)) return null;
  return bearer === '' ? ownHeader : bearer;
}

function invalidKey(): ApiError {
  return new ApiError('invalid_token', {
    headers: ['WWW-Authenticate', 'Bearer error="invalid_token"'],
  });
}

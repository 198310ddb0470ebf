/**
 * The operator's listener, on loopback only: health, metrics and `/admin/*` with the bearer token
 * of DATA_DIR/admin.token. Rules O1 to O10 (api/RULES.md).
 */
import { timingSafeEqual } from 'node:crypto';
import { Type } from '@sinclair/typebox';
import { type EpochMs, isoOf } from '../engine/rules/units.ts';
import { clockAdminRoutes } from './admin-clock.ts';
import { organizationAdminRoutes } from './admin-organizations.ts';
import { venueKeyAdminRoutes } from './admin-venue-keys.ts';
import { credentialHeader } from './credential-header.ts';
import type { Deps, FeedStatus } from './deps.ts';
import { ApiError } from './errors.ts';
import type { Exchange } from './http.ts';
import { changedTradeLimits } from './identity/accounts.ts';
import { KeyBook } from './identity/key-book.ts';
import { hashOfToken, KEY_INPUT, type Key, keyView } from './identity/keys.ts';
import { hashPassword } from './identity/passwords.ts';
import {
  newUser,
  type User,
  type UserChange,
  UserChangeSchema,
  UserInputSchema,
} from './identity/users.ts';
import { changedRequestLimits } from './limits/plans.ts';
import type { Metrics } from './metrics.ts';
import { keyed, open, type Route } from './route.ts';
import {
  AdminKeyAnswer,
  AdminKeysAnswer,
  AdminNewKeyAnswer,
  AdminUserAnswer,
  AdminUsersAnswer,
  AuditAnswer,
  FeedsAnswer,
  HealthAnswer,
  MetricsText,
  ReadyAnswer,
  SwitchAnswer,
  SwitchBody,
} from './schemas/admin.ts';
import { NoQuery, strict, Uuid } from './schemas/common.ts';
import type { SwitchName } from './switches.ts';
import { bodyReader } from './validation.ts';

const readUserInput = bodyReader(UserInputSchema);
const readUserChange = bodyReader(UserChangeSchema);
const readKeyInput = bodyReader(strict({ userId: Uuid, ...KEY_INPUT }));
const readSwitch = bodyReader(SwitchBody);

/** There is one operator: the holder of the token. */
export type Operator = true;

/** Throws 401 unless the request carries the admin token. */
export function operatorOf(adminToken: string): (exchange: Exchange) => Operator {
  // Hashes have one length whatever was sent, as the comparison in constant time needs.
  const wanted = Buffer.from(hashOfToken(`Bearer ${adminToken}`));
  return (exchange) => {
    const sent = Buffer.from(hashOfToken(credentialHeader(exchange, 'authorization')));
    if (timingSafeEqual(sent, wanted)) return true;
    throw new ApiError('unauthorized', {
      message: 'Send the token of DATA_DIR/admin.token as a bearer token.',
      headers: ['WWW-Authenticate', 'Bearer'],
    });
  };
}

export function adminRoutes(deps: Deps, metrics: Metrics): Route<Operator>[] {
  return [
    ...healthRoutes(deps, metrics),
    ...userRoutes(deps),
    ...keyRoutes(deps),
    ...organizationAdminRoutes(deps),
    ...venueKeyAdminRoutes(deps),
    ...switchRoutes(deps, '/admin/venue-data', 'venueData'),
    ...switchRoutes(deps, '/admin/trading', 'trading'),
    ...clockAdminRoutes(deps),
    keyed({
      method: 'GET',
      path: '/admin/audit',
      query: NoQuery,
      response: AuditAnswer,
      run: async () => {
        const report = await deps.engine.audit();
        return JSON.stringify({ ...report, problems: [...report.problems, ...deps.ownerless] });
      },
    }),
    keyed({
      method: 'GET',
      path: '/admin/feeds',
      query: NoQuery,
      response: FeedsAnswer,
      run: () =>
        JSON.stringify({
          feeds: deps.feeds().map(feedView),
        }),
    }),
  ];
}

function healthRoutes({ engine, feeds, problems }: Deps, metrics: Metrics): Route<Operator>[] {
  return [
    open({
      method: 'GET',
      path: '/healthz',
      query: NoQuery,
      response: HealthAnswer,
      run: () => {
        const found = problems();
        return JSON.stringify({ ok: found.length === 0, problems: found });
      },
    }),
    open({
      method: 'GET',
      path: '/readyz',
      query: NoQuery,
      response: ReadyAnswer,
      run: () => {
        const state = engine.state();
        if (state === 'ready') {
          const down = feeds().filter((feed) => feed.state !== 'open');
          return JSON.stringify({
            ok: true,
            state,
            problems: problems(),
            feeds: down.map(downView),
          });
        }
        throw new ApiError('internal_error', {
          status: 503,
          message: [`The engine is ${state}.`, ...engine.troubles()].join(' '),
          retryAfterSeconds: 1,
        });
      },
    }),
    open({
      method: 'GET',
      path: '/metrics',
      query: NoQuery,
      response: MetricsText,
      contentType: 'text/plain; version=0.0.4; charset=utf-8',
      run: () => metrics.text(engine.state(), feeds()),
    }),
  ];
}

function userRoutes({ identity, log }: Deps): Route<Operator>[] {
  return [
    keyed({
      method: 'GET',
      path: '/admin/users',
      query: NoQuery,
      response: AdminUsersAnswer,
      run: () => JSON.stringify({ users: [...identity.users.values()].map(userView) }),
    }),
    keyed({
      method: 'POST',
      path: '/admin/users',
      query: NoQuery,
      response: AdminUserAnswer,
      readBody: readUserInput,
      run: async ({ body: { password, ...input } }) => {
        const hash = password === undefined ? null : await hashPassword(password);
        const user = newUser(input, Date.now());
        await identity.addUser(user);
        if (hash !== null) await identity.passwords.put(user.id, hash);
        log.info({ userId: user.id, plan: user.plan }, 'user created');
        return JSON.stringify({ user: userView(user) });
      },
    }),
    keyed({
      method: 'PATCH',
      path: '/admin/users/{userId}',
      query: NoQuery,
      response: AdminUserAnswer,
      readBody: readUserChange,
      run: async ({ param, body: { password, tradeLimits, requestLimits, ...rest } }) => {
        const id = param.toLowerCase();
        const limits = changedLimits(identity.users.get(id), tradeLimits, requestLimits);
        const change = { ...rest, ...limits };
        const hash = password === undefined ? null : await hashPassword(password);
        const user = await identity.changeUser(id, change);
        if (hash !== null) await identity.changePassword(user.id, hash, null);
        const fields = { ...change, passwordChanged: password !== undefined };
        log.info({ userId: user.id, ...fields }, 'user changed');
        return JSON.stringify({ user: userView(user) });
      },
    }),
  ];
}

/** Of the limits that a change names, what they are after it. */
function changedLimits(
  user: User | undefined,
  tradeLimits: UserChange['tradeLimits'] | undefined,
  requestLimits: UserChange['requestLimits'] | undefined,
) {
  return {
    ...(tradeLimits !== undefined && {
      tradeLimits: changedTradeLimits(user?.tradeLimits ?? null, tradeLimits),
    }),
    ...(requestLimits !== undefined && {
      requestLimits: changedRequestLimits(user?.requestLimits ?? null, requestLimits),
    }),
  };
}

function keyRoutes({ identity, switches, log }: Deps): Route<Operator>[] {
  // What an account may hold does not depend on who makes it.
  const book = new KeyBook(identity, () => switches.trading);
  return [
    keyed({
      method: 'GET',
      path: '/admin/keys',
      query: strict({ userId: Type.Optional(Uuid) }),
      response: AdminKeysAnswer,
      run: ({ query }) => {
        const userId = query.userId?.toLowerCase();
        const keys = [...identity.keys.values()].filter((key) => {
          return userId === undefined || key.userId === userId;
        });
        return JSON.stringify({ keys: keys.map((key) => adminKeyView(key, Date.now())) });
      },
    }),
    keyed({
      method: 'POST',
      path: '/admin/keys',
      query: NoQuery,
      response: AdminNewKeyAnswer,
      readBody: readKeyInput,
      run: async ({ body: { userId, ...input } }) => {
        const nowMs = Date.now();
        const user = identity.users.get(userId.toLowerCase());
        if (user === undefined) throw new ApiError('account_not_found');
        const { key, token } = await book.create(user.id, input, 'cli', nowMs);
        log.info({ keyId: key.id, userId: user.id, scopes: key.scopes }, 'key created');
        return JSON.stringify({ key: adminKeyView(key, nowMs), token });
      },
    }),
    keyed({
      method: 'DELETE',
      path: '/admin/keys/{keyId}',
      query: NoQuery,
      response: AdminKeyAnswer,
      run: async ({ param }) => {
        const nowMs = Date.now();
        const key = identity.keys.get(param.toLowerCase());
        if (key === undefined || key.revokedAtMs !== null) throw new ApiError('key_not_found');
        const revoked = { ...key, revokedAtMs: nowMs };
        await identity.putKey(revoked);
        log.info({ keyId: key.id, userId: key.userId }, 'key revoked');
        return JSON.stringify({ key: adminKeyView(revoked, nowMs) });
      },
    }),
  ];
}

function switchRoutes({ switches }: Deps, path: string, name: SwitchName): Route<Operator>[] {
  return [
    keyed({
      method: 'GET',
      path,
      query: NoQuery,
      response: SwitchAnswer,
      run: () => JSON.stringify({ on: switches[name] }),
    }),
    keyed({
      method: 'PUT',
      path,
      query: NoQuery,
      response: SwitchAnswer,
      readBody: readSwitch,
      run: async ({ body }) => {
        await switches.set(name, body.on);
        return JSON.stringify({ on: switches[name] });
      },
    }),
  ];
}

function feedView(feed: FeedStatus) {
  const { venue, adapter, url, state, attempts, frames, books, lastHeardMs, lastProblem } = feed;
  return {
    venue,
    adapter,
    url,
    state,
    since: isoOf(feed.sinceMs),
    attempts,
    frames,
    books,
    unquoted: feed.unquoted.size,
    lastHeardAt: lastHeardMs === null ? null : isoOf(lastHeardMs),
    lastProblem,
  };
}

/** For everybody on this machine: without the address, whose path may be secret. */
function downView({ venue, adapter, host, state, sinceMs, lastProblem }: FeedStatus) {
  return { venue, adapter, host, state, since: isoOf(sinceMs), lastProblem };
}

function userView(user: User) {
  const { createdAtMs, ...shown } = user;
  return { ...shown, createdAt: isoOf(createdAtMs) };
}

function adminKeyView(key: Key, nowMs: EpochMs) {
  return { ...keyView(key, nowMs), userId: key.userId };
}

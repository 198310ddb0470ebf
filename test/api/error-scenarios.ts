/** How the errors of every operation are reached, on the real core. */
import type { ExecutionContext } from 'ava';
import { generateKeyPair, SignJWT } from 'jose';
import type { ErrorCode } from '../../api/errors.ts';
import { newKey, type Scope } from '../../api/identity/keys.ts';
import { newOrganization } from '../../api/identity/organizations.ts';
import type { User } from '../../api/identity/users.ts';
import type { SwitchName } from '../../api/switches.ts';
import { NO_PRICE } from '../../engine/rules/units.ts';
import { EngineBusy } from '../../engine/shard/busy.ts';
import { AWAY, NOON_MS, NOWHERE, quoteTick, uuidOf } from '../engine/fixtures.ts';
import type { CoreEngine } from './core-engine.ts';
import { type Answer, type Api, type CallOptions, startApi } from './support.ts';

/** `token`: a caller nobody else is, who may do everything. */
type Scene = {
  t: ExecutionContext;
  api: Api;
  engine: CoreEngine;
  operation: Operation;
  token: string;
};
export type Operation = {
  method: string;
  path: string;
  body?: object;
  scope: Scope | null;
  isOfSession: boolean;
};
export type Reach = (scene: Scene) => Promise<Answer>;

const ALL_SCOPES: Scope[] = [
  'records:read',
  'portfolio:read',
  'markets:read',
  'trade:write',
  'trade:write:venue_a',
  'trade:write:venue_c_intl',
];
const SOME_ID = '0195d3a0-0000-7000-8000-000000000001';
const MARKET = { action: 'buy', type: 'market', instrumentId: AWAY, side: 'yes', count: 1 };
const RESTING = { ...MARKET, type: 'limit', limitPriceCents: 2 };

/** Requests that are good as they stand. */
export const REQUESTS: Record<string, { path?: string; body?: object }> = {
  getInstrument: { path: `/instruments/${AWAY}` },
  getQuote: { path: `/instruments/${AWAY}/quote` },
  getGame: { path: '/games/awy-hom' },
  listQuotes: { path: `/quotes?ids=${AWAY}` },
  searchInstruments: { path: '/instruments/search?q=away' },
  getOrder: { path: `/portfolio/orders/${SOME_ID}` },
  cancelOrder: { path: `/portfolio/orders/${SOME_ID}` },
  placeOrder: { body: { ...MARKET, idempotencyKey: 'k' } },
  changeMe: { body: {} },
  createKey: { body: {} },
  rotateKey: { path: `/api_keys/${SOME_ID}/rotate`, body: {} },
  revokeKey: { path: `/api_keys/${SOME_ID}` },
};

let others = 0;

/** What follows from a route's declaration is reached the same way on all of them. */
export const COMMON: Record<string, Reach> = {
  '401 unauthorized': (scene) => ask(scene, { token: null }),
  '401 invalid_token': (scene) => ask(scene, { token: 'nonsense' }),
  '401 session_required': (scene) => ask(scene, { token: scene.api.token }),
  '403 guest_account': async (scene) => {
    const guest = await scene.api.auth('POST', '/signup', { body: {} });
    return ask(scene, { token: guest.json.access_token });
  },
  '429 rate_limited': async (scene) => ask(scene, { token: await limitedTo(scene, 0, 1) }),
  '429 quota_exceeded': async (scene) => ask(scene, { token: await limitedTo(scene, 1, 0) }),
  '404 account_not_found': async (scene) => {
    const { key, token } = newKey(uuidOf(404), { scopes: ALL_SCOPES }, 'cli', Date.now());
    await scene.api.store.putKey(key);
    return ask(scene, { token });
  },
  '403 insufficient_scope': async (scene) => {
    const scopes = ALL_SCOPES.filter((held) => held !== scene.operation.scope);
    return ask(scene, { token: await scene.api.addKey({ scopes }) });
  },
  '400 invalid_request': (scene) => ask(scene, {}, 'unknown=1'),
  '413 invalid_request': (scene) =>
    ask(scene, {
      headers: { 'content-type': 'application/json' },
      body: ' '.repeat(65_537),
    }),
  '404 organization_not_found': (scene) => ask(scene, { headers: { 'x-service-org': SOME_ID } }),
  '403 organization_forbidden': async (scene) => {
    others++;
    const organization = newOrganization({ slug: `other-${others}`, name: 'Others' }, 1);
    await scene.api.store.organizations.add(organization);
    return ask(scene, { headers: { 'x-service-org': organization.id } });
  },
  '403 venue_data_off': (scene) => whileOff(scene, 'venueData'),
  '403 trading_off': (scene) => whileOff(scene, 'trading'),
  '503 internal_error': (scene) => {
    if (scene.operation.isOfSession) return whileAuthIsAway(scene);
    return whileFailing(scene, new EngineBusy('queue full'));
  },
  '500 internal_error': async (scene) => {
    const users = scene.api.store.users as Map<string, User>;
    users.get = () => {
      throw new Error('a fault that the test made');
    };
    const answer = await ask(scene);
    users.get = Map.prototype.get;
    return answer;
  },
};

/**
 * The operations' own rules, by code. What is common is reached there as well, but for a code with
 * its status: that is reached on this operation in a way of its own.
 */
export const OWN: Record<string, { [error in ErrorCode | '503 internal_error']?: Reach }> = {
  listOrganizations: {
    '503 internal_error': async ({ t }) => {
      const env = { PAPERBOOK_ORGANIZATIONS_URL: 'http://127.0.0.1:1/' };
      return (await startApi(t, { env })).call('GET', '/organizations');
    },
  },
  getInstrument: { instrument_not_found: at('/instruments/nobody') },
  getQuote: { instrument_not_found: at('/instruments/nobody/quote') },
  getGame: { game_not_found: at('/games/nobody') },
  getOrder: { order_not_found: (scene) => ask(scene) },
  createKey: {
    scope_not_available: (scene) => {
      const body = { scopes: ['trade:write'] };
      return whileOff({ ...scene, operation: { ...scene.operation, body } }, 'trading');
    },
    key_limit_reached: (scene) => untilRefused(() => ask(scene), undefined),
    key_creation_limited: (scene) =>
      untilRefused(async () => {
        const made = await ask(scene);
        if (made.status === 201) await revoke(scene, made.json.key.id);
        return made;
      }, undefined),
  },
  rotateKey: {
    key_not_found: (scene) => ask(scene),
    key_creation_limited: async (scene) => {
      const operation = { ...scene.operation, path: '/api_keys' };
      let { id } = (await ask({ ...scene, operation })).json.key;
      return untilRefused(async () => {
        const answer = await at(`/api_keys/${id}/rotate`)(scene);
        id = answer.json.key?.id;
        return answer;
      }, undefined);
    },
  },
  revokeKey: { key_not_found: (scene) => ask(scene) },
  cancelOrder: {
    order_not_found: (scene) => ask(scene),
    already_closed: async (scene) => {
      const { order } = (await place(scene, RESTING)).json;
      await cancel(scene, order.orderId);
      return cancel(scene, order.orderId);
    },
    rate_limited: (scene) => untilRefused(() => ask(scene), 'order_not_found'),
  },
  placeOrder: {
    us_not_eligible: (scene) => place(scene, { ...MARKET, execution: 'venue_c' }),
    venue_a_key_missing: (scene) => place(scene, { ...MARKET, execution: 'venue_a' }),
    venue_c_intl_key_missing: (scene) => place(scene, { ...MARKET, execution: 'venue_c_intl' }),
    live_trading_unavailable: async (scene) => {
      const { store } = scene.api;
      const userId = [...store.users.keys()].at(-1)!;
      await store.putVenueKey({ userId, venue: 'venue_a', venueKeyId: 'k', createdAtMs: 1 });
      return place(scene, { ...MARKET, execution: 'venue_a' });
    },
    idempotency_key_reused: async (scene) => {
      await place(scene, { ...MARKET, idempotencyKey: 'one' });
      return place(scene, { ...MARKET, idempotencyKey: 'one', count: 2 });
    },
    membership_required: async (scene) => {
      const token = await scene.api.addKey({ scopes: ALL_SCOPES }, 'none');
      return ask(scene, { token });
    },
    rate_limited: (scene) => untilRefused(() => place(scene, MARKET), undefined),
    instrument_not_found: (scene) => place(scene, { ...MARKET, instrumentId: 'ins_ZZZZZZZZZZZZ' }),
    no_tradable_listing: (scene) => place(scene, { ...MARKET, instrumentId: NOWHERE }),
    trade_not_found: (scene) => sell(scene, SOME_ID),
    already_closed: async (scene) => {
      const { trade } = (await place(scene, MARKET)).json;
      await sell(scene, trade.tradeId);
      return sell(scene, trade.tradeId);
    },
    market_resolved: (scene) => {
      const payouts = { yesPayoutCents: 100, noPayoutCents: 0 };
      const result = { kind: 'result', outcome: 'yes', ...payouts } as const;
      scene.engine.tick({ ...result, market: 0, source: 0, atMs: NOON_MS });
      return place(scene, MARKET);
    },
    market_not_open: (scene) => {
      const paused = { kind: 'status', status: 'paused' } as const;
      scene.engine.tick({ ...paused, market: 0, source: 0, atMs: NOON_MS });
      return place(scene, MARKET);
    },
    no_liquidity: (scene) => {
      scene.engine.tick(quoteTick({ yesAskCents: NO_PRICE, yesAskContracts: 0 }));
      return place(scene, MARKET);
    },
    price_moved: (scene) => place(scene, { ...MARKET, maxPriceCents: 2 }),
    insufficient_balance: (scene) => place(scene, { ...MARKET, count: 1_000_000_000 }),
  },
};

/** The operation's own request, changed by `options`. */
async function ask(scene: Scene, options: CallOptions = {}, query = ''): Promise<Answer> {
  const { token, operation } = scene;
  const { method, path, body } = operation;
  const request = body === undefined ? {} : { body };
  const where = query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`;
  return scene.api.call(method, where, { token, ...request, ...options });
}

/** Somebody new who may do everything, by a key or a session as the operation asks. */
export async function newCaller(api: Api, { isOfSession }: Operation): Promise<string> {
  const token = await api.addKey({ scopes: ALL_SCOPES });
  return isOfSession ? api.signIn([...api.store.users.values()].at(-1)!) : token;
}

/** A key of an account with request limits of its own. */
async function limitedTo({ api }: Scene, perMinute: number, perMonth: number): Promise<string> {
  const token = await api.addKey({ scopes: ALL_SCOPES }, 'enterprise');
  const { id } = [...api.store.users.values()].at(-1)!;
  await api.store.changeUser(id, { requestLimits: { perMinute, perMonth } });
  return token;
}

/** At an outside auth server that does not answer. */
async function whileAuthIsAway(scene: Scene): Promise<Answer> {
  const issuer = 'https://auth.example/auth/v1';
  const env = {
    PAPERBOOK_AUTH_JWKS_URL: 'http://127.0.0.1:1/jwks.json',
    PAPERBOOK_AUTH_ISSUER: issuer,
  };
  const { privateKey } = await generateKeyPair('ES256');
  const token = await new SignJWT({ sub: SOME_ID, iss: issuer })
    .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
    .setExpirationTime('1h')
    .sign(privateKey);
  return ask({ ...scene, api: await startApi(scene.t, { env }), token });
}

function revoke(scene: Scene, id: string): Promise<Answer> {
  const operation = { ...scene.operation, method: 'DELETE', path: `/api_keys/${id}` };
  const { body: _, ...revoking } = operation;
  return ask({ ...scene, operation: revoking });
}

async function whileOff(scene: Scene, name: SwitchName): Promise<Answer> {
  await scene.api.switches.set(name, false);
  const answer = await ask(scene);
  await scene.api.switches.set(name, true);
  return answer;
}

async function whileFailing(scene: Scene, fault: Error): Promise<Answer> {
  scene.engine.fault = fault;
  const answer = await ask(scene);
  scene.engine.fault = null;
  return answer;
}

function at(path: string): Reach {
  return (scene) => ask({ ...scene, operation: { ...scene.operation, path } });
}

let keys = 0;

function place(scene: Scene, order: object): Promise<Answer> {
  keys++;
  const body = { idempotencyKey: `key-${keys}`, ...order };
  const placing = { ...scene.operation, method: 'POST', path: '/portfolio/orders', body };
  return ask({ ...scene, operation: placing });
}

function sell(scene: Scene, tradeId: string): Promise<Answer> {
  return place(scene, { action: 'sell', type: 'market', tradeId });
}

function cancel(scene: Scene, orderId: string): Promise<Answer> {
  return at(`/portfolio/orders/${orderId}`)(scene);
}

/** Once more until the answer is not the one it was. */
async function untilRefused(again: () => Promise<Answer>, code: string | undefined) {
  for (let n = 0; n < 100; n++) {
    const answer = await again();
    if (answer.json.error?.code !== code) return answer;
  }
  throw new Error('nothing was limited');
}

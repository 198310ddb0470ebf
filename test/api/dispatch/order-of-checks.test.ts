/** Of a request that is wrong in two ways, the check that comes first answers. */
import test, { type ExecutionContext } from 'ava';
import { keyCallerOf } from '../../../api/identity/key-access.ts';
import { newKey, type Scope } from '../../../api/identity/keys.ts';
import { newUser, type User } from '../../../api/identity/users.ts';
import { AWAY, CATALOG } from '../../engine/fixtures.ts';
import { connectTo } from '../connected.ts';
import { CoreEngine } from '../core-engine.ts';
import { type Api, type CallOptions, type Json, startApi } from '../support.ts';

type Request = {
  path: string;
  query: string;
  method: string;
  body: Record<string, unknown>;
  trading: boolean;
};
type KeyRequest = Request & {
  isRevoked: boolean;
  scopes: Scope[];
  perMinute: number;
  headers: Record<string, string>;
};
type SessionRequest = Request & { credential: 'session' | 'key'; isGuest: boolean };

/** What a check refuses, and the answer where it is the first to. */
type Check<R> = { check: string; answer: RegExp; wrong(request: R): Partial<R> };

/** An order that is taken as it is. */
const ORDER: KeyRequest = {
  path: '/portfolio/orders',
  query: '',
  method: 'POST',
  isRevoked: false,
  scopes: ['trade:write'],
  perMinute: 10,
  headers: {},
  body: { action: 'buy', type: 'market', instrumentId: AWAY, side: 'yes', count: 1 },
  trading: true,
};

/** In the order of the contract. */
const CHECKS_OF_ORDER: Check<KeyRequest>[] = [
  {
    check: 'path',
    answer: /^404 route_not_found/,
    wrong: () => ({ path: '/portfolio/order' }),
  },
  {
    check: 'method',
    answer: /^405 method_not_allowed/,
    wrong: () => ({ method: 'PUT' }),
  },
  {
    check: 'credential',
    answer: /^401 invalid_token/,
    wrong: () => ({ isRevoked: true }),
  },
  {
    check: 'scope',
    answer: /^403 insufficient_scope .* trade:write\.$/,
    wrong: () => ({ scopes: ['markets:read'] }),
  },
  {
    check: 'request limits',
    answer: /^429 rate_limited/,
    wrong: () => ({ perMinute: 0 }),
  },
  {
    check: 'query',
    answer: /^400 invalid_request .*query parameter/,
    wrong: () => ({ query: '?side=no' }),
  },
  {
    check: 'body',
    answer: /^400 invalid_request count is required/,
    wrong: ({ body: { count, ...rest } }) => ({ body: rest }),
  },
  {
    check: 'scope of the execution',
    answer: /^403 insufficient_scope .* trade:write:venue_a\.$/,
    wrong: ({ body }) => ({ body: { ...body, execution: 'venue_a' } }),
  },
  {
    check: 'organization',
    answer: /^400 invalid_request X-Service-Org/,
    wrong: () => ({ headers: { 'x-service-org': 'acme' } }),
  },
  {
    check: 'switch',
    answer: /^403 trading_off/,
    wrong: () => ({ trading: false }),
  },
  {
    check: 'the operation`s own rules',
    answer: /^409 price_moved/,
    wrong: ({ body }) => ({ body: { ...body, maxPriceCents: 1 } }),
  },
];

/** What a message of a connection has not. */
const OF_HTTP = ['path', 'method', 'query'];

/** A key that is made as it is. */
const KEY: SessionRequest = {
  path: '/api_keys',
  query: '',
  method: 'POST',
  credential: 'session',
  isGuest: false,
  body: { scopes: ['trade:write'] },
  trading: true,
};

const CHECKS_OF_KEY: Check<SessionRequest>[] = [
  {
    check: 'path',
    answer: /^404 route_not_found/,
    wrong: () => ({ path: '/api_key' }),
  },
  {
    check: 'method',
    answer: /^405 method_not_allowed/,
    wrong: () => ({ method: 'PUT' }),
  },
  {
    check: 'kind of credential',
    answer: /^401 session_required/,
    wrong: () => ({ credential: 'key' }),
  },
  {
    check: 'guest',
    answer: /^403 guest_account/,
    wrong: () => ({ isGuest: true }),
  },
  {
    check: 'query',
    answer: /^400 invalid_request .*query parameter/,
    wrong: () => ({ query: '?label=bot' }),
  },
  {
    check: 'body',
    answer: /^400 invalid_request .*"lable"/,
    wrong: ({ body }) => ({ body: { ...body, lable: 'bot' } }),
  },
  {
    check: 'the operation`s own rules',
    answer: /^403 scope_not_available/,
    wrong: () => ({ trading: false }),
  },
];

test('A17: of any two wrongs the earlier answers', async (t) => {
  const env = { PAPERBOOK_LIMITS_ENFORCED: 'on' };
  const api = await startApi(t, { env, engine: new CoreEngine(), catalog: CATALOG });
  await areInOrder(t, ORDER, CHECKS_OF_ORDER, (request) => answerToKey(api, request));
});

test('A17: so too where an order comes as a message of a connection', async (t) => {
  const env = { PAPERBOOK_LIMITS_ENFORCED: 'on' };
  const api = await startApi(t, { env, engine: new CoreEngine(), catalog: CATALOG });
  const call = await connectTo(api, ORDER.method, ORDER.path);
  const checks = CHECKS_OF_ORDER.filter(({ check }) => !OF_HTTP.includes(check));
  t.is(checks.length, CHECKS_OF_ORDER.length - OF_HTTP.length);
  await areInOrder(t, ORDER, checks, async (request) => {
    const { caller, body } = await callerFor(api, request);
    const organization = request.headers['x-service-org'] ?? null;
    await api.switches.set('trading', request.trading);
    return textOf(await call(caller, { body, organization }));
  });
});

test('A17: so too where a session calls', async (t) => {
  const api = await startApi(t);
  await areInOrder(t, KEY, CHECKS_OF_KEY, (request) => answerToSession(api, request));
});

test('A17, I25: so too if a session replaces a key', async (t) => {
  const env = { PAPERBOOK_LIMITS_ENFORCED: 'on' };
  const api = await startApi(t, { env, engine: new CoreEngine(), catalog: CATALOG });
  const checks = CHECKS_OF_ORDER.filter(({ check }) => check !== 'switch').map((check) => {
    // Its scope is the scope of the switch.
    return check.check === 'scope' ? { ...check, wrong: () => ({ trading: false }) } : check;
  });
  await areInOrder(t, ORDER, checks, async (request) => {
    const { isRevoked, perMinute, headers, body } = request;
    const user = await addUser(api, perMinute);
    const token = await api.signIn(user);
    if (isRevoked) await api.store.sessions.end(api.store.sessions.ofUser(user.id));
    const order = { idempotencyKey: 'k', ...body };
    return answerTo(api, request, { token, headers, body: order });
  });
});

async function areInOrder<R>(
  t: ExecutionContext,
  good: R,
  checks: Check<R>[],
  answerTo: (request: R) => Promise<string>,
): Promise<void> {
  t.regex(await answerTo(good), /^20[01]/);
  for (const [first, { check, answer, wrong }] of checks.entries()) {
    const request = { ...good, ...wrong(good) };
    t.regex(await answerTo(request), answer, `only the ${check} is wrong`);
    for (const later of checks.slice(first + 1)) {
      const both = { ...request, ...later.wrong(request) };
      t.regex(await answerTo(both), answer, `${check} before ${later.check}`);
    }
  }
}

let users = 0;

/** Somebody new each time, so that no limit is met. */
async function addUser(api: Api, perMinute = 10): Promise<User> {
  users++;
  const user = newUser(
    {
      email: `user${users}@example.org`,
      plan: 'enterprise',
      requestLimits: { perMinute, perMonth: 100 },
    },
    Date.now(),
  );
  await api.store.addUser(user);
  return user;
}

async function answerToKey(api: Api, request: KeyRequest): Promise<string> {
  const { caller, body } = await callerFor(api, request);
  return answerTo(api, request, { token: caller.token, headers: request.headers, body });
}

/** Who has a key like the key of the request, and the order. */
async function callerFor(api: Api, { scopes, isRevoked, perMinute, body }: KeyRequest) {
  const user = await addUser(api, perMinute);
  const { key, token } = newKey(user.id, { scopes }, 'cli', Date.now());
  await api.store.putKey(isRevoked ? { ...key, revokedAtMs: Date.now() } : key);
  return { caller: keyCallerOf(user, key, token), body: { idempotencyKey: 'k', ...body } };
}

async function answerToSession(api: Api, request: SessionRequest): Promise<string> {
  const { credential, isGuest, body } = request;
  const session = isGuest
    ? (await api.auth('POST', '/signup')).json.access_token
    : await api.signIn(await addUser(api));
  return answerTo(api, request, { token: credential === 'key' ? api.token : session, body });
}

/** Status, code and message. */
async function answerTo(api: Api, request: Request, options: CallOptions): Promise<string> {
  const { method, path, query, trading } = request;
  await api.switches.set('trading', trading);
  return textOf(await api.call(method, path + query, options));
}

function textOf({ status, json }: { status: number; json: Json }): string {
  return `${status} ${json.error?.code} ${json.error?.message}`;
}

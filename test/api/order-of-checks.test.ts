/** CONTRACT.md section 1, order of checks: a request that is wrong in two ways hears of the first. */
import test from 'ava';
import { newKey, type Scope } from '../../api/identity/keys.ts';
import { newUser } from '../../api/identity/users.ts';
import { AWAY, CATALOG } from '../engine/fixtures.ts';
import { CoreEngine } from './core-engine.ts';
import { type Api, startApi } from './support.ts';

type Request = {
  path: string;
  query: string;
  method: string;
  isRevoked: boolean;
  scopes: Scope[];
  requestsPerMinute: number;
  headers: Record<string, string>;
  body: Record<string, unknown>;
  trading: boolean;
};

/** An order that is taken as it stands. */
const GOOD: Request = {
  path: '/portfolio/orders',
  query: '',
  method: 'POST',
  isRevoked: false,
  scopes: ['trade:write'],
  requestsPerMinute: 10,
  headers: {},
  body: { action: 'buy', type: 'market', instrumentId: AWAY, side: 'yes', count: 1 },
  trading: true,
};

/** What each check refuses, in the order of the contract, and the answer where it is the first. */
const CHECKS: { check: string; answer: RegExp; wrong(request: Request): Partial<Request> }[] = [
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
    wrong: () => ({ requestsPerMinute: 0 }),
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

test('CONTRACT.md section 1, order of checks: of any two wrongs the earlier answers', async (t) => {
  const env = { PAPERBOOK_LIMITS_ENFORCED: 'on' };
  const api = await startApi(t, { engine: new CoreEngine(), catalog: CATALOG, env });
  t.regex(await answerTo(api, GOOD), /^200/);
  for (const [first, { check, answer, wrong }] of CHECKS.entries()) {
    const request = { ...GOOD, ...wrong(GOOD) };
    t.regex(await answerTo(api, request), answer, `only the ${check} is wrong`);
    for (const later of CHECKS.slice(first + 1)) {
      const both = { ...request, ...later.wrong(request) };
      t.regex(await answerTo(api, both), answer, `${check} before ${later.check}`);
    }
  }
});

let requests = 0;

/** Status, code and message, by a new user each time, so that no limit is met. */
async function answerTo(api: Api, request: Request): Promise<string> {
  requests++;
  const requestLimits = { perMinute: request.requestsPerMinute, perMonth: 100 };
  const input = {
    email: `user${requests}@example.org`,
    plan: 'enterprise',
    requestLimits,
  } as const;
  const user = newUser(input, Date.now());
  await api.store.addUser(user);
  const { key, token } = newKey(user.id, { scopes: request.scopes }, 'cli', Date.now());
  await api.store.putKey(request.isRevoked ? { ...key, revokedAtMs: Date.now() } : key);
  await api.switches.set('trading', request.trading);
  const { status, json } = await api.call(request.method, request.path + request.query, {
    token,
    headers: request.headers,
    body: { idempotencyKey: 'k', ...request.body },
  });
  return `${status} ${json.error?.code} ${json.error?.message}`;
}

/**
 * Every error that the description declares of an operation is reached here, on the real core, and
 * every code of the table is declared by some operation or named below with what it waits for.
 * That no operation gives another is the business of whoever calls in a test: `support.ts`.
 */
import test, { type ExecutionContext } from 'ava';
import { ERRORS, type ErrorCode } from '../../api/errors.ts';
import { newKey, type Scope } from '../../api/identity/keys.ts';
import { newOrganization } from '../../api/identity/organizations.ts';
import type { SwitchName } from '../../api/switches.ts';
import { NO_PRICE } from '../../engine/core/units.ts';
import { EngineBusy } from '../../engine/shard/busy.ts';
import { AWAY, CATALOG, NOON_MS, NOWHERE, quoteTick, uuidOf } from '../engine/fixtures.ts';
import { CoreEngine } from './core-engine.ts';
import { type Answer, type Api, type CallOptions, type Json, startApi } from './support.ts';

/** Codes that no route of today gives, by what will give them. */
const NOT_YET: Partial<Record<ErrorCode, string>> = {
  session_required: 'sessions',
  guest_account: 'sessions',
  scope_not_available: 'key management',
  key_not_found: 'key management',
  key_limit_reached: 'key management',
  key_creation_limited: 'key management',
  quota_exceeded: 'request limits',
  venue_a_rejected: 'live trading',
  venue_c_intl_rejected: 'live trading',
  reset_not_available: 'account reset',
  trader_not_found: 'records',
  market_not_found: 'history',
  not_configured: 'history and backtest',
};
/** Given where there is no operation: what the description says in its introduction. */
const OF_NO_OPERATION: ErrorCode[] = ['route_not_found', 'method_not_allowed'];

/** `token`: a caller nobody else is, who may do everything. */
type Scene = {
  t: ExecutionContext;
  api: Api;
  engine: CoreEngine;
  operation: Operation;
  token: string;
};
type Operation = { method: string; path: string; body?: object; scope: Scope | null };
type Reach = (scene: Scene) => Promise<Answer>;

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
const REQUESTS: Record<string, { path?: string; body?: object }> = {
  getInstrument: { path: `/instruments/${AWAY}` },
  getQuote: { path: `/instruments/${AWAY}/quote` },
  getGame: { path: '/games/awy-hom' },
  listQuotes: { path: `/quotes?ids=${AWAY}` },
  searchInstruments: { path: '/instruments/search?q=away' },
  getOrder: { path: `/portfolio/orders/${SOME_ID}` },
  cancelOrder: { path: `/portfolio/orders/${SOME_ID}` },
  placeOrder: { body: { ...MARKET, idempotencyKey: 'k' } },
};

let others = 0;

/** What follows from a route's declaration is reached the same way on all of them. */
const COMMON: Record<string, Reach> = {
  '401 unauthorized': (scene) => ask(scene, { token: null }),
  '401 invalid_token': (scene) => ask(scene, { token: 'svc_sk_nonsense' }),
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
  '413 invalid_request': (scene) => ask(scene, { body: ' '.repeat(65_537) }),
  '404 organization_not_found': (scene) => ask(scene, { headers: { 'x-service-org': SOME_ID } }),
  '403 organization_forbidden': async (scene) => {
    others++;
    const organization = newOrganization({ slug: `other-${others}`, name: 'Others' }, 1);
    await scene.api.store.organizations.add(organization);
    return ask(scene, { headers: { 'x-service-org': organization.id } });
  },
  '403 venue_data_off': (scene) => whileOff(scene, 'venueData'),
  '403 trading_off': (scene) => whileOff(scene, 'trading'),
  '503 internal_error': (scene) => whileFailing(scene, new EngineBusy('queue full')),
  '500 internal_error': async (scene) => {
    const { store } = scene.api;
    const { keyByHash } = store;
    store.keyByHash = () => {
      throw new Error('a fault that the test made');
    };
    const answer = await ask(scene);
    store.keyByHash = keyByHash;
    return answer;
  },
};

/** The operations' own rules, by code; with the status where the code has several. */
const OWN: Record<string, { [error in ErrorCode | '503 internal_error']?: Reach }> = {
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

test('CONTRACT.md section 2: every error declared of an operation is reached', async (t) => {
  const engine = new CoreEngine();
  const api = await startApi(t, { engine, catalog: CATALOG });
  const unused = new Set(Object.values(OWN).flatMap((codes) => Object.values(codes)));
  for (const [operationId, operation, declared] of await declaredErrors(api)) {
    for (const { status, code } of declared) {
      const both = `${status} ${code}` as '503 internal_error';
      const own = OWN[operationId]?.[both] ?? OWN[operationId]?.[code];
      if (own !== undefined) unused.delete(own);
      const reach = own ?? COMMON[both];
      if (reach === undefined) {
        t.fail(`${operationId} declares ${status} ${code}, and nothing here reaches it`);
        continue;
      }
      engine.reset();
      const token = await api.addKey({ scopes: ALL_SCOPES });
      const answer = await reach({ t, api, engine, operation, token });
      t.is(`${answer.status} ${answer.json?.error?.code}`, `${status} ${code}`, operationId);
    }
  }
  t.is(unused.size, 0, 'an error is reached here that its route does not declare');
});

test('SPEC.md section 7, CONTRACT.md section 2: each code is given today, or waits', async (t) => {
  const api = await startApi(t);
  const given = new Set<ErrorCode>(OF_NO_OPERATION);
  for (const [, , declared] of await declaredErrors(api)) {
    for (const { code } of declared) given.add(code);
  }
  const waiting = Object.keys(NOT_YET) as ErrorCode[];
  t.deepEqual(
    waiting.filter((code) => given.has(code)),
    [],
    'given, and yet said to wait',
  );
  t.deepEqual([...given, ...waiting].sort(), (Object.keys(ERRORS) as ErrorCode[]).sort());
  await reachedWithoutOperation(t, api);
});

async function reachedWithoutOperation(t: ExecutionContext, api: Api): Promise<void> {
  t.is((await api.call('GET', '/nowhere')).json.error.code, 'route_not_found');
  t.is((await api.call('PUT', '/status')).json.error.code, 'method_not_allowed');
}

type Declared = { status: number; code: ErrorCode };

/** Every operation of the description, and the errors it says it can give. */
async function declaredErrors(api: Api): Promise<[string, Operation, Declared[]][]> {
  const { paths } = (await api.call('GET', '/openapi.json')).json;
  return Object.entries<Json>(paths).flatMap(([path, methods]) => {
    return Object.entries<Json>(methods).map(([method, described]) => {
      const { operationId, responses } = described;
      const scope = described['x-required-scope'] ?? null;
      const request = { path, ...REQUESTS[operationId] };
      const errors = Object.entries<Json>(responses).flatMap(([status, { content }]) => {
        const codes = Object.keys(content['application/json'].examples ?? {});
        return codes.map((code) => ({ status: Number(status), code }) as Declared);
      });
      const operation = { method: method.toUpperCase(), scope, ...request };
      return [operationId, operation, errors] as [string, Operation, Declared[]];
    });
  });
}

/** The operation's own request, changed by `options`. */
async function ask(scene: Scene, options: CallOptions = {}, query = ''): Promise<Answer> {
  const { token, operation } = scene;
  const { method, path, ...request } = operation;
  const where = query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`;
  return scene.api.call(method, where, { token, ...request, ...options });
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
  const placing = { method: 'POST', path: '/portfolio/orders', scope: null, body };
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

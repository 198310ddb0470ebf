/** How the errors of every operation are reached, on the real core. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ExecutionContext } from 'ava';
import { generateKeyPair, SignJWT } from 'jose';
import type { ErrorCode } from '../../api/base/errors.ts';
import { DEFAULT_SCOPES, type Scope } from '../../api/identity/keys.ts';
import { newOrganization, type Role } from '../../api/identity/organizations.ts';
import type { SwitchName } from '../../api/identity/switches.ts';
import type { EmbeddedBacktest } from '../../api/read-side/backtest-source.ts';
import type { HistorySource } from '../../api/read-side/history-source.ts';
import { NO_PRICE } from '../../engine/base/units.ts';
import { NotLeader, Unavailable } from '../../engine/threads/unavailable.ts';
import { AWAY, CATALOG, NOON_MS, NOWHERE, quoteTick } from '../engine/fixtures.ts';
import type { CoreEngine } from './core-engine.ts';
import { type Answer, type Api, type CallOptions, startApi } from './support.ts';

/** `token`: a new caller with every scope. */
type Scenario = {
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
export type Reach = (scenario: Scenario) => Promise<Answer>;

const ALL_SCOPES: Scope[] = [
  ...DEFAULT_SCOPES,
  'trade:write',
  'trade:write:venue_a',
  'trade:write:venue_c_intl',
];
const SOME_ID = '0195d3a0-0000-7000-8000-000000000001';
const MARKET = { action: 'buy', type: 'market', instrumentId: AWAY, side: 'yes', count: 1 };
const BACKTEST = { markets: {}, rule: { side: 'yes' }, stake: { contracts: 1 } };
const RESTING = { ...MARKET, type: 'limit', limitPriceCents: 2 };

/** Requests that are good as they are. */
export const REQUESTS: Record<string, { path?: string; body?: object }> = {
  // Its errors, except the errors of every list.
  listInstruments: { path: '/instruments?priced=true' },
  getInstrument: { path: `/instruments/${AWAY}` },
  getQuote: { path: `/instruments/${AWAY}/quote` },
  getGame: { path: '/games/awy-hom' },
  getHistory: { path: `/history?instrumentId=${AWAY}` },
  getCandles: { path: `/history/candles?instrumentId=${AWAY}` },
  getHistoryAsOf: { path: `/history/as_of?instrumentIds=${AWAY}&at=2026-11-21` },
  exportHistory: { path: `/history/export?instrumentId=${AWAY}` },
  runBacktest: { body: BACKTEST },
  getTrader: { path: '/traders/owner' },
  listPicks: { path: '/traders/owner/picks' },
  getTrackRecord: { path: '/traders/owner/track-record' },
  listQuotes: { path: `/quotes?ids=${AWAY}` },
  searchInstruments: { path: '/instruments/search?q=away' },
  getOrder: { path: `/portfolio/orders/${SOME_ID}` },
  cancelOrder: { path: `/portfolio/orders/${SOME_ID}` },
  amendOrder: {
    path: `/portfolio/orders/${SOME_ID}`,
    body: { idempotencyKey: 'change', limitPriceCents: 1 },
  },
  makeOrderGroup: { body: { contractsLimit: 1, windowSeconds: 60 } },
  removeOrderGroup: { path: `/portfolio/order_groups/${SOME_ID}` },
  getOrderReceipt: { path: `/portfolio/orders/${SOME_ID}/receipt` },
  getTradeReceipt: { path: `/portfolio/trades/${SOME_ID}/receipt` },
  placeOrder: { body: { ...MARKET, idempotencyKey: 'k' } },
  previewOrder: { body: MARKET },
  getBook: { path: `/instruments/${AWAY}/book` },
  placeOrders: { body: { orders: [{ ...MARKET, idempotencyKey: 'k' }] } },
  changeMe: { body: {} },
  changeOrganization: { body: { realism: 'simple' } },
  createKey: { body: {} },
  rotateKey: { path: `/api_keys/${SOME_ID}/rotate`, body: {} },
  revokeKey: { path: `/api_keys/${SOME_ID}` },
  createVenueKey: { body: {} },
  revokeVenueKey: { path: `/venue_keys/${SOME_ID}` },
  endSession: { path: `/me/sessions/${SOME_ID}` },
};

let others = 0;

/** Errors that follow from a route's declaration are reached the same way on all routes. */
export const COMMON: Record<string, Reach> = {
  '401 unauthorized': (scenario) => ask(scenario, { token: null }),
  '401 invalid_token': (scenario) => ask(scenario, { token: 'nonsense' }),
  '401 session_required': (scenario) => ask(scenario, { token: scenario.api.token }),
  '403 guest_account': async (scenario) => {
    const guest = await scenario.api.auth('POST', '/signup', { body: {} });
    return ask(scenario, { token: guest.json.access_token });
  },
  '429 rate_limited': async (scenario) => ask(scenario, { token: await limitedTo(scenario, 0, 1) }),
  '429 quota_exceeded': async (scenario) =>
    ask(scenario, { token: await limitedTo(scenario, 1, 0) }),
  '403 insufficient_scope': async (scenario) => {
    const scopes = ALL_SCOPES.filter((held) => held !== scenario.operation.scope);
    return ask(scenario, { token: await scenario.api.addKey({ scopes }) });
  },
  '400 invalid_request': (scenario) => ask(scenario, {}, 'unknown=1'),
  '413 invalid_request': (scenario) =>
    ask(scenario, {
      headers: { 'content-type': 'application/json' },
      // More than any route takes.
      body: ' '.repeat(2 ** 20 + 1),
    }),
  '404 organization_not_found': (scenario) =>
    ask(scenario, { headers: { 'x-service-org': SOME_ID } }),
  '403 organization_forbidden': async (scenario) => {
    others++;
    const organization = newOrganization({ slug: `other-${others}`, name: 'Others' }, 1);
    await scenario.api.store.organizations.add(organization);
    return ask(scenario, { headers: { 'x-service-org': organization.id } });
  },
  '403 venue_data_off': (scenario) => whileOff(scenario, 'venueData'),
  '403 trading_off': (scenario) => whileOff(scenario, 'trading'),
  '503 internal_error': async (scenario) => {
    if (scenario.operation.isOfSession) return whileAuthIsAway(scenario);
    const answer = await whileFailing(scenario, new Unavailable('queue full'));
    // A route without the engine takes a session too, whose keys cannot be fetched.
    return answer.status === 503 ? answer : whileAuthIsAway(scenario);
  },
  '503 not_leader': async (scenario) => {
    const { engine } = scenario;
    const { store } = scenario.api;
    const { refusal } = store;
    engine.refused = new NotLeader('https://one.example');
    store.refusal = () => engine.refused;
    const answer = await whileFailing(scenario, engine.refused);
    engine.refused = null;
    store.refusal = refusal;
    return answer;
  },
  '500 internal_error': async (scenario) => {
    const { keys, users } = scenario.api.store;
    const { get } = users;
    const { requireCurrent } = keys;
    const fail = () => {
      throw new Error('a fault that the test made');
    };
    // A session asks for its user, and a key whether this node may serve it.
    [users.get, keys.requireCurrent] = [fail, fail];
    const answer = await ask(scenario);
    [users.get, keys.requireCurrent] = [get, requireCurrent];
    return answer;
  },
};

const starting = () => Promise.reject(new Unavailable('the history is starting'));
const HISTORY: (typeof OWN)[string] = {
  market_not_found: async (scenario) => {
    const [path] = scenario.operation.path.split('?');
    return at(`${path}?ticker=nothing`)(scenario);
  },
  not_configured: (scenario) => ofHistory(scenario, { kind: 'off' }),
  '503 internal_error': (scenario) =>
    ofHistory(scenario, {
      kind: 'embedded',
      ...{ ask: starting, tops: starting, marketNumber: () => 0 },
    }),
};
const { market_not_found: _, ...HISTORY_AS_OF } = HISTORY;

async function ofBacktest(scenario: Scenario, reason: string): Promise<Answer> {
  const backtest: EmbeddedBacktest = {
    kind: 'embedded',
    pool: { run: () => Promise.reject(new Unavailable(reason)) },
    directory: '/nowhere',
    stored: async () => [],
  };
  const api = await startApi(scenario.t, { catalog: CATALOG, backtest });
  return ask({ ...scenario, api, token: api.token });
}
const RECORDS: (typeof OWN)[string] = {
  '503 internal_error': async (scenario) => {
    const { store, context } = scenario.api;
    // The records are not asked about who is private.
    for (const { id } of [...store.users.values()]) await store.changeUser(id, { private: false });
    const { ask: answered } = context.records;
    context.records.ask = () => Promise.reject(new Unavailable('the records are being made'));
    const answer = await ask(scenario);
    context.records.ask = answered;
    return answer;
  },
};

async function ofHistory(scenario: Scenario, history: HistorySource): Promise<Answer> {
  const api = await startApi(scenario.t, { catalog: CATALOG, history });
  return ask({ ...scenario, api, token: api.token });
}

/** The shard's log cannot be read. */
async function withoutLog({ t, operation }: Scenario): Promise<Answer> {
  const api = await startApi(t);
  const log = path.join(api.dataDir, 'shard-0', 'log');
  mkdirSync(log, { recursive: true });
  writeFileSync(path.join(log, '00000000.log'), 'not a log');
  return api.call('GET', operation.path);
}

/** Common errors that some operations give in their own way. */
type OwnError =
  | '503 internal_error'
  | '404 organization_not_found'
  | '403 organization_forbidden'
  | '403 trading_off';

/**
 * The operations' own rules, by code. Common codes are reached there as well, except a code with
 * its status: such a code is reached on this operation in its own way.
 */
export const OWN: Record<string, { [error in ErrorCode | OwnError]?: Reach }> = {
  listOrganizations: {
    '503 internal_error': async ({ t }) => {
      const env = { PAPERBOOK_ORGANIZATIONS_URL: 'http://127.0.0.1:1/' };
      return (await startApi(t, { env })).call('GET', '/organizations');
    },
  },
  changeMe: {
    not_configured: (scenario) => ask(scenario, { body: { realism: 'realistic' } }),
  },
  changeOrganization: {
    '503 internal_error': async ({ t }) => {
      const env = { PAPERBOOK_ORGANIZATIONS_URL: 'http://127.0.0.1:1/' };
      const api = await startApi(t, { env });
      const body = { realism: 'simple' };
      const token = await api.signIn();
      return api.call('PATCH', `/organizations/${SOME_ID}`, { token, body });
    },
    '404 organization_not_found': at('/organizations/nobody'),
    '403 organization_forbidden': (scenario) => ofOrganization(scenario, 'member', 'simple'),
    not_configured: (scenario) => ofOrganization(scenario, 'owner', 'realistic'),
  },
  listEvents: { '503 internal_error': withoutLog },
  getOrderReceipt: {
    '503 internal_error': withoutLog,
    order_not_found: (scenario) => ask(scenario),
  },
  getTradeReceipt: {
    '503 internal_error': withoutLog,
    trade_not_found: (scenario) => ask(scenario),
  },
  placeOrders: {
    '503 internal_error': async ({ t, operation: { body } }) => {
      const api = await startApi(t);
      api.engine.busy = new Unavailable('queue full');
      return api.call('POST', '/portfolio/orders/batch', { body });
    },
  },
  resetAccount: { reset_not_available: (scenario) => ask(scenario) },
  getInstrument: { instrument_not_found: at('/instruments/nobody') },
  getQuote: { instrument_not_found: at('/instruments/nobody/quote') },
  getBook: { instrument_not_found: at('/instruments/nobody/book') },
  getGame: { game_not_found: at('/games/nobody') },
  getLeaderboard: RECORDS,
  getEval: RECORDS,
  getOwnEval: RECORDS,
  getTrader: { ...RECORDS, trader_not_found: at('/traders/nobody') },
  getTrackRecord: { ...RECORDS, trader_not_found: at('/traders/nobody/track-record') },
  listPicks: { ...RECORDS, trader_not_found: at('/traders/nobody/picks') },
  getHistory: HISTORY,
  getCandles: HISTORY,
  getHistoryAsOf: HISTORY_AS_OF,
  exportHistory: HISTORY,
  // A server of the tests has no history on disk.
  runBacktest: {
    not_configured: (scenario) => ask(scenario),
    '503 internal_error': (scenario) => ofBacktest(scenario, '10 backtests are running'),
  },
  getOrder: { order_not_found: (scenario) => ask(scenario) },
  createKey: {
    scope_not_available: (scenario) => {
      const body = { scopes: ['trade:write'] };
      return whileOff({ ...scenario, operation: { ...scenario.operation, body } }, 'trading');
    },
    key_limit_reached: (scenario) => untilRefused(() => ask(scenario), undefined),
    key_creation_limited: (scenario) =>
      untilRefused(async () => {
        const made = await ask(scenario);
        if (made.status === 201) await revoke(scenario, made.json.key.id);
        return made;
      }, undefined),
  },
  rotateKey: {
    key_not_found: (scenario) => ask(scenario),
    key_creation_limited: async (scenario) => {
      const operation = { ...scenario.operation, path: '/api_keys' };
      let { id } = (await ask({ ...scenario, operation })).json.key;
      return untilRefused(async () => {
        const answer = await at(`/api_keys/${id}/rotate`)(scenario);
        id = answer.json.key?.id;
        return answer;
      }, undefined);
    },
  },
  revokeKey: { key_not_found: (scenario) => ask(scenario) },
  createVenueKey: {
    key_limit_reached: (scenario) => untilRefused(() => ask(scenario), undefined),
  },
  revokeVenueKey: { key_not_found: (scenario) => ask(scenario) },
  endSession: { session_not_found: (scenario) => ask(scenario) },
  cancelOrder: {
    order_not_found: (scenario) => ask(scenario),
    already_closed: async (scenario) => {
      const { order } = (await place(scenario, RESTING)).json;
      await cancel(scenario, order.orderId);
      return cancel(scenario, order.orderId);
    },
    rate_limited: (scenario) => untilRefused(() => ask(scenario), 'order_not_found'),
  },
  cancelOrders: {
    instrument_not_found: (scenario) => ask(scenario, {}, 'instrumentId=ins_ZZZZZZZZZZZZ'),
    rate_limited: (scenario) => untilRefused(() => ask(scenario), undefined),
  },
  amendOrder: {
    // An order that is not there is said first.
    '403 trading_off': async (scenario) => {
      const { order } = (await place(scenario, RESTING)).json;
      await scenario.api.switches.set('trading', false);
      const answer = await amend(scenario, order.orderId);
      await scenario.api.switches.set('trading', true);
      return answer;
    },
    order_not_found: (scenario) => ask(scenario),
    already_closed: async (scenario) => {
      const { order } = (await place(scenario, RESTING)).json;
      await cancel(scenario, order.orderId);
      return amend(scenario, order.orderId);
    },
    idempotency_key_reused: async (scenario) => {
      const { order } = (await place(scenario, RESTING)).json;
      await amend(scenario, order.orderId, { idempotencyKey: 'reused', limitPriceCents: 1 });
      return amend(scenario, order.orderId, { idempotencyKey: 'reused', limitPriceCents: 3 });
    },
    rate_limited: (scenario) => untilRefused(() => ask(scenario), 'order_not_found'),
    membership_required: async (scenario) => {
      const { order } = (await place(scenario, RESTING)).json;
      const { store } = scenario.api;
      await store.changeUser([...store.users.values()].at(-1)!.id, { plan: 'none' });
      return amend(scenario, order.orderId);
    },
    market_not_open: async (scenario) => {
      const { order } = (await place(scenario, RESTING)).json;
      pause(scenario);
      return amend(scenario, order.orderId);
    },
    would_take: async (scenario) => {
      const { order } = (await place(scenario, { ...RESTING, postOnly: true })).json;
      return amend(scenario, order.orderId, { limitPriceCents: 99 });
    },
    insufficient_balance: async (scenario) => {
      const { order } = (await place(scenario, RESTING)).json;
      return amend(scenario, order.orderId, { contracts: 1_000_000_000 });
    },
  },
  makeOrderGroup: {
    order_groups_full: (scenario) => untilRefused(() => ask(scenario), undefined),
  },
  removeOrderGroup: {
    order_group_not_found: (scenario) => ask(scenario),
    rate_limited: (scenario) => untilRefused(() => ask(scenario), 'order_group_not_found'),
  },
  placeOrder: {
    order_group_not_found: (scenario) => place(scenario, { ...MARKET, orderGroupId: SOME_ID }),
    order_group_limit: async (scenario) => {
      const path = '/portfolio/order_groups';
      const body = { contractsLimit: 1, windowSeconds: 60 };
      const operation = { ...scenario.operation, path, body };
      const { orderGroup } = (await ask({ ...scenario, operation })).json;
      const grouped = { ...MARKET, orderGroupId: orderGroup.orderGroupId };
      await place(scenario, grouped);
      return place(scenario, grouped);
    },
    would_take: (scenario) => place(scenario, { ...RESTING, limitPriceCents: 99, postOnly: true }),
    too_late: (scenario) =>
      place(scenario, { ...MARKET, rejectIfLaterThan: '2020-01-01T00:00:00Z' }),
    us_not_eligible: (scenario) => place(scenario, { ...MARKET, execution: 'venue_c' }),
    venue_a_key_missing: (scenario) => place(scenario, { ...MARKET, execution: 'venue_a' }),
    venue_c_intl_key_missing: (scenario) =>
      place(scenario, { ...MARKET, execution: 'venue_c_intl' }),
    live_trading_unavailable: async (scenario) => {
      const { store } = scenario.api;
      const userId = [...store.users.values()].at(-1)!.id;
      await store.putVenueKey({ userId, venue: 'venue_a', venueKeyId: 'k', createdAtMs: 1 });
      return place(scenario, { ...MARKET, execution: 'venue_a' });
    },
    idempotency_key_reused: async (scenario) => {
      await place(scenario, { ...MARKET, idempotencyKey: 'one' });
      return place(scenario, { ...MARKET, idempotencyKey: 'one', count: 2 });
    },
    membership_required: async (scenario) => {
      const token = await scenario.api.addKey({ scopes: ALL_SCOPES }, 'none');
      return ask(scenario, { token });
    },
    rate_limited: (scenario) => untilRefused(() => place(scenario, MARKET), undefined),
    instrument_not_found: (scenario) =>
      place(scenario, { ...MARKET, instrumentId: 'ins_ZZZZZZZZZZZZ' }),
    no_tradable_listing: (scenario) => place(scenario, { ...MARKET, instrumentId: NOWHERE }),
    trade_not_found: (scenario) => sell(scenario, SOME_ID),
    already_closed: async (scenario) => {
      const { trade } = (await place(scenario, MARKET)).json;
      await sell(scenario, trade.tradeId);
      return sell(scenario, trade.tradeId);
    },
    market_resolved: (scenario) => {
      resolve(scenario);
      return place(scenario, MARKET);
    },
    market_not_open: (scenario) => {
      pause(scenario);
      return place(scenario, MARKET);
    },
    no_liquidity: (scenario) => {
      scenario.engine.tick(quoteTick({ yesAskCents: NO_PRICE, yesAskContracts: 0 }));
      return place(scenario, MARKET);
    },
    price_moved: (scenario) => place(scenario, { ...MARKET, maxPriceCents: 2 }),
    insufficient_balance: (scenario) => place(scenario, { ...MARKET, count: 1_000_000_000 }),
  },
};

/** A change of the realism of an organization in which the caller has a role. */
async function ofOrganization(scenario: Scenario, role: Role, realism: string): Promise<Answer> {
  const { store } = scenario.api;
  const organization = newOrganization({ slug: `of-${role}`, name: role }, 1);
  await store.organizations.add(organization);
  const userId = [...store.users.values()].at(-1)!.id;
  const membership = { organizationId: organization.id, userId, role, createdAtMs: 1 };
  await store.organizations.putMember(membership);
  const operation = { ...scenario.operation, path: `/organizations/${organization.id}` };
  return ask({ ...scenario, operation }, { body: { realism } });
}

/** The operation's own request, changed by `options`. */
async function ask(scenario: Scenario, options: CallOptions = {}, query = ''): Promise<Answer> {
  const { token, operation } = scenario;
  const { method, path, body } = operation;
  const request = body === undefined ? {} : { body };
  const where = query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`;
  return scenario.api.call(method, where, { token, ...request, ...options });
}

/** Somebody new who may do everything, by a key or a session as the operation asks. */
export async function newCaller(api: Api, { isOfSession }: Operation): Promise<string> {
  const token = await api.addKey({ scopes: ALL_SCOPES });
  return isOfSession ? api.signIn([...api.store.users.values()].at(-1)!) : token;
}

/** A key of an account with its own request limits. */
async function limitedTo({ api }: Scenario, perMinute: number, perMonth: number): Promise<string> {
  const token = await api.addKey({ scopes: ALL_SCOPES }, 'enterprise');
  const { id } = [...api.store.users.values()].at(-1)!;
  await api.store.changeUser(id, { requestLimits: { perMinute, perMonth } });
  return token;
}

/** One for all operations of a test. */
const withoutAuth = new WeakMap<ExecutionContext, Promise<{ api: Api; token: string }>>();

/** At an outside auth server that does not answer. */
async function whileAuthIsAway(scenario: Scenario): Promise<Answer> {
  const { t } = scenario;
  const started = withoutAuth.get(t) ?? startWithoutAuth(t);
  withoutAuth.set(t, started);
  return ask({ ...scenario, ...(await started) });
}

async function startWithoutAuth(t: ExecutionContext): Promise<{ api: Api; token: string }> {
  const issuer = 'https://auth.example/auth/v1';
  const url = 'http://127.0.0.1:1/jwks.json';
  const env = { PAPERBOOK_AUTH_JWKS_URL: url, PAPERBOOK_AUTH_ISSUER: issuer };
  const { privateKey } = await generateKeyPair('ES256');
  const token = await new SignJWT({ sub: SOME_ID, iss: issuer })
    .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
    .setExpirationTime('1h')
    .sign(privateKey);
  return { api: await startApi(t, { env }), token };
}

function revoke(scenario: Scenario, id: string): Promise<Answer> {
  const operation = { ...scenario.operation, method: 'DELETE', path: `/api_keys/${id}` };
  const { body: _, ...revoking } = operation;
  return ask({ ...scenario, operation: revoking });
}

async function whileOff(scenario: Scenario, name: SwitchName): Promise<Answer> {
  await scenario.api.switches.set(name, false);
  const answer = await ask(scenario);
  await scenario.api.switches.set(name, true);
  return answer;
}

async function whileFailing(scenario: Scenario, fault: Error): Promise<Answer> {
  scenario.engine.fault = fault;
  const answer = await ask(scenario);
  scenario.engine.fault = null;
  return answer;
}

function at(path: string): Reach {
  return (scenario) => ask({ ...scenario, operation: { ...scenario.operation, path } });
}

let keys = 0;

function place(scenario: Scenario, order: object): Promise<Answer> {
  keys++;
  const body = { idempotencyKey: `key-${keys}`, ...order };
  const placing = { ...scenario.operation, method: 'POST', path: '/portfolio/orders', body };
  return ask({ ...scenario, operation: placing });
}

function sell(scenario: Scenario, tradeId: string): Promise<Answer> {
  return place(scenario, { action: 'sell', type: 'market', tradeId });
}

function cancel(scenario: Scenario, orderId: string): Promise<Answer> {
  const { body: _, ...operation } = scenario.operation;
  const path = `/portfolio/orders/${orderId}`;
  return ask({ ...scenario, operation: { ...operation, method: 'DELETE', path } });
}

let changes = 0;

/** A change of an order, each with its key. */
function amend(scenario: Scenario, orderId: string, change?: object): Promise<Answer> {
  changes++;
  const own = change ?? { limitPriceCents: 1 };
  const body = { idempotencyKey: `change-${changes}`, ...own };
  const path = `/portfolio/orders/${orderId}`;
  return ask({ ...scenario, operation: { ...scenario.operation, method: 'PATCH', path, body } });
}

function resolve({ engine }: Scenario): void {
  const payouts = { yesPayoutCents: 100, noPayoutCents: 0 };
  engine.tick({
    ...{ kind: 'result', outcome: 'yes', ...payouts },
    ...{ market: 0, source: 0, atMs: NOON_MS },
  });
}

function pause({ engine }: Scenario): void {
  engine.tick({ kind: 'status', status: 'paused', market: 0, source: 0, atMs: NOON_MS });
}

/** Repeats until the answer changes. */
async function untilRefused(again: () => Promise<Answer>, code: string | undefined) {
  for (let n = 0; n < 100; n++) {
    const answer = await again();
    if (answer.json.error?.code !== code) return answer;
  }
  throw new Error('nothing was limited');
}

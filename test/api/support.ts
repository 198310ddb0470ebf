/**
 * A whole HTTP server over the engine without its threads and disk (a test may replace replies).
 * Its client checks every answer it gets: answers of the API against its OpenAPI description, the
 * others against the response schema of their route.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TSchema } from '@sinclair/typebox';
import type { ValidateFunction } from 'ajv';
import type { ExecutionContext } from 'ava';
import { CleanupStack } from '../../api/base/cleanup-stack.ts';
import { ErrorAnswer } from '../../api/base/common-schemas.ts';
import type { Engine } from '../../api/base/engine.ts';
import type { Log } from '../../api/base/logger.ts';
import { RecentLines } from '../../api/base/recent-lines.ts';
import { createAjv } from '../../api/base/validation.ts';
import type { CatalogView } from '../../api/catalog/catalog-view.ts';
import { openCatalogFiles, readOwnCatalog } from '../../api/catalog/live-catalog.ts';
import type { MarketBus } from '../../api/catalog/market-bus.ts';
import { loadConfig } from '../../api/config/config.ts';
import type { Config } from '../../api/config/settings.ts';
import { writeMeta } from '../../api/data-dir/data-dir.ts';
import type { Caller } from '../../api/dispatch/access.ts';
import { Metrics } from '../../api/dispatch/metrics.ts';
import type { Route } from '../../api/dispatch/route.ts';
import { createRouter } from '../../api/dispatch/router.ts';
import { signAccessToken } from '../../api/identity/access-token.ts';
import { ensureAdminToken } from '../../api/identity/admin-token.ts';
import { type KeyInput, newKey } from '../../api/identity/keys.ts';
import { newSession } from '../../api/identity/sessions.ts';
import { SignIn } from '../../api/identity/sign-in.ts';
import { ensureSigningKey } from '../../api/identity/signing-key.ts';
import { ControlStore } from '../../api/identity/store.ts';
import type { Switches } from '../../api/identity/switches.ts';
import { newUser, type Plan, type User } from '../../api/identity/users.ts';
import type { RequestMeter } from '../../api/limits/request-meter.ts';
import { type CatalogSource, startMarketData } from '../../api/market-data/start-market-data.ts';
import { adminRoutes } from '../../api/operations/admin/admin.ts';
import { apiRoutes } from '../../api/operations/routes/api-routes.ts';
import { authRoutes } from '../../api/operations/routes/auth.ts';
import { docsRoutes } from '../../api/operations/routes/docs.ts';
import { pageRoutes } from '../../api/operations/routes/page.ts';
import type { ServerContext } from '../../api/operations/server-context.ts';
import type { BacktestSource } from '../../api/read-side/backtest-source.ts';
import type { HistorySource } from '../../api/read-side/history-source.ts';
import { startReaders } from '../../api/read-side/start-readers.ts';
import { TrackRecordKeys } from '../../api/read-side/track-record-keys.ts';
import { AuthErrorAnswer } from '../../api/schemas/auth.ts';
import { listen } from '../../api/server.ts';
import { type MarketNumber, marketName, type Venue } from '../../engine/base/units.ts';
import { FORMAT_VERSION } from '../../engine/format/version.ts';
import { Recorder } from '../../engine/history/recorder.ts';
import type { Catalog } from '../../engine/rules/catalog-entries.ts';
import type { FeeEntry } from '../../engine/rules/fees.ts';
import type { FeedStatus } from '../../feeds/connection/connection-status.ts';
import { AnswerCheck, type SeenAnswer } from './answer-check.ts';
import { cheapenHashes } from './cheap-hashes.ts';
import { embeddedHistory } from './embedded-history.ts';
import { FakeEngine } from './fake-engine.ts';
import { recordsOf } from './records-of.ts';
import * as samples from './samples.ts';

export type LogLine = { level: string; fields: object; message: string };

export type Api = {
  context: ServerContext;
  engine: FakeEngine;
  routes: Route<Caller>[];
  store: ControlStore;
  switches: Switches;
  catalog: CatalogView;
  /** The bus of market events. */
  bus: MarketBus;
  setCatalog(catalog: Catalog): void;
  setFeeds(feeds: FeedStatus[]): void;
  log: LogLine[];
  user: User;
  meter: RequestMeter;
  /** A key with the default scopes and trade:write. */
  token: string;
  adminToken: string;
  baseUrl: string;
  adminUrl: string;
  port: number;
  dataDir: string;
  close(): Promise<void>;
  addKey(input: KeyInput, plan?: Plan): Promise<string>;
  /** A request of the public API; `token` null sends no credential. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** A request of /auth/v1, without a credential by default. */
  auth(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** The access token of a new session of the user. */
  signIn(user?: User): Promise<string>;
  /** A request of the admin listener, with the admin token. */
  admin(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** A request of the public listener outside /v1 and /auth/v1. */
  page(method: string, path: string, options?: CallOptions): Promise<Answer>;
};

export type CallOptions = {
  token?: string | null;
  headers?: Record<string, string>;
  /** A string or bytes are sent unchanged, any other value as JSON. */
  body?: unknown;
};

export type Answer = { status: number; headers: Headers; text: string; json: Json };
// biome-ignore lint/suspicious/noExplicitAny: tests reach into answers that a schema has checked
export type Json = any;

export const TRADER_SCOPES: KeyInput['scopes'] = [
  'records:read',
  'portfolio:read',
  'markets:read',
  'trade:write',
];

type Options = {
  env?: Record<string, string>;
  config?: Partial<Config>;
  /** The clock of the request limits. */
  nowMs?: () => number;
  /** In place of the fake one, which then gets no call. */
  engine?: Engine;
  catalog?: Catalog;
  fees?: readonly FeeEntry[];
  /** In place of an empty one. */
  history?: HistorySource;
  /** In place of none. */
  backtest?: BacktestSource;
  /** Accounts without an owner, in words. */
  ownerless?: string[];
};

let emptied: Promise<string> | null = null;

/** A copy of one that is made once: each table of a store, and each key, is a commit to disk. */
async function emptyDataDir(): Promise<string> {
  emptied ??= makeEmptyDataDir();
  const dataDir = newDirectory();
  cpSync(await emptied, dataDir, { recursive: true });
  return dataDir;
}

async function makeEmptyDataDir(): Promise<string> {
  const dataDir = newDirectory();
  process.on('exit', () => rmSync(dataDir, { recursive: true, force: true }));
  writeMeta(dataDir, { format: 'paperbook-data', version: FORMAT_VERSION, shards: 1 });
  await new ControlStore(dataDir).close();
  ensureAdminToken(dataDir);
  await ensureSigningKey(dataDir, { warn() {} });
  new TrackRecordKeys(dataDir);
  return dataDir;
}

const newDirectory = () => mkdtempSync(join(tmpdir(), 'paperbook-api-'));

/** A catalog that the engine has, and that a test sets. */
class SetCatalog implements CatalogSource {
  current: Catalog;
  readonly fees: readonly FeeEntry[];

  constructor({ catalog = samples.sampleCatalog(), fees = [] }: Options) {
    this.current = catalog;
    this.fees = fees;
  }

  marketNumber(venue: Venue, name: string): MarketNumber | undefined {
    const number = this.current.marketNames.indexOf(marketName(venue, name));
    return number === -1 ? undefined : number;
  }

  marketsToWatch(_: readonly Venue[], named: number) {
    const marketNames = this.current.marketNames.slice(named);
    return { named, marketNames, byVenue: {}, games: [], settled: [] };
  }

  watch() {
    return { close() {} };
  }

  async start(): Promise<void> {}
}

/** Starts a server for one test; it ends with the test. */
export async function startApi(t: ExecutionContext, options: Options = {}): Promise<Api> {
  const dataDir = await emptyDataDir();
  const env = {
    PAPERBOOK_PORT: '0',
    PAPERBOOK_ADMIN_PORT: '0',
    PAPERBOOK_VENUE_DATA: 'on',
    PAPERBOOK_DATA_DIR: dataDir,
    ...options.env,
  };
  const config = { ...loadConfig(env, null), ...options.config };
  const [log, fakeEngine]: [LogLine[], FakeEngine] = [[], new FakeEngine(options.catalog)];
  const stack = new CleanupStack();
  const start = { config, log: new RecentLines(logInto(t, log)), stack };
  t.teardown(() => rmSync(dataDir, { recursive: true }));
  const store = new ControlStore(dataDir);
  stack.add(() => store.close());
  const catalogFiles = openCatalogFiles(await readOwnCatalog(config.catalogFile), dataDir);
  const data = { identity: store, adminToken: ensureAdminToken(dataDir) };
  const engine = options.engine ?? fakeEngine;
  const catalog = new SetCatalog(options);
  const marketData = await startMarketData(
    // Its history has no thread here.
    {
      ...start,
      ...data,
      config: { ...config, history: false },
      engine: fakeEngine,
      catalogFiles,
      reports: [],
    },
    { catalog },
  );
  let feeds: FeedStatus[] = [];
  const { quoteMaxAgeMs } = config;
  let opened: Recorder | null = null;
  const recorder = () => {
    opened ??= new Recorder({ directory: join(dataDir, 'history'), quoteMaxAgeMs, days: 0 });
    return opened;
  };
  stack.add(async () => opened?.close());
  const readers = startReaders(
    {
      ...{ ...start, ...data, ...marketData, engine },
      dataDir: { path: dataDir, shards: 1 },
      begins: Promise.resolve(),
    },
    {
      history: options.history ?? embeddedHistory(recorder, () => catalog.current),
      backtest: options.backtest ?? { kind: 'off' },
      records: recordsOf(t, dataDir, store),
    },
  );
  t.teardown(() => stack.unwind());
  const { server, context } = await listen(
    {
      ...{ ...start, ...data, engine, readers, reports: [], positions: { problems: [] } },
      begins: Promise.resolve(),
      marketData: { ...marketData, feeds: { statuses: () => feeds, problems: () => [] } },
    },
    {
      checks: { problems: [], ownerless: Promise.resolve(options.ownerless ?? []) },
      ...(options.nowMs === undefined ? {} : { nowMs: options.nowMs }),
    },
  );
  const { meter, switches } = context;

  const user = newUser({ email: 'owner@example.com', displayName: 'Owner', plan: 'basic' }, 1);
  await store.addUser(user);
  const { key, token } = newKey(user.id, { scopes: TRADER_SCOPES! }, 'cli', Date.now());
  await store.putKey(key);

  let users = 1;
  const routes = apiRoutes(context);
  const { origin } = new URL(server.baseUrl);
  const v1 = { baseUrl: server.baseUrl, faultOf: await describedCheck(routes) };
  const signingKey = await ensureSigningKey(dataDir, context.log);
  const signIn = new SignIn(store, signingKey, context.log, config.defaultPlan);
  const authV1 = surface(`${origin}/auth/v1`, authRoutes(signIn), AuthErrorAnswer);
  const admin = surface(server.adminUrl, adminRoutes(context, new Metrics()), ErrorAnswer);
  const pages = surface(origin, [...pageRoutes('page'), ...docsRoutes()], ErrorAnswer);
  return {
    context,
    engine: fakeEngine,
    bus: marketData.bus,
    routes,
    store,
    switches,
    catalog: marketData.view,
    setCatalog: (next) => {
      catalog.current = next;
    },
    setFeeds: (next) => {
      feeds = next;
    },
    log,
    user,
    meter,
    token,
    adminToken: data.adminToken,
    baseUrl: server.baseUrl,
    adminUrl: server.adminUrl,
    port: Number(new URL(server.baseUrl).port),
    dataDir,
    close: () => server.close(),
    addKey: async (input, plan = 'basic') => {
      const email = `user${users++}@example.com`;
      const owner = newUser({ email, plan }, Date.now());
      await store.addUser(owner);
      const added = newKey(owner.id, input, 'cli', Date.now());
      await store.putKey(added.key);
      return added.token;
    },
    call: (method, path, call = {}) => send(t, v1, method, path, { token, ...call }),
    auth: (method, path, call = {}) => send(t, authV1, method, path, call),
    signIn: async (who = user) => {
      const key = await ensureSigningKey(dataDir, context.log);
      const { session } = newSession({ userId: who.id, isGuest: false }, Date.now());
      await store.sessions.add(session);
      return signAccessToken(key, 'test', session, who.email, Date.now());
    },
    admin: (method, path, call = {}) =>
      send(t, admin, method, path, { token: data.adminToken, ...call }),
    page: (method, path, call = {}) => send(t, pages, method, path, call),
  };
}

function logInto(t: ExecutionContext, lines: LogLine[]): Log {
  const at = (level: string) => (fields: object, message: string) => {
    lines.push({ level, fields, message });
    if (level === 'error') t.log(message, fields);
  };
  return { info: at('info'), warn: at('warn'), error: at('error') };
}

/** The sources of answers, and an answer's deviations from its declaration, in words. */
type Surface = { baseUrl: string; faultOf(answer: SeenAnswer): string | null };

let ofDescription: AnswerCheck | null = null;

/** The description is the same for every server. */
async function describedCheck(routes: Route<Caller>[]): Promise<Surface['faultOf']> {
  if (ofDescription === null) {
    const route = routes.find(({ path }) => path === '/openapi.json')!;
    const text = await route.run({} as never, {} as never);
    ofDescription = new AnswerCheck(JSON.parse(text as string));
  }
  const check = ofDescription;
  return (answer) => check.faultOf(answer);
}

cheapenHashes();
const ajv = createAjv();
const validators = new Map<TSchema, ValidateFunction>();

/** Held against the schemas of routes that the description leaves out. */
function surface<C>(baseUrl: string, routes: Route<C>[], errors: TSchema): Surface {
  const find = createRouter('', routes);
  return {
    baseUrl,
    faultOf: ({ method, path, status, headers, text }) => {
      if (status === 204 || method === 'HEAD') return null;
      const route = find(path)?.entry.routes.get(method);
      const isGood = status < 300;
      if (isGood && route?.status !== status) return `no route ${method} ${path} has ${status}`;
      const schema = isGood ? route!.response : errors;
      const isJson = headers.get('content-type') === 'application/json';
      let validate = validators.get(schema);
      if (validate === undefined) {
        validate = ajv.compile(schema);
        validators.set(schema, validate);
      }
      if (validate(isJson ? JSON.parse(text) : text)) return null;
      return `${method} ${path} answered ${status}: ${ajv.errorsText(validate.errors)}\n${text}`;
    },
  };
}

async function send(
  t: ExecutionContext,
  surface: Surface,
  method: string,
  path: string,
  { token, headers = {}, body }: CallOptions,
): Promise<Answer> {
  const credential: Record<string, string> =
    token === null || token === undefined ? {} : { authorization: `Bearer ${token}` };
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  const type: Record<string, string> =
    body === undefined || isRaw ? {} : { 'content-type': 'application/json' };
  const response = await fetch(surface.baseUrl + path, {
    method,
    headers: { ...credential, ...type, ...headers },
    ...(body === undefined ? {} : { body: isRaw ? (body as string) : JSON.stringify(body) }),
  });
  const text = await response.text();
  const answer = { status: response.status, headers: response.headers, text, json: null as Json };
  if (text !== '' && response.headers.get('content-type') === 'application/json') {
    answer.json = JSON.parse(text);
  }
  const seen = { method, path: path.split('?')[0]!, ...answer };
  t.is(surface.faultOf(seen), null);
  checkCommon(t, seen);
  checkDollars(t, answer.json);
  return answer;
}

/** The headers of every response of every listener. */
function checkCommon(t: ExecutionContext, { method, path, headers, status, text }: SeenAnswer) {
  const at = `${method} ${path} answered ${status}: ${text.slice(0, 500)}`;
  t.regex(headers.get('x-request-id') ?? '', /^[!-~]{1,128}$/, at);
  t.is(headers.get('x-content-type-options'), 'nosniff', at);
  t.is(headers.get('referrer-policy'), 'no-referrer', at);
  t.is(headers.get('cross-origin-resource-policy'), 'same-origin', at);
  const policy = headers.get('content-security-policy') ?? '';
  t.regex(policy, /^default-src 'none'; .*frame-ancestors 'none'$/, at);
  if (!/^\/(docs|web|$)/.test(path)) t.is(policy, "default-src 'none'; frame-ancestors 'none'", at);
  t.truthy(headers.get('cache-control'), at);
  if (status === 204 || method === 'HEAD') t.is(text, '', at);
}

/** Money has at most two decimals. */
function checkDollars(t: ExecutionContext, value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    if (name.endsWith('Dollars') && typeof inner === 'number') {
      t.is(Number(inner.toFixed(2)), inner, `${name} has more than two decimals`);
    }
    checkDollars(t, inner);
  }
}

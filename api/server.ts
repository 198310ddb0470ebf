/**
 * The HTTP server: the public API under /v1, sign-in under /auth/v1, and the operator's listener on
 * loopback.
 */

import type { CleanupStack } from './base/cleanup-stack.ts';
import type { Engine } from './base/engine.ts';
import { ApiError, errorBody } from './base/errors.ts';
import type { RecentLines } from './base/recent-lines.ts';
import { InstrumentSearch } from './catalog/instrument-search.ts';
import type { Config } from './config/settings.ts';
import {
  admitter,
  type Caller,
  callerAgain,
  callerReaders,
  isGuest,
  permit,
} from './dispatch/access.ts';
import { createDispatcher, type DispatchOptions } from './dispatch/dispatch.ts';
import { Metrics } from './dispatch/metrics.ts';
import { orderEntry } from './dispatch/order-entry.ts';
import { PacedRefusals } from './dispatch/paced-refusals.ts';
import type { Route } from './dispatch/route.ts';
import { GUARDING_HEADERS, HSTS_VALUE, NO_PAGE } from './http/guarding-headers.ts';
import { type HeaderLines, headerLines } from './http/header-lines.ts';
import { type Listener, listen as listenOn } from './http/http.ts';
import type { HttpContext } from './http/http-context.ts';
import { checkAddress, namingVariables } from './http/listen-error.ts';
import { requestLog } from './http/request-log.ts';
import { type Auth, createAuth } from './identity/auth.ts';
import { authErrorBody } from './identity/auth-errors.ts';
import { createOrganizations } from './identity/create-organizations.ts';
import { type GuestCaller, guestOf } from './identity/guest.ts';
import { keyNow } from './identity/key-access.ts';
import { OneTimeCodes } from './identity/one-time-codes.ts';
import type { OpenData } from './identity/open-data.ts';
import { Switches } from './identity/switches.ts';
import { RequestCounts } from './limits/request-counts.ts';
import { RequestMeter } from './limits/request-meter.ts';
import { CountSlots, countsMemory } from './limits/shared-counts.ts';
import { Listeners } from './listeners/listeners.ts';
import type { MarketData } from './market-data/start-market-data.ts';
import { DESCRIPTION_VERSION } from './openapi/document.ts';
import { adminRoutes, operatorOf } from './operations/admin/admin.ts';
import { apiRoutes, BASE_PATH, type Served } from './operations/routes/api-routes.ts';
import { authRoutes, visitorOf } from './operations/routes/auth.ts';
import { docsRoutes } from './operations/routes/docs.ts';
import { isRead, pageRoutes, rootTextRoute, wantsPage } from './operations/routes/page.ts';
import { TRADER_PATH, traderPageRoutes } from './operations/routes/trader-page.ts';
import type { ServerContext } from './operations/server-context.ts';
import { StartChecks } from './ops/start-checks.ts';
import type { StartedShards } from './ops/start-shards.ts';
import { PAGE_POLICY } from './page/page-policy.ts';
import { Pictures } from './page/pictures.ts';
import type { Readers } from './read-side/start-readers.ts';
import { Streams } from './stream/streams.ts';
import type { KalshiApi } from './venue-api/kalshi/kalshi-api.ts';

export type Server = {
  /** `http://127.0.0.1:8080/v1` */
  baseUrl: string;
  /** `http://127.0.0.1:8081` */
  adminUrl: string;
  /**
   * Stops accepting, gives requests in progress some time, closes every connection. A second call
   * waits for the same end.
   */
  close(): Promise<void>;
};

const AUTH_PATH = '/auth/v1';
const DOCS_PATH = '/docs';
const MCP_PATH = '/mcp';
const VENUE_API_PATH = '/trade-api';
const PARTS_PATH = '/web';
const ADMIN_HOST = '127.0.0.1';
const ADMIN_NAMES = [ADMIN_HOST, 'localhost', '[::1]'];
const CLOSE_GRACE_MS = 5000;
const SECURITY = Object.entries(GUARDING_HEADERS).flat();
const HSTS = ['Strict-Transport-Security', HSTS_VALUE];

export type ListenParts = OpenData & {
  config: Config;
  log: RecentLines;
  stack: CleanupStack;
  engine: Engine;
  reports: StartedShards['reports'];
  positions: Pick<StartedShards['positions'], 'problems'>;
  /** Left out: the server is in no cluster. */
  cluster?: StartedShards['cluster'];
  /** Left out: this thread alone answers requests. */
  further?: StartedShards['further'];
  marketData: Omit<MarketData, 'history'>;
  readers: Readers;
  /** Resolves when what no answer needs may begin. */
  begins: Promise<void>;
};

/** Parts in place of a server's own. */
export type OtherParts = {
  checks?: Pick<StartChecks, 'problems' | 'ownerless'>;
  /** The clock of the request limits. */
  nowMs?: () => number;
};

/**
 * Lets callers in, and begins the checks that run beside their requests. Rejects when an address
 * cannot be bound or the TLS files cannot be used.
 */
export async function listen(
  parts: ListenParts,
  others: OtherParts = {},
): Promise<{ server: Server; context: ServerContext }> {
  const counting = countingOf(parts, others);
  const metrics = new Metrics();
  let listeners: Listeners | null = null;
  const context = contextOf(parts, counting, others, () => listeners?.problems() ?? []);
  const further = parts.further ?? null;
  if (further !== null) {
    const { shards, ...rest } = further;
    const { config, identity, log } = parts;
    const { switches } = context;
    const headers = publicHeaders(config);
    listeners = new Listeners({
      ...{ ...rest, config, identity, log, switches, metrics, headers },
      ...{ engine: shards, counts: counting.counts, slots: counting.slots! },
    });
  }
  const server = await startServer(context, metrics, listeners);
  parts.stack.add(() => server.close());
  return { server, context };
}

const API_VARIABLES = { host: 'PAPERBOOK_HOST', port: 'PAPERBOOK_PORT' };
const ADMIN_VARIABLES = { host: null, port: 'PAPERBOOK_ADMIN_PORT' };

/** Rejects with one line for the operator if a server could not listen on its addresses now. */
export async function checkAddresses({ host, port, adminPort }: Config): Promise<void> {
  for (const [address, wanted, variables] of [
    [host, port, API_VARIABLES],
    [ADMIN_HOST, adminPort, ADMIN_VARIABLES],
  ] as const) {
    await checkAddress(address, wanted).catch((error: unknown) => {
      throw namingVariables(error, variables);
    });
  }
}

/** The counts of requests. They are in shared memory if further threads count too. */
type Counting = { counts: RequestCounts; slots: CountSlots | null };

function countingOf({ identity, log, further }: ListenParts, others: OtherParts): Counting {
  const slots = (further ?? null) === null ? null : new CountSlots(countsMemory());
  const nowMs = others.nowMs ?? Date.now;
  return { counts: new RequestCounts({ store: identity, nowMs, slots, log }), slots };
}

function contextOf(
  parts: ListenParts,
  { counts }: Counting,
  others: OtherParts,
  problemsOfListeners: () => string[],
): ServerContext {
  const { config, log, stack, identity, engine, positions, marketData, readers } = parts;
  const { view, catalog, changed, feeds, contradicted, discovery, playback, settleMarket } =
    marketData;
  const { bookNeeds, bus } = marketData;
  const checks = others.checks ?? startChecks(parts, counts);
  const meter = new RequestMeter({ counts, enforced: config.limitsEnforced });
  stack.add(() => meter.close());
  return {
    ...readers,
    ...{ engine, changed, contradicted, discovery, playback, settleMarket, log, config, identity },
    ...{ meter, bookNeeds, bus },
    adminToken: parts.adminToken,
    catalog: view,
    fees: () => catalog.fees,
    search: new InstrumentSearch(view),
    feeds: () => feeds.statuses(),
    recentLines: log,
    oneTimeCodes: new OneTimeCodes(),
    organizations: createOrganizations(config, identity, log),
    switches: new Switches(config, identity, engine, log),
    problems: () => [
      ...[...engine.problems(), ...clockProblems(engine), ...feeds.problems(Date.now())],
      ...contradicted.problems(),
      ...discovery.problems(),
      ...[...checks.problems, ...positions.problems, ...readers.problems()],
      ...problemsOfListeners(),
      ...identity.problems(),
      ...(parts.cluster?.problems() ?? []),
    ],
    etcdSpace: () => parts.cluster?.space ?? null,
    ownerless: checks.ownerless,
  };
}

function startChecks(parts: ListenParts, counts: RequestCounts): StartChecks {
  const { config, identity, reports, begins, log, stack } = parts;
  const checks = new StartChecks({
    ...{ dataDir: config.dataDir, identity, counts, reports, begins, log },
  });
  stack.add(() => checks.close());
  return checks;
}

function clockProblems(engine: Engine): string[] {
  const problem = engine.clockProblem();
  return problem === null ? [] : [problem];
}

/** Sends the shards the switches, then opens both listeners, or none of them. */
async function startServer(
  context: ServerContext,
  metrics: Metrics,
  listeners: Listeners | null,
): Promise<Server> {
  const { config, identity, log, oneTimeCodes, switches } = context;
  await switches.announce();
  const auth = await createAuth(config, identity, log, oneTimeCodes);
  const api = await listenForApi(context, auth, metrics, listeners);
  const admin = await listenForOperator(context, metrics).catch(async (error: unknown) => {
    await api.close(0);
    throw error;
  });

  const scheme = config.tls === null ? 'http' : 'https';
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  const origin = `${scheme}://${host}:${api.port}`;
  if (auth.signIn !== null) auth.signIn.issuer = origin + AUTH_PATH;
  let closing: Promise<unknown> | null = null;
  return {
    baseUrl: origin + BASE_PATH,
    adminUrl: `http://${ADMIN_HOST}:${admin.port}`,
    close: async () => {
      closing ??= Promise.all([api.close(CLOSE_GRACE_MS), admin.close(CLOSE_GRACE_MS)]);
      await closing;
    },
  };
}

/** The public listener: the API, sign-in, the page, the documentation. */
async function listenForApi(
  context: ServerContext,
  auth: Auth,
  metrics: Metrics,
  listeners: Listeners | null,
): Promise<Listener> {
  const { config, log } = context;
  const handlers = await apiHandler(context, auth, metrics);
  const { handle: handleApi, handleMcp, venueApi, streams } = handlers;
  const pictures = new Pictures(log);
  const handleTraders = tradersHandler(context, pictures, metrics);
  const handleAuth = authHandler(auth, context, metrics) ?? handleApi;
  const pages = pageRoutes('page', { hasGuests: config.publicPage });
  const handlePages = pagesHandler([...pages, ...docsRoutes()], { log, metrics });
  const handleText = pagesHandler([rootTextRoute()], { log, metrics });
  const listener = await listenOn({
    host: config.host,
    port: config.port,
    tls: config.tls,
    socketPaths: [`${BASE_PATH}/stream`, `${VENUE_API_PATH}/ws/v2`],
    headers: publicHeaders(config),
    ...(listeners === null ? {} : { sharing: 'first' as const }),
    isBehindProxy: config.behindTlsProxy,
    onAnswer: config.requestLog ? requestLog(log) : null,
    handle: (http) => {
      const { path } = http;
      if (isBelow(AUTH_PATH, path)) handleAuth(http);
      else if (handleMcp !== null && path === MCP_PATH) handleMcp(http);
      else if (venueApi !== null && isBelow(VENUE_API_PATH, path)) venueApi.handle(http);
      else if (isOfPage(http) || isBelow(DOCS_PATH, path)) handlePages(http);
      else if (isBelow(TRADER_PATH, path)) handleTraders(http);
      else if (isRead(http) && path === '/') handleText(http);
      else handleApi(http);
    },
  }).catch((error: unknown) => {
    streams.close();
    venueApi?.closeSockets();
    throw namingVariables(error, API_VARIABLES);
  });
  const close = async (graceMs: number) => {
    streams.close();
    venueApi?.closeSockets();
    await Promise.all([listener.close(graceMs), listeners?.close(graceMs)]);
    await Promise.all([pictures.close(), venueApi?.close()]);
  };
  const publish: Listener['publish'] = (...message) => {
    listener.publish(...message);
    listeners?.publish(...message);
  };
  streams.publishBy(publish);
  venueApi?.publishBy((topic, message) => publish(topic, message, false));
  if (listeners !== null) {
    await listeners.start(listener).catch(async (error: unknown) => {
      await close(0);
      throw error;
    });
  }
  return { ...listener, close };
}

/** The lines on every answer of the public listener. */
function publicHeaders(config: Config): HeaderLines {
  return headerLines(publicScheme(config) === 'https' ? [...SECURITY, ...HSTS] : SECURITY);
}

/** The operator's listener, on loopback only: its page, and the requests of the page. */
async function listenForOperator(context: ServerContext, metrics: Metrics): Promise<Listener> {
  const { log } = context;
  let { adminPort } = context.config;
  const guard = (http: HttpContext) => refuseForeignHost(http, adminPort);
  const handlePages = pagesHandler(pageRoutes('operator'), { log, metrics, guard });
  const handleAdmin = createDispatcher({
    ...UNCOUNTED,
    prefix: '',
    routes: adminRoutes(context, metrics),
    guard,
    authorize: operatorOf(context.adminToken),
    controlRefusal: () => context.identity.refusal(),
    policy: NO_PAGE,
    errorBody,
    metrics,
    log,
  });
  const admin = await listenOn({
    host: ADMIN_HOST,
    port: adminPort,
    tls: null,
    headers: headerLines(SECURITY),
    isBehindProxy: false,
    socketPaths: [],
    onAnswer: null,
    handle: (http) => {
      if (isOfPage(http)) handlePages(http);
      else handleAdmin(http);
    },
  }).catch((error: unknown) => {
    throw namingVariables(error, ADMIN_VARIABLES);
  });
  adminPort = admin.port;
  return admin;
}

/** For a listener without scopes, request limits, accounts and queries to the engine. */
const UNCOUNTED = {
  permit: () => {},
  meter: null,
  admit: () => {},
  refusal: () => null,
  controlRefusal: () => null,
  paced: new PacedRefusals(),
};

/**
 * A page of another site can make its own name resolve to this machine, and then send requests as
 * if of the same origin. It cannot forge the Host header. Rules O2, I23 (api/RULES.md).
 */
function refuseForeignHost(http: HttpContext, port: number): void {
  const host = http.header('host').toLowerCase();
  const names = ADMIN_NAMES.flatMap((name) =>
    port === 80 ? [name, `${name}:80`] : `${name}:${port}`,
  );
  if (names.includes(host)) return;
  throw new ApiError('invalid_request', {
    status: 403,
    message: `Host must be one of ${names.join(', ')}.`,
  });
}

/** The API, by key or session, and its stream; also by the Model Context Protocol, if it is on. */
async function apiHandler(context: ServerContext, auth: Auth, metrics: Metrics) {
  const { config, identity, log, meter, switches } = context;
  const onWriteFailed = (error: unknown) => {
    log.error({ err: error }, 'the last use of a key could not be written');
  };
  const sessions = { source: auth.sessions, scheme: publicScheme(config), switches };
  const hasGuests = config.publicPage;
  const credentials = { store: identity, sessions, hasGuests, onWriteFailed };
  const { authorize, callerIfAny } = callerReaders(credentials);
  const keyed = (caller: Caller) =>
    isGuest(caller)
      ? meter.guest(caller.network)
      : meter.keyed(caller.user, caller.key?.id ?? null);
  const checks = {
    permit,
    admit: admitter({
      keyNow: (caller) => keyNow(identity, caller),
      sessions: auth.sessions,
      switches,
      organizations: context.organizations,
      realism: identity.realism,
    }),
    refusal: () => context.engine.refusal(),
    metrics,
    paced: new PacedRefusals(),
    log,
  };
  let served: Served;
  const routes = apiRoutes(context, () => served);
  const entry = orderEntry(routes, { ...checks, keyed });
  const streams = new Streams({ ...context, entry, keyed, callerAgain: callerAgain(credentials) });
  served = { entry, streams };
  metrics.streamConnections = () => streams.connections;
  const dispatching = {
    ...checks,
    controlRefusal: () => identity.refusal(),
    authorize,
    meter: { unkeyed: meter.unkeyed, callerOf: callerIfAny, keyed },
    policy: NO_PAGE,
    errorBody,
  };
  const handle = createDispatcher({ ...dispatching, prefix: BASE_PATH, routes });
  let handleMcp: ((http: HttpContext) => void) | null = null;
  if (config.mcp) {
    // Loaded only where it is on: the library takes a tenth of a second.
    const { mcpRoute } = await import('./mcp/mcp-route.ts');
    const options = { routes, invoker: { ...checks, keyed }, isTrading: config.mcpTrade };
    const route = mcpRoute({ ...options, path: MCP_PATH, version: DESCRIPTION_VERSION });
    handleMcp = createDispatcher({ ...dispatching, prefix: '', routes: [route] });
  }
  let venueApi: KalshiApi | null = null;
  if (config.venueApi === 'kalshi') {
    const { kalshiApi } = await import('./venue-api/kalshi/kalshi-api.ts');
    venueApi = kalshiApi({ context, shared: dispatching });
  }
  return { handle, handleMcp, venueApi, streams };
}

/** The embedded auth server; null if an outside one replaces it. */
function authHandler(
  { signIn }: Auth,
  { log, identity }: Pick<ServerContext, 'log' | 'identity'>,
  metrics: Metrics,
): ((http: HttpContext) => void) | null {
  if (signIn === null) return null;
  const controlRefusal = () => identity.refusal();
  return createDispatcher({
    ...UNCOUNTED,
    prefix: AUTH_PATH,
    routes: authRoutes(signIn),
    authorize: visitorOf,
    controlRefusal,
    policy: NO_PAGE,
    errorBody: authErrorBody,
    metrics,
    log,
  });
}

/** Pages for people, which anyone may load. */
function pagesHandler(
  routes: Route<null>[],
  listener: Pick<DispatchOptions<null>, 'log' | 'metrics' | 'guard'>,
): (http: HttpContext) => void {
  return createDispatcher({
    ...UNCOUNTED,
    ...listener,
    prefix: '',
    routes,
    authorize: () => null,
    policy: PAGE_POLICY,
    errorBody,
  });
}

/**
 * The links to traders. A crawler, a browser with an old session and a visitor get the same, so no
 * credential is read. Rules A250, A252 (api/RULES.md).
 */
function tradersHandler(
  context: ServerContext,
  pictures: Pictures,
  metrics: Metrics,
): (http: HttpContext) => void {
  const { config, log, meter } = context;
  const hasGuests = config.publicPage;
  return createDispatcher<Caller>({
    ...UNCOUNTED,
    prefix: '',
    routes: traderPageRoutes({ context, pictures, hasGuests, scheme: publicScheme(config) }),
    authorize: guestOf,
    permit,
    meter: {
      unkeyed: meter.unkeyed,
      callerOf: guestOf,
      keyed: (caller) => meter.guest((caller as GuestCaller).network),
    },
    refusal: () => context.engine.refusal(),
    policy: PAGE_POLICY,
    errorBody,
    metrics,
    log,
  });
}

/** Whether a browser asks for the page of the listener, or any client for a part of it. */
function isOfPage(http: HttpContext): boolean {
  const { path } = http;
  return isBelow(PARTS_PATH, path) || (path === '/' && wantsPage(http));
}

/** The scheme that browsers use, which a TLS proxy may change before the request arrives. */
function publicScheme({ tls, behindTlsProxy }: ServerContext['config']): 'http' | 'https' {
  return tls !== null || behindTlsProxy ? 'https' : 'http';
}

function isBelow(base: string, path: string): boolean {
  return path.startsWith(base) && (path.length === base.length || path[base.length] === '/');
}

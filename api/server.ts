/**
 * The HTTP server: the public API under /v1, sign-in under /auth/v1, and the operator's listener on
 * loopback.
 */

import { ApiError, errorBody } from './base/errors.ts';
import { admitter, type Caller, callerAgain, callerReaders, permit } from './dispatch/access.ts';
import { createDispatcher, type DispatchOptions } from './dispatch/dispatch.ts';
import { Metrics } from './dispatch/metrics.ts';
import { orderEntry } from './dispatch/order-entry.ts';
import { PacedRefusals } from './dispatch/paced-refusals.ts';
import type { Route } from './dispatch/route.ts';
import type { Exchange } from './http/exchange.ts';
import { GUARDING_HEADERS, HSTS_VALUE, NO_PAGE } from './http/guarding-headers.ts';
import { headerLines } from './http/header-lines.ts';
import { type Listener, listen } from './http/http.ts';
import { namingVariables } from './http/listen-error.ts';
import { requestLog } from './http/request-log.ts';
import { type Auth, createAuth } from './identity/auth.ts';
import { authErrorBody } from './identity/auth-errors.ts';
import { adminRoutes, operatorOf } from './operations/admin/admin.ts';
import { apiRoutes, BASE_PATH, type Served } from './operations/routes/api-routes.ts';
import { authRoutes, visitorOf } from './operations/routes/auth.ts';
import { docsRoutes } from './operations/routes/docs.ts';
import { pageRoutes, wantsPage } from './operations/routes/page.ts';
import type { Deps } from './operations/server-context.ts';
import { PAGE_POLICY } from './page/page-policy.ts';
import { Streams } from './stream/streams.ts';

export type Server = {
  /** `http://127.0.0.1:8080/v1` */
  baseUrl: string;
  /** `http://127.0.0.1:8081` */
  adminUrl: string;
  /** Stops accepting, gives requests in progress some time, closes every connection. */
  close(): Promise<void>;
};

const AUTH_PATH = '/auth/v1';
const DOCS_PATH = '/docs';
const PARTS_PATH = '/web';
const ADMIN_HOST = '127.0.0.1';
const ADMIN_NAMES = [ADMIN_HOST, 'localhost', '[::1]'];
const CLOSE_GRACE_MS = 5000;
const SECURITY = Object.entries(GUARDING_HEADERS).flat();
const HSTS = ['Strict-Transport-Security', HSTS_VALUE];

/**
 * Sends the shards the switches, then listens. Rejects, with nothing left open, when an address
 * cannot be bound or the TLS files cannot be used.
 */
export async function startServer(deps: Deps): Promise<Server> {
  const { config, identity, log, oneTimeCodes, switches } = deps;
  const metrics = new Metrics();
  await switches.announce();
  const auth = await createAuth(config, identity, log, oneTimeCodes);
  const api = await listenForApi(deps, auth, metrics);
  const admin = await listenForOperator(deps, metrics).catch(async (error: unknown) => {
    await api.close(0);
    throw error;
  });

  const scheme = config.tls === null ? 'http' : 'https';
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  const origin = `${scheme}://${host}:${api.port}`;
  if (auth.signIn !== null) auth.signIn.issuer = origin + AUTH_PATH;
  return {
    baseUrl: origin + BASE_PATH,
    adminUrl: `http://${ADMIN_HOST}:${admin.port}`,
    close: async () => {
      await Promise.all([api.close(CLOSE_GRACE_MS), admin.close(CLOSE_GRACE_MS)]);
    },
  };
}

/** The public listener: the API, sign-in, the page, the documentation. */
async function listenForApi(deps: Deps, auth: Auth, metrics: Metrics): Promise<Listener> {
  const { config, log } = deps;
  const { handle: handleApi, streams } = apiHandler(deps, auth, metrics);
  const handleAuth = authHandler(auth, log, metrics) ?? handleApi;
  const handlePages = pagesHandler([...pageRoutes('page'), ...docsRoutes()], { log, metrics });
  const listener = await listen({
    host: config.host,
    port: config.port,
    tls: config.tls,
    socketPath: `${BASE_PATH}/stream`,
    headers: headerLines(publicScheme(config) === 'https' ? [...SECURITY, ...HSTS] : SECURITY),
    isBehindProxy: config.behindTlsProxy,
    onAnswer: config.requestLog ? requestLog(log) : null,
    handle: (exchange) => {
      const { path } = exchange;
      if (isBelow(AUTH_PATH, path)) handleAuth(exchange);
      else if (isOfPage(exchange) || isBelow(DOCS_PATH, path)) handlePages(exchange);
      else handleApi(exchange);
    },
  }).catch((error: unknown) => {
    streams.close();
    throw namingVariables(error, { host: 'PAPERBOOK_HOST', port: 'PAPERBOOK_PORT' });
  });
  streams.publishBy(listener.publish);
  return {
    ...listener,
    close: (graceMs) => {
      streams.close();
      return listener.close(graceMs);
    },
  };
}

/** The operator's listener, on loopback only: its page, and what that asks for. */
async function listenForOperator(deps: Deps, metrics: Metrics): Promise<Listener> {
  const { log } = deps;
  let { adminPort } = deps.config;
  const guard = (exchange: Exchange) => refuseForeignHost(exchange, adminPort);
  const handlePages = pagesHandler(pageRoutes('operator'), { log, metrics, guard });
  const handleAdmin = createDispatcher({
    ...UNCOUNTED,
    prefix: '',
    routes: adminRoutes(deps, metrics),
    guard,
    authorize: operatorOf(deps.adminToken),
    policy: NO_PAGE,
    errorBody,
    metrics,
    log,
  });
  const admin = await listen({
    host: ADMIN_HOST,
    port: adminPort,
    tls: null,
    headers: headerLines(SECURITY),
    isBehindProxy: false,
    socketPath: null,
    onAnswer: null,
    handle: (exchange) => {
      if (isOfPage(exchange)) handlePages(exchange);
      else handleAdmin(exchange);
    },
  }).catch((error: unknown) => {
    throw namingVariables(error, { host: null, port: 'PAPERBOOK_ADMIN_PORT' });
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
  paced: new PacedRefusals(),
};

/**
 * A page of another site can make its own name resolve to this machine, and then send requests as
 * if of the same origin. It cannot forge the Host header. Rules O2, I23 (api/RULES.md).
 */
function refuseForeignHost(exchange: Exchange, port: number): void {
  const host = exchange.header('host').toLowerCase();
  const names = ADMIN_NAMES.flatMap((name) =>
    port === 80 ? [name, `${name}:80`] : `${name}:${port}`,
  );
  if (names.includes(host)) return;
  throw new ApiError('invalid_request', {
    status: 403,
    message: `Host must be one of ${names.join(', ')}.`,
  });
}

/** The API, by key or session, and its stream. */
function apiHandler(deps: Deps, auth: Auth, metrics: Metrics) {
  const { config, identity, log, meter, switches } = deps;
  const onWriteFailed = (error: unknown) => {
    log.error({ err: error }, 'the last use of a key could not be written');
  };
  const sessions = { source: auth.sessions, scheme: publicScheme(config), switches };
  const credentials = { store: identity, sessions, onWriteFailed };
  const { authorize, callerIfAny } = callerReaders(credentials);
  const keyed = ({ user, key }: Caller) => meter.keyed(user, key?.id ?? null);
  const checks = {
    permit,
    admit: admitter({
      store: identity,
      sessions: auth.sessions,
      switches,
      organizations: deps.organizations,
    }),
    refusal: () => deps.engine.refusal(),
    metrics,
    paced: new PacedRefusals(),
    log,
  };
  let served: Served;
  const routes = apiRoutes(deps, () => served);
  const entry = orderEntry(routes, { ...checks, keyed });
  const streams = new Streams({ ...deps, entry, keyed, callerAgain: callerAgain(credentials) });
  served = { entry, streams };
  const handle = createDispatcher({
    ...checks,
    prefix: BASE_PATH,
    routes,
    authorize,
    meter: { unkeyed: meter.unkeyed, callerOf: callerIfAny, keyed },
    policy: NO_PAGE,
    errorBody,
  });
  return { handle, streams };
}

/** The embedded auth server; null where an outside one replaces it. */
function authHandler(
  { signIn }: Auth,
  log: Deps['log'],
  metrics: Metrics,
): ((exchange: Exchange) => void) | null {
  if (signIn === null) return null;
  return createDispatcher({
    ...UNCOUNTED,
    prefix: AUTH_PATH,
    routes: authRoutes(signIn),
    authorize: visitorOf,
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
): (exchange: Exchange) => void {
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

/** Whether a browser asks for the page of the listener, or anyone for a part of it. */
function isOfPage(exchange: Exchange): boolean {
  const { path } = exchange;
  return isBelow(PARTS_PATH, path) || (path === '/' && wantsPage(exchange));
}

/** The scheme that browsers use, which a TLS proxy may change before the request arrives. */
function publicScheme({ tls, behindTlsProxy }: Deps['config']): 'http' | 'https' {
  return tls !== null || behindTlsProxy ? 'https' : 'http';
}

function isBelow(base: string, path: string): boolean {
  return path.startsWith(base) && (path.length === base.length || path[base.length] === '/');
}

/** The HTTP server: the public API under /v1 and the operator's listener on loopback. */
import { admitter, authorizer, type Caller, permit } from './access.ts';
import { adminRoutes, operatorOf } from './admin.ts';
import type { Deps } from './deps.ts';
import { createDispatcher } from './dispatch.ts';
import { headerLines, listen } from './http.ts';
import { Metrics } from './metrics.ts';
import type { Route } from './route.ts';
import { gameRoutes } from './routes/games.ts';
import { instrumentRoutes } from './routes/instruments.ts';
import { meRoutes } from './routes/me.ts';
import { orderRoutes } from './routes/orders.ts';
import { portfolioRoutes } from './routes/portfolio.ts';
import { quoteRoutes } from './routes/quotes.ts';
import { statusRoutes } from './routes/status.ts';

export type Server = {
  /** `http://127.0.0.1:8080/v1` */
  baseUrl: string;
  /** `http://127.0.0.1:8081` */
  adminUrl: string;
  /** Stops accepting, lets requests under way be answered for a while, closes every connection. */
  close(): Promise<void>;
};

const BASE_PATH = '/v1';
const ADMIN_HOST = '127.0.0.1';
const CLOSE_GRACE_MS = 5000;
const NOSNIFF = ['X-Content-Type-Options', 'nosniff'] as const;
const HSTS = ['Strict-Transport-Security', 'max-age=31536000'] as const;

/**
 * Tells the shards the switches, then listens. Rejects, with nothing left open, when an address
 * cannot be bound or the TLS files cannot be used.
 */
export async function startServer(deps: Deps): Promise<Server> {
  const { config, identity, log, meter, switches } = deps;
  const metrics = new Metrics();
  await switches.announce();

  const api = await listen({
    host: config.host,
    port: config.port,
    tls: config.tls,
    headers: headerLines(config.tls === null ? NOSNIFF : [...NOSNIFF, ...HSTS]),
    isBehindProxy: config.behindTlsProxy,
    handle: createDispatcher({
      prefix: BASE_PATH,
      routes: apiRoutes(deps),
      authorize: authorizer(identity, (error) => {
        log.error({ err: error }, 'the last use of a key could not be written');
      }),
      permit,
      meter: {
        unkeyed: meter.unkeyed,
        keyed: ({ user, key }) => meter.keyed(user, key.id),
      },
      admit: admitter(switches),
      metrics,
      log,
    }),
  });
  const admin = await listen({
    host: ADMIN_HOST,
    port: config.adminPort,
    tls: null,
    headers: headerLines(NOSNIFF),
    isBehindProxy: false,
    handle: createDispatcher({
      prefix: '',
      routes: adminRoutes(deps, metrics),
      authorize: operatorOf(deps.adminToken),
      permit: () => {},
      meter: null,
      admit: () => {},
      metrics,
      log,
    }),
  }).catch(async (error: unknown) => {
    await api.close(0);
    throw error;
  });

  const scheme = config.tls === null ? 'http' : 'https';
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  return {
    baseUrl: `${scheme}://${host}:${api.port}${BASE_PATH}`,
    adminUrl: `http://${ADMIN_HOST}:${admin.port}`,
    close: async () => {
      await Promise.all([api.close(CLOSE_GRACE_MS), admin.close(CLOSE_GRACE_MS)]);
    },
  };
}

/** Every route of the API that works today. */
export function apiRoutes(deps: Deps): Route<Caller>[] {
  return [
    ...statusRoutes(),
    ...meRoutes(deps),
    ...instrumentRoutes(deps),
    ...gameRoutes(deps),
    ...quoteRoutes(deps),
    ...portfolioRoutes(deps),
    ...orderRoutes(deps),
  ];
}

/**
 * The operator's listener, on loopback only: health, metrics and `/admin/*` with the bearer token
 * of DATA_DIR/admin.token. Rules O1 to O10 (api/RULES.md).
 */
import { timingSafeEqual } from 'node:crypto';
import { NoQuery } from '../../base/common-schemas.ts';
import { ApiError } from '../../base/errors.ts';
import { bodyReader } from '../../base/validation.ts';
import type { Metrics } from '../../dispatch/metrics.ts';
import { keyed, open, type Route } from '../../dispatch/route.ts';
import type { HttpContext } from '../../http/http-context.ts';
import type { Operator } from '../../identity/admin-token.ts';
import { credentialHeader } from '../../identity/credential-header.ts';
import { hashOfToken } from '../../identity/keys.ts';
import type { SwitchName } from '../../identity/switches.ts';
import { downView, feedView, unquotedView } from '../../market-data/feed-views.ts';
import {
  AuditAnswer,
  FeedsAnswer,
  HealthAnswer,
  MetricsText,
  ReadyAnswer,
  SwitchAnswer,
  SwitchBody,
} from '../../schemas/admin.ts';
import type { ServerContext } from '../server-context.ts';
import { accountAdminRoutes } from './accounts.ts';
import { clockAdminRoutes } from './clock.ts';
import { correctionAdminRoutes } from './corrections.ts';
import { discoveryAdminRoutes } from './discovery.ts';
import { keyAdminRoutes } from './keys.ts';
import { marketAdminRoute } from './markets.ts';
import { organizationAdminRoutes } from './organizations.ts';
import { playbackAdminRoutes } from './playback.ts';
import { realismAdminRoutes } from './realism.ts';
import { shardAdminRoutes } from './shards.ts';
import { trackRecordAdminRoute } from './track-record.ts';
import { userAdminRoutes } from './users.ts';
import { venueKeyAdminRoutes } from './venue-keys.ts';

const readSwitch = bodyReader(SwitchBody);

/** Throws 401 unless the request carries the admin token. */
export function operatorOf(adminToken: string): (http: HttpContext) => Operator {
  // All hashes have one length, as a comparison in constant time needs.
  const wanted = Buffer.from(hashOfToken(`Bearer ${adminToken}`));
  return (http) => {
    const sent = Buffer.from(hashOfToken(credentialHeader(http, 'authorization')));
    if (timingSafeEqual(sent, wanted)) return true;
    throw new ApiError('unauthorized', {
      message: 'Send the token of DATA_DIR/admin.token as a bearer token.',
      headers: ['WWW-Authenticate', 'Bearer'],
    });
  };
}

export function adminRoutes(context: ServerContext, metrics: Metrics): Route<Operator>[] {
  return [
    ...healthRoutes(context, metrics),
    ...userAdminRoutes(context),
    ...accountAdminRoutes(context),
    marketAdminRoute(context),
    ...keyAdminRoutes(context),
    ...organizationAdminRoutes(context),
    ...venueKeyAdminRoutes(context),
    ...switchRoutes(context, '/admin/venue-data', 'venueData'),
    ...switchRoutes(context, '/admin/trading', 'trading'),
    ...clockAdminRoutes(context),
    ...correctionAdminRoutes(context),
    ...discoveryAdminRoutes(context),
    ...playbackAdminRoutes(context),
    ...realismAdminRoutes(context),
    ...shardAdminRoutes(context),
    trackRecordAdminRoute(context),
    keyed({
      method: 'GET',
      path: '/admin/audit',
      query: NoQuery,
      response: AuditAnswer,
      run: async () => {
        const [report, ownerless] = await Promise.all([context.engine.audit(), context.ownerless]);
        return JSON.stringify({ ...report, problems: [...report.problems, ...ownerless] });
      },
    }),
    keyed({
      method: 'GET',
      path: '/admin/feeds',
      query: NoQuery,
      response: FeedsAnswer,
      run: () => JSON.stringify({ feeds: context.feeds().map(feedView) }),
    }),
  ];
}

function healthRoutes(
  { config, engine, feeds, discovery, problems, contradicted, switches, etcdSpace }: ServerContext,
  metrics: Metrics,
): Route<Operator>[] {
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
          const all = feeds();
          const down = all.filter((feed) => feed.downSinceMs !== null).map(downView);
          const unquoted = unquotedView(all);
          return JSON.stringify({ ok: true, state, problems: problems(), feeds: down, unquoted });
        }
        throw new ApiError('internal_error', {
          status: 503,
          message: [`The engine is ${state}.`, ...engine.problems()].join(' '),
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
      run: () =>
        metrics.text(engine.state(), feeds(), discovery, contradicted.count, {
          statuses: engine.statuses(),
          nowMs: engine.nowMs(),
          dataDir: config.dataDir,
          switches,
          results: contradicted.markets(),
          etcd: etcdSpace(),
        }),
    }),
  ];
}

function switchRoutes(
  { switches }: ServerContext,
  path: string,
  name: SwitchName,
): Route<Operator>[] {
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
      writesControl: true,
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

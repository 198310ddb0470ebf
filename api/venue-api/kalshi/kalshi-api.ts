/**
 * Kalshi's own API over paper accounts: `/trade-api/v2` and `/trade-api/ws/v2`. A façade: it turns
 * requests into the engine's commands, and facts into the venue's words. Rules A202 to A229
 * (api/RULES.md).
 */
import { Type } from '@sinclair/typebox';
import { invariant } from '../../../engine/base/invariant.ts';
import { NoQuery } from '../../base/common-schemas.ts';
import { ApiError } from '../../base/errors.ts';
import { admitter, type Caller } from '../../dispatch/access.ts';
import { createDispatcher, type DispatchOptions } from '../../dispatch/dispatch.ts';
import { keyed, type Route } from '../../dispatch/route.ts';
import type { HttpContext } from '../../http/http-context.ts';
import { guestOf } from '../../identity/guest.ts';
import type { ServerContext } from '../../operations/server-context.ts';
import { Ledgers } from './ledgers.ts';
import { LiveMarkets } from './live-markets.ts';
import { MarketFeed, type Publish } from './market-feed.ts';
import { marketRoutes } from './market-routes.ts';
import { VenueMarkets } from './markets.ts';
import { orderRoutes } from './order-routes.ts';
import { portfolioRoutes } from './portfolio-routes.ts';
import { invalidParameters, venueErrorBody } from './refusals.ts';
import { AUTHENTICATE, Signatures } from './signatures.ts';
import { VenueSockets } from './sockets.ts';
import { Verifiers } from './verifiers.ts';

export type KalshiApiParts = {
  context: ServerContext;
  /** Of the listener: what all of its requests share. */
  shared: Pick<
    DispatchOptions<Caller>,
    'permit' | 'refusal' | 'controlRefusal' | 'metrics' | 'paced' | 'log' | 'policy'
  > & { meter: NonNullable<DispatchOptions<Caller>['meter']> };
};

export type KalshiApi = {
  handle(http: HttpContext): void;
  /** Publishes by this from now on. */
  publishBy(publish: Publish): void;
  /** No WebSocket is open any more; requests are still answered. */
  closeSockets(): void;
  close(): Promise<void>;
};

export const PREFIX = '/trade-api';
/** Places of accounts are begun so long after the start: clients that wait are answered first. */
const INDEX_AFTER_MS = 1000;

export function kalshiApi({ context, shared }: KalshiApiParts): KalshiApi {
  const { engine, identity, config, switches } = context;
  const verifiers = new Verifiers(context.log);
  const signatures = new Signatures(identity, verifiers);
  const markets = new VenueMarkets(context.catalog);
  const live = new LiveMarkets(engine);
  const { keyed: counted } = shared.meter;
  const ledgers = new Ledgers({
    ...{ engine, events: context.events, isFeedClock: config.clock === 'feed' },
  });
  let publishBy: Publish = () => {};
  const feed = new MarketFeed({
    ...{ engine, bus: context.bus, markets, live, log: context.log },
    publish: (topic, message) => publishBy(topic, message),
  });
  const sockets = new VenueSockets({
    ...{ feed, ledgers, markets, switches, keyed: counted, log: context.log },
    callerAgain: (caller) => {
      invariant(caller.key !== null, 'a connection of the venue API has no key');
      return signatures.again(caller);
    },
  });
  const routes: Route<Caller>[] = [
    ...marketRoutes({ ...context, markets, live }),
    ...portfolioRoutes({ ...context, markets, live, ledgers, nowMs: () => engine.nowMs() }),
    socketRoute(sockets),
    ...orderRoutes({
      engine,
      switches,
      markets,
      ledgers,
      realism: identity.realism,
      keyed: counted,
    }),
  ];
  const admit = admitter({
    keyNow: ({ key }) => signatures.keyOf(key.id),
    // A signature is the only credential, and its account the only one.
    ...{ sessions: null, organizations: null, switches, realism: identity.realism },
  });
  const authorize = (http: HttpContext, route: Route<Caller>): Caller | Promise<Caller> => {
    const caller = signatures.callerOf(http);
    if (caller !== null) return caller;
    if (route.isPublic && config.publicPage) return guestOf(http);
    const message = 'Sign the request: KALSHI-ACCESS-KEY, -SIGNATURE, -TIMESTAMP.';
    throw new ApiError('unauthorized', { message, headers: AUTHENTICATE });
  };
  const handle = createDispatcher<Caller>({
    ...shared,
    ...{ prefix: PREFIX, routes, authorize, admit, errorBody: venueErrorBody },
    meter: { ...shared.meter, callerOf: () => null },
  });
  const indexing = setTimeout(() => context.events.index(), INDEX_AFTER_MS).unref();
  const closeSockets = () => {
    clearTimeout(indexing);
    sockets.close();
    feed.close();
  };
  return {
    handle,
    publishBy: (publish) => {
      publishBy = publish;
    },
    closeSockets,
    close: () => verifiers.close(),
  };
}

/** Signed as GET of its path. */
function socketRoute(sockets: VenueSockets): Route<Caller> {
  return keyed({
    ...{ method: 'GET', path: '/ws/v2', status: 101, scope: 'markets:read', query: NoQuery },
    readQuery: () => null,
    response: Type.Void(),
    run: ({ caller, protocols }) => {
      if (protocols === null) {
        throw invalidParameters('this path opens a WebSocket: send Upgrade: websocket');
      }
      return sockets.open(caller);
    },
  });
}

/**
 * Kalshi's own API over paper accounts: `/trade-api/v2` and `/trade-api/ws/v2`. A façade: it turns
 * requests into the engine's commands, and facts into the venue's words. Rules A202 to A214
 * (api/RULES.md).
 */

import { ApiError } from '../../base/errors.ts';
import { admitter, type Caller } from '../../dispatch/access.ts';
import { createDispatcher, type DispatchOptions } from '../../dispatch/dispatch.ts';
import type { Route } from '../../dispatch/route.ts';
import type { HttpContext } from '../../http/http-context.ts';
import { guestOf } from '../../identity/guest.ts';
import type { ServerContext } from '../../operations/server-context.ts';
import { Ledgers } from './ledgers.ts';
import { LiveMarkets } from './live-markets.ts';
import { marketRoutes } from './market-routes.ts';
import { VenueMarkets } from './markets.ts';
import { orderRoutes } from './order-routes.ts';
import { portfolioRoutes } from './portfolio-routes.ts';
import { venueErrorBody } from './refusals.ts';
import { AUTHENTICATE, Signatures } from './signatures.ts';

export type KalshiApiParts = {
  context: ServerContext;
  /** Of the listener: what all of its requests share. */
  shared: Pick<
    DispatchOptions<Caller>,
    'permit' | 'refusal' | 'metrics' | 'paced' | 'log' | 'policy'
  > & { meter: NonNullable<DispatchOptions<Caller>['meter']> };
};

export type KalshiApi = { handle(http: HttpContext): void; close(): void };

export const PREFIX = '/trade-api';

export function kalshiApi({ context, shared }: KalshiApiParts): KalshiApi {
  const { engine, identity, config, switches } = context;
  const signatures = new Signatures(identity);
  const markets = new VenueMarkets(context.catalog);
  const live = new LiveMarkets(engine);
  const { keyed } = shared.meter;
  const ledgers = new Ledgers({
    ...{ engine, events: context.events, isFeedClock: config.clock === 'feed' },
  });
  const unfollow = live.follow(
    context.bus,
    (market) => markets.ofNumber(market)?.ticker ?? null,
    () => {},
  );
  const routes: Route<Caller>[] = [
    ...marketRoutes({ ...context, markets, live }),
    ...portfolioRoutes({ ...context, markets, live, ledgers, nowMs: () => engine.nowMs() }),
    ...orderRoutes({ engine, switches, markets, realism: identity.realism, keyed }),
  ];
  const admit = admitter({
    store: { keys: { get: (id) => signatures.keyOf(id) } },
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
  return { handle, close: unfollow };
}

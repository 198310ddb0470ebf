/** Every route of the API. Rule A20 (api/RULES.md). */
import type { Caller } from './access.ts';
import type { Deps } from './deps.ts';
import type { OrderEntry } from './order-entry.ts';
import type { Route } from './route.ts';
import { accountRoutes } from './routes/account.ts';
import { backtestRoute } from './routes/backtest.ts';
import { descriptionRoute } from './routes/description.ts';
import { equityRoute } from './routes/equity.ts';
import { evalRoutes } from './routes/eval.ts';
import { eventRoutes } from './routes/events.ts';
import { gameRoutes } from './routes/games.ts';
import { historyRoutes } from './routes/history.ts';
import { instrumentRoutes } from './routes/instruments.ts';
import { keyRoutes } from './routes/keys.ts';
import { meRoutes } from './routes/me.ts';
import { orderBatchRoute } from './routes/order-batch.ts';
import { orderRoutes } from './routes/orders.ts';
import { organizationRoutes } from './routes/organizations.ts';
import { portfolioRoutes } from './routes/portfolio.ts';
import { previewOrder } from './routes/preview.ts';
import { profileRoutes } from './routes/profile.ts';
import { quoteRoutes } from './routes/quotes.ts';
import { recordRoutes } from './routes/records.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { statusRoutes } from './routes/status.ts';
import { streamRoute } from './routes/stream.ts';
import { trackRecordRoute } from './routes/track-record.ts';
import { trackRecordKeysRoute } from './routes/track-record-keys.ts';
import type { Streams } from './stream/streams.ts';

export const BASE_PATH = '/v1';

/** What routes use that answer by other routes. */
export type Served = { entry: OrderEntry; streams: Streams };

/** Every route of the API that works today. `served` is asked once requests come. */
export function apiRoutes(deps: Deps, served = onlyDescribed): Route<Caller>[] {
  const routes = [
    ...statusRoutes(),
    ...meRoutes(deps),
    ...organizationRoutes(deps),
    ...profileRoutes(deps),
    ...sessionRoutes(deps),
    ...keyRoutes(deps),
    trackRecordKeysRoute(deps),
    ...instrumentRoutes(deps),
    ...gameRoutes(deps),
    ...quoteRoutes(deps),
    ...historyRoutes(deps),
    ...accountRoutes(deps),
    backtestRoute(deps),
    ...portfolioRoutes(deps),
    equityRoute(deps),
    ...eventRoutes(deps),
    ...recordRoutes(deps),
    ...evalRoutes(deps),
    trackRecordRoute(deps),
    ...orderRoutes(deps),
    previewOrder(deps),
    orderBatchRoute(() => served().entry),
    streamRoute(() => served().streams),
  ];
  return [...routes, descriptionRoute(routes, BASE_PATH, deps)];
}

function onlyDescribed(): Served {
  throw new Error('these routes are described, and not served');
}

/** Every route of the API. Rule A20 (api/RULES.md). */
import type { Caller } from '../../dispatch/access.ts';
import type { OrderEntry } from '../../dispatch/order-entry.ts';
import type { Route } from '../../dispatch/route.ts';
import type { Streams } from '../../stream/streams.ts';
import type { ServerContext } from '../server-context.ts';
import { accountRoutes } from './account.ts';
import { backtestRoute } from './backtest.ts';
import { descriptionRoute } from './description.ts';
import { equityRoute } from './equity.ts';
import { evalRoutes } from './eval.ts';
import { eventRoutes } from './events.ts';
import { gameRoutes } from './games.ts';
import { historyRoutes } from './history.ts';
import { instrumentRoutes } from './instruments.ts';
import { keyRoutes } from './keys.ts';
import { meRoutes } from './me.ts';
import { orderBatchRoute } from './order-batch.ts';
import { orderRoutes } from './orders.ts';
import { organizationRoutes } from './organizations.ts';
import { portfolioRoutes } from './portfolio.ts';
import { previewOrder } from './preview.ts';
import { profileRoutes } from './profile.ts';
import { quoteRoutes } from './quotes.ts';
import { receiptRoutes } from './receipts.ts';
import { recordRoutes } from './records.ts';
import { sessionRoutes } from './sessions.ts';
import { statusRoutes } from './status.ts';
import { streamRoute } from './stream.ts';
import { trackRecordRoute } from './track-record.ts';
import { trackRecordKeysRoute } from './track-record-keys.ts';
import { venueKeyRoutes } from './venue-keys.ts';

export const BASE_PATH = '/v1';

/** The parts of routes that answer by other routes. */
export type Served = { entry: OrderEntry; streams: Streams };

/** Every route of the API. `served` is called once requests arrive. */
export function apiRoutes(context: ServerContext, served = onlyDescribed): Route<Caller>[] {
  const routes = [
    ...statusRoutes(),
    ...meRoutes(context),
    ...organizationRoutes(context),
    ...profileRoutes(context),
    ...sessionRoutes(context),
    ...keyRoutes(context),
    ...venueKeyRoutes(context),
    trackRecordKeysRoute(context),
    ...instrumentRoutes(context),
    ...gameRoutes(context),
    ...quoteRoutes(context),
    ...historyRoutes(context),
    ...accountRoutes(context),
    backtestRoute(context),
    ...portfolioRoutes(context),
    equityRoute(context),
    ...eventRoutes(context),
    ...receiptRoutes(context),
    ...recordRoutes(context),
    ...evalRoutes(context),
    trackRecordRoute(context),
    ...orderRoutes(context),
    previewOrder(context),
    orderBatchRoute(() => served().entry),
    streamRoute(() => served().streams),
  ];
  return [...routes, descriptionRoute(routes, BASE_PATH, context)];
}

function onlyDescribed(): Served {
  throw new Error('these routes are described, and not served');
}

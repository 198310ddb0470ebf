/**
 * Portfolio and lists. A query changes nothing: an order that no tick or command has expired is
 * still shown as resting.
 */

import { nextCursorOf, ROW_ID } from '../../engine/base/cursors.ts';
import { type EpochMs, isoOf, type Uuid } from '../../engine/base/units.ts';
import type { Reply } from '../../engine/rules/messages.ts';
import type {
  AccountQuery,
  OrderQuery,
  OrdersQuery,
  PortfolioQuery,
  TradesQuery,
} from '../../engine/rules/queries.ts';
import { refuse } from './naive-orders.ts';
import {
  isAsked,
  type ModelOrder,
  type ModelState,
  type ModelTrade,
  openTradesOf,
  ordersOf,
  restingOf,
  tradesOf,
} from './naive-state.ts';
import {
  accountJson,
  answer,
  type Json,
  listedOrderJson,
  orderJson,
  positionJson,
  tradeJson,
} from './naive-views.ts';

const POSITIONS_MAX = 500;
const RESTING_ORDERS_MAX = 200;

export function portfolio(state: ModelState, query: PortfolioQuery, nowMs: EpochMs): Reply {
  const account = state.accounts.get(query.account);
  const positions = openTradesOf(state, query.account).sort(newestTradeFirst);
  const orders = restingOf(state, query.account).sort(newestOrderFirst);
  const isPersonal = query.organizationSlug === null;
  return answer({
    account: account === undefined ? null : accountJson(state, account, nowMs, isPersonal),
    positions: positions.slice(0, POSITIONS_MAX).map((trade) => positionJson(state, trade, nowMs)),
    positionsCount: positions.length,
    positionsTruncated: positions.length > POSITIONS_MAX,
    orders: orders.slice(0, RESTING_ORDERS_MAX).map((order) => listedOrderJson(state, order)),
    ordersCount: orders.length,
    ordersTruncated: orders.length > RESTING_ORDERS_MAX,
    asOf: isoOf(nowMs),
    venueData: state.venueData,
    mode: 'paper',
    ...organizationOf(query.organizationSlug),
  });
}

export function accountAlone(state: ModelState, query: AccountQuery, nowMs: EpochMs): Reply {
  const found = state.accounts.get(query.account);
  const account = found === undefined ? null : accountJson(state, found, nowMs);
  return answer({ points: account?.netWorthDollars ?? 100_000, account, asOf: isoOf(nowMs) });
}

/** One limit order, in any status. */
export function oneOrder(state: ModelState, query: OrderQuery): Reply {
  const order = state.orders.get(query.orderId);
  if (order === undefined || order.account !== query.account || !isAsked(order)) {
    return refuse('order_not_found');
  }
  return answer({
    order: orderJson(state, order),
    mode: 'paper',
    venueData: state.venueData,
    ...organizationOf(query.organizationSlug),
  });
}

export function orderList(state: ModelState, query: OrdersQuery): Reply {
  const key = query.only?.idempotencyKey ?? null;
  const all = ordersOf(state, query.account)
    .filter((order) => isAsked(order))
    .filter((order) => key === null || order.idempotencyKey === key)
    .filter((order) => isWithin(query, order, order.createdAtMs))
    .sort(newestOrderFirst);
  const page = pageOf(all, query);
  return answer({
    orders: page.rows.map((order) => orderJson(state, order)),
    nextCursor: nextCursorOf(query.tag ?? '', page.nextId, ROW_ID),
    mode: 'paper',
    venueData: state.venueData,
    ...organizationOf(query.organizationSlug),
  });
}

export function tradeList(state: ModelState, query: TradesQuery): Reply {
  const all = tradesOf(state, query.account)
    .filter((trade) => isWithin(query, trade, trade.openedAtMs))
    .sort(newestTradeFirst);
  const page = pageOf(all, query);
  return answer({
    trades: page.rows.map((trade) => tradeJson(state, trade)),
    nextCursor: nextCursorOf(query.tag ?? '', page.nextId, ROW_ID),
    mode: 'paper',
    venueData: state.venueData,
    ...organizationOf(query.organizationSlug),
  });
}

/** Whether a row is on the instrument and of the time that the query asks for. */
function isWithin(
  { only }: OrdersQuery | TradesQuery,
  { instrumentId }: { instrumentId: string },
  atMs: EpochMs,
): boolean {
  if (only === undefined) return true;
  const { fromMs, toMs } = only;
  if (only.instrumentId !== null && only.instrumentId !== instrumentId) return false;
  return (fromMs === null || atMs >= fromMs) && (toMs === null || atMs < toMs);
}

type Row = { id: Uuid; status: string };
type Page<R> = { rows: R[]; nextId: Uuid | null };

/**
 * The rows of one status after the row `before`, which may have changed its status since. A row's
 * id carries its time, so its place is known.
 */
function pageOf<R extends Row>(
  all: R[],
  query: { limit: number; before: Uuid | null; status: string | null },
): Page<R> {
  const wanted = all
    .filter((row) => query.status === null || row.status === query.status)
    .filter((row) => query.before === null || row.id < query.before);
  const rows = wanted.slice(0, query.limit);
  return { rows, nextId: wanted.length > rows.length ? rows.at(-1)!.id : null };
}

function newestOrderFirst(a: ModelOrder, b: ModelOrder): number {
  return b.createdAtMs - a.createdAtMs || compareText(b.id, a.id);
}

function newestTradeFirst(a: ModelTrade, b: ModelTrade): number {
  return b.openedAtMs - a.openedAtMs || compareText(b.id, a.id);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function organizationOf(slug: string | null): Json {
  return slug === null ? {} : { organization: { slug } };
}

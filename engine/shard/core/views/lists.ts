/**
 * Pages of orders and of trades on the wire, newest first. Rules A41, A42, A79, P1, P5, P6
 * (api/RULES.md).
 */

import { nextCursorOf, ROW_ID } from '../../../base/cursors.ts';
import { invariant } from '../../../base/invariant.ts';
import {
  type AccountRow,
  type InstrumentNumber,
  NO_ROW,
  type OrderRow,
  type PositionRow,
  type Uuid,
} from '../../../base/units.ts';
import { type JsonWriter, memberNames } from '../../../format/json-writer.ts';
import { firstUuidAt, uuidTimeMs } from '../../../memory/uuid-words.ts';
import { instrumentOf } from '../../../rules/catalog.ts';
import type { ClosedTrade } from '../../../rules/events.ts';
import { type EndedOrder, ORDER_ENDS, TRADE_ENDS } from '../../../rules/finished-records.ts';
import { isLimit } from '../../../rules/flags.ts';
import type { OrdersQuery, Page, RowFilter, TradesQuery } from '../../../rules/queries.ts';
import type { Instrument } from '../../../rules/reference-data.ts';
import type { ShardState } from '../../../rules/state.ts';
import { writeOrder } from './order.ts';
import { writeEnvelope } from './portfolio.ts';
import { writeTrade } from './trade.ts';

const NAMES = memberNames('orders', 'trades', 'nextCursor');
/** Rows that one page reads. Rows that a filter leaves out are still read from the log. */
const LOOKED_AT_MAX = 500;

export function writeOrders(to: JsonWriter, state: ShardState, query: OrdersQuery): void {
  const wanted = wantedOf(state, query);
  const orders = wanted === null ? [] : ordersOf(state, wanted, query);
  const page = takePage(orders, wanted, query.limit, {
    idOf: orderIdOf,
    instrumentOf: (order) =>
      'row' in order ? state.orders.col.instrument.get(order.row) : order.placed.instrument,
  });
  const cursor = nextCursorOf(query.tag ?? '', page.next, ROW_ID);
  const start = to.open();
  to.list(NAMES.orders, page.rows, (order) => writeOrder(to, state, order));
  to.text(NAMES.nextCursor, cursor);
  writeEnvelope(to, state, query);
  to.close(start);
}

export function writeTrades(to: JsonWriter, state: ShardState, query: TradesQuery): void {
  const wanted = wantedOf(state, query);
  const trades = wanted === null ? [] : tradesOf(state, wanted, query);
  const page = takePage(trades, wanted, query.limit, {
    idOf: (trade) => trade.tradeId,
    instrumentOf: (trade) =>
      'row' in trade ? state.positions.col.instrument.get(trade.row) : trade.instrument,
  });
  const cursor = nextCursorOf(query.tag ?? '', page.next, ROW_ID);
  const start = to.open();
  to.list(NAMES.trades, page.rows, (trade) => writeTrade(to, state, trade));
  to.text(NAMES.nextCursor, cursor);
  writeEnvelope(to, state, query);
  to.close(start);
}

type Wanted = {
  account: AccountRow;
  instrument: Instrument | null;
  /** Only rows with a lower id. */
  before: Uuid | null;
  only: RowFilter;
};

const EVERYTHING: RowFilter = {
  instrumentId: null,
  idempotencyKey: null,
  fromMs: null,
  toMs: null,
};

/** Null: the account has no such rows. */
function wantedOf(
  state: ShardState,
  { account: id, before, only = EVERYTHING }: Page & { account: Uuid },
): Wanted | null {
  const account = state.accountIds.find(id);
  const { instrumentId, toMs } = only;
  const instrument = instrumentId === null ? null : instrumentOf(state, instrumentId);
  if (account === NO_ROW || instrument === undefined) return null;
  const end = toMs === null ? null : firstUuidAt(toMs);
  const isSooner = end !== null && (before === null || end < before);
  return { account, instrument, before: isSooner ? end : before, only };
}

type RestingOrder = { orderId: Uuid; row: OrderRow };

const orderIdOf = (order: RestingOrder | EndedOrder): Uuid =>
  'row' in order ? order.orderId : order.placed.orderId;

/** Resting orders are in memory, the others in the log. */
function ordersOf(
  state: ShardState,
  { account, before, only }: Wanted,
  { status }: OrdersQuery,
): Iterable<RestingOrder | EndedOrder> {
  if (only.idempotencyKey !== null) {
    const order = orderOfKey(state, account, only.idempotencyKey);
    if (order === null || (status !== null && statusOf(order) !== status)) return [];
    return before === null || orderIdOf(order) < before ? [order] : [];
  }
  const resting: RestingOrder[] = [];
  if (status === null || status === 'resting') {
    for (const row of state.ordersOfAccount.of(account)) {
      resting.push({ orderId: state.orderIds.idOf(row), row });
    }
  }
  const ends = status === null ? ORDER_ENDS : status === 'resting' ? [] : [status];
  const ended = state.records.endedOrders(account, ends, before);
  return newestFirst<RestingOrder | EndedOrder>(resting, ended, before, orderIdOf);
}

/** A key may also belong to a market order, which is in no list. */
function orderOfKey(
  state: ShardState,
  account: AccountRow,
  key: string,
): RestingOrder | EndedOrder | null {
  const placed = state.records.orderByKey(account, key);
  if (placed === undefined || !isLimit(placed.terms)) return null;
  const { orderId } = placed;
  const row = state.orderIds.find(orderId);
  return row === NO_ROW ? state.records.ended(placed) : { orderId, row };
}

function statusOf(order: RestingOrder | EndedOrder) {
  return 'row' in order ? 'resting' : order.outcome.status;
}

type OpenTrade = { tradeId: Uuid; row: PositionRow };

function tradesOf(
  state: ShardState,
  { account, before }: Wanted,
  { status }: TradesQuery,
): Iterable<OpenTrade | ClosedTrade> {
  const open: OpenTrade[] = [];
  if (status === null || status === 'open') {
    for (const row of state.positionsOfAccount.of(account)) {
      open.push({ tradeId: state.positionIds.idOf(row), row });
    }
  }
  const ends = status === null ? TRADE_ENDS : status === 'open' ? [] : [status];
  const closed = state.records.closedTrades(account, ends, before);
  return newestFirst<OpenTrade | ClosedTrade>(open, closed, before, (trade) => trade.tradeId);
}

/** Merges rows of memory with rows of the log, which are newest first. */
function* newestFirst<T>(
  inMemory: readonly T[],
  logged: Iterable<T>,
  before: Uuid | null,
  idOf: (row: T) => Uuid,
): Generator<T> {
  const rows = inMemory
    .filter((row) => before === null || idOf(row) < before)
    .sort((a, b) => (idOf(a) < idOf(b) ? 1 : -1));
  let at = 0;
  let last: Uuid | null = null;
  for (const old of logged) {
    // A cursor continues after the last id of a page, so a record out of order would be left out.
    invariant(last === null || idOf(old) < last, 'the log lists records that are not in order');
    last = idOf(old);
    while (at < rows.length && idOf(rows[at]!) > idOf(old)) yield rows[at++]!;
    yield old;
  }
  while (at < rows.length) yield rows[at++]!;
}

/**
 * One page, and the id to continue from if there may be more. Its last row is the last one that
 * matches, or the last one that the page may read.
 */
function takePage<T>(
  rows: Iterable<T>,
  wanted: Wanted | null,
  limit: number,
  of: { idOf(row: T): Uuid; instrumentOf(row: T): InstrumentNumber },
): { rows: T[]; next: Uuid | null } {
  const page: T[] = [];
  const instrument = wanted?.instrument?.number ?? null;
  const fromMs = wanted?.only.fromMs ?? null;
  let lookedAt = 0;
  let last: Uuid | null = null;
  for (const row of rows) {
    const id = of.idOf(row);
    // Ids sort by their time.
    if (fromMs !== null && uuidTimeMs(id) < fromMs) break;
    if (lookedAt === LOOKED_AT_MAX) return { rows: page, next: last };
    lookedAt++;
    last = id;
    if (instrument !== null && of.instrumentOf(row) !== instrument) continue;
    if (page.length === limit) return { rows: page, next: of.idOf(page.at(-1)!) };
    page.push(row);
  }
  return { rows: page, next: null };
}

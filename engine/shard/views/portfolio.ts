/**
 * The portfolio and its lists on the wire. Rules A40 to A42, M20 to M27, M32 (api/RULES.md,
 * engine/RULES.md).
 */
import { type JsonWriter, memberNames } from '../../format/json-writer.ts';
import type { ClosedTrade } from '../../rules/events.ts';
import { type EndedOrder, ORDER_ENDS, TRADE_ENDS } from '../../rules/finished-records.ts';
import { cursorOf } from '../../rules/ids.ts';
import { invariant } from '../../rules/invariant.ts';
import { costCents } from '../../rules/ledger.ts';
import { positionBid } from '../../rules/orders.ts';
import type { OrdersQuery, PortfolioQuery, TradesQuery } from '../../rules/queries.ts';
import type { ShardState } from '../../rules/state.ts';
import {
  type AccountRow,
  type Cents,
  dollarsOf,
  type EpochMs,
  isoOf,
  NO_ROW,
  type OrderRow,
  type PositionRow,
  START_BALANCE_CENTS,
  type Uuid,
} from '../../rules/units.ts';
import { writeOrder, writeRestingOrder } from './order.ts';
import { writePosition, writeTrade } from './trade.ts';

/** Rule A40 (api/RULES.md). */
const POSITIONS_MAX = 500;
const ORDERS_MAX = 200;
/** Rules M1, M32 (engine/RULES.md). */
const RESET_EVERY_MS = 30 * 24 * 60 * 60 * 1000;

const NAMES = memberNames(
  'account',
  'positions',
  'positionsCount',
  'positionsTruncated',
  'orders',
  'ordersCount',
  'ordersTruncated',
  'asOf',
  'trades',
  'nextCursor',
  'mode',
  'venueData',
  'organization',
);

export function writePortfolio(to: JsonWriter, state: ShardState, query: PortfolioQuery): void {
  const account = state.accountIds.find(query.account);
  const isOpen = account !== NO_ROW;
  const ordersCount = isOpen ? state.ordersOfAccount.count(account) : 0;
  const positionsCount = isOpen ? state.positionsOfAccount.count(account) : 0;
  const orders = isOpen
    ? newest(state.orderIds, state.ordersOfAccount.of(account), ORDERS_MAX)
    : [];
  const positions = isOpen
    ? newest(state.positionIds, state.positionsOfAccount.of(account), POSITIONS_MAX)
    : [];
  const start = to.open();
  to.json(NAMES.account, isOpen ? accountView(state, account, query.atMs) : null);
  to.list(NAMES.positions, positions, (row) => writePosition(to, state, row));
  to.number(NAMES.positionsCount, positionsCount);
  to.flag(NAMES.positionsTruncated, positionsCount > POSITIONS_MAX);
  to.list(NAMES.orders, orders, (row) => writeRestingOrder(to, state, row));
  to.number(NAMES.ordersCount, ordersCount);
  to.flag(NAMES.ordersTruncated, ordersCount > ORDERS_MAX);
  to.time(NAMES.asOf, query.atMs);
  writeEnvelope(to, state, query);
  to.close(start);
}

/** Rules M20 to M27 (engine/RULES.md). */
function accountView(state: ShardState, account: AccountRow, nowMs: EpochMs) {
  const { col } = state.accounts;
  const balanceCents = col.balanceCents.get(account);
  const heldCents = col.heldCents.get(account);
  const stakeCents = col.openStakeCents.get(account);
  const markCents = openValueCents(state, account, nowMs);
  const worthCents = balanceCents + heldCents + markCents;
  const adjustedCents = col.adjustedCents.get(account);
  const lifetimeCents = col.lifetimeRealizedCents.get(account) + markCents - stakeCents;
  const lastResetAtMs = col.lastResetAtMs.get(account);
  return {
    balanceDollars: dollarsOf(balanceCents),
    netWorthDollars: dollarsOf(worthCents),
    openStakeDollars: dollarsOf(stakeCents),
    heldDollars: dollarsOf(heldCents),
    openPositions: state.positionsOfAccount.count(account),
    restingOrders: state.ordersOfAccount.count(account),
    run: col.run.get(account),
    runStartedAt: isoOf(col.runStartedAtMs.get(account)),
    startBalanceDollars: dollarsOf(START_BALANCE_CENTS),
    adjustmentsInRunDollars: dollarsOf(adjustedCents),
    pnlSinceResetDollars: dollarsOf(worthCents - START_BALANCE_CENTS - adjustedCents),
    ...resetView(state, lastResetAtMs, nowMs),
    lifetimePnlDollars: dollarsOf(lifetimeCents),
    resets: col.run.get(account) - 1,
    busts: col.busts.get(account),
    lastResetAt: lastResetAtMs === 0 ? null : isoOf(lastResetAtMs),
  };
}

function resetView({ switches }: ShardState, lastResetAtMs: EpochMs, nowMs: EpochMs) {
  const nextMs = lastResetAtMs === 0 ? nowMs : lastResetAtMs + RESET_EVERY_MS;
  const tooSoon = nextMs > nowMs;
  return {
    selfResetEnabled: switches.selfReset,
    resetBlockedBy: switches.selfReset ? (tooSoon ? 'reset_too_soon' : null) : 'reset_not_enabled',
    nextResetAt: tooSoon ? isoOf(nextMs) : null,
  };
}

/**
 * Open positions at their live bid, at cost where there is none. While the venue-data switch is off
 * all are marked at cost, so that net worth leaks no price. Rule M21 (engine/RULES.md).
 */
function openValueCents(state: ShardState, account: AccountRow, nowMs: EpochMs): Cents {
  const { col } = state.positions;
  if (!state.switches.venueData) return state.accounts.col.openStakeCents.get(account);
  let cents = 0;
  for (const row of state.positionsOfAccount.of(account)) {
    const bid = positionBid(state, row, nowMs);
    cents +=
      bid === null ? col.costCents.get(row) : costCents(bid.priceCents, col.contracts.get(row));
  }
  return cents;
}

export function writeOrders(to: JsonWriter, state: ShardState, query: OrdersQuery): void {
  const account = state.accountIds.find(query.account);
  const orders = account === NO_ROW ? [] : ordersOf(state, account, query);
  const page = takePage(orders, query.limit, orderIdOf);
  const cursor = page.next === null ? null : cursorOf('orders', page.next);
  const start = to.open();
  to.list(NAMES.orders, page.rows, (order) => writeOrder(to, state, order));
  to.text(NAMES.nextCursor, cursor);
  writeEnvelope(to, state, query);
  to.close(start);
}

type RestingOrder = { orderId: Uuid; row: OrderRow };

const orderIdOf = (order: RestingOrder | EndedOrder): Uuid =>
  'row' in order ? order.orderId : order.placed.orderId;

/** Resting orders are in memory, the others in the log. */
function ordersOf(
  state: ShardState,
  account: AccountRow,
  { status, before }: OrdersQuery,
): Iterable<RestingOrder | EndedOrder> {
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

export function writeTrades(to: JsonWriter, state: ShardState, query: TradesQuery): void {
  const account = state.accountIds.find(query.account);
  const trades = account === NO_ROW ? [] : tradesOf(state, account, query);
  const page = takePage(trades, query.limit, (trade) => trade.tradeId);
  const cursor = page.next === null ? null : cursorOf('trades', page.next);
  const start = to.open();
  to.list(NAMES.trades, page.rows, (trade) => writeTrade(to, state, trade));
  to.text(NAMES.nextCursor, cursor);
  writeEnvelope(to, state, query);
  to.close(start);
}

type OpenTrade = { tradeId: Uuid; row: PositionRow };

function tradesOf(
  state: ShardState,
  account: AccountRow,
  { status, before }: TradesQuery,
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

/** Merges rows of memory with those of the log, which are newest first. */
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
    // A cursor continues after the last id of a page: a record out of order would be left out.
    invariant(last === null || idOf(old) < last, 'the log lists records that are not in order');
    last = idOf(old);
    while (at < rows.length && idOf(rows[at]!) > idOf(old)) yield rows[at++]!;
    yield old;
  }
  while (at < rows.length) yield rows[at++]!;
}

/** One page, and the id to continue from when there is more. */
function takePage<T>(
  rows: Iterable<T>,
  limit: number,
  idOf: (row: T) => Uuid,
): { rows: T[]; next: Uuid | null } {
  const page: T[] = [];
  for (const row of rows) {
    if (page.length === limit) return { rows: page, next: idOf(page.at(-1)!) };
    page.push(row);
  }
  return { rows: page, next: null };
}

/** More than the rows of one millisecond: within one, lists and ids may be in different orders. */
const SAME_MOMENT_MAX = 256;

/** The newest `max` rows by id; `rows` come newest first already, but for the same millisecond. */
function newest<Row>(ids: { idOf(row: Row): Uuid }, rows: Iterable<Row>, max: number): Row[] {
  const candidates: { row: Row; id: Uuid }[] = [];
  for (const row of rows) {
    if (candidates.length === max + SAME_MOMENT_MAX) break;
    candidates.push({ row, id: ids.idOf(row) });
  }
  candidates.sort((a, b) => (a.id < b.id ? 1 : -1));
  return candidates.slice(0, max).map(({ row }) => row);
}

/** What every portfolio answer carries. Rules I60 to I62 (api/RULES.md). */
export function writeEnvelope(
  to: JsonWriter,
  { switches }: ShardState,
  { organizationSlug }: { organizationSlug: string | null },
): void {
  to.text(NAMES.mode, 'paper');
  to.flag(NAMES.venueData, switches.venueData);
  if (organizationSlug !== null) to.json(NAMES.organization, { slug: organizationSlug });
}

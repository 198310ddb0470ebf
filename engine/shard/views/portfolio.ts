/** The portfolio and its lists on the wire. SPEC.md section 2, Account, Portfolio. */
import type { ClosedTrade, OrderPlaced } from '../../core/events.ts';
import { cursorOf } from '../../core/ids.ts';
import { costCents } from '../../core/ledger.ts';
import { ordersOf, positionsOf } from '../../core/links.ts';
import type { OrdersQuery, PortfolioQuery, TradesQuery } from '../../core/messages.ts';
import { positionBid } from '../../core/orders.ts';
import { newestFirst } from '../../core/recent.ts';
import type { ShardState } from '../../core/state.ts';
import { NO_ROW } from '../../core/table.ts';
import {
  type Cents,
  dollarsOf,
  type EpochMs,
  isoOf,
  START_BALANCE_CENTS,
  type Uuid,
} from '../../core/units.ts';
import { orderView, restingOrderView, statusOf } from './order.ts';
import { closedTradeView, openTradeView, positionView } from './trade.ts';

/** SPEC.md section 8, Other limits. */
const POSITIONS_MAX = 500;
const ORDERS_MAX = 200;
/** SPEC.md section 1, rule 3. */
const RESET_EVERY_MS = 30 * 24 * 60 * 60 * 1000;

export function portfolioView(state: ShardState, query: PortfolioQuery) {
  const account = state.accountIds.find(query.account);
  const orders = account === NO_ROW ? [] : newestRows(state.orderIds, ordersOf(state, account));
  const positions =
    account === NO_ROW ? [] : newestRows(state.positionIds, positionsOf(state, account));
  return {
    account: account === NO_ROW ? null : accountView(state, account, query.atMs),
    positions: positions.slice(0, POSITIONS_MAX).map((row) => positionView(state, row)),
    positionsCount: positions.length,
    positionsTruncated: positions.length > POSITIONS_MAX,
    orders: orders.slice(0, ORDERS_MAX).map((row) => restingOrderView(state, row)),
    ordersCount: orders.length,
    ordersTruncated: orders.length > ORDERS_MAX,
    asOf: isoOf(query.atMs),
    ...envelope(state, query),
  };
}

/** CONTRACT.md section 5, Formulas. */
function accountView(state: ShardState, account: number, nowMs: EpochMs) {
  const { col } = state.accounts;
  const balanceCents = col.balanceCents[account]!;
  const heldCents = col.heldCents[account]!;
  const stakeCents = col.openStakeCents[account]!;
  const markCents = openValueCents(state, account, nowMs);
  const worthCents = balanceCents + heldCents + markCents;
  const adjustedCents = col.adjustedCents[account]!;
  const lifetimeCents = col.lifetimeRealizedCents[account]! + markCents - stakeCents;
  const lastResetAtMs = col.lastResetAtMs[account]!;
  return {
    balanceDollars: dollarsOf(balanceCents),
    netWorthDollars: dollarsOf(worthCents),
    openStakeDollars: dollarsOf(stakeCents),
    heldDollars: dollarsOf(heldCents),
    openPositions: col.positions[account]!,
    restingOrders: col.orders[account]!,
    run: col.run[account]!,
    runStartedAt: isoOf(col.runStartedAtMs[account]!),
    startBalanceDollars: dollarsOf(START_BALANCE_CENTS),
    adjustmentsInRunDollars: dollarsOf(adjustedCents),
    pnlSinceResetDollars: dollarsOf(worthCents - START_BALANCE_CENTS - adjustedCents),
    ...resetView(state, lastResetAtMs, nowMs),
    lifetimePnlDollars: dollarsOf(lifetimeCents),
    resets: col.run[account]! - 1,
    busts: col.busts[account]!,
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
 * Open positions at their live bid, at cost where there is none. While the venue-data switch is
 * off all are marked at cost, so that net worth leaks no price. CONTRACT.md section 3.
 */
function openValueCents(state: ShardState, account: number, nowMs: EpochMs): Cents {
  const { col } = state.positions;
  if (!state.switches.venueData) return state.accounts.col.openStakeCents[account]!;
  let cents = 0;
  for (const row of positionsOf(state, account)) {
    const bid = positionBid(state, row, nowMs);
    cents += bid === null ? col.costCents[row]! : costCents(bid.priceCents, col.contracts[row]!);
  }
  return cents;
}

export function ordersView(state: ShardState, query: OrdersQuery) {
  const account = state.accountIds.find(query.account);
  const matches = (placed: OrderPlaced) =>
    query.status === null || statusOf(state, placed) === query.status;
  const placed = account === NO_ROW ? [] : state.records.placements(account, query.before);
  const page = takePage(placed, query.limit, matches, (order) => order.orderId);
  return {
    orders: page.rows.map((order) => orderView(state, order)),
    nextCursor: page.next === null ? null : cursorOf('orders', page.next),
    ...envelope(state, query),
  };
}

export function tradesView(state: ShardState, query: TradesQuery) {
  const account = state.accountIds.find(query.account);
  const trades = account === NO_ROW ? [] : tradesOf(state, account, query);
  const page = takePage(
    trades,
    query.limit,
    () => true,
    (trade) => trade.tradeId,
  );
  return {
    trades: page.rows.map((trade) =>
      'row' in trade ? openTradeView(state, trade.row) : closedTradeView(state, trade),
    ),
    nextCursor: page.next === null ? null : cursorOf('trades', page.next),
    ...envelope(state, query),
  };
}

type OpenTrade = { tradeId: Uuid; row: number };

function tradesOf(
  state: ShardState,
  account: number,
  { status, before }: TradesQuery,
): Iterable<OpenTrade | ClosedTrade> {
  const open: OpenTrade[] = [];
  if (status === null || status === 'open') {
    for (const row of positionsOf(state, account)) {
      open.push({ tradeId: state.positionIds.idOf(row), row });
    }
  }
  const closed = status === 'open' ? [] : state.records.closedTrades(account, before);
  const matching = filter(closed, (trade) => status === null || trade.status === status);
  return newestFirst<OpenTrade | ClosedTrade>(open, matching, before, (trade) => trade.tradeId);
}

function* filter<T>(rows: Iterable<T>, matches: (row: T) => boolean): Generator<T> {
  for (const row of rows) if (matches(row)) yield row;
}

/** One page, and the id to continue from when there is more. */
function takePage<T>(
  rows: Iterable<T>,
  limit: number,
  matches: (row: T) => boolean,
  idOf: (row: T) => Uuid,
): { rows: T[]; next: Uuid | null } {
  const page: T[] = [];
  for (const row of rows) {
    if (!matches(row)) continue;
    if (page.length === limit) return { rows: page, next: idOf(page.at(-1)!) };
    page.push(row);
  }
  return { rows: page, next: null };
}

/** Rows by id, newest first: ids carry the time at which they were made. */
function newestRows(ids: { idOf(row: number): Uuid }, rows: Iterable<number>): number[] {
  return [...rows]
    .map((row) => ({ row, id: ids.idOf(row) }))
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .map(({ row }) => row);
}

/** What every portfolio answer carries. SPEC.md section 4, Organization header. */
export function envelope(
  state: ShardState,
  { organizationSlug }: { organizationSlug: string | null },
) {
  return {
    mode: 'paper',
    venueData: state.switches.venueData,
    ...(organizationSlug === null ? {} : { organization: { slug: organizationSlug } }),
  };
}

/** The portfolio on the wire. Rules A40, M20 to M27, M32 (api/RULES.md, engine/RULES.md). */

import {
  type AccountRow,
  type Cents,
  dollarsOf,
  type EpochMs,
  isoOf,
  NO_ROW,
  START_BALANCE_CENTS,
  type Uuid,
} from '../../../base/units.ts';
import { type JsonWriter, memberNames } from '../../../format/json-writer.ts';
import type { AccountQuery, PortfolioQuery } from '../../../rules/queries.ts';
import { resetView } from '../../../rules/reset.ts';
import type { ShardState } from '../../../rules/state.ts';
import { writeRestingOrder } from './order.ts';
import { positionMark, writePosition } from './trade.ts';

/** Rule A40 (api/RULES.md). */
const POSITIONS_MAX = 500;
const ORDERS_MAX = 200;

const NAMES = memberNames(
  'account',
  'positions',
  'positionsCount',
  'positionsTruncated',
  'orders',
  'ordersCount',
  'ordersTruncated',
  'asOf',
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
  const isPersonal = query.organizationSlug === null;
  const view = isOpen ? accountView(state, account, { nowMs: query.atMs, isPersonal }) : null;
  to.json(NAMES.account, view);
  to.list(NAMES.positions, positions, (row) => writePosition(to, state, row, query.atMs));
  to.number(NAMES.positionsCount, positionsCount);
  to.flag(NAMES.positionsTruncated, positionsCount > POSITIONS_MAX);
  to.list(NAMES.orders, orders, (row) => writeRestingOrder(to, state, row));
  to.number(NAMES.ordersCount, ordersCount);
  to.flag(NAMES.ordersTruncated, ordersCount > ORDERS_MAX);
  to.time(NAMES.asOf, query.atMs);
  writeEnvelope(to, state, query);
  to.close(start);
}

/** Points equal net worth, also before the first trade. Rule M22 (engine/RULES.md). */
export function accountAnswer(state: ShardState, { atMs, account: id }: AccountQuery) {
  const row = state.accountIds.find(id);
  const account =
    row === NO_ROW ? null : accountView(state, row, { nowMs: atMs, isPersonal: true });
  const points = account?.netWorthDollars ?? dollarsOf(START_BALANCE_CENTS);
  return { points, account, asOf: isoOf(atMs) };
}

type Look = { nowMs: EpochMs; isPersonal: boolean };

/** Rules M20 to M27 (engine/RULES.md). */
function accountView(state: ShardState, account: AccountRow, look: Look) {
  const { nowMs } = look;
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
    ...resetFields(state, account, look),
    lifetimePnlDollars: dollarsOf(lifetimeCents),
    resets: col.run.get(account) - 1,
    busts: col.busts.get(account),
    lastResetAt: lastResetAtMs === 0 ? null : isoOf(lastResetAtMs),
  };
}

const NO_RESET = {
  selfResetEnabled: false,
  resetBlockedBy: 'reset_not_enabled',
  nextResetAt: null,
} as const;

/** An organization's sandbox has no reset. Rules M32, M33 (engine/RULES.md). */
function resetFields(state: ShardState, account: AccountRow, { nowMs, isPersonal }: Look) {
  if (!isPersonal) return NO_RESET;
  const { resetBlockedBy, nextResetAtMs } = resetView(state, account, nowMs);
  return {
    selfResetEnabled: state.switches.selfReset,
    resetBlockedBy,
    nextResetAt: nextResetAtMs === null ? null : isoOf(nextResetAtMs),
  };
}

/**
 * Open positions at their live bid, or at cost if there is none. While the venue-data switch is off
 * all are marked at cost, so that net worth leaks no price. Rule M21 (engine/RULES.md).
 */
function openValueCents(state: ShardState, account: AccountRow, nowMs: EpochMs): Cents {
  if (!state.switches.venueData) return state.accounts.col.openStakeCents.get(account);
  let cents = 0;
  for (const row of state.positionsOfAccount.of(account)) {
    cents += positionMark(state, row, nowMs).valueCents;
  }
  return cents;
}

/** More than the rows of one millisecond. Within one, lists and ids may be in different orders. */
const SAME_MOMENT_MAX = 256;

/** The newest `max` rows by id. `rows` are newest first already, except within one millisecond. */
function newest<Row>(ids: { idOf(row: Row): Uuid }, rows: Iterable<Row>, max: number): Row[] {
  const candidates: { row: Row; id: Uuid }[] = [];
  for (const row of rows) {
    if (candidates.length === max + SAME_MOMENT_MAX) break;
    candidates.push({ row, id: ids.idOf(row) });
  }
  candidates.sort((a, b) => (a.id < b.id ? 1 : -1));
  return candidates.slice(0, max).map(({ row }) => row);
}

/** The fields of every portfolio answer. Rules I60 to I62 (api/RULES.md). */
export function writeEnvelope(
  to: JsonWriter,
  { switches }: ShardState,
  { organizationSlug }: { organizationSlug: string | null },
): void {
  to.text(NAMES.mode, 'paper');
  to.flag(NAMES.venueData, switches.venueData);
  if (organizationSlug !== null) to.json(NAMES.organization, { slug: organizationSlug });
}

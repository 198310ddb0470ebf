/** The portfolio on the wire. Rules A40, M20 to M27, M32 (api/RULES.md, engine/RULES.md). */

import {
  type AccountRow,
  type Cents,
  type EpochMs,
  NO_ROW,
  START_BALANCE_CENTS,
  type Uuid,
} from '../../../base/units.ts';
import { type JsonWriter, memberNames, pieceOf } from '../../../format/json-writer.ts';
import type { AccountQuery, PortfolioQuery } from '../../../rules/queries.ts';
import { resetView } from '../../../rules/reset.ts';
import type { ShardState } from '../../../rules/state.ts';
import { writeRestingOrder } from './order.ts';
import { positionMark, writePosition } from './trade.ts';

/** Rule A40 (api/RULES.md). */
const POSITIONS_MAX = 500;
const ORDERS_MAX = 200;

const NAMES = memberNames(
  'balanceDollars',
  'netWorthDollars',
  'openStakeDollars',
  'heldDollars',
  'openPositions',
  'restingOrders',
  'run',
  'runStartedAt',
  'startBalanceDollars',
  'adjustmentsInRunDollars',
  'pnlSinceResetDollars',
  'selfResetEnabled',
  'resetBlockedBy',
  'nextResetAt',
  'lifetimePnlDollars',
  'resets',
  'busts',
  'lastResetAt',
  'points',
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
  if (isOpen) {
    const look = { nowMs: query.atMs, isPersonal: query.organizationSlug === null };
    to.piece(NAMES.account);
    writeAccount(to, state, account, worthOf(state, account, query.atMs), look);
  } else to.null(NAMES.account);
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
export function writeAccountAnswer(
  to: JsonWriter,
  state: ShardState,
  { atMs, account: id }: AccountQuery,
): void {
  const row = state.accountIds.find(id);
  const worthCents = row === NO_ROW ? START_BALANCE_CENTS : worthOf(state, row, atMs);
  const start = to.open();
  to.dollars(NAMES.points, worthCents);
  if (row === NO_ROW) to.null(NAMES.account);
  else {
    to.piece(NAMES.account);
    writeAccount(to, state, row, worthCents, { nowMs: atMs, isPersonal: true });
  }
  to.time(NAMES.asOf, atMs);
  to.close(start);
}

type Look = { nowMs: EpochMs; isPersonal: boolean };

/** Rules M20 to M27 (engine/RULES.md). */
function writeAccount(
  to: JsonWriter,
  state: ShardState,
  account: AccountRow,
  worthCents: Cents,
  look: Look,
): void {
  const { col } = state.accounts;
  const heldCents = col.heldCents.get(account);
  const balanceCents = col.balanceCents.get(account);
  const adjustedCents = col.adjustedCents.get(account);
  const stakeCents = col.openStakeCents.get(account);
  const lifetimeCents = col.lifetimeRealizedCents.get(account);
  const unrealizedCents = worthCents - balanceCents - heldCents - stakeCents;
  const run = col.run.get(account);
  const start = to.open();
  to.dollars(NAMES.balanceDollars, balanceCents);
  to.dollars(NAMES.netWorthDollars, worthCents);
  to.dollars(NAMES.openStakeDollars, stakeCents);
  to.dollars(NAMES.heldDollars, heldCents);
  to.number(NAMES.openPositions, state.positionsOfAccount.count(account));
  to.number(NAMES.restingOrders, state.ordersOfAccount.count(account));
  to.number(NAMES.run, run);
  to.time(NAMES.runStartedAt, col.runStartedAtMs.get(account));
  to.dollars(NAMES.startBalanceDollars, START_BALANCE_CENTS);
  to.dollars(NAMES.adjustmentsInRunDollars, adjustedCents);
  to.dollars(NAMES.pnlSinceResetDollars, worthCents - START_BALANCE_CENTS - adjustedCents);
  writeReset(to, state, account, look);
  to.dollars(NAMES.lifetimePnlDollars, lifetimeCents + unrealizedCents);
  to.number(NAMES.resets, run - 1);
  to.number(NAMES.busts, col.busts.get(account));
  to.time(NAMES.lastResetAt, col.lastResetAtMs.get(account) || null);
  to.close(start);
}

const NO_RESET = pieceOf(
  ',"selfResetEnabled":false,"resetBlockedBy":"reset_not_enabled","nextResetAt":null',
);

/** An organization's sandbox has no reset. Rules M32, M33 (engine/RULES.md). */
function writeReset(
  to: JsonWriter,
  state: ShardState,
  account: AccountRow,
  { nowMs, isPersonal }: Look,
): void {
  if (!isPersonal) return to.piece(NO_RESET);
  const { resetBlockedBy, nextResetAtMs } = resetView(state, account, nowMs);
  to.flag(NAMES.selfResetEnabled, state.switches.selfReset);
  to.text(NAMES.resetBlockedBy, resetBlockedBy);
  to.time(NAMES.nextResetAt, nextResetAtMs);
}

/** Balance, holds and open positions. */
function worthOf(state: ShardState, account: AccountRow, nowMs: EpochMs): Cents {
  const { balanceCents, heldCents } = state.accounts.col;
  const openCents = openValueCents(state, account, nowMs);
  return balanceCents.get(account) + heldCents.get(account) + openCents;
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

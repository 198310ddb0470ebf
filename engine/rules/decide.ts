/**
 * The result of a command: events, a stored answer, or a refusal. It reads the state and changes
 * nothing. It checks for refusals in the order of rejections.ts. After these checks a command
 * cannot fail. Rules T100, T110, T111, T130, T131, T134, T135, T140, T222, M9 (engine/RULES.md), K60
 * (feeds/FORMATS.md).
 */

import { invariant } from '../base/invariant.ts';
import { type EpochMs, NO_ROW, type OrderRow } from '../base/units.ts';
import type { LevelTaken } from '../memory/market-liquidity.ts';
import { decideAmend } from './amend.ts';
import { resultOf } from './apply-results.ts';
import { canceledByOwner } from './arrivals.ts';
import { instrumentOf } from './catalog.ts';
import { changed, changeOf } from './catalog-change.ts';
import { decideCorrection, isSameResult } from './corrections.ts';
import { accept, type Decision, reject } from './decision.ts';
import { restingOf, restingOfOthers } from './disconnects.ts';
import type { CancelReason, OrderEnded } from './events.ts';
import { takeConsumed } from './fill-notes.ts';
import { isCountable } from './ledger.ts';
import type {
  AdjustCash,
  CancelAll,
  CancelOrder,
  Command,
  RemoveOrderGroup,
  SetCatalog,
  SetPrivacy,
  SettleMarket,
} from './messages.ts';
import { decideChangeGroup, decideMakeGroup, ordersOfGroup } from './order-groups.ts';
import { decidePlace } from './place-orders.ts';
import { privacyEvents } from './privacy.ts';
import { decideReset } from './reset.ts';
import type { ShardState } from './state.ts';
import { withinLimits } from './trade-limits.ts';
import { decideTag } from './trade-tags.ts';

/**
 * The orders that one batch cancels are one record of the log, and one answer. Rule T131
 * (engine/RULES.md).
 */
export const CANCEL_ALL_MAX = 2000;

/** `decide`, with the displayed sizes taken that the decision uses up. Rule T231 (engine/RULES.md). */
export function decideAndTake(
  state: ShardState,
  command: Command,
): { decision: Decision; taken: readonly LevelTaken[] } {
  for (;;) {
    const decision = decide(state, command);
    const consumption = decision.kind === 'accept' ? decision.consumption : null;
    const taken = takeConsumed(state, command.atMs, consumption);
    if (taken !== null) return { decision, taken };
  }
}

export function decide(state: ShardState, command: Command): Decision {
  switch (command.kind) {
    case 'place':
      return decidePlace(state, command);
    case 'amend':
      return decideAmend(state, command);
    case 'make_order_group':
      return decideMakeGroup(state, command);
    case 'change_order_group':
      return withinLimits(state, command, true, () => decideChangeGroup(state, command));
    case 'remove_order_group':
      return withinLimits(state, command, true, () => decideRemoveGroup(state, command));
    case 'cancel':
      return withinLimits(state, command, true, () => decideCancel(state, command));
    case 'cancel_all':
      return withinLimits(state, command, true, () => decideCancelAll(state, command));
    case 'disconnected':
      return accept(canceled(command.atMs, restingOf(state, command), 'disconnected'));
    case 'connected':
      return accept(canceled(command.atMs, restingOfOthers(state, command), 'disconnected'));
    case 'adjust':
      return decideAdjust(state, command);
    case 'reset':
      return decideReset(state, command);
    case 'set_privacy':
      return decidePrivacy(state, command);
    case 'mark':
      return decideTag(state, command);
    case 'settle':
      return decideSettle(state, command);
    case 'catalog':
      return decideCatalog(state, command);
    case 'switches':
    case 'fees':
      return accept([]);
    case 'clock': {
      const { toMs } = command;
      const fromMs = state.nowMs;
      return accept(toMs < fromMs ? [{ kind: 'clock_set', atMs: toMs, fromMs }] : []);
    }
    default:
      return command satisfies never;
  }
}

/**
 * Every start sends the catalog again. Only a change is worth a fact. The catalog is written whole
 * once changes have taken as many bytes, so a reader of the newest one never reads more of them.
 * Rule K60 (feeds/FORMATS.md).
 */
function decideCatalog(state: ShardState, command: SetCatalog): Decision {
  const { atMs } = command;
  const isChange = 'change' in command;
  const catalog = isChange ? changed(state.catalog, command.change) : command.catalog;
  const change = changeOf(state.catalog, catalog);
  if (change === null) return accept([]);
  const { catalogPlace: place } = state;
  if (place === null || place.changedBytes >= place.wholeBytes) {
    return accept([{ kind: 'catalog_replaced', atMs, catalog }]);
  }
  return accept([{ kind: 'catalog_changed', atMs, before: place.record, change }]);
}

function decideCancel(state: ShardState, { atMs, account, orderId }: CancelOrder): Decision {
  const accountRow = state.accountIds.find(account);
  if (accountRow === NO_ROW) return reject('order_not_found');
  const order = state.orderIds.find(orderId);
  if (order === NO_ROW || state.orders.col.account.get(order) !== accountRow) {
    const known = state.records.endedOrder(accountRow, orderId) !== undefined;
    return known
      ? reject('already_closed', 'The order is not resting.')
      : reject('order_not_found');
  }
  return accept(canceledByOwner(state, atMs, [order]));
}

function canceled(atMs: EpochMs, orders: OrderRow[], reason: CancelReason): OrderEnded[] {
  return orders.map((order) => ({ kind: 'order_ended', atMs, order, status: 'canceled', reason }));
}

/** The newest `CANCEL_ALL_MAX` at most, the first placed first. */
function decideCancelAll(
  state: ShardState,
  { atMs, account: accountId, instrumentId }: CancelAll,
): Decision {
  const instrument = instrumentId === null ? null : instrumentOf(state, instrumentId);
  if (instrument === undefined) return reject('instrument_not_found');
  const account = state.accountIds.find(accountId);
  if (account === NO_ROW) return accept([]);
  const ofInstrument = state.orders.col.instrument;
  const newest: OrderRow[] = [];
  for (const order of state.ordersOfAccount.of(account)) {
    if (newest.length === CANCEL_ALL_MAX) break;
    if (instrument === null || ofInstrument.get(order) === instrument.number) newest.push(order);
  }
  return accept(canceledByOwner(state, atMs, newest.reverse()));
}

/** Its orders are canceled as their owner's cancels are: under latency they end later. Rule T222. */
function decideRemoveGroup(
  state: ShardState,
  { atMs, account: accountId, group }: RemoveOrderGroup,
): Decision {
  const account = state.accountIds.find(accountId);
  const row = account === NO_ROW ? NO_ROW : state.orderGroups.find(account, group);
  if (row === NO_ROW) return reject('order_group_not_found');
  const canceled = canceledByOwner(state, atMs, ordersOfGroup(state, account, row));
  return accept([...canceled, { kind: 'order_group_removed', atMs, account, group }]);
}

function decideAdjust(state: ShardState, command: AdjustCash): Decision {
  const account = state.accountIds.find(command.account);
  if (account === NO_ROW) return reject('account_not_found');
  if (!isCountable(state, account, command.amountCents)) {
    return reject(
      'invalid_request',
      'amountCents: the account would hold more than can be counted',
    );
  }
  const balanceCents = state.accounts.col.balanceCents.get(account);
  // An account below zero may be given less than it lacks. Rule S23 (engine/RULES.md).
  if (command.amountCents < 0 && balanceCents + command.amountCents < 0) {
    return reject('insufficient_balance');
  }
  const { atMs, amountCents } = command;
  return accept([{ kind: 'cash_adjusted', atMs, account, amountCents }]);
}

/** Rule M36 (engine/RULES.md). An account that is not open yet learns it from its first order. */
function decidePrivacy(state: ShardState, command: SetPrivacy): Decision {
  const account = state.accountIds.find(command.account);
  if (account === NO_ROW) return accept([]);
  return accept(privacyEvents(state, account, command));
}

const NOTHING_TO_CORRECT = 'correct: the market has no result yet.';

/** The events of a first result depend on each other: they are made while they are applied. */
function decideSettle(state: ShardState, command: SettleMarket): Decision {
  const market = state.markets[command.market];
  invariant(market !== undefined, 'an operator settles a market that does not exist');
  const from = resultOf(market);
  const { correction } = command;
  if (correction !== null) {
    if (from === null) return reject('invalid_request', NOTHING_TO_CORRECT);
    return decideCorrection(state, market, { from, to: { ...command, correction } });
  }
  if (from === null || isSameResult(from, command)) return accept([]);
  return reject('market_resolved', 'The market has another result already.');
}

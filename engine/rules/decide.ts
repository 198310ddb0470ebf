/**
 * What a command leads to: events, a stored answer, or a refusal. It reads the state and changes
 * nothing. It checks for refusals in the order of rejections.ts; after them a command cannot fail.
 * Rules T100, T110, T111, T140, M9 (engine/RULES.md).
 */

import { accept, type Decision, reject } from './decision.ts';
import { invariant } from './invariant.ts';
import { isCountable } from './ledger.ts';
import type { AdjustCash, CancelOrder, Command, SettleMarket } from './messages.ts';
import { decidePlace } from './orders.ts';
import { resultOf } from './settlement.ts';
import type { ShardState } from './state.ts';
import { withinLimits } from './trade-limits.ts';
import { NO_ROW } from './units.ts';

export function decide(state: ShardState, command: Command): Decision {
  switch (command.kind) {
    case 'place':
      return decidePlace(state, command);
    case 'cancel':
      return withinLimits(state, command, true, () => decideCancel(state, command));
    case 'adjust':
      return decideAdjust(state, command);
    case 'settle':
      return decideSettle(state, command);
    case 'catalog':
      // Every start sends the catalog again. Only a change is worth a fact.
      return JSON.stringify(command.catalog) === JSON.stringify(state.catalog)
        ? accept([])
        : accept([{ kind: 'catalog_replaced', atMs: command.atMs, catalog: command.catalog }]);
    case 'switches':
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
  return accept([
    { kind: 'order_ended', atMs, order, status: 'canceled', reason: 'canceled_by_owner' },
  ]);
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
  if (state.accounts.col.balanceCents.get(account) + command.amountCents < 0) {
    return reject('insufficient_balance');
  }
  const { atMs, amountCents } = command;
  return accept([{ kind: 'cash_adjusted', atMs, account, amountCents }]);
}

/** Its events depend on each other, so they are made while they are applied (`settle`). */
function decideSettle(state: ShardState, command: SettleMarket): Decision {
  const market = state.markets[command.market];
  invariant(market !== undefined, 'an operator settles a market that does not exist');
  const result = resultOf(market);
  if (result === null) return accept([]);
  const isSame =
    result.outcome === command.outcome &&
    result.yesPayoutCents === command.yesPayoutCents &&
    result.noPayoutCents === command.noPayoutCents;
  return isSame ? accept([]) : reject('market_resolved', 'The market has another result already.');
}

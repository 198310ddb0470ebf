/** Resets, and the tags of operators. Rules M30 to M34, T141 (engine/RULES.md). */

import { START_BALANCE_CENTS } from '../../engine/base/units.ts';
import type { Reply, ResetAccount, TagTrade } from '../../engine/rules/messages.ts';
import { closeTrade, countBust, end, resetBlock } from './naive-ledger.ts';
import { refuse } from './naive-orders.ts';
import { type ModelState, openTradesOf, restingOf } from './naive-state.ts';
import { answer, markCentsOf } from './naive-views.ts';

export function reset(state: ModelState, command: ResetAccount): Reply {
  const account = state.accounts.get(command.account);
  if (account === undefined) return refuse('reset_not_available');
  if (resetBlock(state, account, state.nowMs).by !== null) return refuse('reset_not_available');
  for (const order of restingOf(state, account.id).sort((a, b) => b.sequence - a.sequence)) {
    end(state, order, 'canceled', 'account_reset');
  }
  for (const trade of openTradesOf(state, account.id)) {
    trade.status = 'reset';
    trade.closeReason = 'account_reset';
    // Prices may be shown to accounts that do not change them.
    closeTrade(state, trade, markCentsOf({ ...state, venueData: true }, trade, state.nowMs));
    countBust(state, account.id);
  }
  account.earlierRunsCents += account.realizedCents;
  account.realizedCents = 0;
  account.adjustmentsCents = 0;
  account.balanceCents = START_BALANCE_CENTS;
  account.runStartedAtMs = state.nowMs;
  account.bustCountedInRun = false;
  account.mayOwe = false;
  account.resetsAtMs.push(state.nowMs);
  return answer({});
}

export function mark(state: ModelState, command: TagTrade): Reply {
  const trade = state.trades.get(command.trade);
  const isFound = trade?.status === 'open' || trade?.account === command.account;
  if (trade === undefined || !isFound) return refuse('trade_not_found');
  trade.parlay = command.parlay ?? trade.parlay;
  trade.combine ||= command.combine;
  return answer({ parlay: trade.parlay, combine: trade.combine });
}

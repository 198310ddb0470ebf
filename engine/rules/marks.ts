/** Operators' marks of trades. Rule T141 (engine/RULES.md). */

import { type AccountRow, NO_ROW } from '../base/units.ts';
import { accept, type Decision, reject } from './decision.ts';
import type { TradeMark } from './events.ts';
import type { MarkTrade } from './messages.ts';
import type { ShardState } from './state.ts';

const NO_MARK: TradeMark = { parlay: null, combine: false };

/** Refused by every shard but the one that has the trade. */
export function decideMark(state: ShardState, command: MarkTrade): Decision {
  const { atMs, trade, ...mark } = command;
  const account = holderOf(state, command);
  if (account === NO_ROW) return reject('trade_not_found');
  const known = state.marks.get(trade) ?? NO_MARK;
  const parlay = mark.parlay ?? known.parlay;
  const combine = mark.combine || known.combine;
  const isSame = parlay === known.parlay && combine === known.combine;
  return accept(isSame ? [] : [{ kind: 'trade_marked', atMs, account, trade, parlay, combine }]);
}

/** The account of an open trade, or of a closed one of the account that the command names. */
function holderOf(state: ShardState, { account, trade }: MarkTrade): AccountRow {
  const position = state.positionIds.find(trade);
  if (position !== NO_ROW) return state.positions.col.account.get(position);
  const named = account === null ? (NO_ROW as AccountRow) : state.accountIds.find(account);
  const isIts = named !== NO_ROW && state.records.closedTrade(named, trade) !== undefined;
  return isIts ? named : (NO_ROW as AccountRow);
}

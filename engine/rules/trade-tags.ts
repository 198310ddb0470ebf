/** Operators' tags of trades. Rule T141 (engine/RULES.md). */

import { type AccountRow, NO_ROW } from '../base/units.ts';
import { accept, type Decision, reject } from './decision.ts';
import type { TradeTag } from './events.ts';
import type { TagTrade } from './messages.ts';
import type { ShardState } from './state.ts';

const NO_TAG: TradeTag = { parlay: null, combine: false };

/** Every shard refuses it except the shard of the trade. */
export function decideTag(state: ShardState, command: TagTrade): Decision {
  const { atMs, trade, ...tag } = command;
  const account = holderOf(state, command);
  if (account === NO_ROW) return reject('trade_not_found');
  const known = state.tradeTags.get(trade) ?? NO_TAG;
  const parlay = tag.parlay ?? known.parlay;
  const combine = tag.combine || known.combine;
  const isSame = parlay === known.parlay && combine === known.combine;
  return accept(isSame ? [] : [{ kind: 'trade_marked', atMs, account, trade, parlay, combine }]);
}

/** The account of an open trade, or of a closed one of the account that the command names. */
function holderOf(state: ShardState, { account, trade }: TagTrade): AccountRow {
  const position = state.positionIds.find(trade);
  if (position !== NO_ROW) return state.positions.col.account.get(position);
  const named = account === null ? (NO_ROW as AccountRow) : state.accountIds.find(account);
  const isIts = named !== NO_ROW && state.records.closedTrade(named, trade) !== undefined;
  return isIts ? named : (NO_ROW as AccountRow);
}

/**
 * A result that an operator replaces. The trades that the old result has settled are no rows any
 * more: they are found in the log. Rules S20 to S25 (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import { type AccountRow, HOME_VENUE, PAYOUT_CENTS } from '../base/units.ts';
import { uuidTimeMs } from '../memory/uuid-words.ts';
import { payoutCents, resultOf } from './apply-results.ts';
import { accept, type Decision, reject } from './decision.ts';
import type { TradeCorrected } from './events.ts';
import { emit } from './evolve.ts';
import type { FactSink } from './fact-sink.ts';
import type { TradeCorrectedFact, TradeSettledFact } from './facts.ts';
import type { SettledFact, SoldParts } from './finished-records.ts';
import { payoutRoomCents } from './ledger.ts';
import type { MarketResult, SettleMarket } from './messages.ts';
import type { CorrectionLeft } from './pending-settlements.ts';
import type { Market } from './reference-data.ts';
import type { ShardState } from './state.ts';

/**
 * Whether the command corrects the result, and its changes. All unfinished settlements are done
 * before. Rules S20, S25 (engine/RULES.md).
 */
export function decideCorrection(
  state: ShardState,
  market: Market,
  { from, to }: { from: MarketResult; to: SettleMarket & { correction: number } },
): Decision {
  const { outcome, yesPayoutCents, noPayoutCents, atMs, correction } = to;
  if (isSameResult(from, to) || correction <= market.corrections) return accept([]);
  const left = settledTrades(state, market, false);
  for (const account of left.byAccount.keys()) {
    if (isCountedAfter(state, account, left, { from, to })) continue;
    const id = state.accountIds.idOf(account);
    return reject('invalid_request', `The account ${id} would hold more than can be counted.`);
  }
  const payouts = { yesPayoutCents, noPayoutCents };
  const of = { kind: 'market_corrected', atMs, market: market.number } as const;
  const events = [{ ...of, outcome, ...payouts, correction }];
  return { kind: 'accept', events, consumption: null, left };
}

export function isSameResult(one: MarketResult, other: MarketResult): boolean {
  return (
    one.outcome === other.outcome &&
    one.yesPayoutCents === other.yesPayoutCents &&
    one.noPayoutCents === other.noPayoutCents
  );
}

/** Begins the decided correction. @returns how many trades it changes. */
export function beginCorrection({ pendingSettlements }: ShardState, left: CorrectionLeft): number {
  const { correction } = pendingSettlements;
  invariant(correction?.left === null, 'a correction begins that was not decided');
  correction.left = left;
  let trades = 0;
  for (const settled of left.byAccount.values()) trades += settled.length;
  return trades;
}

/** Corrects the remaining trades, as far as the batch has room. False: some are left. */
export function continueCorrection(state: ShardState, facts: FactSink): boolean {
  const { pendingSettlements } = state;
  if (pendingSettlements.correction === null) return true;
  for (const account of leftOf(state).byAccount.keys()) {
    if (!correctSome(state, account, pendingSettlements.left, facts)) return false;
  }
  pendingSettlements.correction = null;
  return true;
}

/** Corrects all remaining trades of one account, whatever room the batch has. */
export function correctAccount(state: ShardState, account: AccountRow, facts: FactSink): void {
  if (isHalfCorrected(state, account)) {
    correctSome(state, account, Number.POSITIVE_INFINITY, facts);
  }
}

/** Whether some trade of the account may still have the old result. */
export function isHalfCorrected(state: ShardState, account: AccountRow): boolean {
  return state.pendingSettlements.correction !== null && leftOf(state).byAccount.has(account);
}

/** Continues the correction at a start. The log tells which trades have their new result. */
function leftOf(state: ShardState): CorrectionLeft {
  const { correction } = state.pendingSettlements;
  invariant(correction !== null, 'nothing is being corrected');
  correction.left ??= settledTrades(state, state.markets[correction.market]!, true);
  return correction.left;
}

/** Corrects at most so many trades of the account. False: some are left. */
function correctSome(
  state: ShardState,
  account: AccountRow,
  most: number,
  facts: FactSink,
): boolean {
  const { correction } = state.pendingSettlements;
  invariant(correction !== null, 'nothing is being corrected');
  const left = leftOf(state);
  const settled = left.byAccount.get(account) ?? [];
  const { atMs, from } = correction;
  const market = state.markets[correction.market]!;
  const to = resultOf(market);
  invariant(to !== null, 'a market is corrected that has no result');
  const number = market.corrections;
  let done = 0;
  for (; done < settled.length && done < most; done++) {
    const one = settled[done]!;
    const mayHaveOne = left.isResumed || number > 1;
    const last = mayHaveOne ? state.records.correctionOf(account, one.fact) : undefined;
    // Continues at a start with trades of which some were corrected before it.
    if (left.isResumed && last?.correction === number) continue;
    const change = changeOf(state, account, left, { one, last, from, to });
    state.pendingSettlements.left--;
    const of = { kind: 'trade_corrected', atMs, account, correction: number } as const;
    emit(state, facts, { ...of, ...change });
  }
  if (done < settled.length) {
    left.byAccount.set(account, settled.slice(done));
    return false;
  }
  left.byAccount.delete(account);
  left.sold.delete(account);
  return true;
}

/** Of all accounts: one pass over the records that settled the market. */
function settledTrades(state: ShardState, market: Market, isResumed: boolean): CorrectionLeft {
  const byAccount = new Map<AccountRow, SettledFact[]>();
  let firstRecord = 0;
  if (market.venue === HOME_VENUE) {
    for (const one of state.records.settledIn(market.number, market.settlement)) {
      const account = state.accountIds.find(one.fact.account);
      const settled = byAccount.get(account);
      if (byAccount.size === 0) firstRecord = one.place.record;
      if (settled === undefined) byAccount.set(account, [one]);
      else settled.push(one);
    }
  }
  return { byAccount, firstRecord, sold: new Map(), resets: null, isResumed };
}

/**
 * Whether every sum of an account can still be counted afterwards. Rules M11, S25
 * (engine/RULES.md).
 */
function isCountedAfter(
  state: ShardState,
  account: AccountRow,
  left: CorrectionLeft,
  { from, to }: { from: MarketResult; to: MarketResult },
): boolean {
  const settled = left.byAccount.get(account)!;
  const roomCents = payoutRoomCents(state, account);
  const mostCents = settled.reduce((sum, { fact }) => sum + PAYOUT_CENTS * fact.contracts, 0);
  if (mostCents <= roomCents) return true;
  let gainCents = 0;
  for (const one of settled) {
    const last = state.records.correctionOf(account, one.fact);
    const { changedByCents } = changeOf(state, account, left, { one, last, from, to });
    gainCents += Math.max(0, changedByCents);
  }
  return gainCents <= roomCents;
}

type TradeChange = Omit<TradeCorrected, 'kind' | 'atMs' | 'account' | 'correction'>;
type Replaced = {
  one: SettledFact;
  /** The last correction of the trade. */
  last: TradeCorrectedFact | undefined;
  from: MarketResult;
  to: MarketResult;
};

/** The change of a trade that the market's result has settled. */
function changeOf(
  state: ShardState,
  account: AccountRow,
  left: CorrectionLeft,
  { one, last, from, to }: Replaced,
): TradeChange {
  const { fact } = one;
  const sold = soldOf(state, account, left, fact);
  const held = {
    contracts: fact.contracts - sold.contracts,
    costCents: fact.costCents - sold.costCents,
  };
  const proceedsBy = (result: MarketResult) => {
    return sold.cents + payoutCents(result, fact.side, held);
  };
  const hasCents = last?.proceedsCents ?? fact.proceedsCents;
  const isSound = proceedsBy(from) === hasCents;
  invariant(isSound, `trade ${fact.trade} was settled for other cents than its result says`);
  const { trade, market, instrument, side, instrumentSide } = fact;
  const proceedsCents = proceedsBy(to);
  const changedByCents = proceedsCents - hasCents;
  const cashCents = isRunOver(state, account, left, one) ? 0 : changedByCents;
  return {
    ...{ trade, market, instrument, side, instrumentSide },
    ...{ from: from.outcome, to: to.outcome, proceedsCents, changedByCents, cashCents },
  };
}

/** The parts of a trade that were sold before it settled. Rule S24 (engine/RULES.md). */
function soldOf(
  state: ShardState,
  account: AccountRow,
  left: CorrectionLeft,
  { trade, outcome, side, contracts, proceedsCents }: TradeSettledFact,
): SoldParts {
  // A sale brings 1 to 99 cents a contract, and this result 0 or 100.
  const isPlain = outcome === 'yes' || outcome === 'no';
  const wholeCents = outcome === side ? PAYOUT_CENTS * contracts : 0;
  if (isPlain && proceedsCents === wholeCents) return NOTHING_SOLD;
  let sold = left.sold.get(account);
  if (sold === undefined) {
    const opened = left.byAccount.get(account)!.map(({ fact }) => uuidTimeMs(fact.trade));
    const sinceMs = opened.reduce((first, atMs) => Math.min(first, atMs));
    // If the clock was set back, a later order may have an earlier time.
    const fromMs = sinceMs <= state.setBackFromMs ? 0 : sinceMs;
    sold = state.records.soldParts(account, fromMs, state.nets.isUsed);
    left.sold.set(account, sold);
  }
  return sold.get(trade) ?? NOTHING_SOLD;
}

const NOTHING_SOLD: SoldParts = { contracts: 0, costCents: 0, cents: 0 };

/** Whether the account was reset since the trade settled. Rule S23 (engine/RULES.md). */
function isRunOver(
  { accounts, setBackFromMs, records }: ShardState,
  account: AccountRow,
  left: CorrectionLeft,
  { fact, place }: SettledFact,
): boolean {
  const resetAtMs = accounts.col.lastResetAtMs.get(account);
  if (resetAtMs === 0) return false;
  const openedAtMs = uuidTimeMs(fact.trade);
  const isTimeSure = Math.min(openedAtMs, resetAtMs) > setBackFromMs;
  if (isTimeSure && resetAtMs < openedAtMs) return false;
  if (isTimeSure && resetAtMs > fact.atMs) return true;
  // Of one moment, so the log has the order.
  left.resets ??= records.resetsFrom(left.firstRecord);
  const reset = left.resets.get(fact.account);
  if (reset === undefined) return false;
  return reset.record === place.record ? reset.offset > place.offset : reset.record > place.record;
}

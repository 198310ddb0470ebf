/**
 * A result that an operator replaces. The trades that the old result has settled are no rows any
 * more: they are found in the log. Rules S20 to S25 (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import {
  type AccountRow,
  type Cents,
  type EpochMs,
  PAYOUT_CENTS,
  type Uuid,
} from '../base/units.ts';
import { uuidTimeMs } from '../memory/uuid-words.ts';
import { accept, type Decision, reject } from './decision.ts';
import type { MarketCorrected } from './events.ts';
import { emit } from './evolve.ts';
import type { FactSink } from './fact-sink.ts';
import type { TradeSettledFact } from './facts.ts';
import type { SettledFact, SoldParts } from './finished-records.ts';
import { payoutRoomCents } from './ledger.ts';
import type { MarketResult, SettleMarket } from './messages.ts';
import { payoutCents, resultOf } from './payouts.ts';
import type { Market } from './reference-data.ts';
import type { ShardState } from './state.ts';
import type { CorrectionLeft } from './unfinished.ts';

/**
 * Whether the command corrects the result, and what it changes. All that was unfinished has been
 * settled before. Rule S20 (engine/RULES.md).
 */
export function decideCorrection(
  state: ShardState,
  market: Market,
  { from, to }: { from: MarketResult; to: SettleMarket & { correction: number } },
): Decision {
  const { outcome, yesPayoutCents, noPayoutCents, atMs, correction } = to;
  if (isSameResult(from, to) || correction <= market.corrections) return accept([]);
  const left = changesOf(state, market, { from, to, correction });
  for (const [account, changes] of left) {
    const gains = changes.reduce((sum, { changedByCents }) => sum + Math.max(0, changedByCents), 0);
    if (gains <= payoutRoomCents(state, account)) continue;
    const id = state.accountIds.idOf(account);
    return reject('invalid_request', `The account ${id} would hold more than can be counted.`);
  }
  const payouts = { yesPayoutCents, noPayoutCents };
  const of = { kind: 'market_corrected', atMs, market: market.number } as const;
  return accept([{ ...of, outcome, ...payouts, correction, left }]);
}

export function isSameResult(one: MarketResult, other: MarketResult): boolean {
  return (
    one.outcome === other.outcome &&
    one.yesPayoutCents === other.yesPayoutCents &&
    one.noPayoutCents === other.noPayoutCents
  );
}

/** What a decided correction comes to: how many trades it changes. */
export function tradesIn({ left }: MarketCorrected): number {
  let trades = 0;
  for (const changes of left?.values() ?? []) trades += changes.length;
  return trades;
}

/** Corrects what is left, as far as the batch has room. False: some is left. */
export function continueCorrection(state: ShardState, facts: FactSink): boolean {
  const { unfinished } = state;
  if (unfinished.correction === null) return true;
  for (const account of leftOf(state).keys()) {
    if (!correctSome(state, account, unfinished.left, facts)) return false;
  }
  unfinished.correction = null;
  return true;
}

/** Corrects all that is left of one account, whatever the batch has room for. */
export function correctAccount(state: ShardState, account: AccountRow, facts: FactSink): void {
  if (isHalfCorrected(state, account)) {
    correctSome(state, account, Number.POSITIVE_INFINITY, facts);
  }
}

/** Whether some trade of the account still has the old result. */
export function isHalfCorrected(state: ShardState, account: AccountRow): boolean {
  return state.unfinished.correction !== null && leftOf(state).has(account);
}

/** A start goes on with it: the log says which trades have their new result. */
function leftOf(state: ShardState): CorrectionLeft {
  const { correction: unfinished } = state.unfinished;
  invariant(unfinished !== null, 'nothing is being corrected');
  if (unfinished.left === null) {
    const market = state.markets[unfinished.market]!;
    const [{ from }, to, correction] = [unfinished, resultOf(market), market.corrections];
    invariant(to !== null, 'a market is corrected that has no result');
    unfinished.left = changesOf(state, market, { from, to, correction });
  }
  return unfinished.left;
}

/** Corrects at most so many trades of the account. False: some are left. */
function correctSome(
  state: ShardState,
  account: AccountRow,
  most: number,
  facts: FactSink,
): boolean {
  const { correction } = state.unfinished;
  invariant(correction !== null, 'nothing is being corrected');
  const left = leftOf(state);
  const changes = left.get(account) ?? [];
  const { atMs, market } = correction;
  const { corrections } = state.markets[market]!;
  const now = changes.splice(0, Math.max(0, most));
  for (const change of now) {
    state.unfinished.left--;
    emit(state, facts, {
      ...{ kind: 'trade_corrected', atMs, account, correction: corrections },
      ...change,
    });
  }
  if (changes.length > 0) return false;
  left.delete(account);
  return true;
}

/**
 * What changes for each trade that the market's result has settled. Trades that have this
 * correction already are left out.
 */
function changesOf(
  state: ShardState,
  market: Market,
  { from, to, correction }: { from: MarketResult; to: MarketResult; correction: number },
): CorrectionLeft {
  const settled = [...state.records.settledIn(market.number, market.settlement)];
  const runs = new RunsOver(state, settled);
  const parts = new PartsSold(state, settled);
  const left: CorrectionLeft = new Map();
  for (const one of settled) {
    const { fact } = one;
    const account = state.accountIds.find(fact.account);
    const last = market.corrections === 0 ? undefined : state.records.correctionOf(account, fact);
    if (last?.correction === correction) continue;
    const proceeds = proceedsOf(fact, parts.of(account, fact));
    const change = { ...ofTrade(fact), from: from.outcome, to: to.outcome, ...proceeds(to) };
    const hasCents = last?.proceedsCents ?? fact.proceedsCents;
    const isSound = proceeds(from).proceedsCents === hasCents;
    invariant(isSound, `trade ${fact.trade} was settled for other cents than its result says`);
    const changedByCents = change.proceedsCents - hasCents;
    const cashCents = runs.isOver(account, one) ? 0 : changedByCents;
    const changes = left.get(account) ?? [];
    if (changes.length === 0) left.set(account, changes);
    changes.push({ ...change, changedByCents, cashCents });
  }
  return left;
}

function ofTrade({ trade, market, instrument, side, instrumentSide }: TradeSettledFact) {
  return { trade, market, instrument, side, instrumentSide };
}

/** What all parts of a trade bring, by the result of those that were held to it. */
function proceedsOf(fact: TradeSettledFact, sold: SoldParts) {
  const held = {
    contracts: fact.contracts - sold.contracts,
    costCents: fact.costCents - sold.costCents,
  };
  return (result: MarketResult): { proceedsCents: Cents } => {
    return { proceedsCents: sold.cents + payoutCents(result, fact.side, held) };
  };
}

/** What was sold of trades before they settled. Rule S24 (engine/RULES.md). */
class PartsSold {
  readonly #state: ShardState;
  /** When the first of the trades of each account opened. */
  readonly #sinceMs = new Map<AccountRow, EpochMs>();
  readonly #sold = new Map<AccountRow, ReadonlyMap<Uuid, SoldParts>>();

  constructor(state: ShardState, settled: readonly SettledFact[]) {
    this.#state = state;
    for (const { fact } of settled) {
      const account = state.accountIds.find(fact.account);
      const openedAtMs = uuidTimeMs(fact.trade);
      const sinceMs = Math.min(openedAtMs, this.#sinceMs.get(account) ?? openedAtMs);
      // Where the clock was set back, a later order may have an earlier time.
      this.#sinceMs.set(account, sinceMs <= state.setBackFromMs ? 0 : sinceMs);
    }
  }

  of(account: AccountRow, fact: TradeSettledFact): SoldParts {
    const { outcome, side, contracts, proceedsCents } = fact;
    // A sale brings 1 to 99 cents a contract, and this result 0 or 100.
    const isPlain = outcome === 'yes' || outcome === 'no';
    const wholeCents = outcome === side ? PAYOUT_CENTS * contracts : 0;
    if (isPlain && proceedsCents === wholeCents) return NOTHING_SOLD;
    let sold = this.#sold.get(account);
    if (sold === undefined) {
      sold = this.#state.records.soldParts(account, this.#sinceMs.get(account)!);
      this.#sold.set(account, sold);
    }
    return sold.get(fact.trade) ?? NOTHING_SOLD;
  }
}

const NOTHING_SOLD: SoldParts = { contracts: 0, costCents: 0, cents: 0 };

/** Whether an account was reset since a trade settled. Rule S23 (engine/RULES.md). */
class RunsOver {
  readonly #state: ShardState;
  readonly #first: number;
  /** The last reset of each account since the first of the trades settled. */
  #resets: ReadonlyMap<Uuid, { record: number; offset: number }> | null = null;

  constructor(state: ShardState, settled: readonly SettledFact[]) {
    this.#state = state;
    this.#first = settled[0]?.place.record ?? 0;
  }

  isOver(account: AccountRow, { fact, place }: SettledFact): boolean {
    const { accounts, setBackFromMs, records } = this.#state;
    const resetAtMs = accounts.col.lastResetAtMs.get(account);
    if (resetAtMs === 0) return false;
    const openedAtMs = uuidTimeMs(fact.trade);
    const isTimeSure = Math.min(openedAtMs, resetAtMs) > setBackFromMs;
    if (isTimeSure && resetAtMs < openedAtMs) return false;
    if (isTimeSure && resetAtMs > fact.atMs) return true;
    // Of one moment: the log has the order.
    this.#resets ??= records.resetsFrom(this.#first);
    const reset = this.#resets.get(fact.account);
    if (reset === undefined) return false;
    return reset.record === place.record
      ? reset.offset > place.offset
      : reset.record > place.record;
  }
}

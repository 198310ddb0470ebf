/**
 * Checks every fact of a log against the other facts, the index and the accounts. It reads the
 * whole log: for `paperbook verify`, not for a running shard. Rules M20 to M27, D16
 * (engine/RULES.md).
 */

import {
  type Check,
  checkClosed,
  checkEnd,
  checkTraded,
  restsAsPlaced,
} from '../audit/audit-trades.ts';
import { Problems } from '../audit/problems.ts';
import { invariant } from '../base/invariant.ts';
import { type AccountRow, NO_ROW, type OrderRow, type Uuid } from '../base/units.ts';
import { Table } from '../memory/table.ts';
import { UuidIndex } from '../memory/uuid-index.ts';
import type { OrderOutcome } from '../rules/events.ts';
import type {
  Fact,
  FactPlace,
  OrderEndedFact,
  OrderFilledFact,
  OrderPlacedFact,
  TradeClosedFact,
  TradeCorrectedFact,
  TradeSettledFact,
} from '../rules/facts.ts';
import type { PlacedOrder } from '../rules/finished-records.ts';
import { isBuy, isLimit } from '../rules/flags.ts';
import type { StoredState } from '../shard/core/create-state.ts';
import { closedTrade, outcomeOf, placedOrder } from '../shard/core/shard-records.ts';
import type { KeptAudit, VerifiedFacts } from './kept-audit.ts';

export type PlacedFact = { number: number; fact: Fact; place: FactPlace };

export type FactsReport = {
  /** What the next verification goes on from. */
  kept: Omit<KeptAudit, keyof VerifiedFacts>;
  limitOrders: number;
  marketOrders: number;
  closedTrades: number;
  /** How many entries the index of these facts must have. */
  indexed: number;
  problems: string[];
};

/**
 * `facts`: all facts of the log in their order, or those after the facts that `kept` is of; `state` is
 * the state after the last of them.
 */
export function auditFacts(
  state: StoredState,
  facts: Iterable<PlacedFact>,
  kept: KeptAudit | null = null,
): FactsReport {
  const audit = new FactsAudit(state, kept);
  for (const fact of facts) audit.add(fact);
  const left = audit.kept();
  audit.accounts();
  return audit.report(left);
}

class FactsAudit {
  readonly #state: StoredState;
  readonly #problems = new Problems();
  readonly #placed: SeenIds;
  readonly #ended: SeenIds;
  readonly #traded: SeenIds;
  readonly #corrected: KeptAudit['corrected'];
  readonly #counts: KeptAudit['counts'];
  /** Null: the facts are audited from the first on. */
  readonly #before: KeptAudit | null;
  #resting = 0;
  /** Orders of the facts before: that rest now, and that have ended since. */
  #restingBefore = 0;
  #endedOfBefore = 0;
  /** By account row; in all runs, and in the last one. */
  readonly #realizedCents: Float64Array;
  readonly #runCents: Float64Array;
  readonly #runs: Uint32Array;
  readonly #closed: Uint32Array;
  /** Trades that its buys have opened, including resting buys. */
  readonly #opened: Uint32Array;
  #lastNumber = 0;
  #isSummed = false;
  /** The order that the last fact has placed, which most often is the next one asked for. */
  #lastPlaced: PlacedOrder | null = null;
  /** A market order, whose end is the next fact. */
  #awaited: { order: Uuid; check: Check } | null = null;

  constructor(state: StoredState, before: KeptAudit | null) {
    const { size } = state.accounts;
    this.#state = state;
    this.#before = before;
    this.#lastNumber = before?.facts ?? 0;
    this.#placed = new SeenIds(before?.placed);
    this.#ended = new SeenIds(before?.ended);
    this.#traded = new SeenIds(before?.traded);
    this.#corrected = new Map(before?.corrected);
    this.#counts = before?.counts ?? {
      ...{ limitOrders: 0, marketOrders: 0, closedTrades: 0, indexed: 0 },
    };
    // Accounts may have been opened since.
    this.#realizedCents = new Float64Array(size);
    this.#runCents = new Float64Array(size);
    this.#runs = new Uint32Array(size).fill(1);
    this.#closed = new Uint32Array(size);
    this.#opened = new Uint32Array(size);
    if (before === null) return;
    invariant(before.runs.length <= size, 'an account of the facts before is gone');
    this.#realizedCents.set(before.realizedCents);
    this.#runCents.set(before.runCents);
    this.#runs.set(before.runs);
    this.#closed.set(before.closed);
    this.#opened.set(before.opened);
    this.#restingOfBefore();
    this.#restingBefore = this.#resting;
  }

  /** What the next verification goes on from; to be taken before the accounts are compared. */
  kept(): FactsReport['kept'] {
    invariant(!this.#isSummed, 'an audit is kept after the accounts were compared');
    return {
      counts: { ...this.#counts },
      resting: this.#resting,
      corrected: this.#corrected,
      realizedCents: this.#realizedCents.slice(),
      runCents: this.#runCents.slice(),
      runs: this.#runs,
      closed: this.#closed,
      opened: this.#opened.slice(),
      placed: this.#placed.words(),
      ended: this.#ended.words(),
      traded: this.#traded.words(),
    };
  }

  /** Orders of the facts before that still rest are compared with their placement once more. */
  #restingOfBefore(): void {
    const { orders, orderIds, accountIds, records } = this.#state;
    for (const row of orders.rows()) {
      const id = orderIds.idOf(row);
      if (!this.#placed.has(id)) continue;
      const account = orders.col.account.get(row);
      const check = this.#checker(() => `order ${id} of account ${accountIds.idOf(account)}`);
      const place = {
        record: orders.col.placedRecord.get(row),
        offset: orders.col.placedOffset.get(row),
      };
      try {
        this.#rests(row, records.orderAt(account, place), check);
      } catch (error) {
        check(false, `cannot be checked: ${(error as Error).message}`);
      }
    }
  }

  /** A malformed fact fails only its own check. */
  add({ number, fact, place }: PlacedFact): void {
    invariant(!this.#isSummed, 'a fact is added after the accounts were compared');
    invariant(number === this.#lastNumber + 1, 'an audit skipped a fact');
    this.#lastNumber = number;
    this.#meet(fact);
    if (!('account' in fact)) return;
    const check = this.#checker(() => `fact ${number} (${fact.kind})`);
    try {
      const account = this.#state.accountIds.find(fact.account);
      if (fact.kind === 'trade_counted') return;
      check(account !== NO_ROW, `names account ${fact.account}, which is not open`);
      if (account !== NO_ROW) this.#of(account, fact, place, check);
    } catch (error) {
      check(false, `cannot be checked: ${(error as Error).message}`);
    }
  }

  #of(account: AccountRow, fact: Fact, place: FactPlace, check: Check): void {
    switch (fact.kind) {
      case 'order_placed':
        return this.#order(account, fact, place, check);
      case 'order_filled':
      case 'order_ended':
        return this.#end(account, fact, place, check);
      case 'trade_closed':
      case 'trade_settled':
        return this.#trade(account, fact, place, check);
      case 'trade_corrected':
        return this.#correction(account, fact, check);
      case 'account_reset':
        this.#runCents[account] = 0;
        this.#runs[account]!++;
        return check(fact.run === this.#runs[account], `opens run ${fact.run} out of order`);
      default:
        return;
    }
  }

  #order(account: AccountRow, fact: OrderPlacedFact, place: FactPlace, check: Check): void {
    const { records, orderIds } = this.#state;
    invariant(account < this.#opened.length, 'an account was opened during its audit');
    const placed = placedOrder(account, place, fact);
    this.#lastPlaced = placed;
    const isMarket = !isLimit(placed.terms);
    this.#counts[isMarket ? 'marketOrders' : 'limitOrders']++;
    this.#counts.indexed++;
    check(this.#placed.add(fact.order), `order ${fact.order} is placed twice`);
    const [named, another] = records.placesOfKey(account, placed.idempotencyKey);
    // Nothing needs to be read of an order that is found by its key alone.
    if (named === undefined || another !== undefined || !isSamePlace(named, place)) {
      const byKey = records.orderByKey(account, placed.idempotencyKey);
      check(byKey !== undefined, `its key ${placed.idempotencyKey} counts as never used`);
      const isIts = byKey === undefined || isSamePlace(byKey.place, place);
      check(isIts, `its key ${placed.idempotencyKey} finds order ${byKey?.orderId}`);
    }
    const row = orderIds.find(fact.order);
    if (row !== NO_ROW) return this.#rests(row, placed, check);
    if (isMarket) this.#awaited = { order: fact.order, check };
    else check(records.placeOfEnd(account, fact.order) !== undefined, NO_END);
  }

  /** A market order trades at once, so its end is the fact after it. */
  #meet(fact: Fact): void {
    const awaited = this.#awaited;
    if (awaited === null) return;
    this.#awaited = null;
    const isEnd = fact.kind === 'order_filled' || fact.kind === 'order_ended';
    awaited.check(isEnd && fact.order === awaited.order, NO_END);
  }

  #rests(row: OrderRow, placed: PlacedOrder, check: Check): void {
    const { orders, records } = this.#state;
    const { placedRecord, placedOffset } = orders.col;
    this.#resting++;
    check(restsAsPlaced(this.#state, row, placed), 'rests as another order than was placed');
    const place = { record: placedRecord.get(row), offset: placedOffset.get(row) };
    check(isSamePlace(place, placed.place), 'rests, and its row names another place in the log');
    const end = records.placeOfEnd(placed.account, placed.orderId);
    check(end === undefined, 'rests and has an end');
  }

  #end(
    account: AccountRow,
    fact: OrderFilledFact | OrderEndedFact,
    place: FactPlace,
    check: Check,
  ): void {
    const { records, orderIds } = this.#state;
    const last = this.#lastPlaced;
    const isOfLast = last?.account === account && isSamePlace(last.place, fact.placed);
    const placed = isOfLast ? last : records.orderAt(account, fact.placed);
    check(placed.orderId === fact.order, `names the place of order ${placed.orderId}`);
    check(this.#ended.add(fact.order), `is the second end of order ${fact.order}`);
    if (this.#before !== null && fact.placed.record < this.#before.tail) this.#endedOfBefore++;
    check(orderIds.find(fact.order) === NO_ROW, `order ${fact.order} rests and has an end`);
    if (isLimit(placed.terms)) {
      this.#counts.indexed++;
      const found = records.placeOfEnd(account, fact.order);
      check(found !== undefined, `the index lacks the end of order ${fact.order}`);
      const isIts = found === undefined || isSamePlace(found, place);
      check(isIts, `the index finds another end of order ${fact.order}`);
    }
    this.#outcome(placed, outcomeOf(fact), check);
  }

  #outcome(placed: PlacedOrder, outcome: OrderOutcome, check: Check): void {
    const { tradeId } = outcome;
    checkEnd(this.#state, placed, outcome, check);
    check(tradeId !== null || outcome.status !== 'executed', 'executed without a trade');
    if (tradeId === null) return;
    checkTraded(this.#state, placed, outcome, check);
    if (placed.terms.action === 'buy') this.#opened[placed.account]!++;
  }

  #trade(
    account: AccountRow,
    fact: TradeClosedFact | TradeSettledFact,
    place: FactPlace,
    check: Check,
  ): void {
    const { positionIds, records } = this.#state;
    const trade = closedTrade(account, fact);
    this.#counts.closedTrades++;
    this.#counts.indexed++;
    check(this.#traded.add(trade.tradeId), `is the second end of trade ${trade.tradeId}`);
    check(positionIds.find(trade.tradeId) === NO_ROW, `trade ${trade.tradeId} is closed and open`);
    const found = records.placeOfTrade(account, trade.tradeId);
    check(found !== undefined, `the index lacks trade ${trade.tradeId}`);
    const isIts = found === undefined || isSamePlace(found, place);
    check(isIts, `the index finds another end of trade ${trade.tradeId}`);
    // As it was corrected, if it was.
    const isAsIs = found === undefined || !records.correctedMarkets.has(trade.market);
    const now = isAsIs ? trade : records.closedTrade(account, trade.tradeId);
    checkClosed(this.#state, now ?? trade, check);
    this.#realizedCents[account]! += trade.proceedsCents - trade.costCents;
    this.#runCents[account]! += trade.proceedsCents - trade.costCents;
    this.#closed[account]!++;
  }

  /** Each correction names the result and the cents before it. Rule S21 (engine/RULES.md). */
  #correction(account: AccountRow, fact: TradeCorrectedFact, check: Check): void {
    const { trade: id, from, to, changedByCents, cashCents } = fact;
    this.#counts.indexed++;
    const last = this.#corrected.get(id);
    check(this.#traded.has(id), `trade ${id} was corrected before it ended`);
    check(last === undefined || last.to === from, `trade ${id} had the result ${last?.to}`);
    const follows =
      last === undefined || last.proceedsCents + changedByCents === fact.proceedsCents;
    check(follows, `trade ${id} brought ${last?.proceedsCents} cents before it`);
    const isWhole = cashCents === changedByCents || cashCents === 0;
    check(isWhole, `moves ${cashCents} cents of ${changedByCents}`);
    this.#corrected.set(id, { to, proceedsCents: fact.proceedsCents });
    this.#realizedCents[account]! += changedByCents;
    this.#runCents[account]! += cashCents;
  }

  /** Checks the log's sums of each account against the account. */
  accounts(): void {
    const { accounts, accountIds, orders } = this.#state;
    const check = this.#checker(() => 'orders');
    invariant(!this.#isSummed, 'the sums of the accounts are compared twice');
    this.#awaited?.check(false, NO_END);
    this.#isSummed = true;
    const { live } = orders;
    if (this.#before !== null) {
      const then = this.#before.resting;
      const left = then - this.#endedOfBefore;
      const now = this.#restingBefore;
      check(left === now, `${then} rested before, ${this.#endedOfBefore} ended, and ${now} rest`);
    }
    check(this.#resting === live, `${live} rest, and of ${this.#resting} the placement is there`);
    this.#restingBuys();
    this.#soldParts();
    for (const row of accounts.rows()) this.#account(row, () => `account ${accountIds.idOf(row)}`);
  }

  #account(row: AccountRow, subject: () => string): void {
    const { accounts, positionsOfAccount } = this.#state;
    const { col } = accounts;
    const check = this.#checker(subject);
    const realizedCents = this.#realizedCents[row]!;
    check(
      col.lifetimeRealizedCents.get(row) === realizedCents,
      `realized ${col.lifetimeRealizedCents.get(row)} cents, its closed trades ${realizedCents}`,
    );
    const run = col.run.get(row);
    check(run === this.#runs[row], `is in run ${run}, and its resets opened ${this.#runs[row]}`);
    const runCents = this.#runCents[row]!;
    const agrees = col.realizedCents.get(row) === runCents;
    check(agrees, `run ${run} realized ${col.realizedCents.get(row)} cents, not ${runCents}`);
    const trades = positionsOfAccount.count(row) + this.#closed[row]!;
    check(
      trades === this.#opened[row],
      `has ${trades} trades, open and closed, and its buys opened ${this.#opened[row]}`,
    );
  }

  #restingBuys(): void {
    const { col } = this.#state.orders;
    for (const row of this.#state.orders.rows()) {
      if (isBuy(col.flags.get(row)) && col.position.get(row) !== NO_ROW) {
        this.#opened[col.account.get(row)]!++;
      }
    }
  }

  /** The P&L of sold parts of an open position is already realized. */
  #soldParts(): void {
    const { col } = this.#state.positions;
    for (const row of this.#state.positions.rows()) {
      const realizedCents = col.soldCents.get(row) - col.soldCostCents.get(row);
      this.#realizedCents[col.account.get(row)]! += realizedCents;
      this.#runCents[col.account.get(row)]! += realizedCents;
    }
  }

  report(kept: FactsReport['kept']): FactsReport {
    return { ...this.#counts, problems: this.#problems.lines(), kept };
  }

  #checker(subject: () => string): Check {
    return (holds, rule) => {
      if (!holds) this.#problems.add(`${subject()}: ${rule}`);
    };
  }
}

const NO_END = 'neither rests nor has an end';

function isSamePlace(one: FactPlace, other: FactPlace): boolean {
  return one.record === other.record && one.offset === other.offset;
}

type Words = readonly [number, number, number, number];

/** Ids met so far, sixteen bytes each. */
class SeenIds {
  readonly #table = new Table('seen', { id: 'uuid' }, {});
  readonly #index = new UuidIndex(this.#table);

  /** @param words four an id */
  constructor(words: Uint32Array = new Uint32Array(0)) {
    for (let at = 0; at < words.length; at += 4) {
      const row = this.#table.claim();
      const [w0, w1, w2, w3] = words.subarray(at, at + 4) as unknown as Words;
      this.#table.change(row).id.set(row, w0, w1, w2, w3);
      this.#index.add(row);
    }
  }

  words(): Uint32Array {
    const { size, col } = this.#table;
    const words = new Uint32Array(4 * size);
    for (let row = 0; row < size; row++) {
      for (const word of [0, 1, 2, 3] as const) words[4 * row + word] = col.id.word(row, word);
    }
    return words;
  }

  has(id: Uuid): boolean {
    return this.#index.find(id) !== NO_ROW;
  }

  /** False: the id was already there. */
  add(id: Uuid): boolean {
    if (this.#index.find(id) !== NO_ROW) return false;
    this.#index.set(this.#table.claim(), id);
    return true;
  }
}

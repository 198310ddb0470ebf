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

export type PlacedFact = { number: number; fact: Fact; place: FactPlace };

export type FactsReport = {
  limitOrders: number;
  marketOrders: number;
  closedTrades: number;
  /** How many entries the index of these facts must have. */
  indexed: number;
  problems: string[];
};

/** `facts`: all facts of the log in their order; `state` is the state after the last of them. */
export function auditFacts(state: StoredState, facts: Iterable<PlacedFact>): FactsReport {
  const audit = new FactsAudit(state);
  for (const fact of facts) audit.add(fact);
  audit.accounts();
  return audit.report();
}

class FactsAudit {
  readonly #state: StoredState;
  readonly #problems = new Problems();
  readonly #placed = new SeenIds();
  readonly #ended = new SeenIds();
  readonly #traded = new SeenIds();
  readonly #corrected = new Map<Uuid, Pick<TradeCorrectedFact, 'to' | 'proceedsCents'>>();
  readonly #counts = { limitOrders: 0, marketOrders: 0, closedTrades: 0, indexed: 0 };
  #resting = 0;
  /** By account row; in all runs, and in the last one. */
  readonly #realizedCents: Float64Array;
  readonly #runCents: Float64Array;
  readonly #runs: Uint32Array;
  readonly #closed: Uint32Array;
  /** Trades that its buys have opened, including resting buys. */
  readonly #opened: Uint32Array;
  #lastNumber = 0;
  #isSummed = false;

  constructor(state: StoredState) {
    const { size } = state.accounts;
    this.#state = state;
    this.#realizedCents = new Float64Array(size);
    this.#runCents = new Float64Array(size);
    this.#runs = new Uint32Array(size).fill(1);
    this.#closed = new Uint32Array(size);
    this.#opened = new Uint32Array(size);
  }

  /** A malformed fact fails only its own check. */
  add({ number, fact, place }: PlacedFact): void {
    invariant(!this.#isSummed, 'a fact is added after the accounts were compared');
    invariant(number === this.#lastNumber + 1, 'an audit skipped a fact');
    this.#lastNumber = number;
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
        return this.#end(account, fact, check);
      case 'trade_closed':
      case 'trade_settled':
        return this.#trade(account, fact, check);
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
    const isMarket = !isLimit(placed.terms);
    this.#counts[isMarket ? 'marketOrders' : 'limitOrders']++;
    this.#counts.indexed++;
    check(this.#placed.add(fact.order), `order ${fact.order} is placed twice`);
    const byKey = records.orderByKey(account, placed.idempotencyKey);
    check(byKey !== undefined, `its key ${placed.idempotencyKey} counts as never used`);
    const isIts = byKey === undefined || isSamePlace(byKey.place, place);
    check(isIts, `its key ${placed.idempotencyKey} finds order ${byKey?.orderId}`);
    const row = orderIds.find(fact.order);
    if (row !== NO_ROW) return this.#rests(row, placed, check);
    const end = isMarket ? records.outcome(placed) : records.endedOrder(account, fact.order);
    check(end !== undefined, 'neither rests nor has an end');
  }

  #rests(row: OrderRow, placed: PlacedOrder, check: Check): void {
    const { orders, records } = this.#state;
    const { placedRecord, placedOffset } = orders.col;
    this.#resting++;
    check(restsAsPlaced(this.#state, row, placed), 'rests as another order than was placed');
    const place = { record: placedRecord.get(row), offset: placedOffset.get(row) };
    check(isSamePlace(place, placed.place), 'rests, and its row names another place in the log');
    const end = records.endedOrder(placed.account, placed.orderId);
    check(end === undefined, 'rests and has an end');
  }

  #end(account: AccountRow, fact: OrderFilledFact | OrderEndedFact, check: Check): void {
    const { records, orderIds } = this.#state;
    const placed = records.orderAt(account, fact.placed);
    check(placed.orderId === fact.order, `names the place of order ${placed.orderId}`);
    check(this.#ended.add(fact.order), `is the second end of order ${fact.order}`);
    check(orderIds.find(fact.order) === NO_ROW, `order ${fact.order} rests and has an end`);
    if (isLimit(placed.terms)) {
      this.#counts.indexed++;
      const found = records.endedOrder(account, fact.order);
      check(found !== undefined, `the index lacks the end of order ${fact.order}`);
      const isIts = found === undefined || found.outcome.atMs === fact.atMs;
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

  #trade(account: AccountRow, fact: TradeClosedFact | TradeSettledFact, check: Check): void {
    const { positionIds, records } = this.#state;
    const trade = closedTrade(account, fact);
    this.#counts.closedTrades++;
    this.#counts.indexed++;
    check(this.#traded.add(trade.tradeId), `is the second end of trade ${trade.tradeId}`);
    check(positionIds.find(trade.tradeId) === NO_ROW, `trade ${trade.tradeId} is closed and open`);
    const found = records.closedTrade(account, trade.tradeId);
    check(found !== undefined, `the index lacks trade ${trade.tradeId}`);
    const isIts = found === undefined || found.closedAtMs === trade.closedAtMs;
    check(isIts, `the index finds another end of trade ${trade.tradeId}`);
    checkClosed(this.#state, found ?? trade, check);
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
    this.#isSummed = true;
    const { live } = orders;
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

  report(): FactsReport {
    return { ...this.#counts, problems: this.#problems.lines() };
  }

  #checker(subject: () => string): Check {
    return (holds, rule) => {
      if (!holds) this.#problems.add(`${subject()}: ${rule}`);
    };
  }
}

function isSamePlace(one: FactPlace, other: FactPlace): boolean {
  return one.record === other.record && one.offset === other.offset;
}

/** Ids met so far, sixteen bytes each. */
class SeenIds {
  readonly #table = new Table('seen', { id: 'uuid' }, {});
  readonly #index = new UuidIndex(this.#table);

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

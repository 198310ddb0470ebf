/**
 * Checks every fact of a log against the other facts, the index and the accounts. It reads the
 * whole log: for `paperbook verify`, not for a running shard. Facts are compared as they come, and
 * the index by sums over its entries. If the sums differ, each fact is looked up in the index, so
 * that the wrong entry is named. Rules M20 to M27, D16, D97, D99, T187 (engine/RULES.md).
 */

import {
  type Check,
  checkClosed,
  checkEnd,
  checkTraded,
  openTradeOf,
  restsAsPlaced,
  tradeOf,
} from '../audit/audit-trades.ts';
import { Problems } from '../audit/problems.ts';
import { invariant } from '../base/invariant.ts';
import { type AccountRow, NO_ROW, type OrderRow, type Uuid } from '../base/units.ts';
import {
  ENTRY_WORDS,
  EntrySums,
  INDEX_CLASS,
  type IndexClass,
  writeEntry,
} from '../index/entry.ts';
import { Table } from '../memory/table.ts';
import { UuidIndex } from '../memory/uuid-index.ts';
import { uuidWords } from '../memory/uuid-words.ts';
import type { ClosedTrade, FillNoted, OrderOutcome } from '../rules/events.ts';
import type {
  Fact,
  FactPlace,
  OrderAmendedFact,
  OrderEndedFact,
  OrderFilledFact,
  OrderPartFilledFact,
  OrderPlacedFact,
  TradeClosedFact,
  TradeCorrectedFact,
  TradeSettledFact,
} from '../rules/facts.ts';
import type { PlacedOrder } from '../rules/finished-records.ts';
import { isBuy, isShownOrder } from '../rules/flags.ts';
import { pnlCentsOf } from '../rules/row-records.ts';
import type { StoredState } from '../shard/core/create-state.ts';
import {
  CLASS_OF_ORDER,
  CLASS_OF_TRADE,
  closedTrade,
  outcomeOf,
  placedOrder,
} from '../shard/core/shard-records.ts';
import type { KeptAudit, VerifiedFacts } from './kept-audit.ts';

export type PlacedFact = { number: number; fact: Fact; place: FactPlace };

export type FactsReport = {
  /** What the next verification goes on from. */
  kept: Omit<KeptAudit, keyof VerifiedFacts | 'tail'>;
  limitOrders: number;
  marketOrders: number;
  closedTrades: number;
  problems: string[];
};

/**
 * `facts`: all facts of the log in their order, or those after the facts that `kept` is of. `state`
 * is the state after the last of them.
 */
export function auditFacts(
  state: StoredState,
  facts: Iterable<PlacedFact>,
  kept: KeptAudit | null = null,
): FactsReport {
  const audited = (looksUp: boolean): FactsReport => {
    const audit = new FactsAudit(state, kept, looksUp);
    for (const fact of facts) audit.add(fact);
    const left = audit.kept();
    audit.accounts();
    return audit.report(left);
  };
  // Later facts are few, and may contradict earlier ones, which only the index finds.
  const first = audited(kept !== null);
  const index = new EntrySums();
  state.records.index.forEach((words, at) => {
    index.add(words, at);
  });
  const isIndexed = isSameSums(first.kept.index, index);
  const report = isIndexed || kept !== null ? first : audited(true);
  if (isIndexed) return report;
  const [has, wants] = [index.entries, report.kept.index.entries];
  const what =
    has !== wants
      ? `has ${has} entries, and the log ${wants} facts that it leads to`
      : 'has other entries than the log has facts that it leads to';
  const where = kept === null ? '' : '; --whole names the facts that were verified before';
  return { ...report, problems: [...report.problems, `index: ${what}${where}`] };
}

function isSameSums(one: KeptAudit['index'], other: KeptAudit['index']): boolean {
  return one.entries === other.entries && one.one === other.one && one.two === other.two;
}

/** The facts of what a fill has done to its trade. */
const OF_FILLS: ReadonlySet<Fact['kind']> = new Set([
  'trade_opened',
  'trade_grown',
  'trade_reduced',
  'trade_closed',
]);

/** An order that has traded, compared with its trade once that has ended. */
type Traded = { placed: PlacedOrder; outcome: OrderOutcome; check: Check };

/** Of more orders the placement is read again, or the trade looked up. */
const REMEMBERED_MAX = 200_000;

class FactsAudit {
  readonly #state: StoredState;
  readonly #problems = new Problems();
  readonly #placed = new SeenIds();
  readonly #ended = new SeenIds();
  readonly #traded = new SeenIds();
  readonly #corrected: KeptAudit['corrected'];
  readonly #counts: KeptAudit['counts'];
  /** Null: the facts are audited from the first on. */
  readonly #before: KeptAudit | null;
  /** Each fact is looked up in the index. */
  readonly #looksUp: boolean;
  readonly #index = new EntrySums();
  readonly #entry = new Uint32Array(ENTRY_WORDS);
  /** The keys of orders met so far, by their names. */
  readonly #keys = new SeenIds();
  /** Limit orders that have not ended, by id; and orders of open trades, by trade. */
  readonly #unended = new Map<Uuid, { placed: PlacedOrder; check: Check }>();
  readonly #traders = new Map<Uuid, Traded[]>();
  #waiting = 0;
  #lastClosed: ClosedTrade | null = null;
  #resting = 0;
  /** Orders of the facts before: that rest now, and that have ended since. */
  #restingBefore = 0;
  #endedOfBefore = 0;
  /** Orders that the facts have amended. */
  readonly #amendedSince = new Set<Uuid>();
  /** By account row; in all runs, and in the last one. */
  readonly #realizedCents: Float64Array;
  readonly #runCents: Float64Array;
  readonly #runs: Uint32Array;
  readonly #closed: Uint32Array;
  /** Trades that its buys have opened, including resting buys. */
  readonly #opened: Uint32Array;
  #lastNumber = 0;
  #isSummed = false;
  /** The next trade that opens is a netting order's. */
  #opensNet = false;
  /** The fill that the facts tell of now. */
  #filled: OrderFilledFact | OrderPartFilledFact | null = null;
  /** The order that the last fact has placed, which most often is the next one asked for. */
  #lastPlaced: PlacedOrder | null = null;
  /** A market order, whose end is the next fact. */
  #awaited: { order: Uuid; check: Check } | null = null;

  constructor(state: StoredState, before: KeptAudit | null, looksUp: boolean) {
    const { size } = state.accounts;
    this.#state = state;
    this.#before = before;
    this.#lastNumber = before?.facts ?? 0;
    this.#looksUp = looksUp;
    Object.assign(this.#index, before?.index);
    this.#corrected = new Map(before?.corrected);
    this.#counts = { ...(before?.counts ?? { limitOrders: 0, marketOrders: 0, closedTrades: 0 }) };
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
      index: { ...this.#index },
      seedSum: this.#state.records.index.seedSum,
      resting: this.#resting,
      corrected: this.#corrected,
      realizedCents: this.#realizedCents.slice(),
      runCents: this.#runCents.slice(),
      runs: this.#runs,
      closed: this.#closed,
      opened: this.#opened.slice(),
    };
  }

  /** Orders of the facts before that still rest are compared with their placement once more. */
  #restingOfBefore(): void {
    const { orders, orderIds, accountIds, records } = this.#state;
    const { tail } = this.#before!;
    for (const row of orders.rows()) {
      if (orders.col.placedRecord.get(row) >= tail) continue;
      const id = orderIds.idOf(row);
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
    if (fact.kind === 'fill_noted')
      this.#noted(
        fact,
        this.#checker(() => `fact ${number} (${fact.kind})`),
      );
    else this.#follow(fact);
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
      case 'order_amended':
        return this.#amend(account, fact, place, check);
      case 'order_filled':
      case 'order_ended':
        return this.#end(account, fact, place, check);
      case 'trade_closed':
      case 'trade_settled':
        return this.#trade(account, fact, place, check);
      case 'trade_corrected':
        return this.#correction(account, fact, place, check);
      case 'trade_opened':
        if (this.#opensNet) this.#opened[account]!++;
        this.#opensNet = false;
        return;
      case 'account_reset':
        this.#runCents[account] = 0;
        this.#runs[account]!++;
        return check(fact.run === this.#runs[account], `opens run ${fact.run} out of order`);
      default:
        return;
    }
  }

  #order(account: AccountRow, fact: OrderPlacedFact, place: FactPlace, check: Check): void {
    const { orderIds, orderMarks, records } = this.#state;
    invariant(account < this.#opened.length, 'an account was opened during its audit');
    const placed = placedOrder(account, place, fact);
    this.#lastPlaced = placed;
    const isMarket = !isShownOrder(placed);
    this.#counts[isMarket ? 'marketOrders' : 'limitOrders']++;
    this.#usesKey(account, placed.idempotencyKey, place, check);
    check(this.#placed.add(fact.order), `order ${fact.order} is placed twice`);
    const row = orderIds.find(fact.order);
    // The last amend of an order that rests says what it is.
    if (row !== NO_ROW && orderMarks.placedAt(row) !== null) return;
    if (row !== NO_ROW) return this.#rests(row, placed, check);
    if (isMarket) this.#awaited = { order: fact.order, check };
    else if (this.#looksUp || this.#unended.size === REMEMBERED_MAX) {
      check(records.placeOfEnd(account, fact.order) !== undefined, NO_END);
    } else {
      this.#unended.set(fact.order, { placed, check });
    }
  }

  /** Rule T214 (engine/RULES.md). */
  #amend(account: AccountRow, fact: OrderAmendedFact, place: FactPlace, check: Check): void {
    const { orderIds, orders, records } = this.#state;
    this.#usesKey(account, fact.idempotencyKey, place, check);
    const { order, placed: first } = fact;
    const amended = records.orderAt(account, place);
    check(amended.orderId === order, `names the place of order ${amended.orderId}`);
    this.#lastPlaced = amended;
    const isOfBefore = this.#before !== null && first.record < this.#before.tail;
    // It rested then, and its row names another place now.
    if (isOfBefore && !this.#amendedSince.has(order)) this.#endedOfBefore++;
    this.#amendedSince.add(order);
    const row = orderIds.find(order);
    if (row !== NO_ROW) {
      const { placedRecord, placedOffset } = orders.col;
      const newest = { record: placedRecord.get(row), offset: placedOffset.get(row) };
      if (isSamePlace(newest, place)) this.#rests(row, amended, check);
      return;
    }
    const unended = this.#unended.get(order);
    if (unended !== undefined) this.#unended.set(order, { ...unended, placed: amended });
  }

  #usesKey(account: AccountRow, key: string, place: FactPlace, check: Check): void {
    const name = this.#state.records.nameOfKey(account, key);
    this.#indexes(account, INDEX_CLASS.key, name, place);
    const isNewKey = this.#keys.addWords(name[0]!, name[1]!, name[2]!, name[3]!);
    if (this.#looksUp || !isNewKey) this.#key({ account, idempotencyKey: key, place }, check);
  }

  /** Keys may share a name, so an order that has it is read. */
  #key(
    { account, idempotencyKey, place }: Pick<PlacedOrder, 'account' | 'idempotencyKey' | 'place'>,
    check: Check,
  ): void {
    const { records } = this.#state;
    const places = records.placesOfKey(account, idempotencyKey);
    const isFound = places.some((one) => isSamePlace(one, place));
    check(isFound, `its key ${idempotencyKey} counts as never used`);
    for (const another of places) {
      if (isSamePlace(another, place)) continue;
      const isShared = records.keyAt(another) !== idempotencyKey;
      const { orderId } = records.orderAt(account, another);
      check(isShared, `its key ${idempotencyKey} finds order ${orderId}`);
    }
  }

  /** Counts an entry that the index must have. */
  #indexes(account: AccountRow, of: IndexClass, name: ArrayLike<number>, place: FactPlace): void {
    const { record, offset } = place;
    const [w0, w1, w2, w3] = [name[0]!, name[1]!, name[2]!, name[3]!];
    writeEntry(this.#entry, 0, account, of, w0, w1, w2, w3, record, offset);
    this.#index.add(this.#entry, 0);
  }

  /** Remembers a fill until a fact that cannot tell of it. */
  #follow(fact: Fact): void {
    if (fact.kind === 'fill_nets') this.#opensNet = fact.trade === null;
    // What opens may go to a trade that the order has opened before.
    if (fact.kind === 'trade_grown') this.#opensNet = false;
    if (fact.kind === 'order_filled' || fact.kind === 'order_part_filled') this.#filled = fact;
    else if (!OF_FILLS.has(fact.kind)) this.#filled = null;
  }

  /** What a fill took agrees with it. Rule T187 (engine/RULES.md). */
  #noted({ levels, atMs }: FillNoted, check: Check): void {
    const filled = this.#filled;
    this.#filled = null;
    if (filled === null || filled.atMs !== atMs) return check(false, 'tells of no fill');
    if (levels.length === 0) return;
    const contracts = levels.reduce((sum, [, part]) => sum + part, 0);
    const cents = levels.reduce((sum, [price, part]) => sum + price * part, 0);
    const isAll = contracts === filled.contracts;
    check(isAll, `has levels of ${contracts} contracts for a fill of ${filled.contracts}`);
    const average = cents / contracts;
    const isPrice = Math.abs(average - filled.priceCents) < 1;
    check(isPrice, `has levels at ${average} cents for a fill at ${filled.priceCents}`);
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
    if (!this.#looksUp) return;
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
    const placed = isOfLast ? last : this.#placedAt(account, fact);
    this.#unended.delete(fact.order);
    check(placed.orderId === fact.order, `names the place of order ${placed.orderId}`);
    check(this.#ended.add(fact.order), `is the second end of order ${fact.order}`);
    if (this.#before !== null && fact.placed.record < this.#before.tail) this.#endedOfBefore++;
    check(orderIds.find(fact.order) === NO_ROW, `order ${fact.order} rests and has an end`);
    const outcome = outcomeOf(fact);
    if (isShownOrder(placed)) {
      this.#indexes(account, CLASS_OF_ORDER[outcome.status], uuidWords(fact.order), place);
      if (this.#looksUp) {
        const [found, another] = records.placesOfEnd(account, fact.order);
        check(found !== undefined, `the index lacks the end of order ${fact.order}`);
        const isIts = found === undefined || (another === undefined && isSamePlace(found, place));
        check(isIts, `the index finds another end of order ${fact.order}`);
      }
    }
    this.#outcome(placed, outcome, check);
  }

  #placedAt(account: AccountRow, { order, placed: place }: OrderFilledFact | OrderEndedFact) {
    const known = this.#unended.get(order)?.placed;
    return known?.account === account && isSamePlace(known.place, place)
      ? known
      : this.#state.records.orderAt(account, place);
  }

  #outcome(placed: PlacedOrder, outcome: OrderOutcome, check: Check): void {
    const { tradeId } = outcome;
    checkEnd(this.#state, placed, outcome, check);
    check(tradeId !== null || outcome.status !== 'executed', 'executed without a trade');
    if (tradeId === null) return;
    // A netting order may have opened many, and its fills count them.
    const opens = placed.terms.action === 'buy' && placed.netting === null;
    if (opens) this.#opened[placed.account]!++;
    const { account } = placed;
    const last = this.#lastClosed;
    if (last?.tradeId === tradeId && last.account === account) {
      return checkTraded(placed, outcome, last, check);
    }
    const isPast = this.#looksUp || this.#waiting === REMEMBERED_MAX || this.#traded.has(tradeId);
    if (isPast) return checkTraded(placed, outcome, tradeOf(this.#state, account, tradeId), check);
    this.#waiting++;
    const others = this.#traders.get(tradeId);
    if (others === undefined) this.#traders.set(tradeId, [{ placed, outcome, check }]);
    else others.push({ placed, outcome, check });
  }

  /** Compares a trade with the orders that traded in it. */
  #compare(trade: ClosedTrade): void {
    const traders = this.#traders.get(trade.tradeId);
    if (traders === undefined) return;
    this.#waiting -= traders.length;
    this.#traders.delete(trade.tradeId);
    for (const { placed, outcome, check } of traders) {
      checkTraded(placed, outcome, placed.account === trade.account ? trade : undefined, check);
    }
  }

  /** The orders of trades that are still open. */
  #compareOpen(): void {
    for (const [tradeId, traders] of this.#traders) {
      for (const { placed, outcome, check } of traders) {
        checkTraded(placed, outcome, openTradeOf(this.#state, placed.account, tradeId), check);
      }
    }
    this.#traders.clear();
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
    this.#indexes(account, CLASS_OF_TRADE[trade.status], uuidWords(trade.tradeId), place);
    check(this.#traded.add(trade.tradeId), `is the second end of trade ${trade.tradeId}`);
    check(positionIds.find(trade.tradeId) === NO_ROW, `trade ${trade.tradeId} is closed and open`);
    if (this.#looksUp) {
      const [found, another] = records.placesOfTrade(account, trade.tradeId);
      check(found !== undefined, `the index lacks trade ${trade.tradeId}`);
      const isIts = found === undefined || (another === undefined && isSamePlace(found, place));
      check(isIts, `the index finds another end of trade ${trade.tradeId}`);
    }
    this.#compare(trade);
    this.#lastClosed = trade;
    // As it was corrected, if it was.
    const isAsIs = !records.correctedMarkets.has(trade.market);
    const now = isAsIs ? trade : records.closedTrade(account, trade.tradeId);
    checkClosed(this.#state, now ?? trade, check);
    const pnlCents = pnlCentsOf(trade);
    this.#realizedCents[account]! += pnlCents;
    this.#runCents[account]! += pnlCents;
    this.#closed[account]!++;
  }

  /** Each correction names the result and the cents before it. Rule S21 (engine/RULES.md). */
  #correction(account: AccountRow, fact: TradeCorrectedFact, place: FactPlace, check: Check): void {
    const { trade: id, from, to, changedByCents, cashCents } = fact;
    this.#indexes(account, INDEX_CLASS.tradeCorrected, uuidWords(id), place);
    const last = this.#corrected.get(id);
    const hasEnded = this.#traded.has(id) || this.#hadEnded(account, id);
    check(hasEnded, `trade ${id} was corrected before it ended`);
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

  /** Whether a trade ended with one of the facts before. */
  #hadEnded(account: AccountRow, trade: Uuid): boolean {
    if (this.#before === null) return false;
    const place = this.#state.records.placesOfTrade(account, trade)[0];
    return place !== undefined && place.record < this.#before.tail;
  }

  /** Checks the log's sums of each account against the account. */
  accounts(): void {
    const { accounts, accountIds, orders } = this.#state;
    const check = this.#checker(() => 'orders');
    invariant(!this.#isSummed, 'the sums of the accounts are compared twice');
    this.#awaited?.check(false, NO_END);
    this.#isSummed = true;
    this.#compareOpen();
    for (const { check: checkOne } of this.#unended.values()) checkOne(false, NO_END);
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

  /** The P&L of sold parts of an open position and its fees are already realized. */
  #soldParts(): void {
    const { positions, tradeFees } = this.#state;
    const { col } = positions;
    for (const row of positions.rows()) {
      const soldCents = col.soldCents.get(row) - col.soldCostCents.get(row);
      const realizedCents = soldCents - (tradeFees.feesCents(row) ?? 0);
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

/** Ids met so far, sixteen bytes each. */
class SeenIds {
  readonly #table = new Table('seen', { id: 'uuid' }, {});
  readonly #index = new UuidIndex(this.#table);

  has(id: Uuid): boolean {
    return this.#index.find(id) !== NO_ROW;
  }

  /** False: the id was already there. */
  add(id: Uuid): boolean {
    const words = uuidWords(id);
    return this.addWords(words[0]!, words[1]!, words[2]!, words[3]!);
  }

  addWords(w0: number, w1: number, w2: number, w3: number): boolean {
    if (this.#index.findWords(w0, w1, w2, w3) !== NO_ROW) return false;
    const row = this.#table.claim();
    this.#table.change(row).id.set(row, w0, w1, w2, w3);
    this.#index.add(row);
    return true;
  }
}

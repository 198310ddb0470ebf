/**
 * Checks every fact of a log against the other facts, the index and the accounts. It reads the
 * whole log: for `paperbook verify`, not for a running shard. Facts are read in place, so that no
 * id becomes text unless a breach names it. They are compared as they come, and the index by sums
 * over its entries. If the sums differ, each fact is looked up in the index, so that the wrong entry
 * is named. Rules M20 to M27, D16, D97, D99, D101, T187, T236 (engine/RULES.md).
 */

import {
  type AuditedEnd,
  type AuditedOrder,
  type AuditedTrade,
  checkClosed,
  checkEnd,
  checkFill,
  checkTraded,
  type Fail,
  openTradeOf,
  restsAsPlaced,
  type TradedIds,
  tradeOf,
} from '../audit/audit-trades.ts';
import { Problems } from '../audit/problems.ts';
import { invariant } from '../base/invariant.ts';
import { type AccountRow, NO_ROW, type OrderRow, type Uuid } from '../base/units.ts';
import { type IdPlace, InPlaceReader, type WordPlace } from '../format/bytes.ts';
import { type FactInPlace, factAt, readFactInPlace } from '../format/fact-layouts.ts';
import {
  ENTRY_WORDS,
  EntrySums,
  INDEX_CLASS,
  type IndexClass,
  writeEntry,
} from '../index/entry.ts';
import type { UuidIndex } from '../memory/uuid-index.ts';
import { timeOfWords, uuidAt, uuidOfWords } from '../memory/uuid-words.ts';
import type { FactPlace, OrderPlacedFact } from '../rules/facts.ts';
import type { PlacedOrder } from '../rules/finished-records.ts';
import { isBuy, isShownOrder } from '../rules/flags.ts';
import { isTradeOfWords } from '../rules/ids.ts';
import { pnlCentsOf } from '../rules/row-records.ts';
import { waitingTermsAt } from '../rules/waiting-terms.ts';
import type { StoredState } from '../shard/core/create-state.ts';
import {
  CLASS_OF_ORDER,
  CLASS_OF_TRADE,
  endOf,
  outcomeOf,
  placedOrder,
} from '../shard/core/shard-records.ts';
import { IdValues, isSameId, RememberedOrders, WAITS } from './audited-ids.ts';
import type { KeptAudit, VerifiedFacts } from './kept-audit.ts';
import { TakenSizes } from './taken-sizes.ts';

/** A record, or a part of one: its facts begin at `at` of its payload. */
export type AuditedRecord = {
  position: number;
  /** The number of the fact at `at`. */
  firstNumber: number;
  payload: Uint8Array;
  at?: number;
};

export type FactsReport = {
  /** What the next verification goes on from. */
  kept: Omit<KeptAudit, keyof VerifiedFacts | 'tail'>;
  limitOrders: number;
  marketOrders: number;
  closedTrades: number;
  /** What the facts have taken of displays that accounts share (taken-sizes.ts). */
  taken: Float64Array;
  problems: string[];
};

/**
 * `records`: those with all facts of the log in their order, or with the facts after those that
 * `kept` is of. `state` is the state after the last of them. `indexed`: of all entries of its
 * index, unless they are still to be added up.
 */
export function auditFacts(
  state: StoredState,
  records: Iterable<AuditedRecord>,
  kept: KeptAudit | null = null,
  indexed: EntrySums | null = null,
): FactsReport {
  const audited = (looksUp: boolean): FactsReport => {
    const audit = new FactsAudit(state, kept, looksUp);
    for (const record of records) audit.addAll(record);
    const left = audit.kept();
    audit.accounts();
    return audit.report(left);
  };
  // Later facts are few, and may contradict earlier ones, which only the index finds.
  const first = audited(kept !== null);
  const index = indexed ?? sumsOf(state.records.index);
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

function sumsOf(index: StoredState['records']['index']): EntrySums {
  const sums = new EntrySums();
  index.forEach((words, at) => {
    sums.add(words, at);
  });
  return sums;
}

function isSameSums(one: KeptAudit['index'], other: KeptAudit['index']): boolean {
  return one.entries === other.entries && one.one === other.one && one.two === other.two;
}

type Fact = FactInPlace;
type OrderEnd = FactInPlace<'order_filled' | 'order_ended'>;
type TradeEnd = FactInPlace<'trade_closed' | 'trade_settled'>;

/** An order as it was placed, or as it was amended last. */
type Placed = {
  account: AccountRow;
  order: AuditedOrder;
  /** Where its ids lie: its own, and that of the trade that it sells. */
  from: InPlaceReader;
  id: IdPlace;
  sells: IdPlace | null;
  /** Its placement, or its last amend. */
  place: FactPlace;
  /** The row in which it is remembered; -1: it is not. */
  row: number;
  /** Where its placement begins and ends. */
  start: number;
  end: number;
};
type OutcomeInPlace = ReturnType<typeof outcomeOf<IdPlace>>;

/** Of more orders the placement is read again, or the trade looked up. */
const REMEMBERED_MAX = 200_000;

/** Values of orders' ids; the rest of a value is one more than the row that remembers it. */
const PLACED = 1;
const ENDED = 2;
const ORDER_SHIFT = 2;
/** Of trades' ids; the rest is one more than the row of the first order that waits for its end. */
const OVER = 1;
const TRADE_SHIFT = 1;

class FactsAudit {
  readonly #state: StoredState;
  readonly #problems = new Problems();
  readonly #orders = new IdValues();
  readonly #trades = new IdValues();
  readonly #corrected: KeptAudit['corrected'];
  readonly #counts: KeptAudit['counts'];
  /** Null: the facts are audited from the first on. */
  readonly #before: KeptAudit | null;
  /** Each fact is looked up in the index. */
  readonly #looksUp: boolean;
  readonly #index = new EntrySums();
  readonly #entry = new Uint32Array(ENTRY_WORDS);
  /** The keys of orders met so far, by their names. */
  readonly #keys = new IdValues();
  /** Limit orders that have not ended, and orders of open trades. */
  readonly #remembered = new RememberedOrders();
  #unended = 0;
  #waiting = 0;
  readonly #takenSizes = new TakenSizes();
  #lastClosed: { account: AccountRow; trade: TradeEnd; from: InPlaceReader } | null = null;
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
  #filled: FactInPlace<'order_filled' | 'order_part_filled'> | null = null;
  /** The order that the last fact has placed, which most often is the next one asked for. */
  #lastPlaced: Placed | null = null;
  /** A market order, whose end is the next fact, and the number of its placement. */
  #awaited: { from: InPlaceReader; id: IdPlace; number: number } | null = null;
  /** Of the last fact that has one, and where its id lies. */
  #lastAccount: { reader: InPlaceReader | null; place: IdPlace; row: AccountRow } = {
    ...{ reader: null, place: 0 as IdPlace, row: NO_ROW as AccountRow },
  };
  /** The fact that is audited, of which `#fail` tells. */
  #number = 0;
  #kind = '';
  readonly #fail: Fail = (rule) => {
    this.#failOf(this.#number, this.#kind, rule);
  };

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
      const account = orders.col.account.get(row);
      const fail = (rule: string) => {
        const name = `order ${orderIds.idOf(row)} of account ${accountIds.idOf(account)}`;
        this.#problems.add(`${name}: ${rule}`);
      };
      const place = {
        record: orders.col.placedRecord.get(row),
        offset: orders.col.placedOffset.get(row),
      };
      try {
        this.#rests(row, records.orderAt(account, place), fail);
      } catch (error) {
        fail(`cannot be checked: ${(error as Error).message}`);
      }
    }
  }

  addAll({ position, firstNumber, payload, at = 0 }: AuditedRecord): void {
    const from = new InPlaceReader(payload);
    from.goTo(at);
    for (let number = firstNumber; !from.isAtEnd; number++) {
      const offset = from.at;
      this.#add(number, readFactInPlace(from), from, { record: position, offset });
    }
  }

  /** A malformed fact fails only its own check. */
  #add(number: number, fact: Fact, from: InPlaceReader, place: FactPlace): void {
    invariant(!this.#isSummed, 'a fact is added after the accounts were compared');
    invariant(number === this.#lastNumber + 1, 'an audit skipped a fact');
    this.#lastNumber = number;
    this.#number = number;
    this.#kind = fact.kind;
    if (this.#awaited !== null) this.#meet(fact, from);
    if (fact.kind === 'fill_noted') return this.#noted(fact);
    this.#follow(fact);
    if (fact.kind === 'liquidity_taken') return this.#taken(fact);
    if (!('account' in fact) || fact.kind === 'trade_counted') return;
    try {
      const account = this.#accountAt(from, fact.account);
      if (account === NO_ROW) {
        this.#fail(`names account ${from.idText(fact.account)}, which is not open`);
      } else this.#of(account, fact, from, place);
    } catch (error) {
      this.#fail(`cannot be checked: ${(error as Error).message}`);
    }
  }

  /** Facts that follow each other are most often of one account. */
  #accountAt(from: InPlaceReader, id: IdPlace): AccountRow {
    const { reader, place, row } = this.#lastAccount;
    if (reader === from && isSameId(from, id, reader, place)) return row;
    const found = find(this.#state.accountIds, from, id);
    this.#lastAccount = { reader: from, place: id, row: found };
    return found;
  }

  #of(account: AccountRow, fact: Fact, from: InPlaceReader, place: FactPlace): void {
    switch (fact.kind) {
      case 'order_placed':
        return this.#order(account, fact, from, place);
      case 'order_amended':
        return this.#amend(account, fact, from, place);
      case 'order_part_filled':
        return this.#partFilled(fact, from);
      case 'order_filled':
      case 'order_ended':
        return this.#end(account, fact, from, place);
      case 'trade_closed':
      case 'trade_settled':
        return this.#trade(account, fact, from, place);
      case 'trade_corrected':
        return this.#correction(account, fact, from, place);
      case 'trade_opened':
        if (this.#opensNet) this.#opened[account]!++;
        this.#opensNet = false;
        return;
      case 'account_reset':
        this.#runCents[account] = 0;
        this.#runs[account]!++;
        if (fact.run !== this.#runs[account]) this.#fail(`opens run ${fact.run} out of order`);
        return;
      default:
        return;
    }
  }

  #order(
    account: AccountRow,
    fact: FactInPlace<'order_placed'>,
    from: InPlaceReader,
    place: FactPlace,
  ): void {
    const { orderIds, orderMarks, records } = this.#state;
    invariant(account < this.#opened.length, 'an account was opened during its audit');
    const placed = placedOf(account, fact, from, place);
    this.#lastPlaced = placed;
    const isMarket = !isShown(fact);
    this.#counts[isMarket ? 'marketOrders' : 'limitOrders']++;
    this.#usesKey(account, fact.idempotencyKey, from, place);
    const at = idAt(this.#orders, from, fact.order);
    const met = this.#orders.get(at);
    if ((met & PLACED) !== 0) this.#fail(`order ${from.idText(fact.order)} is placed twice`);
    this.#orders.set(at, met | PLACED);
    const row = find(orderIds, from, fact.order);
    // The last amend of an order that rests says what it is.
    if (row !== NO_ROW && orderMarks.placedAt(row) === null) {
      const { start, end } = placed;
      const text = factAt(from.bytesFrom(start, end), 0) as OrderPlacedFact;
      return this.#rests(row, placedOrder(account, place, text), this.#fail);
    }
    if (isMarket) {
      this.#awaited = { from, id: fact.order, number: this.#number };
      return;
    }
    const isKept = this.#unended < REMEMBERED_MAX && met >> ORDER_SHIFT === 0;
    const isLookedUp = row === NO_ROW && (this.#looksUp || !isKept);
    if (isLookedUp && records.placeOfEnd(account, from.idText(fact.order)) === undefined) {
      this.#fail(NO_END);
    }
    if (!isKept) return;
    this.#unended++;
    placed.row = this.#remember(placed, isLookedUp || row !== NO_ROW ? 0 : WAITS.end);
    this.#orders.set(at, ((placed.row + 1) << ORDER_SHIFT) | met | PLACED);
  }

  #remember({ account, place, from, start, end }: Placed, waits: number): number {
    const row = this.#remembered.add(from.bytesFrom(start, end));
    const columns = this.#remembered.change(row);
    columns.account.set(row, account);
    columns.record.set(row, place.record);
    columns.offset.set(row, place.offset);
    columns.number.set(row, this.#number);
    columns.waits.set(row, waits);
    return row;
  }

  /** Rule T214 (engine/RULES.md). */
  #amend(
    account: AccountRow,
    { order, idempotencyKey, placed: first }: FactInPlace<'order_amended'>,
    from: InPlaceReader,
    place: FactPlace,
  ): void {
    const { orderIds, orders, records } = this.#state;
    this.#usesKey(account, idempotencyKey, from, place);
    const id = from.idText(order);
    const amended = records.orderAt(account, place);
    if (amended.orderId !== id) this.#fail(`names the place of order ${amended.orderId}`);
    this.#lastPlaced = null;
    const isOfBefore = this.#before !== null && first.record < this.#before.tail;
    // It rested then, and its row names another place now.
    if (isOfBefore && !this.#amendedSince.has(id)) this.#endedOfBefore++;
    this.#amendedSince.add(id);
    const row = orderIds.find(id);
    if (row !== NO_ROW) {
      const { placedRecord, placedOffset } = orders.col;
      const newest = { record: placedRecord.get(row), offset: placedOffset.get(row) };
      if (isSamePlace(newest, place)) this.#rests(row, amended, this.#fail);
    }
    const known = (this.#orders.get(idAt(this.#orders, from, order)) >> ORDER_SHIFT) - 1;
    if (known === -1) return;
    const columns = this.#remembered.change(known);
    columns.record.set(known, place.record);
    columns.offset.set(known, place.offset);
    columns.contracts.set(known, amended.contracts);
    columns.limitPriceCents.set(known, amended.terms.limitPriceCents!);
    columns.feeEachMicros.set(known, amended.feeEachMicros ?? -1);
  }

  #usesKey(account: AccountRow, key: WordPlace, from: InPlaceReader, place: FactPlace): void {
    const { index } = this.#state.records;
    const name = index.nameOfKey(account, from.wordBytes(key));
    const [w0, w1, w2, w3] = [name[0]!, name[1]!, name[2]!, name[3]!];
    this.#indexes(account, INDEX_CLASS.key, w0, w1, w2, w3, place);
    const at = this.#keys.place(w0, w1, w2, w3);
    const isNewKey = this.#keys.get(at) === 0;
    this.#keys.set(at, 1);
    if (!this.#looksUp && isNewKey) return;
    const idempotencyKey = from.wordBytes(key).toString('latin1');
    this.#key({ account, idempotencyKey, place });
  }

  /** Keys may share a name, so an order that has it is read. */
  #key({
    account,
    idempotencyKey,
    place,
  }: Pick<PlacedOrder, 'account' | 'idempotencyKey' | 'place'>): void {
    const { records } = this.#state;
    const places = records.placesOfKey(account, idempotencyKey);
    const isFound = places.some((one) => isSamePlace(one, place));
    if (!isFound) this.#fail(`its key ${idempotencyKey} counts as never used`);
    for (const another of places) {
      if (isSamePlace(another, place)) continue;
      const isShared = records.keyAt(another) !== idempotencyKey;
      const { orderId } = records.orderAt(account, another);
      if (!isShared) this.#fail(`its key ${idempotencyKey} finds order ${orderId}`);
    }
  }

  /** Counts an entry that the index must have. */
  #indexes(
    account: AccountRow,
    of: IndexClass,
    w0: number,
    w1: number,
    w2: number,
    w3: number,
    { record, offset }: FactPlace,
  ): void {
    writeEntry(this.#entry, 0, account, of, w0, w1, w2, w3, record, offset);
    this.#index.add(this.#entry, 0);
  }

  #indexesId(
    account: AccountRow,
    of: IndexClass,
    from: InPlaceReader,
    id: IdPlace,
    place: FactPlace,
  ): void {
    const [w0, w1] = [from.idWord(id, 0), from.idWord(id, 1)];
    this.#indexes(account, of, w0, w1, from.idWord(id, 2), from.idWord(id, 3), place);
  }

  /** Remembers a fill until a fact that cannot tell of it. */
  #follow(fact: Fact): void {
    switch (fact.kind) {
      case 'order_filled':
      case 'order_part_filled':
        this.#filled = fact;
        return;
      // The facts of what a fill has done to its trade. What opens may go to a trade that the order
      // has opened before.
      case 'trade_grown':
        this.#opensNet = false;
        return;
      case 'trade_opened':
      case 'trade_reduced':
      case 'trade_closed':
        return;
      case 'fill_nets':
        this.#opensNet = fact.trade === null;
        this.#filled = null;
        return;
      default:
        this.#filled = null;
    }
  }

  /** What a fill took agrees with it. Rule T187 (engine/RULES.md). */
  #noted({ levels, atMs }: FactInPlace<'fill_noted'>): void {
    const filled = this.#filled;
    this.#filled = null;
    if (filled === null || filled.atMs !== atMs) return this.#fail('tells of no fill');
    if (levels.length === 0) return;
    const contracts = levels.reduce((sum, [, part]) => sum + part, 0);
    const cents = levels.reduce((sum, [price, part]) => sum + price * part, 0);
    if (contracts !== filled.contracts) {
      this.#fail(`has levels of ${contracts} contracts for a fill of ${filled.contracts}`);
    }
    const average = cents / contracts;
    const isPrice = Math.abs(average - filled.priceCents) < 1;
    if (!isPrice) this.#fail(`has levels at ${average} cents for a fill at ${filled.priceCents}`);
  }

  /** Rule T237 (engine/RULES.md). */
  #taken(fact: FactInPlace<'liquidity_taken'>): void {
    if (!this.#takenSizes.add(fact)) this.#fail('names another size than its display showed');
  }

  /** Each level's last display is taken as much as the facts say, of which all are here. */
  #compareTaken(): void {
    if (this.#before !== null) return;
    for (const level of this.#state.taken.all()) {
      const { market, side, askCents, contracts } = level;
      const of = this.#takenSizes.takenOf(level);
      if (of === contracts) continue;
      const name = `taken level ${market} ${side} ${askCents}`;
      this.#problems.add(`${name}: ${contracts} are taken, and its facts took ${of}`);
    }
  }

  /** A market order trades at once, so its end is the fact after it. */
  #meet(fact: Fact, from: InPlaceReader): void {
    const { from: awaitedFrom, id, number } = this.#awaited!;
    this.#awaited = null;
    const isEnd =
      (fact.kind === 'order_filled' || fact.kind === 'order_ended') &&
      isSameId(from, fact.order, awaitedFrom, id);
    if (!isEnd) this.#failOf(number, 'order_placed', NO_END);
  }

  #rests(row: OrderRow, placed: PlacedOrder, fail: Fail): void {
    const { orders, records } = this.#state;
    const { placedRecord, placedOffset } = orders.col;
    this.#resting++;
    if (!restsAsPlaced(this.#state, row, placed)) fail('rests as another order than was placed');
    const place = { record: placedRecord.get(row), offset: placedOffset.get(row) };
    if (!isSamePlace(place, placed.place)) {
      fail('rests, and its row names another place in the log');
    }
    if (!this.#looksUp) return;
    const end = records.placeOfEnd(placed.account, placed.orderId);
    if (end !== undefined) fail('rests and has an end');
  }

  /** Every fill is within the limit that its order had then. Rule T236 (engine/RULES.md). */
  #partFilled(fact: FactInPlace<'order_part_filled'>, from: InPlaceReader): void {
    const last = this.#lastPlaced;
    if (last !== null && isSameId(from, fact.order, last.from, last.id)) {
      return checkFill(last.order, fact.priceCents, this.#fail);
    }
    const row = (this.#orders.get(idAt(this.#orders, from, fact.order)) >> ORDER_SHIFT) - 1;
    if (row !== -1) return checkFill(this.#placedIn(row).order, fact.priceCents, this.#fail);
    const { orders, orderIds, orderMarks } = this.#state;
    const resting = find(orderIds, from, fact.order);
    if (resting === NO_ROW) return;
    const { col } = orders;
    const isAsThen =
      orderMarks.placedAt(resting) === null ||
      (this.#before !== null && col.placedRecord.get(resting) < this.#before.tail);
    if (isAsThen) checkFill(waitingTermsAt(this.#state, resting), fact.priceCents, this.#fail);
  }

  #end(account: AccountRow, fact: OrderEnd, from: InPlaceReader, place: FactPlace): void {
    const { records, orderIds } = this.#state;
    const at = idAt(this.#orders, from, fact.order);
    const met = this.#orders.get(at);
    const known = (met >> ORDER_SHIFT) - 1;
    const last = this.#lastPlaced;
    const isOfLast =
      last !== null && last.account === account && isSamePlace(last.place, fact.placed);
    const placed = isOfLast ? last : this.#placedAt(account, fact, known);
    if (isOfLast) last.row = known;
    this.#orders.set(at, (met & PLACED) | ENDED);
    if (known !== -1) {
      this.#unended--;
      this.#remembered.change(known).waits.set(known, 0);
    }
    if (!isSameId(from, fact.order, placed.from, placed.id)) {
      this.#fail(`names the place of order ${placed.from.idText(placed.id)}`);
    }
    if ((met & ENDED) !== 0) this.#fail(`is the second end of order ${from.idText(fact.order)}`);
    if (this.#before !== null && fact.placed.record < this.#before.tail) this.#endedOfBefore++;
    if (find(orderIds, from, fact.order) !== NO_ROW) {
      this.#fail(`order ${from.idText(fact.order)} rests and has an end`);
    }
    const outcome = outcomeOf<IdPlace>(fact);
    if (isShown(placed.order)) {
      this.#indexesId(account, CLASS_OF_ORDER[outcome.status], from, fact.order, place);
      if (this.#looksUp) {
        const id = from.idText(fact.order);
        const [found, another] = records.placesOfEnd(account, id);
        if (found === undefined) this.#fail(`the index lacks the end of order ${id}`);
        const isIts = found === undefined || (another === undefined && isSamePlace(found, place));
        if (!isIts) this.#fail(`the index finds another end of order ${id}`);
      }
    }
    const isOneOfFills = fact.kind === 'order_filled' && fact.priceCents !== fact.fillPriceCents;
    if (isOneOfFills) checkFill(placed.order, fact.priceCents, this.#fail);
    this.#outcome(placed, outcome, from);
    if (known !== -1 && this.#remembered.col.waits.get(known) === 0) {
      this.#remembered.release(known);
    }
  }

  /** The order that a fact at this place has placed or amended. `known`: its row, or -1. */
  #placedAt(account: AccountRow, { placed: place }: OrderEnd, known: number): Placed {
    if (known !== -1) {
      const { account: owner, record, offset } = this.#remembered.col;
      const isIts = record.get(known) === place.record && offset.get(known) === place.offset;
      if (isIts && owner.get(known) === account) return this.#placedIn(known);
    }
    const { records } = this.#state;
    const { from, fact } = factIn(records, place);
    const first = fact.kind === 'order_amended' ? factIn(records, fact.placed) : { from, fact };
    // Throws, because there is no such order.
    if (first.fact.kind !== 'order_placed') records.orderAt(account, place);
    invariant(first.fact.kind === 'order_placed', 'an order was read that was not placed');
    const at = fact.kind === 'order_amended' ? fact.placed : place;
    const placed = placedOf(account, first.fact, first.from, at);
    if (fact.kind !== 'order_amended') return placed;
    return { ...placed, place, order: amended(first.fact, fact) };
  }

  #placedIn(row: number): Placed {
    const { col, from } = this.#remembered;
    const placed = this.#remembered.placement(row);
    const contracts = col.contracts.get(row);
    const fee = col.feeEachMicros.get(row);
    const limitPriceCents = col.limitPriceCents.get(row);
    const feeEachMicros = fee < 0 ? null : fee;
    return {
      account: col.account.get(row) as AccountRow,
      order:
        contracts === 0 ? placed : amended(placed, { contracts, limitPriceCents, feeEachMicros }),
      from,
      id: placed.order,
      sells: placed.trade,
      place: { record: col.record.get(row), offset: col.offset.get(row) },
      row,
      end: from.at,
      start: from.at - col.length.get(row),
    };
  }

  #outcome(placed: Placed, outcome: OutcomeInPlace, from: InPlaceReader): void {
    const { account, order } = placed;
    const { tradeId } = outcome;
    checkEnd(this.#state, order, outcome, this.#fail);
    if (tradeId === null) {
      if (outcome.status === 'executed') this.#fail('executed without a trade');
      return;
    }
    // A netting order may have opened many, and its fills count them.
    if (order.action === 'buy' && order.netting === null) this.#opened[account]!++;
    const at = idAt(this.#trades, from, tradeId);
    const met = this.#trades.get(at);
    const last = this.#lastClosed;
    const isLast =
      last?.account === account && isSameId(last.from, last.trade.trade, from, tradeId);
    const isPast = this.#looksUp || this.#waiting === REMEMBERED_MAX || (met & OVER) !== 0;
    if (isLast || isPast) {
      const ids = idsOf(placed, from.idWords(tradeId));
      const trade = isLast ? endedTrade(last.trade) : tradeOf(this.#state, account, ids.trade());
      return checkTraded(order, outcome, trade, ids, this.#fail);
    }
    this.#waiting++;
    const row = placed.row === -1 ? this.#remember(placed, 0) : placed.row;
    const columns = this.#remembered.change(row);
    const [w0, w1] = [from.idWord(tradeId, 0), from.idWord(tradeId, 1)];
    columns.trade.set(row, w0, w1, from.idWord(tradeId, 2), from.idWord(tradeId, 3));
    columns.number.set(row, this.#number);
    columns.endAtMs.set(row, outcome.atMs);
    columns.filledContracts.set(row, outcome.filledContracts ?? 0);
    columns.fillPriceCents.set(row, outcome.fillPriceCents ?? 0);
    columns.venue.set(row, outcome.venue ?? NO_VENUE);
    const isFilled = this.#kind === 'order_filled' ? WAITS.filled : 0;
    const isExecuted = outcome.status === 'executed' ? WAITS.executed : 0;
    columns.waits.set(row, WAITS.trade | isFilled | isExecuted);
    columns.next.set(row, met >> TRADE_SHIFT);
    this.#trades.set(at, (row + 1) << TRADE_SHIFT);
  }

  /** Compares a trade with the orders that traded in it. `first`: one more than the first's row. */
  #compare(first: number, account: AccountRow, trade: TradeEnd): void {
    const { account: owner, next } = this.#remembered.col;
    for (let left = first; left !== 0; ) {
      const row = left - 1;
      left = next.get(row);
      this.#waiting--;
      this.#checkWaiting(row, owner.get(row) === account ? endedTrade(trade) : undefined);
      this.#remembered.release(row);
    }
  }

  #checkWaiting(row: number, trade: AuditedTrade | undefined): void {
    const { col } = this.#remembered;
    const waits = col.waits.get(row);
    const placed = this.#placedIn(row);
    const end: AuditedEnd = {
      atMs: col.endAtMs.get(row),
      status: (waits & WAITS.executed) !== 0 ? 'executed' : 'canceled',
      reason: null,
      fillPriceCents: col.fillPriceCents.get(row),
      venue: col.venue.get(row),
      filledContracts: col.filledContracts.get(row) || null,
      feesCents: null,
    };
    const kind = (waits & WAITS.filled) !== 0 ? 'order_filled' : 'order_ended';
    const words = ([0, 1, 2, 3] as const).map((word) => col.trade.word(row, word)) as never;
    checkTraded(placed.order, end, trade, idsOf(placed, words), (rule) => {
      this.#failOf(col.number.get(row), kind, rule);
    });
  }

  /** Orders of trades that are still open, and orders that still wait for their end. */
  #compareWaiting(): void {
    const { col } = this.#remembered;
    for (const row of this.#remembered.rows()) {
      const waits = col.waits.get(row);
      if ((waits & WAITS.trade) !== 0) {
        const trade = uuidAt(col.trade, row);
        const account = col.account.get(row) as AccountRow;
        this.#checkWaiting(row, openTradeOf(this.#state, account, trade));
      }
      if ((waits & WAITS.end) !== 0) this.#failOf(col.number.get(row), 'order_placed', NO_END);
    }
  }

  #trade(account: AccountRow, fact: TradeEnd, from: InPlaceReader, place: FactPlace): void {
    const { positionIds, records } = this.#state;
    const { status, outcome } = endOf(fact);
    this.#counts.closedTrades++;
    this.#indexesId(account, CLASS_OF_TRADE[status], from, fact.trade, place);
    const at = idAt(this.#trades, from, fact.trade);
    const met = this.#trades.get(at);
    this.#trades.set(at, OVER);
    if ((met & OVER) !== 0) this.#fail(`is the second end of trade ${from.idText(fact.trade)}`);
    if (find(positionIds, from, fact.trade) !== NO_ROW) {
      this.#fail(`trade ${from.idText(fact.trade)} is closed and open`);
    }
    if (this.#looksUp) {
      const id = from.idText(fact.trade);
      const [found, another] = records.placesOfTrade(account, id);
      if (found === undefined) this.#fail(`the index lacks trade ${id}`);
      const isIts = found === undefined || (another === undefined && isSamePlace(found, place));
      if (!isIts) this.#fail(`the index finds another end of trade ${id}`);
    }
    this.#compare(met >> TRADE_SHIFT, account, fact);
    this.#lastClosed = { account, trade: fact, from };
    const { market, contracts, costCents, entryPriceCents, proceedsCents, feesCents } = fact;
    // As it was corrected, if it was.
    const now = records.correctedMarkets.has(market)
      ? records.closedTrade(account, from.idText(fact.trade))
      : undefined;
    const trade = now ?? {
      ...{ market, contracts, costCents, entryPriceCents, proceedsCents, feesCents, outcome },
      openedAtMs: timeOfWords(from.idWord(fact.trade, 0), from.idWord(fact.trade, 1)),
      closedAtMs: fact.atMs,
    };
    checkClosed(this.#state, trade, this.#fail);
    const pnlCents = pnlCentsOf(fact);
    this.#realizedCents[account]! += pnlCents;
    this.#runCents[account]! += pnlCents;
    this.#closed[account]!++;
  }

  /** Each correction names the result and the cents before it. Rule S21 (engine/RULES.md). */
  #correction(
    account: AccountRow,
    fact: FactInPlace<'trade_corrected'>,
    from: InPlaceReader,
    place: FactPlace,
  ): void {
    const { to, changedByCents, cashCents } = fact;
    this.#indexesId(account, INDEX_CLASS.tradeCorrected, from, fact.trade, place);
    const id = from.idText(fact.trade);
    const last = this.#corrected.get(id);
    const isOver = (this.#trades.get(idAt(this.#trades, from, fact.trade)) & OVER) !== 0;
    const hasEnded = isOver || this.#hadEnded(account, id);
    if (!hasEnded) this.#fail(`trade ${id} was corrected before it ended`);
    if (last !== undefined && last.to !== fact.from) {
      this.#fail(`trade ${id} had the result ${last.to}`);
    }
    const follows =
      last === undefined || last.proceedsCents + changedByCents === fact.proceedsCents;
    if (!follows) this.#fail(`trade ${id} brought ${last.proceedsCents} cents before it`);
    const isWhole = cashCents === changedByCents || cashCents === 0;
    if (!isWhole) this.#fail(`moves ${cashCents} cents of ${changedByCents}`);
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
    if (this.#awaited !== null) this.#failOf(this.#awaited.number, 'order_placed', NO_END);
    this.#isSummed = true;
    this.#compareWaiting();
    this.#compareTaken();
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
    const taken = this.#takenSizes.rows();
    return { ...this.#counts, taken, problems: this.#problems.lines(), kept };
  }

  #failOf(number: number, kind: string, rule: string): void {
    this.#problems.add(`fact ${number} (${kind}): ${rule}`);
  }

  #checker(subject: () => string): (holds: boolean, rule: string) => void {
    return (holds, rule) => {
      if (!holds) this.#problems.add(`${subject()}: ${rule}`);
    };
  }
}

const NO_END = 'neither rests nor has an end';

function isSamePlace(one: FactPlace, other: FactPlace): boolean {
  return one.record === other.record && one.offset === other.offset;
}

const NO_VENUE = 255;

/** The row of the id at a place of what is being read, or `NO_ROW`. */
function find<Row extends number>(ids: UuidIndex<Row>, from: InPlaceReader, id: IdPlace): Row {
  const [w0, w1] = [from.idWord(id, 0), from.idWord(id, 1)];
  return ids.findWords(w0, w1, from.idWord(id, 2), from.idWord(id, 3));
}

function idAt(values: IdValues, from: InPlaceReader, id: IdPlace): number {
  const [w0, w1] = [from.idWord(id, 0), from.idWord(id, 1)];
  return values.place(w0, w1, from.idWord(id, 2), from.idWord(id, 3));
}

/** The last fact that `from` has read has placed an order, at `place`. */
function placedOf(
  account: AccountRow,
  fact: FactInPlace<'order_placed'>,
  from: InPlaceReader,
  place: FactPlace,
): Placed {
  return {
    account,
    order: fact,
    from,
    id: fact.order,
    sells: fact.trade,
    place,
    row: -1,
    start: place.offset,
    end: from.at,
  };
}

function amended(
  placed: AuditedOrder,
  { contracts, limitPriceCents, feeEachMicros }: AmendedTerms,
): AuditedOrder {
  return { ...placed, contracts, limitPriceCents, feeEachMicros, isAmended: true };
}
type AmendedTerms = Pick<
  FactInPlace<'order_amended'>,
  'contracts' | 'limitPriceCents' | 'feeEachMicros'
>;

function factIn(records: StoredState['records'], place: FactPlace) {
  const from = new InPlaceReader(records.payload(place.record));
  from.goTo(place.offset);
  return { from, fact: readFactInPlace(from) };
}

function isShown(order: AuditedOrder): boolean {
  return isShownOrder({ terms: order, latencyMs: order.latencyMs, netting: order.netting });
}

function endedTrade(trade: TradeEnd): AuditedTrade {
  const isSold = trade.kind === 'trade_closed' && trade.closeReason === 'sold';
  return { of: trade, soldAtMs: isSold ? trade.atMs : null };
}

/** How an order and its trade agree by their ids, of which the trade's has these words. */
function idsOf({ from, id, sells }: Placed, [w0, w1, w2, w3]: Words): TradedIds {
  const soldWords = sells === null ? null : from.idWords(sells);
  const isSoldByIt =
    soldWords !== null &&
    soldWords[3] === w3 &&
    soldWords[2] === w2 &&
    soldWords[1] === w1 &&
    soldWords[0] === w0;
  return {
    isOpenedByIt: isTradeOfWords(w2, w3, from.idWord(id, 2), from.idWord(id, 3)),
    isSoldByIt,
    trade: () => uuidOfWords(w0, w1, w2, w3),
    sold: () => (sells === null ? null : from.idText(sells)),
  };
}
type Words = readonly [w0: number, w1: number, w2: number, w3: number];

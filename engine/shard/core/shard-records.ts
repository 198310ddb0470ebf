/**
 * Finished orders and closed trades, read from the log: an index says in which fact each is.
 * Rules T90, T91, A42 (engine/RULES.md, api/RULES.md).
 */

import type {
  AccountRow,
  EpochMs,
  MarketNumber,
  OrderRow,
  PositionRow,
  Uuid,
} from '../../base/units.ts';
import { ByteReader } from '../../format/bytes.ts';
import { placementOf } from '../../format/fact-events.ts';
import { factAt, readFact } from '../../format/fact-layouts.ts';
import { isOfCatalog } from '../../format/facts.ts';
import { INDEX_CLASS, type IndexClass } from '../../index/entry.ts';
import type { RecordIndex } from '../../index/record-index.ts';
import type { Ids } from '../../memory/columns.ts';
import { uuidTimeMs, uuidWord } from '../../memory/uuid-words.ts';
import { newIn } from '../../rules/catalog-change.ts';
import type { CatalogInstrument } from '../../rules/catalog-entries.ts';
import type { ClosedTrade, OrderOutcome } from '../../rules/events.ts';
import type {
  Fact,
  FactPlace,
  OrderAmendedFact,
  OrderEndedFact,
  OrderFilledFact,
  OrderPlacedFact,
  TradeClosedFact,
  TradeCorrectedFact,
  TradeSettledFact,
} from '../../rules/facts.ts';
import type {
  EndedOrder,
  FinishedRecords,
  KeyUse,
  PlacedOrder,
  SettledFact,
  SoldParts,
} from '../../rules/finished-records.ts';
import { isShownOrder } from '../../rules/flags.ts';
import type { MarketOutcome } from '../../rules/messages.ts';

/** Reads facts, including facts of the current batch. */
export interface FactLog {
  /** Records that begin at or after a position, up to the record of the current batch. */
  recordsFrom(from: number): Iterable<{ position: number; payload: Uint8Array }>;
  /** The payload of the record at a log position. Throws `LogDamage`. */
  payload(record: number): Uint8Array;
}

export const CLASS_OF_ORDER = {
  executed: INDEX_CLASS.orderExecuted,
  canceled: INDEX_CLASS.orderCanceled,
  expired: INDEX_CLASS.orderExpired,
} as const satisfies Record<OrderOutcome['status'], IndexClass>;

export const CLASS_OF_TRADE = {
  closed: INDEX_CLASS.tradeClosed,
  settled: INDEX_CLASS.tradeSettled,
  void: INDEX_CLASS.tradeVoid,
  reset: INDEX_CLASS.tradeReset,
} as const satisfies Record<ClosedTrade['status'], IndexClass>;

/** How trades end by a result, which may be corrected. */
const BY_RESULT: ReadonlySet<ClosedTrade['status']> = new Set(['settled', 'void'] as const);

const ORDER_CLASSES: readonly IndexClass[] = Object.values(CLASS_OF_ORDER);
const TRADE_CLASSES: readonly IndexClass[] = Object.values(CLASS_OF_TRADE);

/** A page of an account's trades may name as many. */
const DESCRIBED_MAX = 500;

export class ShardRecords implements FinishedRecords {
  readonly index: RecordIndex;
  readonly correctedMarkets = new Set<MarketNumber>();
  readonly #log: FactLog;
  /** The descriptions that were read last. */
  readonly #described = new Map<string, { record: number; entry: CatalogInstrument }>();
  /** The last key and its name: a placement searches for its key and then adds it. */
  #named = { account: -1, key: '' };
  #name: ArrayLike<number> = [];

  constructor(index: RecordIndex, log: FactLog) {
    this.index = index;
    this.#log = log;
  }

  noteKey(account: AccountRow, key: string, record: number, offset: number): void {
    const name = this.nameOfKey(account, key);
    const { key: of } = INDEX_CLASS;
    this.index.add(account, of, name[0]!, name[1]!, name[2]!, name[3]!, record, offset);
  }

  noteOrder(
    account: AccountRow,
    status: OrderOutcome['status'],
    ids: Ids<OrderRow>,
    order: OrderRow,
    record: number,
    offset: number,
  ): void {
    this.#note(account, CLASS_OF_ORDER[status], ids, order, record, offset);
  }

  noteTrade(
    account: AccountRow,
    status: ClosedTrade['status'],
    ids: Ids<PositionRow>,
    position: PositionRow,
    record: number,
    offset: number,
  ): void {
    this.#note(account, CLASS_OF_TRADE[status], ids, position, record, offset);
  }

  noteCorrection(account: AccountRow, trade: Uuid, record: number, offset: number): void {
    const [w0, w1, w2, w3] = wordsOf(trade) as [number, number, number, number];
    this.index.add(account, INDEX_CLASS.tradeCorrected, w0, w1, w2, w3, record, offset);
  }

  correctionOf(
    account: AccountRow,
    { trade }: Pick<TradeSettledFact, 'trade'>,
  ): TradeCorrectedFact | undefined {
    const [w0, w1, w2, w3] = wordsOf(trade) as [number, number, number, number];
    const places = this.index.find(account, INDEX_CLASS.tradeCorrected, w0, w1, w2, w3);
    const last = places.reduce<FactPlace | null>((newest, place) => {
      return newest === null || isAfter(place, newest) ? place : newest;
    }, null);
    return last === null ? undefined : expect(this.#factAt(last), 'trade_corrected');
  }

  *settledIn(
    market: MarketNumber,
    settlement: { record: number; trades: number } | null,
  ): Generator<SettledFact> {
    let left = settlement?.trades ?? Number.POSITIVE_INFINITY;
    if (left === 0) return;
    for (const { fact, place } of this.#factsFrom(settlement?.record ?? 0)) {
      if (fact.kind !== 'trade_settled' || fact.market !== market) continue;
      yield { fact, place };
      if (--left === 0) return;
    }
  }

  soldParts(account: AccountRow, sinceMs: EpochMs, nets: boolean): ReadonlyMap<Uuid, SoldParts> {
    const parts = new Map<Uuid, SoldParts>();
    for (const place of this.index.newestFirst(account, ORDER_CLASSES, null)) {
      const fact = expect(this.#factAt(place), 'order_filled', 'order_ended');
      // A netting order may be earlier than a trade that it closes.
      if (!nets && uuidTimeMs(fact.order) < sinceMs) break;
      // An order that sells all has ended its trade, unless it nets.
      const isPart = fact.kind === 'order_ended' && fact.filledContracts !== null;
      if (!isPart && !(nets && this.#nets(fact.placed))) continue;
      const first = this.#firstPlace(fact.placed);
      for (const { fact: part, place: at } of this.#factsFrom(first.record)) {
        // The last part of an order is told after its end.
        if (isAfter(at, place) && part.kind !== 'trade_reduced') break;
        if (part.kind !== 'trade_reduced' || part.order !== fact.order) continue;
        const sold = parts.get(part.trade) ?? { contracts: 0, costCents: 0, cents: 0 };
        sold.contracts += part.contracts;
        sold.costCents += part.costCents;
        sold.cents += part.cents;
        parts.set(part.trade, sold);
      }
    }
    return parts;
  }

  #nets(place: FactPlace): boolean {
    return expect(this.#factAt(this.#firstPlace(place)), 'order_placed').netting !== null;
  }

  resetsFrom(record: number): ReadonlyMap<Uuid, FactPlace> {
    const resets = new Map<Uuid, FactPlace>();
    for (const { fact, place } of this.#factsFrom(record)) {
      if (fact.kind === 'account_reset') resets.set(fact.account, place);
    }
    return resets;
  }

  describedIn(record: number, id: string): CatalogInstrument {
    const known = this.#described.get(id);
    if (known?.record === record) return known.entry;
    let entry: CatalogInstrument | undefined;
    const from = new ByteReader(this.#log.payload(record));
    while (!from.isAtEnd) {
      const fact = readFact(from);
      if (!isOfCatalog(fact)) continue;
      const isWhole = fact.kind === 'catalog_replaced';
      const all = isWhole ? fact.catalog.instruments : newIn(fact.change.instruments);
      entry = all.find((one) => one.id === id) ?? entry;
    }
    if (entry === undefined) throw new Error(`record ${record} does not describe ${id}`);
    this.#described.delete(id);
    this.#described.set(id, { record, entry });
    const [oldest] = this.#described.keys();
    if (this.#described.size > DESCRIBED_MAX) this.#described.delete(oldest!);
    return entry;
  }

  orderByKey(account: AccountRow, idempotencyKey: string): PlacedOrder | undefined {
    const use = this.useOfKey(account, idempotencyKey);
    return use?.kind === 'placed' ? use.placed : undefined;
  }

  useOfKey(account: AccountRow, idempotencyKey: string): KeyUse | undefined {
    // Keys may share a name.
    for (const place of this.placesOfKey(account, idempotencyKey)) {
      const fact = expect(this.#factAt(place), 'order_placed', 'order_amended');
      if (fact.idempotencyKey !== idempotencyKey) continue;
      if (fact.kind === 'order_placed') {
        return { kind: 'placed', placed: placedOrder(account, place, fact) };
      }
      return { ...fact, kind: 'amended', orderId: fact.order };
    }
    return undefined;
  }

  /** The payload of the record at a log position. Throws `LogDamage`. */
  payload(record: number): Uint8Array {
    return this.#log.payload(record);
  }

  /** The key that a placement or an amend at this place has used. */
  keyAt(place: FactPlace): string {
    return expect(this.#factAt(place), 'order_placed', 'order_amended').idempotencyKey;
  }

  /** The words that the index has for a key. The next call may overwrite them. */
  nameOfKey(account: AccountRow, key: string): ArrayLike<number> {
    if (this.#named.account === account && this.#named.key === key) return this.#name;
    this.#named = { account, key };
    this.#name = this.index.nameOfKey(account, key);
    return this.#name;
  }

  /** The places of the orders whose keys share the name of this one. */
  placesOfKey(account: AccountRow, idempotencyKey: string): readonly FactPlace[] {
    const [w0, w1, w2, w3] = this.nameOfKey(account, idempotencyKey) as unknown as Words;
    return this.index.find(account, INDEX_CLASS.key, w0, w1, w2, w3);
  }

  /** The place of the end of a limit order. */
  placeOfEnd(account: AccountRow, orderId: Uuid): FactPlace | undefined {
    return this.index.findOne(account, ORDER_CLASSES, wordsOf(orderId));
  }

  /** The places of all ends of a limit order; more than one is a mistake. */
  placesOfEnd(account: AccountRow, orderId: Uuid): readonly FactPlace[] {
    return this.#placesOf(account, ORDER_CLASSES, orderId);
  }

  /** The places of all ends of a trade, its corrections left out. */
  placesOfTrade(account: AccountRow, tradeId: Uuid): readonly FactPlace[] {
    return this.#placesOf(account, TRADE_CLASSES, tradeId);
  }

  orderAt(account: AccountRow, place: FactPlace): PlacedOrder {
    const fact = expect(this.#factAt(place), 'order_placed', 'order_amended');
    if (fact.kind === 'order_placed') return placedOrder(account, place, fact);
    const placed = expect(this.#factAt(fact.placed), 'order_placed');
    return { ...placedOrder(account, place, amendedOrder(placed, fact)), isAmended: true };
  }

  ended(placed: PlacedOrder): EndedOrder {
    if (isShownOrder(placed)) {
      const ended = this.endedOrder(placed.account, placed.orderId);
      if (ended === undefined) throw new Error(`order ${placed.orderId} has no outcome`);
      return ended;
    }
    const fact = expect(this.#factBehind(placed.place), 'order_filled', 'order_ended');
    return { placed, outcome: outcomeOf(fact) };
  }

  endedOrder(account: AccountRow, orderId: Uuid): EndedOrder | undefined {
    const fact = this.#ended(account, orderId);
    return fact === undefined ? undefined : this.#endedOrder(account, fact);
  }

  closedTrade(account: AccountRow, tradeId: Uuid): ClosedTrade | undefined {
    const fact = this.#find(account, TRADE_CLASSES, tradeId);
    return fact && this.#closedTrade(account, fact);
  }

  *endedOrders(
    account: AccountRow,
    statuses: readonly OrderOutcome['status'][],
    before: Uuid | null,
  ): Generator<EndedOrder> {
    const classes = statuses.map((status) => CLASS_OF_ORDER[status]);
    for (const place of this.index.newestFirst(account, classes, wordsOf(before))) {
      yield this.#endedOrder(account, expect(this.#factAt(place), 'order_filled', 'order_ended'));
    }
  }

  *closedTrades(
    account: AccountRow,
    statuses: readonly ClosedTrade['status'][],
    before: Uuid | null,
  ): Generator<ClosedTrade> {
    const mayDiffer = this.correctedMarkets.size > 0 && statuses.some((it) => BY_RESULT.has(it));
    // A corrected trade is found at the place of its first result.
    const wanted = mayDiffer ? new Set([...statuses, ...BY_RESULT]) : statuses;
    const classes = Array.from(wanted, (status) => CLASS_OF_TRADE[status]);
    for (const place of this.index.newestFirst(account, classes, wordsOf(before))) {
      const trade = this.#closedTrade(account, this.#factAt(place));
      if (!mayDiffer || statuses.includes(trade.status)) yield trade;
    }
  }

  /** With its present result. Rule S21 (engine/RULES.md). */
  #closedTrade(account: AccountRow, fact: Fact): ClosedTrade {
    const ended = expect(fact, 'trade_closed', 'trade_settled');
    const trade = closedTrade(account, ended);
    if (trade.outcome === null || !this.correctedMarkets.has(trade.market)) return trade;
    const corrected = this.correctionOf(account, ended);
    if (corrected === undefined) return trade;
    const { proceedsCents, to: outcome } = corrected;
    return { ...trade, proceedsCents, ...endBy(outcome) };
  }

  *#factsFrom(record: number): Generator<{ fact: Fact; place: FactPlace }> {
    for (const { position, payload } of this.#log.recordsFrom(record)) {
      const from = new ByteReader(payload);
      while (!from.isAtEnd) {
        const place = { record: position, offset: from.at };
        yield { fact: readFact(from), place };
      }
    }
  }

  #note<Row extends number>(
    account: AccountRow,
    of: IndexClass,
    ids: Ids<Row>,
    row: Row,
    record: number,
    offset: number,
  ): void {
    const w0 = ids.word(row, 0);
    const w1 = ids.word(row, 1);
    this.index.add(account, of, w0, w1, ids.word(row, 2), ids.word(row, 3), record, offset);
  }

  /** Where the order was placed of which a placement or an amend is at this place. */
  #firstPlace(place: FactPlace): FactPlace {
    const fact = expect(this.#factAt(place), 'order_placed', 'order_amended');
    return fact.kind === 'order_placed' ? place : fact.placed;
  }

  #ended(account: AccountRow, orderId: Uuid): OrderFilledFact | OrderEndedFact | undefined {
    const fact = this.#find(account, ORDER_CLASSES, orderId);
    return fact && expect(fact, 'order_filled', 'order_ended');
  }

  #endedOrder(account: AccountRow, fact: OrderFilledFact | OrderEndedFact): EndedOrder {
    return { placed: this.orderAt(account, fact.placed), outcome: outcomeOf(fact) };
  }

  #placesOf(account: AccountRow, classes: readonly IndexClass[], id: Uuid): FactPlace[] {
    const [w0, w1, w2, w3] = wordsOf(id) as unknown as Words;
    return classes.flatMap((of) => [...this.index.find(account, of, w0, w1, w2, w3)]);
  }

  #find(account: AccountRow, classes: readonly IndexClass[], id: Uuid): Fact | undefined {
    const place = this.index.findOne(account, classes, wordsOf(id));
    return place && this.#factAt(place);
  }

  #factAt({ record, offset }: FactPlace): Fact {
    return factAt(this.#log.payload(record), offset);
  }

  /** A market order trades at once, so its end is the fact after it. */
  #factBehind({ record, offset }: FactPlace): Fact {
    const from = new ByteReader(this.#log.payload(record));
    from.goTo(offset);
    readFact(from);
    return readFact(from);
  }
}

export function placedOrder(
  account: AccountRow,
  place: FactPlace,
  fact: OrderPlacedFact,
): PlacedOrder {
  return { ...placementOf(fact), account, place };
}

/** An order as an amend has made it. */
export function amendedOrder(
  placed: OrderPlacedFact,
  { contracts, limitPriceCents, feeEachMicros }: OrderAmendedFact,
): OrderPlacedFact {
  return { ...placed, contracts, limitPriceCents, feeEachMicros };
}

type IdField = 'account' | 'order' | 'trade';
type EndedOf<Id> = (Omit<OrderFilledFact, IdField> | Omit<OrderEndedFact, IdField>) & {
  trade: Id | null;
};

/** `Id`: a uuid, or the place of one. */
export function outcomeOf<Id>(
  fact: EndedOf<Id>,
): Omit<OrderOutcome, 'tradeId'> & { tradeId: Id | null } {
  const { atMs, fillPriceCents, fillVenue: venue, trade: tradeId, feesCents } = fact;
  return fact.kind === 'order_filled'
    ? {
        atMs,
        status: 'executed',
        reason: null,
        fillPriceCents,
        venue,
        tradeId,
        filledContracts: null,
        feesCents,
      }
    : {
        atMs,
        status: fact.status,
        reason: fact.reason,
        fillPriceCents,
        venue,
        tradeId,
        filledContracts: fact.filledContracts,
        feesCents,
      };
}

export function closedTrade(
  account: AccountRow,
  fact: TradeClosedFact | TradeSettledFact,
): ClosedTrade {
  const { kind: _, atMs: closedAtMs, trade: tradeId, ...same } = fact;
  const openedAtMs = uuidTimeMs(tradeId);
  return { ...same, tradeId, account, openedAtMs, closedAtMs, ...endOf(fact) };
}

/** How a trade has ended, by the fact that ended it. */
export function endOf(
  fact: Pick<TradeClosedFact, 'kind' | 'closeReason'> | Pick<TradeSettledFact, 'kind' | 'outcome'>,
): Pick<ClosedTrade, 'status' | 'closeReason' | 'outcome'> {
  if (fact.kind === 'trade_closed') {
    const { closeReason } = fact;
    return { status: closeReason === 'sold' ? 'closed' : 'reset', closeReason, outcome: null };
  }
  return endBy(fact.outcome);
}

/** How a trade ends by a result. Rule S8 (engine/RULES.md). */
function endBy(outcome: MarketOutcome): Pick<ClosedTrade, 'status' | 'closeReason' | 'outcome'> {
  return outcome === 'void'
    ? { status: 'void', closeReason: 'voided', outcome }
    : { status: 'settled', closeReason: 'settled', outcome };
}

function isAfter(one: FactPlace, other: FactPlace): boolean {
  return one.record === other.record ? one.offset > other.offset : one.record > other.record;
}

/** The fact is of the expected kind, or the index does not belong to this log. */
function expect<K extends Fact['kind']>(fact: Fact, ...kinds: K[]): Extract<Fact, { kind: K }> {
  if ((kinds as string[]).includes(fact.kind)) return fact as Extract<Fact, { kind: K }>;
  throw new Error(`the index leads to a fact of kind ${fact.kind}, not ${kinds.join(' or ')}`);
}

type Words = readonly [number, number, number, number];

function wordsOf(id: Uuid): readonly number[];
function wordsOf(id: Uuid | null): readonly number[] | null;
function wordsOf(id: Uuid | null): readonly number[] | null {
  if (id === null) return null;
  return [uuidWord(id, 0), uuidWord(id, 1), uuidWord(id, 2), uuidWord(id, 3)];
}

/**
 * Finished orders and closed trades as the rules see them. Once they are out of the tables, they
 * are found in the log: by id, by idempotency key, by account. Rules T90, T91, A42
 * (engine/RULES.md, api/RULES.md).
 */

import type {
  AccountRow,
  Cents,
  Contracts,
  EpochMs,
  MarketNumber,
  OrderRow,
  PositionRow,
  Uuid,
} from '../base/units.ts';
import type { Ids } from '../memory/columns.ts';
import type { CatalogInstrument } from './catalog-entries.ts';
import type { ClosedTrade, OrderAmended, OrderOutcome, OrderPlaced } from './events.ts';
import type { FactPlace, TradeCorrectedFact, TradeSettledFact } from './facts.ts';

/** An order as it was placed, without row numbers, which may be reused by now. */
export type PlacedOrder = Omit<OrderPlaced, 'kind' | 'order' | 'position'> & {
  place: FactPlace;
  /** As it was changed last: fills before that had another limit. */
  isAmended?: true;
};

/** What has used an idempotency key: a placement, or the change of an order. Rules T91, T214. */
export type KeyUse =
  | { kind: 'placed'; placed: PlacedOrder }
  | ({ kind: 'amended'; orderId: Uuid } & Pick<
      OrderAmended,
      'asked' | 'contracts' | 'limitPriceCents'
    >);

export type EndedOrder = { placed: PlacedOrder; outcome: OrderOutcome };

/** The fact that settled a trade, and where it is. */
export type SettledFact = { fact: TradeSettledFact; place: FactPlace };
/**
 * The parts of a trade that were sold before it ended: the contracts, their cost, and their
 * proceeds.
 */
export type SoldParts = { contracts: Contracts; costCents: Cents; cents: Cents };

export interface FinishedRecords {
  /** Markets whose result was corrected. Their trades have correction facts. */
  readonly correctedMarkets: Set<MarketNumber>;
  /** The fact at this place has used the key. */
  noteKey(account: AccountRow, key: string, record: number, offset: number): void;
  /** The fact at this place ended a limit order; the row still has the order's id. */
  noteOrder(
    account: AccountRow,
    status: OrderOutcome['status'],
    ids: Ids<OrderRow>,
    order: OrderRow,
    record: number,
    offset: number,
  ): void;
  /** The fact at this place ended a trade. */
  noteTrade(
    account: AccountRow,
    status: ClosedTrade['status'],
    ids: Ids<PositionRow>,
    position: PositionRow,
    record: number,
    offset: number,
  ): void;
  /** The fact at this place corrected a trade. */
  noteCorrection(account: AccountRow, trade: Uuid, record: number, offset: number): void;
  /** The last correction of a trade. */
  correctionOf(
    account: AccountRow,
    settled: Pick<TradeSettledFact, 'trade'>,
  ): TradeCorrectedFact | undefined;
  /** The facts that settled the trades of a market, in their order. */
  settledIn(
    market: MarketNumber,
    settlement: { record: number; trades: number } | null,
  ): Iterable<SettledFact>;
  /**
   * By trade: the parts that orders sold of it, if they were placed since a moment and did not sell
   * all. `nets`: some order of the shard has netted, at whatever time.
   */
  soldParts(account: AccountRow, sinceMs: EpochMs, nets: boolean): ReadonlyMap<Uuid, SoldParts>;
  /** The last reset of each account in this record or after it. */
  resetsFrom(record: number): ReadonlyMap<Uuid, FactPlace>;
  /** What the catalog in this record says of an instrument. Rule K59 (feeds/FORMATS.md). */
  describedIn(record: number, id: string): CatalogInstrument;
  /** The order that was placed under the key, market orders included, as it was placed. */
  orderByKey(account: AccountRow, idempotencyKey: string): PlacedOrder | undefined;
  /** What of the account has used the key. */
  useOfKey(account: AccountRow, idempotencyKey: string): KeyUse | undefined;
  /** The order of the account whose `order_placed` or `order_amended` is at this place. */
  orderAt(account: AccountRow, place: FactPlace): PlacedOrder;
  /** An order that is done, as it was amended last, and how it ended. */
  ended(placed: PlacedOrder): EndedOrder;
  /** A limit order of the account that has ended; market orders are fills, not orders. */
  endedOrder(account: AccountRow, orderId: Uuid): EndedOrder | undefined;
  closedTrade(account: AccountRow, tradeId: Uuid): ClosedTrade | undefined;
  /** Ended limit orders of the account with these statuses, newest first, below `before`. */
  endedOrders(
    account: AccountRow,
    statuses: readonly OrderOutcome['status'][],
    before: Uuid | null,
  ): Iterable<EndedOrder>;
  /** Closed trades of the account with these statuses, newest opened first, below `before`. */
  closedTrades(
    account: AccountRow,
    statuses: readonly ClosedTrade['status'][],
    before: Uuid | null,
  ): Iterable<ClosedTrade>;
}

export const ORDER_ENDS: readonly OrderOutcome['status'][] = ['executed', 'canceled', 'expired'];
export const TRADE_ENDS: readonly ClosedTrade['status'][] = ['closed', 'settled', 'void', 'reset'];

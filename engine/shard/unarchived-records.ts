/**
 * Finished orders and closed trades leave memory at the next checkpoint. Until its transaction is
 * on disk they are found here; after that, in the archive. Rules T91, A42 (engine/RULES.md,
 * api/RULES.md).
 */

import type { KeyRow, RecentOrder } from '../format/event-layouts.ts';
import { placedRecord, tradeRecord } from '../format/event-layouts.ts';
import { IdempotencyFilter, KEY_HASHES_MAX, type KeyHashes } from '../memory/idempotency-filter.ts';
import { KeyIndex } from '../memory/key-index.ts';
import type { ClosedTrade, OrderOutcome, OrderPlaced } from '../rules/events.ts';
import type { FinishedRecords, OutcomeIds } from '../rules/finished-records.ts';
import { isLimit } from '../rules/flags.ts';
import { invariant } from '../rules/invariant.ts';
import type { AccountRow, Uuid } from '../rules/units.ts';
import { NO_ROW } from '../rules/units.ts';
import { Outcomes } from './order-outcomes.ts';
import { RecordLog } from './record-log.ts';

/** Orders and trades on disk, of one account row. Lists are newest first, below `before`. */
export interface Archive {
  placementByKey(account: AccountRow, idempotencyKey: string): OrderPlaced | undefined;
  /** Limit orders only; so are lists. */
  placement(account: AccountRow, orderId: Uuid): OrderPlaced | undefined;
  outcome(placed: OrderPlaced): OrderOutcome | undefined;
  closedTrade(account: AccountRow, tradeId: Uuid): ClosedTrade | undefined;
  placements(account: AccountRow, before: Uuid | null): Iterable<OrderPlaced>;
  closedTrades(account: AccountRow, before: Uuid | null): Iterable<ClosedTrade>;
  /** Of every key that `placementByKey` finds. */
  keyHashes(): Iterable<KeyHashes>;
  /** The seed of hashes where none is stored yet. Nobody outside can know it. */
  readonly newKeySeed: number;
}

/** A row of the archive: under which account and name it lies, and what it holds. */
export type ArchiveRow<T> = { account: AccountRow; name: string; value: T };

/** Every row of the archive, table by table; for audits. */
export interface ArchiveRows {
  keys(): Iterable<ArchiveRow<KeyRow>>;
  orders(): Iterable<ArchiveRow<RecentOrder>>;
  /** Outcomes of orders that an earlier checkpoint wrote. */
  outcomes(): Iterable<ArchiveRow<OrderOutcome>>;
  trades(): Iterable<ArchiveRow<ClosedTrade>>;
}

/** What happened between two checkpoints. */
export class UnarchivedRecords {
  readonly orders: RecentOrders;
  /** How orders ended, those that were placed before among them. */
  readonly outcomes: Outcomes;
  readonly closedTrades = new RecordLog(tradeRecord);

  constructor(filter: IdempotencyFilter, outcomes = new Outcomes()) {
    this.orders = new RecentOrders(filter);
    this.outcomes = outcomes;
  }

  addPlacement(placed: OrderPlaced): void {
    this.orders.add(placed);
  }

  addOutcome(account: AccountRow, ids: OutcomeIds, outcome: Omit<OrderOutcome, 'tradeId'>): void {
    this.outcomes.add(account, ids, outcome);
  }

  addClosedTrade(trade: ClosedTrade): void {
    this.closedTrades.add(trade.account, trade.tradeId, trade);
  }

  placementByKey(account: AccountRow, idempotencyKey: string): OrderPlaced | undefined {
    return this.orders.byKey(account, idempotencyKey);
  }

  /** Limit orders alone: a market order is no order to those who list them. */
  placement(orderId: Uuid): OrderPlaced | undefined {
    const placed = this.orders.byId(orderId);
    return placed !== undefined && isLimit(placed) ? placed : undefined;
  }

  outcome(orderId: Uuid): OrderOutcome | undefined {
    return this.outcomes.find(orderId);
  }

  closedTrade(tradeId: Uuid): ClosedTrade | undefined {
    const row = this.closedTrades.find(tradeId);
    return row === NO_ROW ? undefined : this.closedTrades.get(row);
  }

  /** Limit orders of the account. */
  *limitOrdersOf(account: AccountRow): Generator<OrderPlaced> {
    for (const row of this.orders.log.rowsOf(account)) {
      const placed = this.orders.log.get(row);
      if (isLimit(placed)) yield placed;
    }
  }

  *closedTradesOf(account: AccountRow): Generator<ClosedTrade> {
    for (const row of this.closedTrades.rowsOf(account)) yield this.closedTrades.get(row);
  }

  get size(): number {
    return this.orders.log.size + this.outcomes.size + this.closedTrades.size;
  }

  /** How many rows the archive gets of it at most. A limit order has one more, for its key. */
  get rowsMax(): number {
    const { size } = this.orders.log;
    return this.size + size + Math.ceil(size / KEY_HASHES_MAX);
  }
}

/** Placements, found by their idempotency key and by the order's id. */
class RecentOrders {
  readonly log = new RecordLog(placedRecord);
  readonly #filter: IdempotencyFilter;
  readonly #keys = new KeyIndex();

  constructor(filter: IdempotencyFilter) {
    this.#filter = filter;
  }

  add(placed: OrderPlaced): void {
    const { account, orderId, idempotencyKey } = placed;
    const hash = this.#filter.hashOf(account, idempotencyKey);
    this.#filter.add(hash);
    this.#keys.add(this.log.add(account, orderId, placed), hash);
  }

  *keyHashes(): Generator<KeyHashes> {
    const { seed } = this.#filter;
    const all = this.#keys.hashes();
    for (let at = 0; at < all.length; at += KEY_HASHES_MAX) {
      yield { seed, hashes: all.subarray(at, at + KEY_HASHES_MAX) };
    }
  }

  byId(orderId: Uuid): OrderPlaced | undefined {
    const row = this.log.find(orderId);
    return row === NO_ROW ? undefined : this.log.get(row);
  }

  byKey(account: AccountRow, idempotencyKey: string): OrderPlaced | undefined {
    const hash = this.#filter.hashOf(account, idempotencyKey);
    const row = this.#keys.find(hash, (candidate) => {
      const placed = this.log.get(candidate);
      return placed.idempotencyKey === idempotencyKey && placed.account === account;
    });
    return row === NO_ROW ? undefined : this.log.get(row);
  }
}

/** Reads through what is in memory into the archive. */
export class ShardRecords implements FinishedRecords {
  readonly #filter: IdempotencyFilter;
  current: UnarchivedRecords;
  /** Handed to a checkpoint that is not on disk yet. */
  #leaving: UnarchivedRecords | null = null;
  /** The outcomes of a finished checkpoint, emptied: the next one reuses their memory. */
  #emptied: Outcomes | undefined;
  readonly #archive: Archive;

  constructor(archive: Archive) {
    this.#archive = archive;
    this.#filter = new IdempotencyFilter(archive.newKeySeed);
    this.#filter.load(archive.keyHashes());
    this.current = new UnarchivedRecords(this.#filter);
  }

  /** Everything since the last checkpoint, for the next one to write. It stays readable. */
  beginCheckpoint(): UnarchivedRecords {
    invariant(this.#leaving === null, 'a checkpoint began before the last one ended');
    this.#leaving = this.current;
    this.current = new UnarchivedRecords(this.#filter, this.#emptied);
    this.#emptied = undefined;
    return this.#leaving;
  }

  /** The archive now has what the checkpoint took. */
  endCheckpoint(): void {
    invariant(this.#leaving !== null, 'a checkpoint ended that had not begun');
    this.#emptied = this.#leaving.outcomes;
    this.#emptied.clear();
    this.#leaving = null;
  }

  addPlacement(placed: OrderPlaced): void {
    this.current.addPlacement(placed);
  }

  addOutcome(account: AccountRow, ids: OutcomeIds, outcome: Omit<OrderOutcome, 'tradeId'>): void {
    this.current.addOutcome(account, ids, outcome);
  }

  addClosedTrade(trade: ClosedTrade): void {
    this.current.addClosedTrade(trade);
  }

  /** Records that no finished checkpoint has. */
  get inMemory(): number {
    return this.current.size + (this.#leaving?.size ?? 0);
  }

  placementByKey(account: AccountRow, idempotencyKey: string): OrderPlaced | undefined {
    if (!this.#filter.mayHave(this.#filter.hashOf(account, idempotencyKey))) return undefined;
    return (
      this.current.placementByKey(account, idempotencyKey) ??
      this.#leaving?.placementByKey(account, idempotencyKey) ??
      this.#archive.placementByKey(account, idempotencyKey)
    );
  }

  /** An order of that account by its id; market orders are fills, not orders. */
  placement(account: AccountRow, orderId: Uuid): OrderPlaced | undefined {
    const recent = this.current.placement(orderId) ?? this.#leaving?.placement(orderId);
    const found = recent ?? this.#archive.placement(account, orderId);
    return found?.account === account ? found : undefined;
  }

  /** How an order ended; undefined while it rests. */
  outcome(placed: OrderPlaced): OrderOutcome | undefined {
    const { orderId } = placed;
    const recent = this.current.outcome(orderId) ?? this.#leaving?.outcome(orderId);
    return recent ?? this.#archive.outcome(placed);
  }

  recentOutcome(orderId: Uuid): OrderOutcome | undefined {
    return this.current.outcome(orderId);
  }

  closedTrade(account: AccountRow, tradeId: Uuid): ClosedTrade | undefined {
    const recent = this.current.closedTrade(tradeId) ?? this.#leaving?.closedTrade(tradeId);
    const found = recent ?? this.#archive.closedTrade(account, tradeId);
    return found?.account === account ? found : undefined;
  }

  /** Limit orders of the account, newest first, below `before`. */
  *placements(account: AccountRow, before: Uuid | null): Generator<OrderPlaced> {
    const inMemory = [
      ...this.current.limitOrdersOf(account),
      ...(this.#leaving?.limitOrdersOf(account) ?? []),
    ];
    yield* newestFirst(
      inMemory,
      this.#archive.placements(account, before),
      before,
      (order) => order.orderId,
    );
  }

  /** Closed trades of the account, newest opened first, below `before`. */
  *closedTrades(account: AccountRow, before: Uuid | null): Generator<ClosedTrade> {
    const inMemory = [
      ...this.current.closedTradesOf(account),
      ...(this.#leaving?.closedTradesOf(account) ?? []),
    ];
    yield* newestFirst(
      inMemory,
      this.#archive.closedTrades(account, before),
      before,
      (trade) => trade.tradeId,
    );
  }
}

/** Merges rows of memory with those of the archive, which are newest first. No id comes twice. */
export function* newestFirst<T>(
  inMemory: T[],
  archived: Iterable<T>,
  before: Uuid | null,
  idOf: (row: T) => Uuid,
): Generator<T> {
  const rows = inMemory
    .filter((row) => before === null || idOf(row) < before)
    .sort((a, b) => (idOf(a) < idOf(b) ? 1 : -1));
  let at = 0;
  for (const old of archived) {
    while (at < rows.length && idOf(rows[at]!) > idOf(old)) yield rows[at++]!;
    if (at < rows.length && idOf(rows[at]!) === idOf(old)) at++;
    yield old;
  }
  while (at < rows.length) yield rows[at++]!;
}

/**
 * Finished orders and closed trades leave memory at the next checkpoint. Until its transaction is
 * on disk they are found here; after that, in the archive. SPEC.md section 2, Order and Trade.
 */
import type { ClosedTrade, OrderOutcome, OrderPlaced } from './events.ts';
import { uuidAt } from './ids.ts';
import { LateOutcomes, type OutcomeIds } from './late-outcomes.ts';
import type { Uuid } from './units.ts';

/** Orders and trades on disk, of one account row. Lists are newest first, below `before`. */
export interface Archive {
  placementByKey(account: number, idempotencyKey: string): OrderPlaced | undefined;
  /** Limit orders only; so are lists. */
  placement(account: number, orderId: Uuid): OrderPlaced | undefined;
  outcome(placed: OrderPlaced): OrderOutcome | undefined;
  closedTrade(account: number, tradeId: Uuid): ClosedTrade | undefined;
  placements(account: number, before: Uuid | null): Iterable<OrderPlaced>;
  closedTrades(account: number, before: Uuid | null): Iterable<ClosedTrade>;
}

/** An order placed since the last checkpoint, and how it ended if it has. */
export type RecentOrder = { readonly placed: OrderPlaced; outcome: OrderOutcome | null };

/** What one account did between two checkpoints. */
export type RecentOfAccount = {
  /** By idempotency key. */
  readonly orders: Map<string, RecentOrder>;
  readonly closedTrades: ClosedTrade[];
};

/** A row of the archive: under which account and name it lies, and what it holds. */
export type ArchiveRow<T> = { account: number; name: string; value: T };

/** What an idempotency key was used for: a limit order's id, or the whole of a market order. */
export type KeyRow = {
  limit: Uuid | null;
  market: { placed: OrderPlaced; outcome: OrderOutcome } | null;
};

/** Every row of the archive, table by table; for audits. */
export interface ArchiveRows {
  keys(): Iterable<ArchiveRow<KeyRow>>;
  orders(): Iterable<ArchiveRow<RecentOrder>>;
  /** Of orders that an earlier checkpoint wrote. */
  outcomes(): Iterable<ArchiveRow<OrderOutcome>>;
  trades(): Iterable<ArchiveRow<ClosedTrade>>;
}

/** What happened between two checkpoints. */
export class RecentRecords {
  /** By account row. */
  readonly byAccount = new Map<number, RecentOfAccount>();
  /** Limit orders by id. */
  readonly limitOrders = new Map<Uuid, RecentOrder>();
  readonly closedTrades = new Map<Uuid, ClosedTrade>();
  /** How orders ended that were placed before. */
  readonly lateOutcomes = new LateOutcomes();
  /** Orders that are not done, by their row. */
  readonly #undone = new Map<number, RecentOrder>();
  #orders = 0;

  addPlacement(placed: OrderPlaced): void {
    const order: RecentOrder = { placed, outcome: null };
    this.#undone.set(placed.order, order);
    this.#orders++;
    this.#of(placed.account).orders.set(placed.idempotencyKey, order);
    if (placed.type === 'limit') this.limitOrders.set(placed.orderId, order);
  }

  addOutcome(account: number, ids: OutcomeIds, outcome: Omit<OrderOutcome, 'tradeId'>): void {
    const order = this.#undone.get(ids.order);
    if (order === undefined) {
      this.lateOutcomes.add(account, ids, outcome);
      return;
    }
    const { positions, position } = ids;
    order.outcome = { ...outcome, tradeId: position === null ? null : uuidAt(positions, position) };
    this.#undone.delete(ids.order);
  }

  addClosedTrade(trade: ClosedTrade): void {
    this.closedTrades.set(trade.tradeId, trade);
    this.#of(trade.account).closedTrades.push(trade);
  }

  placementByKey(account: number, idempotencyKey: string): OrderPlaced | undefined {
    return this.byAccount.get(account)?.orders.get(idempotencyKey)?.placed;
  }

  /** How an order ended; undefined where these records do not say. */
  outcome({ account, orderId, idempotencyKey }: OrderPlaced): OrderOutcome | undefined {
    const order = this.byAccount.get(account)?.orders.get(idempotencyKey);
    return order?.outcome ?? this.lateOutcomes.find(orderId);
  }

  /** Limit orders of the account. */
  *limitOrdersOf(account: number): Generator<OrderPlaced> {
    const orders = this.byAccount.get(account)?.orders.values() ?? [];
    for (const { placed } of orders) if (placed.type === 'limit') yield placed;
  }

  closedTradesOf(account: number): Iterable<ClosedTrade> {
    return this.byAccount.get(account)?.closedTrades ?? [];
  }

  get size(): number {
    return this.#orders + this.lateOutcomes.size + this.closedTrades.size;
  }

  #of(account: number): RecentOfAccount {
    let of = this.byAccount.get(account);
    if (of === undefined) {
      of = { orders: new Map(), closedTrades: [] };
      this.byAccount.set(account, of);
    }
    return of;
  }
}

/** Reads through what is in memory into the archive. */
export class Records {
  current = new RecentRecords();
  /** Handed to a checkpoint that is not on disk yet. */
  #leaving: RecentRecords | null = null;
  readonly #archive: Archive;

  constructor(archive: Archive) {
    this.#archive = archive;
  }

  /** Everything since the last checkpoint, for the next one to write; stays readable. */
  beginCheckpoint(): RecentRecords {
    this.#leaving = this.current;
    this.current = new RecentRecords();
    return this.#leaving;
  }

  /** The archive now has what the checkpoint took. */
  endCheckpoint(): void {
    this.#leaving = null;
  }

  /** Records that no finished checkpoint has. */
  get inMemory(): number {
    return this.current.size + (this.#leaving?.size ?? 0);
  }

  placementByKey(account: number, idempotencyKey: string): OrderPlaced | undefined {
    return (
      this.current.placementByKey(account, idempotencyKey) ??
      this.#leaving?.placementByKey(account, idempotencyKey) ??
      this.#archive.placementByKey(account, idempotencyKey)
    );
  }

  /** An order of that account by its id; market orders are fills, not orders. */
  placement(account: number, orderId: Uuid): OrderPlaced | undefined {
    const recent = this.current.limitOrders.get(orderId) ?? this.#leaving?.limitOrders.get(orderId);
    const found = recent?.placed ?? this.#archive.placement(account, orderId);
    return found?.account === account ? found : undefined;
  }

  /** How an order ended; undefined while it rests. */
  outcome(placed: OrderPlaced): OrderOutcome | undefined {
    const recent = this.current.outcome(placed) ?? this.#leaving?.outcome(placed);
    return recent ?? this.#archive.outcome(placed);
  }

  closedTrade(account: number, tradeId: Uuid): ClosedTrade | undefined {
    const recent =
      this.current.closedTrades.get(tradeId) ?? this.#leaving?.closedTrades.get(tradeId);
    const found = recent ?? this.#archive.closedTrade(account, tradeId);
    return found?.account === account ? found : undefined;
  }

  /** Limit orders of the account, newest first, below `before`. */
  *placements(account: number, before: Uuid | null): Generator<OrderPlaced> {
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
  *closedTrades(account: number, before: Uuid | null): Generator<ClosedTrade> {
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

/** Merges rows of memory with the archive's, which is newest first already; no id comes twice. */
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

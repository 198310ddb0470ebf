/**
 * Finished orders and closed trades leave memory at the next checkpoint. Until its transaction is
 * on disk they are found here; after that, in the archive. SPEC.md section 2, Order and Trade.
 */
import type { ClosedTrade, OrderOutcome, OrderPlaced } from './events.ts';
import type { Uuid } from './units.ts';

/** Orders and trades on disk, of one account row. Lists are newest first, below `before`. */
export interface Archive {
  placementByKey(account: number, idempotencyKey: string): OrderPlaced | undefined;
  /** Limit orders only; so are lists. */
  placement(account: number, orderId: Uuid): OrderPlaced | undefined;
  outcome(account: number, placed: OrderPlaced): OrderOutcome | undefined;
  closedTrade(account: number, tradeId: Uuid): ClosedTrade | undefined;
  placements(account: number, before: Uuid | null): Iterable<OrderPlaced>;
  closedTrades(account: number, before: Uuid | null): Iterable<ClosedTrade>;
}

/** What happened between two checkpoints. */
export class RecentRecords {
  readonly placements = new Map<Uuid, OrderPlaced>();
  readonly outcomes = new Map<Uuid, { account: number; outcome: OrderOutcome }>();
  readonly closedTrades = new Map<Uuid, ClosedTrade>();
  readonly #byKey = new Map<number, Map<string, OrderPlaced>>();
  readonly #tradesOf = new Map<number, ClosedTrade[]>();

  addPlacement(placement: OrderPlaced): void {
    this.placements.set(placement.orderId, placement);
    const byKey = this.#byKey.get(placement.account);
    if (byKey === undefined) {
      this.#byKey.set(placement.account, new Map([[placement.idempotencyKey, placement]]));
    } else {
      byKey.set(placement.idempotencyKey, placement);
    }
  }

  addClosedTrade(trade: ClosedTrade): void {
    this.closedTrades.set(trade.tradeId, trade);
    const trades = this.#tradesOf.get(trade.account);
    if (trades === undefined) this.#tradesOf.set(trade.account, [trade]);
    else trades.push(trade);
  }

  placementByKey(account: number, idempotencyKey: string): OrderPlaced | undefined {
    return this.#byKey.get(account)?.get(idempotencyKey);
  }

  placementsOf(account: number): Iterable<OrderPlaced> {
    return this.#byKey.get(account)?.values() ?? [];
  }

  closedTradesOf(account: number): Iterable<ClosedTrade> {
    return this.#tradesOf.get(account) ?? [];
  }

  get size(): number {
    return this.placements.size + this.outcomes.size + this.closedTrades.size;
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
    const recent = this.current.placements.get(orderId) ?? this.#leaving?.placements.get(orderId);
    const found = recent ?? this.#archive.placement(account, orderId);
    return found?.account === account && found.type === 'limit' ? found : undefined;
  }

  /** How an order ended; undefined while it rests. */
  outcome(placed: OrderPlaced): OrderOutcome | undefined {
    const { orderId, account } = placed;
    const recent = this.current.outcomes.get(orderId) ?? this.#leaving?.outcomes.get(orderId);
    return recent?.outcome ?? this.#archive.outcome(account, placed);
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
      ...this.current.placementsOf(account),
      ...(this.#leaving?.placementsOf(account) ?? []),
    ].filter((order) => order.type === 'limit');
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

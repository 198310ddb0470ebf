/**
 * Checks finished orders and closed trades, on disk and in memory, against each other and against
 * the accounts. Reads every row that there is: for `paperbook verify`, not for a running shard.
 * Rules M20 to M27 (engine/RULES.md); engine/shard/archive.ts.
 */

import type { KeyRow, RecentOrder } from '../format/event-layouts.ts';
import { Table } from '../memory/table.ts';
import { UuidIndex } from '../memory/uuid-index.ts';
import type { ClosedTrade, OrderOutcome, OrderPlaced } from '../rules/events.ts';
import { isBuy } from '../rules/flags.ts';
import type { ShardState } from '../rules/state.ts';
import type { Uuid } from '../rules/units.ts';
import { NO_ROW } from '../rules/units.ts';
import type { StoredState } from '../shard/create-state.ts';
import type { ArchiveRow, ArchiveRows, UnarchivedRecords } from '../shard/unarchived-records.ts';
import { type Check, checkClosed, checkEnd, checkTraded, restsAsPlaced } from './audit-trades.ts';
import { Problems } from './problems.ts';

export type RecordsReport = {
  limitOrders: number;
  marketOrders: number;
  closedTrades: number;
  problems: string[];
};

/** `rows`: what the archive holds; `state` has what has not reached it yet. */
export function auditRecords(state: StoredState, rows: ArchiveRows): RecordsReport {
  const audit = new RecordsAudit(state);
  const { current } = state.records;
  audit.each('keys', keyRows(rows, current), (row, check) => audit.key(row, check));
  audit.each('orders', orderRows(rows, current), (row, check) => audit.order(row, check));
  audit.each('outcomes', outcomeRows(rows, current), (row, check) => audit.outcome(row, check));
  audit.each('trades', tradeRows(rows, current), (row, check) => audit.trade(row, check));
  audit.accounts();
  return audit.report();
}

class RecordsAudit {
  readonly #state: ShardState;
  readonly #problems = new Problems();
  readonly #seen = new SeenIds();
  readonly #counts = { limitOrders: 0, marketOrders: 0, closedTrades: 0 };
  /** By account row. */
  readonly #realizedCents: Float64Array;
  readonly #closed: Uint32Array;
  /** Trades that its buys have opened, those of resting ones among them. */
  readonly #opened: Uint32Array;

  constructor(state: ShardState) {
    const { size } = state.accounts;
    this.#state = state;
    this.#realizedCents = new Float64Array(size);
    this.#closed = new Uint32Array(size);
    this.#opened = new Uint32Array(size);
  }

  /** A row of another form than its table's breaks its own check and no other. */
  each<T>(
    table: string,
    rows: Iterable<ArchiveRow<T>>,
    run: (row: ArchiveRow<T>, check: Check) => void,
  ): void {
    for (const row of rows) {
      const check = this.#checker(() => `${table} [${row.account}, ${row.name}]`);
      try {
        run(row, check);
      } catch (error) {
        check(false, `cannot be checked: ${(error as Error).message}`);
      }
    }
  }

  key({ account, name, value: { limit, market } }: ArchiveRow<KeyRow>, check: Check): void {
    if (limit !== null) {
      const placed = this.#state.records.placement(account, limit);
      check(placed !== undefined, `its order ${limit} is missing`);
      const isIts = placed === undefined || placed.idempotencyKey === name;
      check(isIts, `its order ${limit} has another key`);
    }
    check((limit === null) !== (market === null), 'is of no order, or of two');
    check(this.#state.records.placementByKey(account, name) !== undefined, 'is told as never used');
    if (market === null) return;
    const { placed, outcome } = market;
    this.#counts.marketOrders++;
    this.#countPlacement(placed, check);
    check(placed.type === 'market', `holds order ${placed.orderId}, which is no market order`);
    check(placed.idempotencyKey === name, `holds order ${placed.orderId} of another key`);
    check(placed.account === account, `holds order ${placed.orderId} of another account`);
    this.#checkOutcome(placed, outcome, check);
  }

  order({ account, name, value }: ArchiveRow<RecentOrder>, check: Check): void {
    const { records, orders, orderIds } = this.#state;
    const { placed } = value;
    this.#counts.limitOrders++;
    this.#countPlacement(placed, check);
    check(placed.type === 'limit', 'is no limit order');
    check(placed.orderId === name, `holds order ${placed.orderId}`);
    check(placed.account === account, 'belongs to another account');
    const byKey = records.placementByKey(account, placed.idempotencyKey);
    check(byKey?.orderId === placed.orderId, 'is not what its key finds');
    const row = orderIds.find(placed.orderId);
    const rests = row !== NO_ROW && orders.col.account.get(row) === account;
    const outcome = value.outcome ?? records.outcome(placed);
    check(rests || outcome !== undefined, 'neither rests nor has an outcome');
    check(!rests || outcome === undefined, 'rests and has an outcome');
    if (rests) {
      const isSame = restsAsPlaced(this.#state, row, placed);
      check(isSame, 'rests as another order than was placed');
    }
    if (value.outcome !== null) this.#checkOutcome(placed, value.outcome, check);
  }

  outcome({ account, name, value: outcome }: ArchiveRow<OrderOutcome>, check: Check): void {
    const placed = this.#state.records.placement(account, name);
    check(placed !== undefined, 'is the end of no order');
    if (placed === undefined) return;
    const known = this.#state.records.outcome(placed);
    check(known?.atMs === outcome.atMs, 'is the second end of its order');
    this.#checkOutcome(placed, outcome, check);
  }

  trade({ account, name, value: trade }: ArchiveRow<ClosedTrade>, check: Check): void {
    const { accounts, positionIds } = this.#state;
    this.#counts.closedTrades++;
    check(trade.tradeId === name, `holds trade ${trade.tradeId}`);
    check(trade.account === account, 'belongs to another account');
    check(positionIds.find(name) === NO_ROW, 'is closed and open');
    checkClosed(this.#state, trade, check);
    check(accounts.isLive(account), NO_ACCOUNT);
    if (!accounts.isLive(account)) return;
    this.#realizedCents[account]! += trade.proceedsCents - trade.costCents;
    this.#closed[account]!++;
  }

  /** Checks the archive's sums of each account against the account. */
  accounts(): void {
    const { accounts, accountIds, positionsOfAccount } = this.#state;
    const { col } = accounts;
    this.#resting();
    this.#soldParts();
    for (const row of accounts.rows()) {
      const check = this.#checker(() => `account ${accountIds.idOf(row)}`);
      const realizedCents = this.#realizedCents[row]!;
      check(
        col.lifetimeRealizedCents.get(row) === realizedCents,
        `realized ${col.lifetimeRealizedCents.get(row)} cents, its closed trades ${realizedCents}`,
      );
      const isFirstRun = col.run.get(row) === 1;
      const agrees = !isFirstRun || col.realizedCents.get(row) === realizedCents;
      check(agrees, `run 1 realized ${col.realizedCents.get(row)} cents, not ${realizedCents}`);
      const trades = positionsOfAccount.count(row) + this.#closed[row]!;
      check(
        trades === this.#opened[row],
        `has ${trades} trades, open and closed, and its buys opened ${this.#opened[row]}`,
      );
    }
  }

  #resting(): void {
    const { orders, orderIds, records } = this.#state;
    const { col } = orders;
    for (const row of orders.rows()) {
      const id = orderIds.idOf(row);
      const account = col.account.get(row);
      const isKnown = records.placement(account, id) !== undefined;
      const check = this.#checker(() => `orders row ${row} (${id})`);
      check(isKnown, 'rests, and its placement is missing');
      if (isBuy(col.flags.get(row)) && col.position.get(row) !== NO_ROW) this.#opened[account]!++;
    }
  }

  /** The sold parts of an open position are realized already. */
  #soldParts(): void {
    const { col } = this.#state.positions;
    for (const row of this.#state.positions.rows()) {
      this.#realizedCents[col.account.get(row)]! +=
        col.soldCents.get(row) - col.soldCostCents.get(row);
    }
  }

  report(): RecordsReport {
    return { ...this.#counts, problems: this.#problems.lines() };
  }

  #countPlacement({ account, orderId }: OrderPlaced, check: Check): void {
    check(this.#state.accounts.isLive(account), NO_ACCOUNT);
    check(this.#seen.add(orderId), `order ${orderId} is there twice`);
  }

  #checkOutcome(placed: OrderPlaced, outcome: OrderOutcome, check: Check): void {
    const { account, action } = placed;
    const { tradeId } = outcome;
    checkEnd(this.#state, placed, outcome, check);
    check(tradeId !== null || outcome.status !== 'executed', 'executed without a trade');
    if (tradeId === null) return;
    checkTraded(this.#state, placed, outcome, check);
    if (action === 'buy' && this.#state.accounts.isLive(account)) this.#opened[account]!++;
  }

  #checker(subject: () => string): Check {
    return (holds, rule) => {
      if (!holds) this.#problems.add(`${subject()}: ${rule}`);
    };
  }
}

const NO_ACCOUNT = 'belongs to no account';

/** Ids met so far, sixteen bytes each. */
class SeenIds {
  readonly #table = new Table('seen', { id: 'uuid' }, {});
  readonly #index = new UuidIndex(this.#table);

  /** False: it was there before. */
  add(id: string): boolean {
    if (this.#index.find(id) !== NO_ROW) return false;
    this.#index.set(this.#table.claim(), id);
    return true;
  }
}

/** The archive's rows, then those of memory that it does not have: a checkpoint may be half done. */
function* keyRows(rows: ArchiveRows, recent: UnarchivedRecords): Generator<ArchiveRow<KeyRow>> {
  const archived = new Set<Uuid>();
  for (const row of rows.keys()) {
    const orderId = row.value.limit ?? row.value.market?.placed.orderId;
    if (orderId === recent.placementByKey(row.account, row.name)?.orderId) archived.add(orderId!);
    yield row;
  }
  for (const { placed, outcome } of recentOrders(recent)) {
    const { account, idempotencyKey: name, orderId, type } = placed;
    if (archived.has(orderId)) continue;
    if (type === 'limit') yield { account, name, value: { limit: orderId, market: null } };
    else if (outcome !== null) {
      yield { account, name, value: { limit: null, market: { placed, outcome } } };
    }
  }
}

function* orderRows(
  rows: ArchiveRows,
  recent: UnarchivedRecords,
): Generator<ArchiveRow<RecentOrder>> {
  const archived = new Set<Uuid>();
  for (const row of rows.orders()) {
    // Memory has an outcome that the row does not have yet.
    const placed = recent.placement(row.name);
    if (placed !== undefined) archived.add(row.name);
    const outcome = recent.outcome(row.name) ?? null;
    yield placed?.account === row.account ? { ...row, value: { placed, outcome } } : row;
  }
  for (const value of recentOrders(recent)) {
    const { account, orderId: name, type } = value.placed;
    if (type === 'limit' && !archived.has(name)) yield { account, name, value };
  }
}

function* recentOrders({ orders, outcomes }: UnarchivedRecords): Generator<RecentOrder> {
  for (let row = 0; row < orders.log.size; row++) {
    const placed = orders.log.get(row);
    yield { placed, outcome: outcomes.find(placed.orderId) ?? null };
  }
}

function* outcomeRows(
  rows: ArchiveRows,
  recent: UnarchivedRecords,
): Generator<ArchiveRow<OrderOutcome>> {
  const archived = new Set<Uuid>();
  for (const row of rows.outcomes()) {
    if (recent.outcome(row.name) !== undefined) archived.add(row.name);
    yield row;
  }
  for (const { account, orderId: name, outcome } of recent.outcomes.entries()) {
    // Outcomes of orders in memory come with their orders.
    const isLate = recent.orders.log.find(name) === NO_ROW;
    if (isLate && !archived.has(name)) yield { account, name, value: outcome };
  }
}

function* tradeRows(
  rows: ArchiveRows,
  recent: UnarchivedRecords,
): Generator<ArchiveRow<ClosedTrade>> {
  const archived = new Set<Uuid>();
  for (const row of rows.trades()) {
    archived.add(row.name);
    yield row;
  }
  for (let row = 0; row < recent.closedTrades.size; row++) {
    const value = recent.closedTrades.get(row);
    const { account, tradeId: name } = value;
    if (!archived.has(name)) yield { account, name, value };
  }
}

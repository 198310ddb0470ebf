/**
 * Finished orders and closed trades on disk. A placement is found by its idempotency key, limit
 * orders by their id too; how an order ended is a row of its own, written once.
 */
import type { Database, RootDatabase } from 'lmdb';
import type { ClosedTrade, OrderOutcome, OrderPlaced } from '../core/events.ts';
import type { Archive, RecentRecords } from '../core/recent.ts';
import type { Uuid } from '../core/units.ts';
import { recordCodec } from './codec.ts';

export type RowKey = [account: number, id: string];
type Rows = Database<Buffer, RowKey>;
type TableName = 'keys' | 'orders' | 'outcomes' | 'trades';
export type ArchiveTables = Record<TableName, Rows>;
type Write = { table: TableName; key: RowKey; value: Uint8Array<ArrayBuffer> };

/** What `keys` holds: a limit order's id, or the whole of a market order, which has no other row. */
type KeyRow = Uuid | { placed: OrderPlaced; outcome: OrderOutcome };

export function openArchive(root: RootDatabase): ArchiveTables {
  const rows = (name: TableName) => root.openDB<Buffer, RowKey>({ name, encoding: 'binary' });
  return {
    keys: rows('keys'),
    orders: rows('orders'),
    outcomes: rows('outcomes'),
    trades: rows('trades'),
  };
}

export function archiveOf(tables: ArchiveTables): Archive {
  const read = <T>(table: Rows, account: number, id: string): T | undefined => {
    const bytes = table.get([account, id]);
    return bytes === undefined ? undefined : (recordCodec.unpack(bytes) as T);
  };
  function* newestFirst<T>(table: Rows, account: number, before: Uuid | null): Generator<T> {
    // Reverse ranges include their start: step below `before`, or above every uuid.
    const start: RowKey = [account, before ?? 'g'];
    for (const { key, value } of table.getRange({ start, end: [account, ''], reverse: true })) {
      if (key[1] !== before) yield recordCodec.unpack(value) as T;
    }
  }
  const placement = (account: number, orderId: Uuid) => {
    return read<OrderPlaced>(tables.orders, account, orderId);
  };
  return {
    placement,
    placementByKey(account, key) {
      const row = read<KeyRow>(tables.keys, account, key);
      return typeof row === 'string' ? placement(account, row) : row?.placed;
    },
    outcome(account, placed) {
      if (placed.type === 'limit') return read(tables.outcomes, account, placed.orderId);
      const row = read<KeyRow>(tables.keys, account, placed.idempotencyKey);
      return typeof row === 'string' ? undefined : row?.outcome;
    },
    closedTrade: (account, tradeId) => read<ClosedTrade>(tables.trades, account, tradeId),
    placements: (account, before) => newestFirst(tables.orders, account, before),
    closedTrades: (account, before) => newestFirst(tables.trades, account, before),
  };
}

/** The rows of one checkpoint, a table after the other, each sorted: random puts cost far more. */
export function* recordWrites(records: RecentRecords): Generator<Write> {
  const placements = [...records.placements.values()];
  for (const placed of sorted(placements, (row) => [row.account, row.idempotencyKey])) {
    const isLimit = placed.type === 'limit';
    const row = isLimit ? placed.orderId : { placed, outcome: outcomeIn(records, placed) };
    yield write('keys', [placed.account, placed.idempotencyKey], row);
  }
  const limits = placements.filter(({ type }) => type === 'limit');
  for (const placed of sorted(limits, (row) => [row.account, row.orderId])) {
    yield write('orders', [placed.account, placed.orderId], placed);
  }
  const outcomes = [...records.outcomes].map(([id, row]) => ({ id, ...row }));
  const ofLimits = outcomes.filter(({ id }) => records.placements.get(id)?.type !== 'market');
  for (const { id, account, outcome } of sorted(ofLimits, (row) => [row.account, row.id])) {
    yield write('outcomes', [account, id], outcome);
  }
  const trades = [...records.closedTrades.values()];
  for (const trade of sorted(trades, (row) => [row.account, row.tradeId])) {
    yield write('trades', [trade.account, trade.tradeId], trade);
  }
}

/** A market order is done in the batch that placed it, so the same checkpoint has its end. */
function outcomeIn(records: RecentRecords, { orderId }: OrderPlaced): OrderOutcome {
  const row = records.outcomes.get(orderId);
  if (row === undefined) throw new Error(`market order ${orderId} has no outcome`);
  return row.outcome;
}

function write(table: TableName, key: RowKey, value: unknown): Write {
  return { table, key, value: recordCodec.pack(value) };
}

function sorted<T>(rows: T[], keyOf: (row: T) => RowKey): T[] {
  return rows
    .map((row) => ({ row, key: keyOf(row) }))
    .sort((a, b) => a.key[0] - b.key[0] || (a.key[1] < b.key[1] ? -1 : 1))
    .map(({ row }) => row);
}

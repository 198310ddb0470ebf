/**
 * Finished orders and closed trades on disk. A placement is found by its idempotency key, a limit
 * order by its id too. An order that ended before its checkpoint has its outcome in its row. One
 * that ended later has its outcome in a row of its own.
 */
import { randomBytes } from 'node:crypto';
import type { Database, RootDatabase } from 'lmdb';
import {
  keyRow,
  orderRow,
  outcomeRow,
  packedKeyRow,
  packedOrderRow,
  type RowFormat,
  tradeRow,
} from '../format/event-layouts.ts';
import {
  accountAndId,
  accountAndKey,
  compareIds,
  compareKeys,
  isLimit,
  orderIdBytes,
  type PlacedBytes,
} from '../format/placement-bytes.ts';
import { uuidOfWords, uuidWord } from '../memory/uuid-words.ts';
import type { AccountRow, Uuid } from '../rules/units.ts';
import type { Readable } from './readable.ts';
import type { Archive, ArchiveRow, ArchiveRows, UnarchivedRecords } from './unarchived-records.ts';

/** The account row, big-endian, and then an idempotency key as text or a uuid as 16 bytes. */
type RowKey = Buffer;
export type ArchiveTable = 'usedKeys' | 'keys' | 'orders' | 'outcomes' | 'trades';
export type ArchiveTables = Record<ArchiveTable, Database<Buffer, RowKey>>;
/** The tables, or what one snapshot shows of them. */
export type ArchiveReading = Record<ArchiveTable, Readable<RowKey>>;
type Write = { table: ArchiveTable; key: RowKey; value: Buffer };

export function openArchive(root: RootDatabase): ArchiveTables {
  const rows = (name: ArchiveTable) => {
    return root.openDB<Buffer, RowKey>({ name, encoding: 'binary', keyEncoding: 'binary' });
  };
  return {
    usedKeys: rows('usedKeys'),
    keys: rows('keys'),
    orders: rows('orders'),
    outcomes: rows('outcomes'),
    trades: rows('trades'),
  };
}

/** Every row, in the order of the keys. Throws on a row that cannot be decoded, and names it. */
export function archiveRowsOf(tables: ArchiveReading): ArchiveRows {
  function* rows<T>(table: ArchiveTable, row: RowFormat<T>): Generator<ArchiveRow<T>> {
    for (const { key, value } of tables[table].getRange({})) {
      const account = key.readUInt32BE(0) as AccountRow;
      const name = table === 'keys' ? key.toString('utf8', 4) : idIn(key);
      try {
        yield { account, name, value: row.unpack(value) };
      } catch (error) {
        throw new Error(`${table} [${account}, ${name}]: ${(error as Error).message}`);
      }
    }
  }
  return {
    keys: () => rows('keys', keyRow),
    orders: () => rows('orders', orderRow),
    outcomes: () => rows('outcomes', outcomeRow),
    trades: () => rows('trades', tradeRow),
  };
}

export function archiveOf(tables: ArchiveReading): Archive {
  function find<T>(table: ArchiveTable, row: RowFormat<T>, key: RowKey): T | undefined {
    const bytes = tables[table].getBinaryFast(key);
    return bytes === undefined ? undefined : row.unpack(bytes);
  }
  /** Rows of one account, newest first, below `before`. */
  function* newestFirst<T>(table: ArchiveTable, row: RowFormat<T>, range: Range): Generator<T> {
    const { account, before } = range;
    // A reverse range includes its start, so it starts just below `before`.
    const start = before === null ? endOf(account) : idKey(account, before);
    const end = idKey(account, NIL);
    for (const { key, value } of tables[table].getRange({ start, end, reverse: true })) {
      if (before === null || !key.equals(start)) yield row.unpack(value);
    }
  }
  const orderOf = (account: AccountRow, id: Uuid) => find('orders', orderRow, idKey(account, id));
  const keyOf = (account: AccountRow, key: string) => find('keys', keyRow, textKey(account, key));
  return {
    placement: (account, orderId) => orderOf(account, orderId)?.placed,
    placementByKey(account, key) {
      const row = keyOf(account, key);
      if (row === undefined) return undefined;
      return row.limit === null ? row.market!.placed : orderOf(account, row.limit)?.placed;
    },
    outcome({ account, orderId, idempotencyKey, type }) {
      if (type === 'market') return keyOf(account, idempotencyKey)?.market?.outcome ?? undefined;
      const key = idKey(account, orderId);
      return find('orders', orderRow, key)?.outcome ?? find('outcomes', outcomeRow, key);
    },
    closedTrade: (account, tradeId) => find('trades', tradeRow, idKey(account, tradeId)),
    *placements(account, before) {
      for (const row of newestFirst('orders', orderRow, { account, before })) yield row.placed;
    },
    closedTrades: (account, before) => newestFirst('trades', tradeRow, { account, before }),
    newKeySeed: randomBytes(4).readInt32LE(0),
    *keyHashes() {
      let rows = 0;
      for (const { value } of tables.usedKeys.getRange({})) {
        const words = new Int32Array(Uint8Array.from(value).buffer);
        yield { seed: words[0]!, hashes: words.subarray(1) };
        rows++;
      }
      for (const _ of rows === 0 ? tables.keys.getKeys({ limit: 1 }) : []) {
        throw new Error('table usedKeys lacks what is in keys: another version has written it');
      }
    },
  };
}

type Range = { account: AccountRow; before: Uuid | null };

/**
 * The rows of one checkpoint, in the order of each table's keys: puts in random order are far
 * slower.
 */
export function* recordWrites({
  orders,
  outcomes,
  closedTrades,
}: UnarchivedRecords): Generator<Write> {
  yield* usedKeyWrites(orders);
  const { log } = orders;
  for (const account of log.accounts()) {
    const placements = Array.from(log.rowsOf(account), (row) => log.bytesOf(row));
    for (const placed of placements.sort(compareKeys)) {
      const value = packedKeyRow.pack(keyRowOf(placed, outcomes));
      yield { table: 'keys', key: accountAndKey(placed), value };
    }
    for (const placed of placements.filter(isLimit).sort(compareIds)) {
      const value = packedOrderRow.pack({ placed, outcome: outcomes.take(placed) ?? null });
      yield { table: 'orders', key: accountAndId(placed), value };
    }
  }
  for (const account of closedTrades.accounts()) {
    const rows = [...closedTrades.rowsOf(account)];
    const trades = rows.map((row) => ({ row, tradeId: closedTrades.idOf(row) }));
    for (const { row, tradeId } of trades.sort((a, b) => byText(a.tradeId, b.tradeId))) {
      const value = Buffer.from(closedTrades.bytesOf(row));
      yield { table: 'trades', key: idKey(account, tradeId), value };
    }
  }
  // The outcomes of orders that an earlier checkpoint wrote.
  const late = [...outcomes.left()].sort((a, b) => a.account - b.account || byId(a, b));
  for (const { account, orderId, outcome } of late) {
    yield { table: 'outcomes', key: idKey(account, orderId), value: outcomeRow.pack(outcome) };
  }
}

/**
 * Written before everything else: a key that is on disk without its hash could be used a second
 * time. A row's key is the id of one of its orders. So only a checkpoint that writes all of these
 * orders again replaces it.
 */
function* usedKeyWrites(orders: UnarchivedRecords['orders']): Generator<Write> {
  let part = 0;
  for (const { seed, hashes } of orders.keyHashes()) {
    const words = Int32Array.of(seed, ...hashes);
    const key = idKey(part++, orders.log.idOf(0));
    yield { table: 'usedKeys', key, value: Buffer.from(words.buffer) };
  }
}

/** A limit order has a row of its own. A market order is done, and this is its only row. */
function keyRowOf(placed: PlacedBytes, outcomes: UnarchivedRecords['outcomes']) {
  if (isLimit(placed)) return { limit: orderIdBytes(placed), market: null };
  const outcome = outcomes.take(placed);
  if (outcome === undefined) throw new Error('a market order has no outcome');
  return { limit: null, market: { placed, outcome } };
}

const ID_BYTES = 16;
const NIL: Uuid = '00000000-0000-0000-0000-000000000000';

function idKey(account: number, id: Uuid): RowKey {
  const key = Buffer.allocUnsafe(4 + ID_BYTES);
  key.writeUInt32BE(account, 0);
  key.writeUInt32BE(uuidWord(id, 0), 4);
  key.writeUInt32BE(uuidWord(id, 1), 8);
  key.writeUInt32BE(uuidWord(id, 2), 12);
  key.writeUInt32BE(uuidWord(id, 3), 16);
  return key;
}

function idIn(key: RowKey): Uuid {
  return uuidOfWords(
    key.readUInt32BE(4),
    key.readUInt32BE(8),
    key.readUInt32BE(12),
    key.readUInt32BE(16),
  );
}

function textKey(account: AccountRow, text: string): RowKey {
  const key = Buffer.allocUnsafe(4 + Buffer.byteLength(text));
  key.writeUInt32BE(account, 0);
  key.write(text, 4);
  return key;
}

/** Above every row of an account. */
function endOf(account: AccountRow): RowKey {
  return Buffer.concat([idKey(account, NIL).subarray(0, 4), Buffer.alloc(ID_BYTES + 1, 255)]);
}

const byText = (a: string, b: string) => (a < b ? -1 : 1);
const byId = (a: { orderId: Uuid }, b: { orderId: Uuid }) => byText(a.orderId, b.orderId);

/**
 * One shard's LMDB environment: the journal, the pages of its tables, and the archive of what left
 * memory. The journal is written on the hot path, one record a batch; the rest at checkpoints,
 * in one transaction with the journal sequence that it covers.
 */
import { mkdirSync } from 'node:fs';
import { type Database, open, type RootDatabase } from 'lmdb';
import type { ClosedTrade, Event, OrderOutcome, OrderPlaced } from '../core/events.ts';
import type { Archive, RecentRecords } from '../core/recent.ts';
import type { Uuid } from '../core/units.ts';
import { eventsCodec, recordCodec } from './codec.ts';

/** `sync`: on disk; `commit`: survives a crash of the process. CONTRACT.md section 8. */
export type Durability = 'sync' | 'commit';

type Rows = Database<Buffer, [account: number, id: string]>;

/** Everything a checkpoint writes. */
export type Checkpoint = {
  /** The journal sequence that the pages and records cover. */
  sequence: number;
  /** Small state, one msgpack value. */
  head: unknown;
  pages: { table: string; page: number; bytes: Uint8Array }[];
  records: RecentRecords;
};

export type ShardStore = ReturnType<typeof openStore>;

/** Opens or creates the environment at `path`. Never twice in one process. */
export function openStore(path: string, durability: Durability) {
  mkdirSync(path, { recursive: true });
  const root = open({ path, maxDbs: 8, noSync: durability === 'commit', encoding: 'binary' });
  const binary = (name: string) => root.openDB({ name, encoding: 'binary' });
  const journal = root.openDB({ name: 'journal', encoding: 'binary', keyEncoding: 'uint32' });
  const pages = binary('pages') as Database<Buffer, [table: string, page: number]>;
  const heads = binary('heads') as Database<Buffer, string>;
  const tables = {
    keys: binary('keys') as Rows,
    orders: binary('orders') as Rows,
    outcomes: binary('outcomes') as Rows,
    trades: binary('trades') as Rows,
  };

  return {
    archive: createArchive(tables),

    /** Resolves when the batch is as safe as the durability promises. */
    async append(sequence: number, events: Event[]): Promise<void> {
      await journal.put(sequence, Buffer.from(eventsCodec.pack(events).buffer));
      if (durability === 'sync') await root.flushed;
    },

    /** Journal batches after a sequence, in order. */
    *journalAfter(sequence: number): Generator<{ sequence: number; events: Event[] }> {
      for (const { key, value } of journal.getRange({ start: sequence + 1 })) {
        yield { sequence: Number(key), events: eventsCodec.unpack(value as Buffer) };
      }
    },

    /** The newest checkpoint's head, or null in a new environment. */
    readHead(): unknown {
      const bytes = heads.get('head');
      return bytes === undefined ? null : recordCodec.unpack(bytes);
    },

    *readPages(table: string): Generator<{ page: number; bytes: Uint8Array }> {
      const range = { start: [table, 0] as [string, number], end: [table, Infinity] as never };
      for (const { key, value } of pages.getRange(range)) yield { page: key[1], bytes: value };
    },

    async writeCheckpoint(checkpoint: Checkpoint): Promise<void> {
      await root.transaction(() => {
        for (const { table, page, bytes } of checkpoint.pages) {
          pages.put([table, page], Buffer.from(bytes.buffer));
        }
        writeRecords(tables, checkpoint.records);
        heads.put('head', pack(checkpoint.head));
        for (const key of journal.getKeys({ end: checkpoint.sequence + 1 })) journal.remove(key);
      });
      await root.flushed;
    },

    close: () => closeRoot(root),
  };
}

async function closeRoot(root: RootDatabase): Promise<void> {
  await root.flushed;
  await root.close();
}

function pack(value: unknown): Buffer {
  return Buffer.from(recordCodec.pack(value).buffer);
}

type Tables = { keys: Rows; orders: Rows; outcomes: Rows; trades: Rows };

/** Sorted by key: random puts cost several times more. */
function writeRecords(tables: Tables, records: RecentRecords): void {
  const placed = [...records.placements.values()];
  for (const order of sorted(placed, (row) => [row.account, row.idempotencyKey])) {
    tables.keys.put([order.account, order.idempotencyKey], pack(order));
  }
  const limits = placed.filter((order) => order.type === 'limit');
  for (const order of sorted(limits, (row) => [row.account, row.orderId])) {
    tables.orders.put([order.account, order.orderId], pack(order));
  }
  const outcomes = [...records.outcomes].map(([id, row]) => ({ id, ...row }));
  for (const { id, account, outcome } of sorted(outcomes, (row) => [row.account, row.id])) {
    tables.outcomes.put([account, id], pack(outcome));
  }
  const trades = [...records.closedTrades.values()];
  for (const trade of sorted(trades, (row) => [row.account, row.tradeId])) {
    tables.trades.put([trade.account, trade.tradeId], pack(trade));
  }
}

function sorted<T>(rows: T[], keyOf: (row: T) => [number, string]): T[] {
  return rows
    .map((row) => ({ row, key: keyOf(row) }))
    .sort((a, b) => a.key[0] - b.key[0] || (a.key[1] < b.key[1] ? -1 : 1))
    .map(({ row }) => row);
}

function createArchive(tables: Tables): Archive {
  const read = <T>(table: Rows, account: number, id: string): T | undefined => {
    const bytes = table.get([account, id]);
    return bytes === undefined ? undefined : (recordCodec.unpack(bytes) as T);
  };
  function* newestFirst<T>(table: Rows, account: number, before: Uuid | null): Generator<T> {
    // Reverse ranges include their start: step below `before`, or above every uuid.
    const start: [number, string] = [account, before ?? 'g'];
    for (const { key, value } of table.getRange({ start, end: [account, ''], reverse: true })) {
      if (key[1] !== before) yield recordCodec.unpack(value) as T;
    }
  }
  return {
    placementByKey: (account, key) => read<OrderPlaced>(tables.keys, account, key),
    placement: (account, orderId) => read<OrderPlaced>(tables.orders, account, orderId),
    outcome: (account, orderId) => read<OrderOutcome>(tables.outcomes, account, orderId),
    closedTrade: (account, tradeId) => read<ClosedTrade>(tables.trades, account, tradeId),
    placements: (account, before) => newestFirst(tables.orders, account, before),
    closedTrades: (account, before) => newestFirst(tables.trades, account, before),
  };
}

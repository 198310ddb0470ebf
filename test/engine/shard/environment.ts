/** A shard's environment that has a bit of everything, and ways to break what lies in it. */
import { type Database, type Key, open } from 'lmdb';
import {
  orderRow,
  outcomeRow,
  type RowFormat,
  tradeRow,
} from '../../../engine/format/event-layouts.ts';
import { PAGE_ROWS } from '../../../engine/memory/table.ts';
import type { PlaceOrder, Reply } from '../../../engine/rules/messages.ts';
import { tablesOf } from '../../../engine/rules/state.ts';
import { ACCOUNT_LIMITS, KEY_LIMITS } from '../../../engine/rules/trade-limits.ts';
import { createState } from '../../../engine/shard/create-state.ts';
import { Shard } from '../../../engine/shard/shard.ts';
import { STAMP_BYTES } from '../../../engine/shard/store.ts';
import { AWAY, CATALOG, NOON_MS, placeOrder, quoteTick, uuidOf } from '../fixtures.ts';

export const ALICE = uuidOf(1);
export const BOB = uuidOf(2);
const DAY_MS = 86_400_000;

export function openShard(path: string, checkpointEveryEvents = 1000): Shard {
  return new Shard({
    path,
    durability: 'commit',
    checkpointEveryEvents,
    quoteMaxAgeMs: 15_000,
    routingBandCents: 10,
    fillModel: 'top_of_book',
  });
}

/** Ids of what `tradedShard` leaves. */
export type Traded = { closed: string; open: string; resting: string; canceled: string };

/** Alice's orders are in a checkpoint, Bob's are in the journal behind it. */
export async function tradedShard(path: string): Promise<Traded> {
  const shard = openShard(path);
  shard.run([{ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG }, quoteTick()]);
  const limits = { keyLimits: KEY_LIMITS, accountLimits: ACCOUNT_LIMITS };
  const counting = { keyId: uuidOf(900), ...limits, elsewhere: null };
  const closed = place(shard, { account: ALICE, idempotencyKey: 'closed', counting }).trade.tradeId;
  const open = place(shard, { account: ALICE, idempotencyKey: 'open' }).trade.tradeId;
  place(shard, { account: ALICE, action: 'sell', tradeId: closed, idempotencyKey: 'sold' });
  const resting = place(shard, {
    account: ALICE,
    idempotencyKey: 'resting',
    type: 'limit',
    limitPriceCents: 20,
    expiresAtMs: NOON_MS + DAY_MS,
  }).order.orderId;
  const canceled = place(shard, {
    account: ALICE,
    idempotencyKey: 'canceled',
    type: 'limit',
    timeInForce: 'ioc',
    limitPriceCents: 20,
  }).order.orderId;
  place(shard, {
    account: ALICE,
    idempotencyKey: 'selling',
    action: 'sell',
    type: 'limit',
    tradeId: open,
    limitPriceCents: 90,
  });
  shard.checkpoint();
  shard.run([{ kind: 'adjust', atMs: NOON_MS, account: ALICE, amountCents: 500 }]);
  place(shard, { account: BOB, idempotencyKey: 'bob-1' });
  place(shard, { account: BOB, idempotencyKey: 'bob-2', type: 'limit', limitPriceCents: 10 });
  await shard.abandon();
  return { closed, open, resting, canceled };
}

// biome-ignore lint/suspicious/noExplicitAny: answers are read by name, as any client does
function place(shard: Shard, over: Partial<PlaceOrder>): any {
  const [reply] = shard.run([placeOrder({ instrumentId: over.tradeId ? null : AWAY, ...over })]);
  if (reply?.ok !== true) throw new Error((reply as Reply & { ok: false }).message);
  return JSON.parse(reply.body);
}

type ArchiveName = 'keys' | 'orders' | 'outcomes' | 'trades';
export type Tables = Record<'journal' | 'pages' | 'heads', Database<Buffer, Key>> &
  Record<ArchiveName, ArchiveTable> & { usedKeys: Database<Buffer, Buffer> };

/** Archive rows by account row and name: an idempotency key, or an id. */
type ArchiveTable = {
  get(account: number, name: string): Buffer;
  put(account: number, name: string, row: Buffer): void;
  remove(account: number, name: string): void;
};

/** Changes an environment that nobody has open. */
export async function plant(path: string, change: (tables: Tables) => void): Promise<void> {
  const root = open({ path, maxDbs: 8, encoding: 'binary' });
  const table = (name: string) => root.openDB<Buffer, Key>({ name, encoding: 'binary' });
  const binary = (name: string) =>
    root.openDB<Buffer, Buffer>({ name, encoding: 'binary', keyEncoding: 'binary' });
  const archive = (name: ArchiveName): ArchiveTable => {
    const rows = binary(name);
    return {
      get: (account, row) => rows.get(keyOf(account, row))!,
      put: (account, row, bytes) => rows.putSync(keyOf(account, row), bytes),
      remove(account, row) {
        if (!rows.removeSync(keyOf(account, row))) throw new Error(`${name} has no ${row}`);
      },
    };
  };
  change({
    journal: table('journal'),
    pages: table('pages'),
    heads: table('heads'),
    usedKeys: binary('usedKeys'),
    keys: archive('keys'),
    orders: archive('orders'),
    outcomes: archive('outcomes'),
    trades: archive('trades'),
  });
  await root.flushed;
  await root.close();
}

function keyOf(account: number, name: string): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(account, 0);
  const isId = /^[0-9a-f]{8}-/.test(name);
  const tail = isId ? Buffer.from(name.replaceAll('-', ''), 'hex') : Buffer.from(name);
  return Buffer.concat([head, tail]);
}

const FORMATS = { orders: orderRow, outcomes: outcomeRow, trades: tradeRow };
type Format<N extends keyof typeof FORMATS> =
  (typeof FORMATS)[N] extends RowFormat<infer T> ? T : never;

/** Changes one record of an archive table. */
export function changeRecord<N extends keyof typeof FORMATS>(
  tables: Tables,
  name: N,
  id: string,
  change: (row: Format<N>) => Format<N>,
): void {
  const format = FORMATS[name] as unknown as RowFormat<Format<N>>;
  tables[name].put(0, id, format.pack(change(format.unpack(tables[name].get(0, id)))));
}

/** The newest batch of a journal. */
export function lastBatch({ journal }: Tables): number {
  const [key] = journal.getKeys({ reverse: true, limit: 1 });
  return key as number;
}

/** Writes one cell of row `row` in both copies of its table's page 0. */
export function setCell(
  { pages }: Tables,
  name: 'accounts' | 'orders' | 'positions' | 'tradeCounts',
  column: string,
  row: number,
  value: number,
): void {
  const state = createState(
    { quoteMaxAgeMs: 1, routingBandCents: 0, fillModel: 'top_of_book' as const },
    { keyHashes: () => [] } as never,
  );
  const { layout, pageBytes } = tablesOf(state).find((table) => table.name === name)!;
  const [, offset, type] = layout.match(new RegExp(`\\b${column}@(\\d+):(\\w+)`)) ?? [];
  if (offset === undefined) throw new Error(`${name} has no column ${column}`);
  const cell = STAMP_BYTES + row * (pageBytes / PAGE_ROWS) + Number(offset);
  for (const copy of [0, 1] as const) {
    const page = pages.get([name, 0, copy]);
    if (page === undefined) continue;
    const bytes = Buffer.from(page);
    if (type === 'uuid') bytes.fill(value, cell, cell + 16);
    else if (type === 'f64') bytes.writeDoubleLE(value, cell);
    else if (type === 'u8') bytes.writeUInt8(value, cell);
    else if (type === 'i32') bytes.writeInt32LE(value, cell);
    else bytes.writeUInt32LE(value, cell);
    pages.putSync([name, 0, copy], bytes);
  }
}

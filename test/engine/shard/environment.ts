/** A shard's environment with every kind of content, and ways to damage it. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import nodePath from 'node:path';
import { type Database, type Key, open } from 'lmdb';
import type { FillModelName } from '../../../engine/base/units.ts';
import { ByteReader, ByteWriter } from '../../../engine/format/bytes.ts';
import { headCodec } from '../../../engine/format/codec.ts';
import { readFact, writeFact } from '../../../engine/format/fact-layouts.ts';
import type { PieceKey } from '../../../engine/index/run-store.ts';
import { LogReader } from '../../../engine/log/log-reader.ts';
import { LogWriter } from '../../../engine/log/log-writer.ts';
import { pageWordsOf, putRow, ROW_WORDS_MAX, takeRow } from '../../../engine/memory/row-pages.ts';
import type { Fact } from '../../../engine/rules/facts.ts';
import type { PlaceOrder, Reply } from '../../../engine/rules/messages.ts';
import { tablesOf } from '../../../engine/rules/state.ts';
import { ACCOUNT_LIMITS, KEY_LIMITS } from '../../../engine/rules/trade-limits.ts';
import { createState } from '../../../engine/shard/core/create-state.ts';
import {
  type PageKey,
  pageWords,
  rowsOfPage,
} from '../../../engine/shard/store/checkpoint-values.ts';
import { SEAL_BYTES, sealed, unsealed } from '../../../engine/shard/store/checksummed.ts';
import { identityOf } from '../../../engine/shard/store/data-format.ts';
import { Shard } from '../../../engine/shard/thread/shard.ts';
import { AWAY, CATALOG, NOON_MS, placeOrder, quoteTick, uuidOf } from '../fixtures.ts';

export const ALICE = uuidOf(1);
export const BOB = uuidOf(2);
const DAY_MS = 86_400_000;

export function openShard(
  path: string,
  checkpointEveryFacts = 1000,
  fillModel: FillModelName = 'top_of_book',
): Promise<Shard> {
  return Shard.open({
    path,
    shard: Number(/shard-(\d+)$/.exec(path)?.[1] ?? 0),
    durability: 'commit',
    checkpointEveryFacts,
    quoteMaxAgeMs: 15_000,
    routingBandCents: 10,
    fillModel,
  });
}

/** Ids of the orders and trades of `tradedShard`. */
export type Traded = { closed: string; open: string; resting: string; canceled: string };

/** Alice's orders are in a checkpoint, Bob's are in the log after it. */
export async function tradedShard(path: string): Promise<Traded> {
  const shard = await openShard(path);
  shard.run([{ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG }, quoteTick()]);
  const limits = { keyLimits: KEY_LIMITS, accountLimits: ACCOUNT_LIMITS };
  const counting = { keyId: uuidOf(900), ...limits, elsewhere: null };
  const closed = place(shard, { account: ALICE, idempotencyKey: 'closed', counting }).trade.tradeId;
  const open = place(shard, { account: ALICE, idempotencyKey: 'open' }).trade.tradeId;
  place(shard, { account: ALICE, action: 'sell', tradeId: closed, idempotencyKey: 'sold' });
  const resting = place(shard, {
    account: ALICE,
    idempotencyKey: 'resting',
    limitPriceCents: 20,
    expiresAtMs: NOON_MS + DAY_MS,
  }).order.orderId;
  const canceled = place(shard, {
    account: ALICE,
    idempotencyKey: 'canceled',
    timeInForce: 'ioc',
    limitPriceCents: 20,
  }).order.orderId;
  place(shard, {
    account: ALICE,
    idempotencyKey: 'selling',
    action: 'sell',
    tradeId: open,
    limitPriceCents: 90,
  });
  await shard.checkpoint();
  shard.run([{ kind: 'adjust', atMs: NOON_MS, account: ALICE, amountCents: 500 }]);
  place(shard, { account: BOB, idempotencyKey: 'bob-1' });
  place(shard, { account: BOB, idempotencyKey: 'bob-2', limitPriceCents: 10 });
  await shard.abandon();
  return { closed, open, resting, canceled };
}

// biome-ignore lint/suspicious/noExplicitAny: answers are read by name, as any client does
function place(shard: Shard, over: Partial<PlaceOrder>): any {
  const [reply] = shard.run([placeOrder({ instrumentId: over.tradeId ? null : AWAY, ...over })]);
  if (reply?.ok !== true) throw new Error((reply as Reply & { ok: false }).message);
  return JSON.parse(reply.body);
}

export type Tables = {
  pages: Database<Buffer, Key>;
  heads: Database<Buffer, Key>;
  runs: Database<Buffer, PieceKey>;
};

/** Changes an environment that nobody has open. */
export async function plant(path: string, change: (tables: Tables) => void): Promise<void> {
  const root = open({ path, maxDbs: 8, encoding: 'binary' });
  const table = (name: string) => root.openDB<Buffer, Key>({ name, encoding: 'binary' });
  const runs = root.openDB<Buffer, PieceKey>({ name: 'runs', encoding: 'binary' });
  change({ pages: table('pages'), heads: table('heads'), runs });
  await root.flushed;
  await root.close();
}

/** Changes the content of a sealed value, and seals it again. */
export function changeHead(
  { heads }: Tables,
  key: 'format' | 'head' | 'world',
  change: (head: Record<string, unknown>) => object,
): void {
  const value = headCodec.unpack(unsealed(heads.get(key)!, key)) as Record<string, unknown>;
  heads.putSync(key, sealed(headCodec.pack(change(value))));
}

/** A record of the log, its facts decoded. */
export type PlantedRecord = { atMs: number; facts: Fact[] };

/**
 * Writes the log of a shard that nobody has open once more, with other facts. Their number and
 * lengths may change. Then the checkpoint belongs to another log.
 */
export function rewriteLog(path: string, change: (records: PlantedRecord[]) => void): void {
  const directory = nodePath.join(path, 'log');
  const identity = identityOf(0);
  const reader = LogReader.open(directory, identity);
  const records = Array.from(reader.records(0), ({ atMs, payload }) => {
    const from = new ByteReader(payload);
    const facts: Fact[] = [];
    while (!from.isAtEnd) facts.push(readFact(from));
    return { atMs, facts };
  });
  reader.close();
  change(records);
  for (const name of readdirSync(directory)) rmSync(nodePath.join(directory, name));
  const writer = LogWriter.open(directory, { ...identity, durability: 'commit' });
  for (const { atMs, facts } of records) {
    const to = new ByteWriter();
    for (const fact of facts) writeFact(to, fact);
    const { nextNumber: firstNumber } = writer;
    writer.append({ firstNumber, count: facts.length, atMs, payload: to.copy() });
  }
  writer.close();
}

/** Appends a record of these facts to the log of a shard that nobody has open. */
export function appendFacts(path: string, facts: Fact[]): void {
  rewriteLog(path, (records) => records.push({ atMs: 0, facts }));
}

/** Turns over the bits of a byte of a file. */
export function flipByte(path: string, file: string, at: number): void {
  const name = nodePath.join(path, file);
  const bytes = readFileSync(name);
  bytes[at]! ^= 0xff;
  writeFileSync(name, bytes);
}

/** Writes one cell of row `row` in every page of its table that has the row. */
export function setCell(
  { pages }: Tables,
  name: 'accounts' | 'orders' | 'positions' | 'tradeCounts',
  column: string,
  row: number,
  value: number,
): void {
  const state = createState(CONFIG, {} as never);
  const { layout } = tablesOf(state).find((table) => table.name === name)!;
  const [, offset, type] = layout.match(new RegExp(`\\b${column}@(\\d+):(\\w+)`)) ?? [];
  const storedWords = Number(/(\d+) bytes$/.exec(layout)![1]) / WORD_BYTES;
  if (offset === undefined) throw new Error(`${name} has no column ${column}`);
  const cell = Number(offset);
  for (const { key, value: page } of [...pages.getRange({ start: [name, 0, 0] })]) {
    const [table, checkpoint, number] = key as PageKey;
    if (table !== name) return;
    const rows = rowsOfPage([table, checkpoint, number], page, pageWords());
    const changed = new Uint32Array(rows.length + pageWordsOf(ROW_WORDS_MAX));
    let end = 0;
    for (let at = 0; at < rows.length; ) {
      const words = new Uint32Array(storedWords);
      const bytes = Buffer.from(words.buffer);
      const here = rows[at]!;
      at = takeRow(rows, at, words, 0, storedWords);
      if (here === row) setBytes(bytes, { cell, type: type!, value });
      end = putRow(changed, end, here, words, 0, storedWords);
    }
    const head = page.subarray(SEAL_BYTES, page.length - rows.byteLength);
    const body = Buffer.from(changed.buffer, 0, end * WORD_BYTES);
    pages.putSync(key, sealed(head, body));
  }
}

const WORD_BYTES = 4;

type Cell = { cell: number; type: string; value: number };

function setBytes(bytes: Buffer, { cell, type, value }: Cell): void {
  if (type === 'uuid') bytes.fill(value, cell, cell + 16);
  else if (type === 'f64') bytes.writeDoubleLE(value, cell);
  else if (type === 'u8') bytes.writeUInt8(value, cell);
  else if (type === 'i32') bytes.writeInt32LE(value, cell);
  else bytes.writeUInt32LE(value, cell);
}
const CONFIG = { quoteMaxAgeMs: 1, routingBandCents: 0, fillModel: 'top_of_book' } as const;

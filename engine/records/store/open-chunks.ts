/**
 * Open trades on disk. A trade that was opened, or has changed, is appended to the last chunk; what
 * is gone of a chunk is a bit. A chunk that is mostly gone is taken away, and the rest of it is
 * appended again. So what an open trade costs to write does not depend on how many there are, or in
 * which order they end. Rules Y2, Y94 (engine/RULES.md).
 */
import { invariant } from '../../base/invariant.ts';
import { sorted } from '../maths/radix.ts';
import type { Database, Statement } from './database.ts';

/** One open trade, as it is written. `words`: of its id. */
export type OpenTradeRow = {
  words: readonly [number, number, number, number];
  trade: number;
  trader: number;
  market: number;
  contracts: number;
  costCents: number;
  /** What sales of its parts have brought, without what those parts had cost. */
  realizedCents: number;
  openedAtMs: number;
  isYes: boolean;
};

/** Where a trade lies on disk: the number of its chunk, times the rows of a chunk, and its row. */
export type OpenPlace = number;
/** It is not on disk, or not as it is now. */
export const NO_PLACE: OpenPlace = -1;

const ROWS = 256;
/** Offsets of the fields in a row. */
const [TRADE, TRADER, MARKET, CONTRACTS, COST, REALIZED, OPENED, SIDE] = [
  16, 20, 24, 28, 32, 40, 48, 56,
];
const ROW_BYTES = SIDE + 1;
/** With so few rows left, a chunk is taken away. */
const FEW = ROWS / 4;

/** `rows`: of each row in use, what the caller calls its trade; `GONE`. */
type Chunk = { rows: Int32Array; left: number };
const GONE = -1;
/** A place has 31 bits. A file that is made again begins from the first. */
const PLACES_MAX = 2 ** 31;

export class OpenChunks {
  readonly #chunks = new Map<number, Chunk>();
  readonly #put: Statement;
  readonly #putGone: Statement;
  readonly #drop: Statement;
  readonly #dropGone: Statement;
  /** Chunks of which something is gone since the last write. */
  readonly #touched = new Set<number>();
  /** The last chunk, to which rows are appended. */
  #last = 0;
  #tail = Buffer.alloc(ROWS * ROW_BYTES);
  #tailRows = 0;

  /** Takes every open trade of the file, in the order of their opening. */
  constructor(database: Database, take: (row: OpenTradeRow, place: OpenPlace) => number) {
    this.#put = database.prepare('INSERT OR REPLACE INTO open_chunks VALUES (?, ?)');
    this.#putGone = database.prepare('INSERT OR REPLACE INTO open_gone VALUES (?, ?)');
    this.#drop = database.prepare('DELETE FROM open_chunks WHERE chunk = ?');
    this.#dropGone = database.prepare('DELETE FROM open_gone WHERE chunk = ?');
    const { bytes, places, last } = openRowsIn(database);
    for (const [at, place] of places.entries()) {
      const chunk = this.#chunkOf(place);
      chunk.rows[place % ROWS] = take(rowIn(bytes, at * ROW_BYTES), place);
      chunk.left++;
    }
    if (last === null) return;
    this.#last = last.chunk;
    this.#tail.set(last.bytes);
    this.#tailRows = last.bytes.length / ROW_BYTES;
  }

  /** The trade at a place is gone, or is appended again. */
  leave(place: OpenPlace): void {
    const number = Math.floor(place / ROWS);
    const chunk = this.#chunks.get(number);
    invariant(chunk !== undefined, 'an open trade lies in no chunk');
    invariant(chunk.rows[place % ROWS] !== GONE, 'an open trade leaves its place twice');
    chunk.rows[place % ROWS] = GONE;
    chunk.left--;
    this.#touched.add(number);
  }

  /** Takes chunks away that are mostly gone. @returns the trades that they still had */
  takeSparse(): number[] {
    const trades: number[] = [];
    for (const number of this.#touched) {
      const { rows, left } = this.#chunks.get(number)!;
      if (number === this.#last || left > FEW) continue;
      for (const trade of rows) if (trade !== GONE) trades.push(trade);
      this.#chunks.delete(number);
      this.#touched.delete(number);
      this.#drop.run(number);
      this.#dropGone.run(number);
    }
    return trades;
  }

  /** @returns where the trade lies once `write` has returned */
  append(trade: number, row: OpenTradeRow): OpenPlace {
    if (this.#tailRows === ROWS) this.#begin();
    const place = this.#last * ROWS + this.#tailRows;
    invariant(place < PLACES_MAX, 'open trades were written more often than places are counted');
    putRow(this.#tail, this.#tailRows * ROW_BYTES, row);
    this.#tailRows++;
    const chunk = this.#chunkOf(place);
    chunk.rows[place % ROWS] = trade;
    chunk.left++;
    return place;
  }

  /** Writes what was appended and what is gone. */
  write(): void {
    this.#putTail();
    for (const number of this.#touched) {
      const { rows } = this.#chunks.get(number)!;
      const bits = Buffer.alloc(ROWS / 8);
      const end = number === this.#last ? this.#tailRows : ROWS;
      for (let row = 0; row < end; row++) {
        if (rows[row] === GONE) bits[row >> 3]! |= 1 << (row & 7);
      }
      this.#putGone.run(number, bits);
    }
    this.#touched.clear();
  }

  #begin(): void {
    this.#putTail();
    // It may have been mostly gone for a while, and is taken away like the others from now on.
    this.#touched.add(this.#last);
    this.#last++;
    this.#tailRows = 0;
  }

  #putTail(): void {
    if (this.#tailRows === 0) return;
    this.#put.run(this.#last, this.#tail.subarray(0, this.#tailRows * ROW_BYTES));
  }

  #chunkOf(place: OpenPlace): Chunk {
    const number = Math.floor(place / ROWS);
    const known = this.#chunks.get(number);
    if (known !== undefined) return known;
    const chunk = { rows: new Int32Array(ROWS).fill(GONE), left: 0 };
    this.#chunks.set(number, chunk);
    return chunk;
  }
}

/**
 * The open trades of a file in the order of their opening: the bytes of their rows, and their
 * places. Equal bytes are equal trades. `last`: the last chunk, as it is.
 */
export function openRowsIn(database: Database) {
  const all = database.prepare('SELECT chunk, bytes FROM open_chunks ORDER BY chunk').raw();
  const gone = database.prepare('SELECT bits FROM open_gone WHERE chunk = ?').pluck();
  const chunks = new Map<number, Buffer>();
  const places: OpenPlace[] = [];
  const trades: number[] = [];
  let last: { chunk: number; bytes: Buffer } | null = null;
  for (const [chunk, bytes] of all.iterate() as Iterable<[number, Buffer]>) {
    const bits = gone.get(chunk) as Buffer | undefined;
    const rows = bytes.length / ROW_BYTES;
    invariant(Number.isInteger(rows) && rows <= ROWS, 'a chunk of open trades has a part of a row');
    chunks.set(chunk, bytes);
    last = { chunk, bytes };
    for (let row = 0; row < rows; row++) {
      if ((((bits?.[row >> 3] ?? 0) >> (row & 7)) & 1) === 1) continue;
      places.push(chunk * ROWS + row);
      trades.push(bytes.readUInt32BE(row * ROW_BYTES + TRADE));
    }
  }
  const order = ascending(trades);
  const bytes = Buffer.alloc(order.length * ROW_BYTES);
  for (const [to, item] of order.entries()) {
    const row = (places[item]! % ROWS) * ROW_BYTES;
    const from = chunks.get(Math.floor(places[item]! / ROWS))!;
    from.copy(bytes, to * ROW_BYTES, row, row + ROW_BYTES);
  }
  return { bytes, places: Array.from(order, (item) => places[item]!), last };
}

/** The places of the values in ascending order. */
function ascending(values: readonly number[]): Uint32Array {
  const keys = new Uint32Array(2 * values.length);
  for (const [at, value] of values.entries()) keys[2 * at] = value;
  return sorted({ items: Uint32Array.from(values.keys()), keys }).items;
}

function putRow(to: Buffer, at: number, row: OpenTradeRow): void {
  for (const [word, value] of row.words.entries()) to.writeUInt32BE(value, at + 4 * word);
  to.writeUInt32BE(row.trade, at + TRADE);
  to.writeUInt32BE(row.trader, at + TRADER);
  to.writeUInt32BE(row.market, at + MARKET);
  to.writeUInt32BE(row.contracts, at + CONTRACTS);
  to.writeDoubleBE(row.costCents, at + COST);
  to.writeDoubleBE(row.realizedCents, at + REALIZED);
  to.writeDoubleBE(row.openedAtMs, at + OPENED);
  to[at + SIDE] = row.isYes ? 1 : 0;
}

function rowIn(from: Buffer, at: number): OpenTradeRow {
  const word = (index: number) => from.readUInt32BE(at + 4 * index);
  return {
    words: [word(0), word(1), word(2), word(3)],
    trade: from.readUInt32BE(at + TRADE),
    trader: from.readUInt32BE(at + TRADER),
    market: from.readUInt32BE(at + MARKET),
    contracts: from.readUInt32BE(at + CONTRACTS),
    costCents: from.readDoubleBE(at + COST),
    realizedCents: from.readDoubleBE(at + REALIZED),
    openedAtMs: from.readDoubleBE(at + OPENED),
    isYes: from[at + SIDE] === 1,
  };
}

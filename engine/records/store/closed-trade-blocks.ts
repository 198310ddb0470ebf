/**
 * Trades that are over, shard by shard in the order of their ends. A row of the file holds some
 * hundred of them as columns, because boards read millions. Rules Y2, Y9 (engine/RULES.md).
 */
import { invariant } from '../../base/invariant.ts';
import type { Cents, EpochMs } from '../../base/units.ts';
import type { Database, Statement } from './database.ts';

/** The columns of a block, in the order of its bytes. */
const NUMBERS = ['closedAtMs', 'openedAtMs', 'pnlCents', 'costCents', 'contracts'] as const;
const WORDS = ['trade', 'trader', 'instrument', 'market'] as const;
const BYTES = [
  'entryCents',
  /** 0: no probability was stated. */
  'statedPct',
  /** Its place in `TRADE_STATES`. */
  'state',
  'instrumentYes',
  /** Whether the public may see it as a pick. Rules Y14, Y15, Y87 (engine/RULES.md). */
  'isListed',
  /** Whether its order was placed under the preset `realistic`. Rule Y97 (engine/RULES.md). */
  'isRealistic',
  /** Whether its P&L has its fees. Rule M18 (engine/RULES.md). */
  'isCharged',
] as const;
const NAMES = [...NUMBERS, ...WORDS, ...BYTES];
export type ClosedTradeRow = Record<(typeof NAMES)[number], number>;

/** A block that is not full is rewritten with each change. */
const ROWS = 256;
const ROW_BYTES = 8 * NUMBERS.length + 4 * WORDS.length + BYTES.length;

/** Separate fields, because loops over millions of rows read them. */
export class ClosedTradeBlock {
  readonly closedAtMs: Float64Array;
  readonly openedAtMs: Float64Array;
  readonly pnlCents: Float64Array;
  readonly costCents: Float64Array;
  readonly contracts: Float64Array;
  readonly trade: Uint32Array;
  readonly trader: Uint32Array;
  readonly instrument: Uint32Array;
  readonly market: Uint32Array;
  readonly entryCents: Uint8Array;
  readonly statedPct: Uint8Array;
  readonly state: Uint8Array;
  readonly instrumentYes: Uint8Array;
  readonly isListed: Uint8Array;
  readonly isRealistic: Uint8Array;
  readonly isCharged: Uint8Array;
  /** Rows in use. */
  count: number;

  constructor(buffer: ArrayBuffer, count: number) {
    const rows = buffer.byteLength / ROW_BYTES;
    invariant(Number.isInteger(rows) && count <= rows, 'a block of trades has a part of a row');
    const numbers = (at: number) => new Float64Array(buffer, 8 * at * rows, rows);
    const words = (at: number) => new Uint32Array(buffer, (40 + 4 * at) * rows, rows);
    const bytes = (at: number) => new Uint8Array(buffer, (56 + at) * rows, rows);
    this.count = count;
    this.closedAtMs = numbers(0);
    this.openedAtMs = numbers(1);
    this.pnlCents = numbers(2);
    this.costCents = numbers(3);
    this.contracts = numbers(4);
    this.trade = words(0);
    this.trader = words(1);
    this.instrument = words(2);
    this.market = words(3);
    this.entryCents = bytes(0);
    this.statedPct = bytes(1);
    this.state = bytes(2);
    this.instrumentYes = bytes(3);
    this.isListed = bytes(4);
    this.isRealistic = bytes(5);
    this.isCharged = bytes(6);
  }

  /** The same form for trades that are added one by one. */
  static of(trades: readonly ClosedTradeRow[]): ClosedTradeBlock {
    const block = new ClosedTradeBlock(new ArrayBuffer(trades.length * ROW_BYTES), 0);
    for (const trade of trades) block.push(trade);
    return block;
  }

  push(trade: ClosedTradeRow): void {
    invariant(this.count < this.trade.length, 'a block of trades is full');
    for (const name of NAMES) this[name][this.count] = trade[name];
    this.count++;
  }
}

/** The blocks to be written: the last of each shard, and every block with a changed tag. */
export class ClosedTradeBlocks {
  readonly #shards: number;
  readonly #last: ClosedTradeBlock[];
  readonly #counts: number[];
  readonly #changed = new Set<number>();
  readonly #bytes: Statement<Buffer>;
  readonly #write: Statement;

  /** @param counts how many trades of each shard are over */
  constructor(database: Database, counts: readonly number[]) {
    this.#shards = counts.length;
    this.#counts = [...counts];
    this.#bytes = database
      .prepare('SELECT bytes FROM over_blocks WHERE block = ?')
      .pluck() as never;
    this.#write = database.prepare('INSERT OR REPLACE INTO over_blocks VALUES (?, ?, ?, ?)');
    this.#last = this.#counts.map((count, shard) => {
      return count === 0 ? emptyBlock() : this.#read(shard, count - 1);
    });
  }

  countOf(shard: number): number {
    return this.#counts[shard]!;
  }

  /** @returns the place of the trade among the trades of its shard */
  add(shard: number, trade: ClosedTradeRow): number {
    const place = this.#counts[shard]!;
    if (this.#last[shard]!.count === ROWS) this.#begin(shard);
    const block = this.#last[shard]!;
    invariant(block.count === place % ROWS, 'a trade that is over has another place');
    invariant(trade.trade < 2 ** 32, 'there are more trades than a block tells apart');
    block.push(trade);
    this.#counts[shard] = place + 1;
    this.#changed.add(shard);
    return place;
  }

  /** The fields of a trade that a tag or a corrected result changes. */
  change(
    shard: number,
    place: number,
    to: Partial<Pick<ClosedTradeRow, 'isListed' | 'state' | 'pnlCents'>>,
  ): void {
    const block = this.#blockWith(shard, place);
    const names = Object.keys(to) as (keyof typeof to)[];
    for (const name of names) block[name][place % ROWS] = to[name]!;
    if (block === this.#last[shard]) this.#changed.add(shard);
    else this.#put(shard, place, block);
  }

  pnlOf(shard: number, place: number): Cents {
    return this.#blockWith(shard, place).pnlCents[place % ROWS]!;
  }

  #blockWith(shard: number, place: number): ClosedTradeBlock {
    const count = this.#counts[shard]!;
    invariant(place < count, 'a trade is marked that is not over');
    const isLast = Math.floor(place / ROWS) === Math.floor((count - 1) / ROWS);
    return isLast ? this.#last[shard]! : this.#read(shard, place);
  }

  /** Writes all changes, within the transaction of their facts. */
  write(): void {
    for (const shard of this.#changed)
      this.#put(shard, this.#counts[shard]! - 1, this.#last[shard]!);
    this.#changed.clear();
  }

  #begin(shard: number): void {
    this.write();
    this.#last[shard] = emptyBlock();
  }

  #put(shard: number, place: number, block: ClosedTradeBlock): void {
    const times = block.closedAtMs.subarray(0, block.count);
    const [least, most] = [Math.min(...times), Math.max(...times)];
    this.#write.run(this.#blockOf(shard, place), least, most, bytesOf(block));
  }

  /** With room for more rows. */
  #read(shard: number, place: number): ClosedTradeBlock {
    const bytes = this.#bytes.get(this.#blockOf(shard, place));
    invariant(bytes !== undefined, 'a block of trades is missing');
    const block = emptyBlock();
    const stored = blockOf(bytes);
    for (const name of NAMES) block[name].set(stored[name]);
    block.count = stored.count;
    return block;
  }

  #blockOf(shard: number, place: number): number {
    return Math.floor(place / ROWS) * this.#shards + shard;
  }
}

/** Reads blocks of a time. */
export class ClosedTradeReader {
  readonly #blocks: Statement<Buffer>;
  readonly #count: Statement<number>;

  constructor(database: Database) {
    const within = 'FROM over_blocks WHERE most_ms > ? AND least_ms <= ?';
    this.#blocks = database.prepare(`SELECT bytes ${within}`).pluck() as never;
    this.#count = database.prepare(`SELECT count(*) ${within}`).pluck() as never;
  }

  /**
   * Blocks with trades that closed after one moment and not after another. They may contain other
   * trades, too.
   */
  *blocks(afterMs: EpochMs, upToMs: EpochMs): Generator<ClosedTradeBlock> {
    for (const bytes of this.#blocks.iterate(afterMs, upToMs)) yield blockOf(bytes);
  }

  /** The approximate number of trades in these blocks. */
  count(afterMs: EpochMs, upToMs: EpochMs): number {
    return ROWS * this.#count.get(afterMs, upToMs)!;
  }
}

function emptyBlock(): ClosedTradeBlock {
  return new ClosedTradeBlock(new ArrayBuffer(ROWS * ROW_BYTES), 0);
}

function blockOf(bytes: Buffer): ClosedTradeBlock {
  // A buffer of a shared one starts anywhere, and views need aligned starts.
  const isOwn = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength;
  const buffer = isOwn ? bytes.buffer : new Uint8Array(bytes).buffer;
  return new ClosedTradeBlock(buffer as ArrayBuffer, buffer.byteLength / ROW_BYTES);
}

function bytesOf(block: ClosedTradeBlock): Buffer {
  const buffer = new ArrayBuffer(block.count * ROW_BYTES);
  const packed = new ClosedTradeBlock(buffer, block.count);
  for (const name of NAMES) packed[name].set(block[name].subarray(0, block.count));
  return Buffer.from(buffer);
}

/**
 * Small rows by a uuid, which change all the time: counts of requests, last uses of keys. A row is
 * read when it is first asked for. Rows that change together are written together.
 *
 * A write adds pieces: changed rows in any order. When pieces have as many rows as there are, they
 * are packed into groups, of which an id names one: its bits are the group's number. So a write costs
 * the disk twice its rows, a start reads the pieces alone, and a look-up reads one group. Between two
 * steps of a packing the pieces are valid, and their rows are newer than those of the groups. Rules
 * Q27 (api/RULES.md), D70 (engine/RULES.md).
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { Uuid } from '../../engine/base/units.ts';
import { ByteReader, ByteWriter } from '../../engine/format/bytes.ts';
import {
  type Compiled,
  compile,
  type RecordLayout,
  record,
  u8,
  u48,
} from '../../engine/format/layout.ts';
import { ControlDamage, type ControlTable } from './control-table.ts';
import { hashOfId, PackedRows } from './packed-rows.ts';

/** Requests are answered between two pieces, and between so many groups, that are made. */
const PIECE_ROWS = 2048;
const GROUPS_A_TURN = 16;
const PIECES_MAX = 256;
/** Many pieces with no more rows than these are joined, and not packed. */
const JOINED_ROWS_MAX = 16_384;
/** Pieces may have so many rows more than there are. */
const SPARE_ROWS = 8192;
const GROUP_ROWS = 48;
/** Of a packing, done with each write. */
const GROUPS_A_WRITE = 512;
const WRITES_A_PACKING = 32;
const BITS_MAX = 24;
/** Groups of an earlier number of bits that a write removes. */
const REMOVED_AT_ONCE = 1000;

const NUMBER_DIGITS = 10;
const GROUP_DIGITS = 8;

/** The groups on disk: `2 ** bits` of them, in which about so many rows are. */
type Groups = { bits: number; rows: number };
const GROUPS = compile(record<Groups>({ bits: u8, rows: u48 }));

/** What is being packed into groups. */
type Packing = {
  rows: PackedRows;
  pieces: readonly number[];
  bits: number;
  /** Rows by group: `places[g]` to `places[g + 1]` of `order`. */
  order: Uint32Array;
  places: Uint32Array;
  next: number;
  /** Rows that the groups did not have. */
  added: number;
};

const writer = new ByteWriter();

export class GroupedRows<T extends { readonly id: Uuid }> {
  readonly #table: ControlTable<Uint8Array>;
  readonly #prefix: string;
  readonly #layout: Compiled<T>;
  readonly #rowBytes: number;
  #groups: Groups;
  /** The rows of all pieces that are not being packed. */
  #recent: PackedRows;
  /** Rows as they were at the start, or as a later write left them: first those of pieces, then all. */
  #early: PackedRows;
  #hasAllEarly: boolean;
  #pieces: number[] = [];
  /** Of those pieces, where a row counts in each. */
  #entries = 0;
  #last = 0;
  #packing: Packing | null = null;
  #mayHaveOldGroups = true;

  /** Reads the pieces, not the groups. `rowBytes`: of every row. Throws `ControlDamage`. */
  constructor(
    table: ControlTable<Uint8Array>,
    prefix: string,
    { layout, rowBytes }: { layout: RecordLayout<T>; rowBytes: number },
  ) {
    this.#table = table;
    this.#prefix = prefix;
    this.#layout = compile(layout);
    this.#rowBytes = rowBytes;
    const groups = table.get(this.#groupsKey);
    this.#groups =
      groups === undefined ? { bits: 0, rows: 0 } : GROUPS.read(new ByteReader(groups));
    this.#recent = new PackedRows(rowBytes);
    for (const { key, value } of table.between(`${prefix}0`, `${prefix}:`)) {
      this.#last = Number(key.slice(prefix.length));
      this.#pieces.push(this.#last);
      this.#added(this.#rowsOf(key, value));
    }
    this.#early = this.#recent;
    this.#hasAllEarly = this.#groups.rows === 0;
  }

  /** Whether something is left to do, which the next write does. */
  get isPacking(): boolean {
    return this.#packing !== null;
  }

  /** The row as it was last written. Throws `ControlDamage`. */
  get(id: Uuid): T | undefined {
    for (const rows of [this.#recent, this.#packing?.rows]) {
      const found = rows?.find(id);
      if (found !== undefined) return this.#read(found);
    }
    if (this.#groups.rows === 0) return undefined;
    const hash = hashOfId(id);
    const group = new PackedRows(this.#rowBytes, this.#group(this.#groups.bits, hash));
    const found = group.find(id);
    return found === undefined ? undefined : this.#read(found);
  }

  /**
   * The row as it was at the start, or as it was written since: for a caller who knows what it has
   * written. It asks the disk only until `readEarly` has ended. Throws `ControlDamage`.
   */
  early(id: Uuid): T | undefined {
    if (!this.#hasAllEarly) return this.get(id);
    const found = this.#early.find(id);
    return found === undefined ? undefined : this.#read(found);
  }

  /** Reads every row into memory for `early`, a group a step. Throws `ControlDamage`. */
  *readEarly(): Generator<undefined, void> {
    while (!this.#hasAllEarly) {
      const { bits } = this.#groups;
      const rows = new PackedRows(this.#rowBytes);
      // A packing that ends meanwhile may leave its rows in other groups.
      for (let group = 0; group < 2 ** bits && this.#groups.bits === bits; group++) {
        rows.add(this.#group(bits, group));
        yield;
      }
      if (this.#groups.bits !== bits) continue;
      rows.add(this.#early.bytes);
      this.#early = rows;
      this.#hasAllEarly = true;
    }
  }

  /** Every row, as it was last written: for checks, not for a start. Throws `ControlDamage`. */
  *all(): Generator<T> {
    const rows = new PackedRows(this.#rowBytes);
    const { bits } = this.#groups;
    for (const { key, value } of this.#table.under(this.#groupsOf(bits))) {
      rows.add(this.#rowsOf(key, value));
    }
    for (const newer of [this.#packing?.rows, this.#recent]) if (newer) rows.add(newer.bytes);
    for (let row = 0; row < rows.size; row++) yield this.#read(rows.at(row));
  }

  /**
   * Writes rows as they are now, on disk on return, and then some of what is to be packed. Rejects
   * where the disk does not take them; to write them again is right then.
   */
  async write(rows: readonly T[]): Promise<void> {
    const pieces: Uint8Array[] = [];
    for (let from = 0; from < rows.length; from += PIECE_ROWS) {
      writer.begin();
      for (const row of rows.slice(from, from + PIECE_ROWS)) this.#layout.write(writer, row);
      pieces.push(writer.copy());
      await turn();
    }
    if (pieces.length > 0) await this.#replace(pieces, []);
    await this.#pack();
  }

  /** Adds pieces in the place of others, in one transaction. */
  async #replace(pieces: readonly Uint8Array[], removed: readonly number[]): Promise<void> {
    const first = this.#last + 1;
    const numbers = pieces.map((_, at) => first + at);
    this.#last += pieces.length;
    // A disk that does not take all of them may have some, which must go with the others.
    this.#pieces.push(...numbers);
    await this.#written([
      ...pieces.map((bytes, at) => this.#table.put(this.#pieceKey(first + at), bytes)),
      ...removed.map((number) => this.#table.remove(this.#pieceKey(number))),
    ]);
    if (removed.length > 0) {
      this.#recent = new PackedRows(this.#rowBytes);
      this.#pieces = numbers;
      this.#entries = 0;
    }
    for (const bytes of pieces) this.#added(bytes);
  }

  #added(bytes: Uint8Array): void {
    this.#recent.add(bytes);
    this.#entries += bytes.length / this.#rowBytes;
  }

  async #pack(): Promise<void> {
    if (this.#packing !== null) return await this.#packSome(this.#packing);
    if (this.#mayHaveOldGroups) return await this.#removeOldGroups();
    const isMany = this.#pieces.length > PIECES_MAX;
    if (isMany && this.#recent.size <= JOINED_ROWS_MAX) return await this.#join();
    if (!isMany && this.#entries <= this.#groups.rows + SPARE_ROWS) return;
    this.#packing = this.#packingOf(this.#recent, this.#pieces);
    this.#recent = new PackedRows(this.#rowBytes);
    this.#pieces = [];
    this.#entries = 0;
    await this.#packSome(this.#packing);
  }

  /** Many pieces with few rows become a few pieces. */
  async #join(): Promise<void> {
    const { bytes } = this.#recent;
    const pieces: Uint8Array[] = [];
    const step = PIECE_ROWS * this.#rowBytes;
    for (let from = 0; from < bytes.length; from += step) {
      pieces.push(bytes.slice(from, from + step));
    }
    await this.#replace(pieces, this.#pieces);
  }

  #packingOf(rows: PackedRows, pieces: readonly number[]): Packing {
    const many = (this.#groups.rows + rows.size) / GROUP_ROWS;
    const wanted = Math.min(BITS_MAX, Math.max(0, Math.ceil(Math.log2(many))));
    const bits = Math.max(this.#groups.bits, wanted);
    return { rows, pieces, bits, ...rows.byLowBits(bits), next: 0, added: 0 };
  }

  async #packSome(packing: Packing): Promise<void> {
    const { bits, places, pieces } = packing;
    const groups = 2 ** bits;
    const isSplit = bits !== this.#groups.bits && this.#groups.rows > 0;
    const most = Math.max(GROUPS_A_WRITE, Math.ceil(groups / WRITES_A_PACKING));
    const writes: Promise<boolean>[] = [];
    let added = 0;
    let next = packing.next;
    for (; next < groups && writes.length < most; next++) {
      if (!isSplit && places[next] === places[next + 1]) continue;
      const { bytes, before } = this.#packedGroup(packing, next, isSplit);
      if (bytes.length === 0) continue;
      added += bytes.length / this.#rowBytes - before;
      writes.push(this.#table.put(this.#groupKey(bits, next), bytes));
      if (writes.length % GROUPS_A_TURN === 0) await turn();
    }
    await this.#written(writes);
    packing.next = next;
    packing.added += added;
    if (next < groups) return;
    const done = { bits, rows: this.#groups.rows + packing.added };
    writer.begin();
    GROUPS.write(writer, done);
    // In one transaction: from here on the groups are newer than what the pieces had.
    await this.#written([
      this.#table.put(this.#groupsKey, writer.copy()),
      ...pieces.map((number) => this.#table.remove(this.#pieceKey(number))),
    ]);
    this.#mayHaveOldGroups = bits !== this.#groups.bits;
    this.#groups = done;
    this.#packing = null;
  }

  /** A group with its rows that are packed; `before`: how many of its rows it had. */
  #packedGroup({ bits, rows, order, places }: Packing, group: number, isSplit: boolean) {
    const old = this.#group(this.#groups.bits, group);
    const packed = new PackedRows(this.#rowBytes);
    for (let from = 0; from < old.length; from += this.#rowBytes) {
      const row = old.subarray(from, from + this.#rowBytes);
      if (!isSplit || PackedRows.lowBitsOf(row, bits) === group) packed.add(row);
    }
    const before = packed.size;
    for (let at = places[group]!; at < places[group + 1]!; at++) packed.add(rows.at(order[at]!));
    return { bytes: packed.bytes, before };
  }

  /** Groups of another number of bits: a packing has left them. */
  async #removeOldGroups(): Promise<void> {
    const keys: string[] = [];
    for (let bits = 0; bits <= BITS_MAX && keys.length < REMOVED_AT_ONCE; bits++) {
      if (bits === this.#groups.bits) continue;
      const start = this.#groupsOf(bits);
      const limit = REMOVED_AT_ONCE - keys.length;
      keys.push(...this.#table.keys({ start, end: `${start.slice(0, -1)}0`, limit }));
    }
    await this.#written(keys.map((key) => this.#table.remove(key)));
    this.#mayHaveOldGroups = keys.length === REMOVED_AT_ONCE;
  }

  async #written(writes: readonly Promise<boolean>[]): Promise<void> {
    await Promise.all(writes);
    await this.#table.flushed;
  }

  /** The bytes of the group that a hash names. */
  #group(bits: number, hash: number): Uint8Array {
    const key = this.#groupKey(bits, hash & (2 ** bits - 1));
    return this.#rowsOf(key, this.#table.get(key) ?? NOTHING);
  }

  #rowsOf(key: string, bytes: Uint8Array): Uint8Array {
    if (bytes.length % this.#rowBytes === 0) return bytes;
    throw new ControlDamage(`${this.#table.name} [${key}] has ${bytes.length} bytes`);
  }

  #read(row: Uint8Array): T {
    return this.#layout.read(new ByteReader(row));
  }

  get #groupsKey(): string {
    return `${this.#prefix}groups`;
  }

  #groupsOf(bits: number): string {
    return `${this.#prefix}g${String(bits).padStart(2, '0')}/`;
  }

  #groupKey(bits: number, group: number): string {
    return this.#groupsOf(bits) + String(group).padStart(GROUP_DIGITS, '0');
  }

  #pieceKey(number: number): string {
    return this.#prefix + String(number).padStart(NUMBER_DIGITS, '0');
  }
}

const NOTHING = new Uint8Array(0);

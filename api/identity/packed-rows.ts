/** Rows of one length in one array of bytes, each found by the uuid that it begins with. */
import type { Uuid } from '../../engine/base/units.ts';
import { bufferOf } from '../../engine/format/bytes.ts';
import { uuidWords } from '../../engine/memory/uuid-words.ts';

const ID_BYTES = 16;
/** Spreads the bits of an id, of which the last word is random in a uuid of version 7. */
const FACTOR = 0x9e3779b1;

const mixed = (first: number, last: number) => {
  const product = Math.imul(first ^ (last << 7) ^ last, FACTOR);
  return (product ^ (product >>> 15)) >>> 0;
};

/** The number whose low bits name the group of an id. */
export function hashOfId(id: Uuid): number {
  const words = uuidWords(id);
  return mixed(words[0]!, words[3]!);
}

export class PackedRows {
  readonly #rowBytes: number;
  #bytes: Buffer;
  #size = 0;
  /** A row and one, by hash; 0: free. Null: so few rows that they are looked at one by one. */
  #slots: Uint32Array | null = null;

  /** `bytes`: rows of different ids, to be looked at alone. */
  constructor(rowBytes: number, bytes?: Uint8Array) {
    this.#rowBytes = rowBytes;
    this.#bytes = bytes === undefined ? Buffer.alloc(0) : bufferOf(bytes);
    this.#size = this.#bytes.length / rowBytes;
  }

  get size(): number {
    return this.#size;
  }

  /** All rows: a view. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#size * this.#rowBytes);
  }

  /** A view of a row. */
  at(row: number): Uint8Array {
    return this.#bytes.subarray(row * this.#rowBytes, (row + 1) * this.#rowBytes);
  }

  /** A view of the row of an id. */
  find(id: Uuid): Uint8Array | undefined {
    const row = this.rowOf(id);
    return row === -1 ? undefined : this.at(row);
  }

  /** The number of the row of an id, which it keeps; -1: it has none. */
  rowOf(id: Uuid): number {
    return this.#find(wordsOf(id));
  }

  /** A new row for an id that has none, with zeros after it; returns its number. */
  claim(id: Uuid): number {
    const words = wordsOf(id);
    const row = this.#claim(words);
    for (let word = 0; word < words.length; word++) {
      this.#bytes.writeUInt32BE(words[word]!, row * this.#rowBytes + word * 4);
    }
    return row;
  }

  /** A whole number of up to six bytes in a row, as the layouts of engine/format write it. */
  number(row: number, offset: number, bytes: 4 | 6): number {
    return this.#bytes.readUIntBE(row * this.#rowBytes + offset, bytes);
  }

  setNumber(row: number, offset: number, bytes: 4 | 6, value: number): void {
    this.#bytes.writeUIntBE(value, row * this.#rowBytes + offset, bytes);
  }

  /** Adds rows; one whose id is there takes its place. */
  add(rows: Uint8Array): void {
    const from = bufferOf(rows);
    for (let at = 0; at < from.length; at += this.#rowBytes) {
      const words = wordsAt(from, at);
      const known = this.#find(words);
      const row = known === -1 ? this.#claim(words) : known;
      from.copy(this.#bytes, row * this.#rowBytes, at, at + this.#rowBytes);
    }
  }

  /** Rows in order of their groups: those of group `g` are `places[g]` to `places[g + 1]` of it. */
  byLowBits(bits: number): { order: Uint32Array; places: Uint32Array } {
    const places = new Uint32Array(2 ** bits + 1);
    const groups = new Uint32Array(this.#size);
    for (let row = 0; row < this.#size; row++) {
      const group = PackedRows.lowBitsOf(this.at(row), bits);
      groups[row] = group;
      places[group + 1]!++;
    }
    for (let group = 1; group < places.length; group++) places[group]! += places[group - 1]!;
    const next = places.slice();
    const order = new Uint32Array(this.#size);
    for (let row = 0; row < this.#size; row++) order[next[groups[row]!]!++] = row;
    return { order, places };
  }

  static lowBitsOf(row: Uint8Array, bits: number): number {
    const [first, , , last] = wordsAt(bufferOf(row), 0);
    return mixed(first, last) & (2 ** bits - 1);
  }

  #find(words: Words): number {
    if (this.#slots === null) {
      for (let row = 0; row < this.#size; row++) if (this.#is(row, words)) return row;
      return -1;
    }
    const mask = this.#slots.length - 1;
    for (let slot = mixed(words[0], words[3]) & mask; ; slot = (slot + 1) & mask) {
      const row = this.#slots[slot]! - 1;
      if (row === -1 || this.#is(row, words)) return row;
    }
  }

  #is(row: number, [first, second, third, last]: Words): boolean {
    const bytes = this.#bytes;
    const at = row * this.#rowBytes;
    return (
      bytes.readUInt32BE(at + 12) === last &&
      bytes.readUInt32BE(at + 8) === third &&
      bytes.readUInt32BE(at + 4) === second &&
      bytes.readUInt32BE(at) === first
    );
  }

  #claim(words: Words): number {
    const row = this.#size++;
    const end = this.#size * this.#rowBytes;
    if (end > this.#bytes.length) {
      const grown = Buffer.alloc(Math.max(ID_BYTES * 4, end * 2));
      this.#bytes.copy(grown);
      this.#bytes = grown;
    }
    if (this.#slots !== null && this.#size * 2 <= this.#slots.length) this.#place(row, words);
    else if (this.#size > FEW) this.#placeAll(words);
    return row;
  }

  #placeAll(newest: Words): void {
    this.#slots = new Uint32Array(2 ** Math.ceil(Math.log2(this.#size * 4)));
    for (let row = 0; row < this.#size - 1; row++) {
      this.#place(row, wordsAt(this.#bytes, row * this.#rowBytes));
    }
    this.#place(this.#size - 1, newest);
  }

  #place(row: number, words: Words): void {
    const slots = this.#slots!;
    const mask = slots.length - 1;
    let slot = mixed(words[0], words[3]) & mask;
    while (slots[slot] !== 0) slot = (slot + 1) & mask;
    slots[slot] = row + 1;
  }
}

const FEW = 64;

type Words = readonly [number, number, number, number];

/** A copy: `uuidWords` has one array for all. */
function wordsOf(id: Uuid): Words {
  const words = uuidWords(id);
  return [words[0]!, words[1]!, words[2]!, words[3]!];
}

function wordsAt(bytes: Buffer, at: number): Words {
  return [
    bytes.readUInt32BE(at),
    bytes.readUInt32BE(at + 4),
    bytes.readUInt32BE(at + 8),
    bytes.readUInt32BE(at + 12),
  ];
}

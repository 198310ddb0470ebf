/**
 * The ids of all traders by number, and the numbers by id: a table of places by hash, half empty.
 * An id is four words here, never a text. Some 28 bytes per trader.
 */
import { invariant } from '../../base/invariant.ts';
import type { Uuid } from '../../base/units.ts';
import type { ByteReader, IdPlace } from '../../format/bytes.ts';
import { uuidOfWords, uuidWords } from '../../memory/uuid-words.ts';

export type TraderNumber = number;

/** An id as four words, the first one first. */
export type IdWords = ArrayLike<number>;

const WORDS = 4;
const ID_BYTES = 16;
const FIRST_SLOTS = 2048;
const FIRST_TRADERS = 1024;

export class TraderIds {
  #words = new Uint32Array(0);
  #isThere = new Uint8Array(0);
  /** One more than a number; 0: empty. */
  #slots = new Uint32Array(FIRST_SLOTS);
  #count = 0;
  #end = 0;

  /** One more than the highest number; some numbers below it may be missing. */
  get end(): TraderNumber {
    return this.#end;
  }

  get count(): number {
    return this.#count;
  }

  has(trader: TraderNumber): boolean {
    return this.#isThere[trader] === 1;
  }

  find(id: Uuid): TraderNumber | undefined {
    return this.findWords(uuidWords(id));
  }

  findWords(id: IdWords): TraderNumber | undefined {
    return this.#find(id[0]!, id[1]!, id[2]!, id[3]!);
  }

  /** The trader whose id is at a place of what is being read. */
  findAt(from: ByteReader, place: IdPlace): TraderNumber | undefined {
    const [w0, w1] = [from.idWord(place, 0), from.idWord(place, 1)];
    return this.#find(w0, w1, from.idWord(place, 2), from.idWord(place, 3));
  }

  add(trader: TraderNumber, id: IdWords): void {
    invariant(id.length === WORDS, 'an id of the records is no uuid');
    this.#grow(trader);
    invariant(!this.has(trader), 'a number has two traders');
    this.#words.set(id, trader * WORDS);
    this.#isThere[trader] = 1;
    this.#count++;
    this.#end = Math.max(this.#end, trader + 1);
    if (2 * this.#count > this.#slots.length) this.#makeSlots(2 * this.#slots.length);
    else this.#put(trader);
  }

  idOf(trader: TraderNumber): Uuid {
    invariant(this.has(trader), 'the id of no trader is asked for');
    const word = (at: number) => this.#words[trader * WORDS + at]!;
    return uuidOfWords(word(0), word(1), word(2), word(3));
  }

  /** As SQLite stores it. */
  bytesOf(trader: TraderNumber): Buffer {
    const bytes = Buffer.allocUnsafe(ID_BYTES);
    for (let at = 0; at < WORDS; at++) {
      bytes.writeUInt32BE(this.#words[trader * WORDS + at]!, 4 * at);
    }
    return bytes;
  }

  /** Below 0: the id of `a` precedes the other. */
  compare(a: TraderNumber, b: TraderNumber): number {
    for (let at = 0; at < WORDS; at++) {
      const difference = this.#words[a * WORDS + at]! - this.#words[b * WORDS + at]!;
      if (difference !== 0) return difference;
    }
    return 0;
  }

  /** Below 0: the trader's id precedes the other. */
  compareToId(trader: TraderNumber, id: IdWords): number {
    for (let at = 0; at < WORDS; at++) {
      const difference = this.#words[trader * WORDS + at]! - id[at]!;
      if (difference !== 0) return difference;
    }
    return 0;
  }

  /** The first half of an id as a key of two words, the lower one first. */
  putKey(trader: TraderNumber, keys: Uint32Array, at: number): void {
    keys[2 * at] = this.#words[trader * WORDS + 1]!;
    keys[2 * at + 1] = this.#words[trader * WORDS]!;
  }

  #find(w0: number, w1: number, w2: number, w3: number): TraderNumber | undefined {
    const words = this.#words;
    for (let slot = this.#slotOf(w0, w1, w2, w3); ; slot = this.#next(slot)) {
      const trader = this.#slots[slot]! - 1;
      if (trader < 0) return undefined;
      const at = trader * WORDS;
      if (words[at + 3] !== w3 || words[at + 2] !== w2) continue;
      if (words[at + 1] === w1 && words[at] === w0) return trader;
    }
  }

  #put(trader: TraderNumber): void {
    const word = (at: number) => this.#words[trader * WORDS + at]!;
    let slot = this.#slotOf(word(0), word(1), word(2), word(3));
    while (this.#slots[slot] !== 0) slot = this.#next(slot);
    this.#slots[slot] = trader + 1;
  }

  #makeSlots(length: number): void {
    this.#slots = new Uint32Array(length);
    for (let trader = 0; trader < this.#end; trader++) if (this.has(trader)) this.#put(trader);
  }

  #slotOf(w0: number, w1: number, w2: number, w3: number): number {
    let hash = mixed(0, w0);
    hash = mixed(hash, w1);
    hash = mixed(hash, w2);
    hash = mixed(hash, w3);
    return (hash >>> 0) & (this.#slots.length - 1);
  }

  #next(slot: number): number {
    return (slot + 1) & (this.#slots.length - 1);
  }

  #grow(trader: TraderNumber): void {
    const { length } = this.#isThere;
    if (trader < length) return;
    const to = Math.max(FIRST_TRADERS, 2 * length, trader + 1);
    const words = new Uint32Array(to * WORDS);
    words.set(this.#words);
    this.#words = words;
    const isThere = new Uint8Array(to);
    isThere.set(this.#isThere);
    this.#isThere = isThere;
  }
}

function mixed(hash: number, word: number): number {
  const mixed = Math.imul(hash ^ word, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}

/** Writes and reads bytes, field after field: numbers in their own width, a uuid as 16 bytes. */

import { invariant } from '../base/invariant.ts';
import { type Tagged, UUID_LENGTH, type Uuid } from '../base/units.ts';
import type { Ids } from '../memory/columns.ts';
import { uuidOfWords, uuidWord } from '../memory/uuid-words.ts';
import type { FactPlace } from '../rules/facts.ts';

/** One more than the largest number of six bytes. */
const U48_END = 2 ** 48;
const U32_END = 2 ** 32;
const U8_MAX = 255;
const ASCII_MAX = 127;

/** Writes bytes, one record after another. */
export class ByteWriter {
  #bytes = Buffer.allocUnsafeSlow(4096);
  #view = new DataView(this.#bytes.buffer);
  #at = 0;
  /**
   * The size of the buffer. Every field of a fact asks for it, and a buffer's own length is slower.
   */
  #room = this.#bytes.length;

  /** The memory that `claim` finds room in; the next claim may move it. */
  get memory(): DataView {
    return this.#view;
  }

  u8(value: number): void {
    invariant((value & U8_MAX) === value, 'a number does not fit into a byte');
    const at = this.claim(1);
    this.#view.setUint8(at, value);
  }

  u32(value: number): void {
    invariant(value >>> 0 === value, 'a number does not fit into four bytes');
    const at = this.claim(4);
    this.#view.setUint32(at, value);
  }

  /** A whole number of six bytes: a time, the cents of a trade. */
  u48(value: number): void {
    invariant(value >= 0 && value < U48_END, 'a number does not fit into six bytes');
    invariant(Math.floor(value) === value, 'a number of six bytes is not whole');
    const at = this.claim(6);
    this.#view.setUint16(at, Math.floor(value / U32_END));
    this.#view.setUint32(at + 2, value >>> 0);
  }

  f64(value: number): void {
    invariant(!Number.isNaN(value), 'a value to be written is NaN');
    const at = this.claim(8);
    this.#view.setFloat64(at, value);
  }

  place({ record, offset }: FactPlace): void {
    this.u48(record);
    this.u32(offset);
  }

  uuid(id: Uuid): void {
    invariant(id.length === UUID_LENGTH, 'an id to be written is no uuid');
    const at = this.claim(16);
    this.#view.setUint32(at, uuidWord(id, 0));
    this.#view.setUint32(at + 4, uuidWord(id, 1));
    this.#view.setUint32(at + 8, uuidWord(id, 2));
    this.#view.setUint32(at + 12, uuidWord(id, 3));
  }

  /** The uuid in a row of a column. */
  uuidAt<Row extends number>(ids: Ids<Row>, row: Row): void {
    const at = this.claim(16);
    const view = this.#view;
    view.setUint32(at, ids.word(row, 0));
    view.setUint32(at + 4, ids.word(row, 1));
    view.setUint32(at + 8, ids.word(row, 2));
    view.setUint32(at + 12, ids.word(row, 3));
  }

  /** ASCII of at most 255 characters, after its length. */
  word(text: string): void {
    invariant(text.length <= U8_MAX, 'a word is longer than 255 characters');
    const at = this.claim(1 + text.length);
    this.#view.setUint8(at, text.length);
    writeAscii(this.#bytes, at + 1, text);
  }

  /** UTF-8 after its length in bytes. */
  text(text: string): void {
    // A character takes at most three bytes. The unused ones are released below.
    const at = this.claim(4 + text.length * 3);
    const length = this.#bytes.write(text, at + 4);
    this.#view.setUint32(at, length);
    this.#at = at + 4 + length;
  }

  /** UTF-8 up to the end of the record. */
  rest(text: string): void {
    const at = this.claim(text.length * 3);
    this.#at = at + this.#bytes.write(text, at);
  }

  blob(bytes: Uint8Array): void {
    const at = this.claim(4 + bytes.length);
    this.#view.setUint32(at, bytes.length);
    this.#bytes.set(bytes, at + 4);
  }

  /** Bytes as they are. */
  packed(bytes: Uint8Array): void {
    const at = this.claim(bytes.length);
    this.#bytes.set(bytes, at);
  }

  /** A word that its layout does not list. */
  unknown(word: string): never {
    throw new Error(`its layout does not list the word ${word}`);
  }

  /** Starts a new record; an unfinished one is dropped. */
  begin(): void {
    this.#at = 0;
  }

  /** Bytes written since `begin`. */
  get length(): number {
    return this.#at;
  }

  /** A copy of all bytes since `begin`. */
  copy(): Buffer {
    const copy = Buffer.allocUnsafe(this.#at);
    copy.set(this.#bytes.subarray(0, this.#at));
    return copy;
  }

  /** Overwrites four bytes that were written at `at`. */
  setU32(at: number, value: number): void {
    invariant(at + 4 <= this.#at, 'a number overwrites bytes that were not written');
    invariant(value >>> 0 === value, 'a number to overwrite does not fit into four bytes');
    this.#view.setUint32(at, value);
  }

  /** A view of a part, valid until `begin`. */
  view(from: number, end: number): Buffer {
    const isWritten = from >= 0 && from <= end && end <= this.#at;
    invariant(isWritten, 'a view contains bytes that were not written');
    return this.#bytes.subarray(from, end);
  }

  /** Drops everything that was written from `at` on. */
  backTo(at: number): void {
    invariant(at >= 0 && at <= this.#at, 'a writer drops bytes that were not written');
    this.#at = at;
  }

  /** Reserves that many bytes of `memory`. @returns where they begin. */
  claim(bytes: number): number {
    const at = this.#at;
    const end = at + bytes;
    this.#at = end;
    if (end > this.#room) this.#grow();
    return at;
  }

  #grow(): void {
    const grown = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(this.#at)));
    this.#bytes.copy(grown);
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
    this.#room = grown.length;
  }
}

/** Reads bytes, in the order in which they were written. */
export class ByteReader {
  #bytes: Buffer;
  #view: DataView;
  #at = 0;
  #end: number;

  constructor(bytes: Uint8Array) {
    this.#bytes = bufferOf(bytes);
    this.#view = viewOf(bytes);
    this.#end = bytes.length;
  }

  /** Continues with a part of these bytes. */
  begin(bytes: Buffer, at: number, end: number): void {
    if (bytes !== this.#bytes) {
      this.#bytes = bytes;
      this.#view = viewOf(bytes);
    }
    invariant(at >= 0 && at <= end && end <= bytes.length, 'a part to read lies outside its bytes');
    this.#at = at;
    this.#end = end;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#end;
  }

  /** Bytes read so far. */
  get at(): number {
    return this.#at;
  }

  /** Continues reading at `at`. */
  goTo(at: number): void {
    invariant(at >= 0 && at <= this.#end, 'a reader moves outside its bytes');
    this.#at = at;
  }

  /** The word 0..3 of the id at a place, without moving. */
  idWord(place: IdPlace, word: 0 | 1 | 2 | 3): number {
    return this.#view.getUint32(place + 4 * word);
  }

  idWords(place: IdPlace): readonly [w0: number, w1: number, w2: number, w3: number] {
    const view = this.#view;
    const [w0, w1] = [view.getUint32(place), view.getUint32(place + 4)];
    return [w0, w1, view.getUint32(place + 8), view.getUint32(place + 12)];
  }

  /** The characters of a short text at a place: a view of them. */
  wordBytes(place: WordPlace): Buffer {
    return this.#bytes.subarray(place + 1, place + 1 + this.#view.getUint8(place));
  }

  /** The text of the id at a place. */
  idText(place: IdPlace): Uuid {
    const word = (index: 0 | 1 | 2 | 3) => this.idWord(place, index);
    return uuidOfWords(word(0), word(1), word(2), word(3));
  }

  /** Bytes from one place to another: a view of them. */
  bytesFrom(at: number, end: number): Buffer {
    return this.#bytes.subarray(at, end);
  }

  /** The bytes of the id at a place: a view of them. */
  idBytes(place: IdPlace): Buffer {
    return this.#bytes.subarray(place, place + ID_BYTES);
  }

  u8(): number {
    return this.#view.getUint8(this.#advance(1));
  }

  u32(): number {
    return this.#view.getUint32(this.#advance(4));
  }

  u48(): number {
    const at = this.#advance(6);
    return this.#view.getUint16(at) * U32_END + this.#view.getUint32(at + 2);
  }

  f64(): number {
    return this.#view.getFloat64(this.#advance(8));
  }

  place(): FactPlace {
    return { record: this.u48(), offset: this.u32() };
  }

  word(): string {
    const length = this.u8();
    const at = this.#advance(length);
    return this.#bytes.toString('latin1', at, at + length);
  }

  /** A word that its layout does not list. */
  unknown(): never {
    throw new Error('a word that its layout does not list');
  }

  uuid(): Uuid {
    const at = this.#advance(16);
    const word = (index: number) => this.#view.getUint32(at + index * 4);
    return uuidOfWords(word(0), word(1), word(2), word(3));
  }

  text(): string {
    const length = this.u32();
    return this.#textOf(this.#advance(length));
  }

  /** All remaining bytes, as `rest` of `ByteWriter` wrote them. */
  restText(): string {
    return this.#textOf(this.#advance(this.#end - this.#at));
  }

  /** All remaining bytes. */
  rest(): Uint8Array {
    const at = this.#advance(this.#end - this.#at);
    return this.#bytes.subarray(at, this.#at);
  }

  #textOf(at: number): string {
    const text = this.#bytes.toString(undefined, at, this.#at);
    // This character replaces invalid bytes. If the text itself contains it, this does not throw.
    return text.includes('\ufffd') ? decoder.decode(this.#bytes.subarray(at, this.#at)) : text;
  }

  #advance(bytes: number): number {
    const at = this.#at;
    this.#at = at + bytes;
    invariant(this.#at <= this.#end, 'more is read than was written');
    return at;
  }
}

/** Where the 16 bytes of an id begin, in the bytes that are read. */
export type IdPlace = Tagged<number, 'IdPlace'>;

/** Where the length of a short text lies, in the bytes that are read; its characters follow. */
export type WordPlace = Tagged<number, 'WordPlace'>;

/**
 * Reads the same bytes, and leaves ids and keys where they are: each is the place of its bytes. A
 * reader of every fact needs no text of them.
 */
export class InPlaceReader extends ByteReader {
  override uuid(): never {
    const at = this.at;
    this.goTo(at + ID_BYTES);
    return at as never;
  }

  override word(): never {
    const at = this.at;
    const length = this.u8();
    this.goTo(at + 1 + length);
    return at as never;
  }
}

const ID_BYTES = 16;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The same memory as a Buffer. */
export function bufferOf(bytes: Uint8Array): Buffer {
  if (Buffer.isBuffer(bytes)) return bytes;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function writeAscii(bytes: Uint8Array, start: number, text: string): void {
  let bits = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    bytes[start + at] = code;
    bits |= code;
  }
  invariant(bits <= ASCII_MAX, 'a word is not ASCII');
}

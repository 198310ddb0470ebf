/**
 * JSON text written straight as bytes. An answer of the engine is a few fields among hundreds of
 * constant characters. As a string it would be joined, copied and thrown away for every order.
 * Names of members are made once, as words of four bytes.
 */

import { invariant } from '../base/invariant.ts';
import { type Cents, DAY_MS, type EpochMs, isoOf, UUID_LENGTH } from '../base/units.ts';
import type { Ids } from '../memory/columns.ts';
import { ByteWriter } from './bytes.ts';

/**
 * UTF-8 that is copied unchanged: whole words, the last one padded, and the number of bytes that
 * count.
 */
export type Piece = { readonly words: Int32Array; readonly bytes: number };

export function pieceOf(text: string): Piece {
  const bytes = Buffer.from(text);
  const filled = Buffer.alloc(Math.ceil(bytes.length / 4) * 4);
  bytes.copy(filled);
  const words = Int32Array.from({ length: filled.length / 4 }, (_, at) =>
    filled.readInt32BE(at * 4),
  );
  return { words, bytes: bytes.length };
}

/** The names of members alone, as `,"name":`. */
export function memberNames<const Name extends string>(
  ...names: readonly Name[]
): { readonly [K in Name]: Piece } {
  const pieces = names.map((name) => [name, pieceOf(`,${JSON.stringify(name)}:`)]);
  return Object.fromEntries(pieces) as { [K in Name]: Piece };
}

/** Whole members of one name, one for each word that its value can be: `,"name":"word"`. */
export function memberWords<const Word extends string>(
  name: string,
  ...words: readonly Word[]
): { readonly [K in Word]: Piece } {
  const pieces = words.map((word) => [word, pieceOf(`,"${name}":"${word}"`)]);
  return Object.fromEntries(pieces) as { [K in Word]: Piece };
}

const NULL = pieceOf('null');
const TRUE = pieceOf('true');
const FALSE = pieceOf('false');
const codeOf = (char: string) => char.charCodeAt(0);
const BRACE = codeOf('{');
const BRACE_END = codeOf('}');
const BRACKET = codeOf('[');
const BRACKET_END = codeOf(']');
const COMMA = codeOf(',');
const COLON = codeOf(':');
const QUOTE = codeOf('"');
const BACKSLASH = codeOf('\\');
const MINUS = codeOf('-');
const DOT = codeOf('.');
const ZULU = codeOf('Z');
const ZERO = codeOf('0');
const SPACE = codeOf(' ');
const TILDE = codeOf('~');

/** Two characters each: `00` to `99`, and the hex digits of a byte. */
const DECIMAL = pairsOf(100, (value) => String(value));
const HEX = pairsOf(256, (value) => value.toString(16));
/** More digits are left to V8. */
const PLAIN_END = 1_000_000_000;

function pairsOf(count: number, text: (value: number) => string): Uint16Array {
  return Uint16Array.from({ length: count }, (_, value) => {
    const [high, low] = text(value).padStart(2, '0');
    return codeOf(high!) * 256 + codeOf(low!);
  });
}

/**
 * Members are written one after the other, each with a comma before it. `close` replaces the first
 * comma by the brace of their object.
 */
export class JsonWriter {
  readonly bytes = new ByteWriter();
  #day = Number.NaN;
  /** `"2026-11-21T` of that day. */
  #dayPiece: Piece = NULL;

  /** Begins an object. @returns the place that `close` needs. */
  open(): number {
    return this.bytes.length;
  }

  close(start: number): void {
    const { bytes } = this;
    const at = bytes.claim(1);
    invariant(at > start && bytes.memory.getUint8(start) === COMMA, 'an object has no member');
    bytes.memory.setUint8(at, BRACE_END);
    bytes.memory.setUint8(start, BRACE);
  }

  /** Ready bytes: the name of a member whose value is written next, or whole members. */
  piece({ words, bytes }: Piece): void {
    const to = this.bytes;
    const at = to.claim(words.length * 4);
    const { memory } = to;
    for (let word = 0; word < words.length; word++) memory.setInt32(at + word * 4, words[word]!);
    to.backTo(at + bytes);
  }

  null(name: Piece): void {
    this.piece(name);
    this.piece(NULL);
  }

  flag(name: Piece, value: boolean): void {
    this.piece(name);
    this.piece(value ? TRUE : FALSE);
  }

  text(name: Piece, value: string | null): void {
    this.piece(name);
    if (value === null) this.piece(NULL);
    else this.#quoted(value);
  }

  number(name: Piece, value: number | null): void {
    this.piece(name);
    if (value === null) this.piece(NULL);
    else this.#number(value);
  }

  /** Money as a number of dollars, as `dollarsOf`. */
  dollars(name: Piece, cents: Cents): void {
    invariant(Number.isSafeInteger(cents), 'money is shown that is not in whole cents');
    this.piece(name);
    if (cents <= -PLAIN_END || cents >= PLAIN_END) return this.#ascii(String(cents / 100));
    if (cents < 0) this.bytes.u8(MINUS);
    const positive = cents < 0 ? -cents : cents;
    const whole = (positive / 100) | 0;
    const rest = positive - whole * 100;
    this.#digits(whole);
    if (rest === 0) return;
    const tens = (rest / 10) | 0;
    this.bytes.u8(DOT);
    this.bytes.u8(ZERO + tens);
    if (rest !== tens * 10) this.bytes.u8(ZERO + rest - tens * 10);
  }

  /** A time as `isoOf`. */
  time(name: Piece, at: EpochMs | null): void {
    this.piece(name);
    if (at === null) return this.piece(NULL);
    const day = Math.floor(at / DAY_MS);
    if (day !== this.#day) {
      this.#day = day;
      this.#dayPiece = pieceOf(`"${isoOf(day * DAY_MS).slice(0, -'00:00:00.000Z'.length)}`);
    }
    this.piece(this.#dayPiece);
    const ms = at - day * DAY_MS;
    const seconds = (ms / 1000) | 0;
    const rest = ms - seconds * 1000;
    const start = this.bytes.claim(14);
    const { memory } = this.bytes;
    memory.setUint16(start, DECIMAL[(seconds / 3600) | 0]!);
    memory.setUint8(start + 2, COLON);
    memory.setUint16(start + 3, DECIMAL[((seconds / 60) | 0) % 60]!);
    memory.setUint8(start + 5, COLON);
    memory.setUint16(start + 6, DECIMAL[seconds % 60]!);
    memory.setUint8(start + 8, DOT);
    memory.setUint8(start + 9, ZERO + ((rest / 100) | 0));
    memory.setUint16(start + 10, DECIMAL[rest % 100]!);
    memory.setUint8(start + 12, ZULU);
    memory.setUint8(start + 13, QUOTE);
  }

  /** The uuid in a row. */
  idAt<Row extends number>(name: Piece, ids: Ids<Row>, row: Row): void {
    this.piece(name);
    const at = this.bytes.claim(UUID_LENGTH + 2);
    const { memory } = this.bytes;
    memory.setUint8(at, QUOTE);
    writeHex(memory, at + 1, ids.word(row, 0) >>> 16);
    writeHex(memory, at + 5, ids.word(row, 0) & 0xffff);
    memory.setUint8(at + 9, MINUS);
    writeHex(memory, at + 10, ids.word(row, 1) >>> 16);
    memory.setUint8(at + 14, MINUS);
    writeHex(memory, at + 15, ids.word(row, 1) & 0xffff);
    memory.setUint8(at + 19, MINUS);
    writeHex(memory, at + 20, ids.word(row, 2) >>> 16);
    memory.setUint8(at + 24, MINUS);
    writeHex(memory, at + 25, ids.word(row, 2) & 0xffff);
    writeHex(memory, at + 29, ids.word(row, 3) >>> 16);
    writeHex(memory, at + 33, ids.word(row, 3) & 0xffff);
    memory.setUint8(at + 37, QUOTE);
  }

  list<T>(name: Piece, items: readonly T[], write: (item: T) => void): void {
    this.piece(name);
    this.bytes.u8(BRACKET);
    for (let at = 0; at < items.length; at++) {
      if (at > 0) this.bytes.u8(COMMA);
      write(items[at]!);
    }
    this.bytes.u8(BRACKET_END);
  }

  /** An array that begins with numbers; `write` writes its last element. */
  tuple(numbers: readonly number[], write: () => void): void {
    this.bytes.u8(BRACKET);
    for (const number of numbers) {
      this.#number(number);
      this.bytes.u8(COMMA);
    }
    write();
    this.bytes.u8(BRACKET_END);
  }

  /** Any JSON value, for rare fields. */
  json(name: Piece, value: unknown): void {
    this.piece(name);
    this.value(value);
  }

  /** Any JSON value, without a name. */
  value(value: unknown): void {
    this.bytes.rest(JSON.stringify(value));
  }

  #quoted(value: string): void {
    const { bytes } = this;
    const { length } = value;
    const at = bytes.claim(length + 2);
    const { memory } = bytes;
    memory.setUint8(at, QUOTE);
    for (let char = 0; char < length; char++) {
      const code = value.charCodeAt(char);
      if (code < SPACE || code > TILDE || code === QUOTE || code === BACKSLASH) {
        bytes.backTo(at);
        return this.value(value);
      }
      memory.setUint8(at + 1 + char, code);
    }
    memory.setUint8(at + 1 + length, QUOTE);
  }

  #number(value: number): void {
    const isPlain = value > -PLAIN_END && value < PLAIN_END && (value | 0) === value;
    if (!isPlain) return this.#ascii(JSON.stringify(value));
    if (value < 0) this.bytes.u8(MINUS);
    this.#digits(value < 0 ? -value : value);
  }

  /** A whole number below `PLAIN_END`. */
  #digits(value: number): void {
    let count = 1;
    for (let rest = value; rest >= 10; rest = (rest / 10) | 0) count++;
    const start = this.bytes.claim(count);
    const { memory } = this.bytes;
    let rest = value;
    for (let at = start + count - 1; at >= start; at--) {
      const next = (rest / 10) | 0;
      memory.setUint8(at, ZERO + rest - next * 10);
      rest = next;
    }
  }

  #ascii(text: string): void {
    const at = this.bytes.claim(text.length);
    const { memory } = this.bytes;
    for (let char = 0; char < text.length; char++) {
      memory.setUint8(at + char, text.charCodeAt(char));
    }
  }
}

/** Four hex digits. */
function writeHex(memory: DataView, at: number, half: number): void {
  memory.setUint16(at, HEX[half >>> 8]!);
  memory.setUint16(at + 2, HEX[half & 255]!);
}

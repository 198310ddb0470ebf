/**
 * Whole numbers as bytes of seven bits, the lowest first; all but the last have the top bit set. A
 * signed number is twice its size, minus one where it is below 0, so that small ones stay short.
 */
import { invariant } from '../base/invariant.ts';

/** The largest size of a signed number. */
export const SIGNED_MAX = 2 ** 51;
/** Bytes of the longest number. */
const VARINT_BYTES_MAX = 8;

type Values = readonly number[] | Float64Array;

export class VarintWriter {
  #bytes = Buffer.allocUnsafeSlow(16 * 1024);
  #at = 0;

  get length(): number {
    return this.#at;
  }

  /** Begins an empty text. */
  begin(): void {
    this.#at = 0;
  }

  unsigned(value: number): void {
    this.#claim(VARINT_BYTES_MAX);
    this.#at = writeUnsigned(this.#bytes, this.#at, value);
  }

  signed(value: number): void {
    this.#claim(VARINT_BYTES_MAX);
    this.#at = writeSigned(this.#bytes, this.#at, value);
  }

  /** The differences of a record, at `from`, from the record before, which it then replaces. */
  differences(values: readonly number[], from: number, last: number[]): void {
    this.#claim(VARINT_BYTES_MAX * last.length);
    const bytes = this.#bytes;
    let at = this.#at;
    for (let column = 0; column < last.length; column++) {
      const value = values[from + column]!;
      at = writeSigned(bytes, at, value - last[column]!);
      last[column] = value;
    }
    this.#at = at;
  }

  /** The differences within a column of records; its values lie `step` apart from `from` on. */
  differencesOf(values: Values, from: number, step: number, records: number): void {
    this.#claim(VARINT_BYTES_MAX * records);
    const bytes = this.#bytes;
    let last = values[from]!;
    let at = this.#at;
    const end = from + records * step;
    for (let place = from + step; place < end; place += step) {
      const value = values[place]!;
      at = writeSigned(bytes, at, value - last);
      last = value;
    }
    this.#at = at;
  }

  /** Bytes after their number. */
  blob(bytes: Uint8Array): void {
    this.unsigned(bytes.length);
    this.#claim(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** All bytes since `begin`, valid until the next `begin`. */
  view(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }

  /** Makes room for so many bytes. */
  #claim(bytes: number): void {
    while (this.#at + bytes > this.#bytes.length) this.#grow();
  }

  #grow(): void {
    const grown = Buffer.allocUnsafeSlow(this.#bytes.length * 2);
    this.#bytes.copy(grown);
    this.#bytes = grown;
  }
}

/** @returns where the next byte goes. */
function writeSigned(bytes: Uint8Array, at: number, value: number): number {
  const folded = value < 0 ? -2 * value - 1 : 2 * value;
  // Most differences are whole and take one byte.
  if ((folded & 127) === folded) {
    bytes[at] = folded;
    return at + 1;
  }
  invariant(Math.abs(value) <= SIGNED_MAX, 'a number to be kept is too large');
  return writeUnsigned(bytes, at, folded);
}

function writeUnsigned(bytes: Uint8Array, start: number, value: number): number {
  invariant(Number.isSafeInteger(value) && value >= 0, 'a number to be kept is below 0');
  let at = start;
  let rest = value;
  for (; rest >= 2 ** 28; rest = Math.floor(rest / 128)) bytes[at++] = (rest % 128) | 128;
  for (; rest >= 128; rest >>>= 7) bytes[at++] = (rest & 127) | 128;
  bytes[at++] = rest;
  return at;
}

export class VarintReader {
  readonly #bytes: Uint8Array;
  #at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes;
    this.#at = at;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  unsigned(): number {
    const bytes = this.#bytes;
    let byte = bytes[this.#at++]!;
    if (byte < 128) return byte;
    let value = byte & 127;
    for (let scale = 128; ; scale *= 128) {
      invariant(this.#at < bytes.length, 'a number ends before its last byte');
      byte = bytes[this.#at++]!;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }

  blob(): Uint8Array {
    const end = this.unsigned() + this.#at;
    invariant(end <= this.#bytes.length, 'bytes end after the last written one');
    const bytes = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return bytes;
  }

  signed(): number {
    const value = this.unsigned();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /** The values from an index on that `differencesOf` has written; `value` is the first of them. */
  column(values: Float64Array, first: number, records: number, value: number): void {
    const bytes = this.#bytes;
    let last = value;
    values[first] = last;
    for (let at = first + 1; at < first + records; at++) {
      const byte = bytes[this.#at]!;
      if (byte < 128) {
        this.#at++;
        last += (byte >>> 1) ^ -(byte & 1);
      } else last += this.signed();
      values[at] = last;
    }
  }
}

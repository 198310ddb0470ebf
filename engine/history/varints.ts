/**
 * Whole numbers as bytes of seven bits, the lowest first; all but the last have the top bit set. A
 * signed number is twice its size, minus one where it is below 0, so that small ones stay short.
 */
import { invariant } from '../rules/invariant.ts';

/** The largest size of a signed number. */
export const SIGNED_MAX = 2 ** 51;
/** Bytes of the longest number. */
const VARINT_BYTES_MAX = 8;

export class VarintWriter {
  #bytes = Buffer.allocUnsafeSlow(16 * 1024);
  #at = 0;

  get length(): number {
    return this.#at;
  }

  /** Starts anew. */
  begin(): void {
    this.#at = 0;
  }

  unsigned(value: number): void {
    invariant(Number.isSafeInteger(value) && value >= 0, 'a number to be kept is below 0');
    if (this.#at + VARINT_BYTES_MAX > this.#bytes.length) this.#grow();
    const bytes = this.#bytes;
    let rest = value;
    for (; rest >= 2 ** 28; rest = Math.floor(rest / 128)) bytes[this.#at++] = (rest % 128) | 128;
    for (; rest >= 128; rest >>>= 7) bytes[this.#at++] = (rest & 127) | 128;
    bytes[this.#at++] = rest;
  }

  signed(value: number): void {
    invariant(Math.abs(value) <= SIGNED_MAX, 'a number to be kept is too large');
    this.unsigned(value < 0 ? -2 * value - 1 : 2 * value);
  }

  /** Bytes behind their number. */
  blob(bytes: Uint8Array): void {
    this.unsigned(bytes.length);
    while (this.#at + bytes.length > this.#bytes.length) this.#grow();
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** What was written since `begin`; valid until then. */
  view(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }

  #grow(): void {
    const grown = Buffer.allocUnsafeSlow(this.#bytes.length * 2);
    this.#bytes.copy(grown);
    this.#bytes = grown;
  }
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
    invariant(end <= this.#bytes.length, 'bytes end behind what was written');
    const bytes = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return bytes;
  }

  signed(): number {
    const value = this.unsigned();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
}

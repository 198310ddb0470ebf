/**
 * Reads the bytes of a message, which arrive from outside: JSON text, or msgpack. Each is one pass
 * over the bytes. Its work grows with their number alone, and its result is bounded. Only msgpack
 * that JSON can express is taken: no reference to an earlier value, no extension type, no bytes.
 * Rules J2, J33 (api/RULES.md).
 */
import { invalidRequest } from '../base/errors.ts';
import { givenTwice, parseObject, setOwn } from '../base/validation.ts';

/** Entries of lists and members of maps: a message of 200 channels has 203. */
const VALUES_MAX = 4096;
/** The depth of lists and maps; an order is the second level of its message. */
const DEPTH_MAX = 32;

/** Throws `invalid_request`. */
export function readJson(bytes: Uint8Array): object {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  boundJson(text);
  return parseObject(text, 'the message');
}

/** Throws `invalid_request`. */
export function readMsgpack(bytes: Uint8Array): object {
  const reader = new MsgpackReader(bytes);
  const value = reader.value(0);
  reader.end();
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw invalidRequest('the message must be a map');
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const [LIST, LIST_END, MAP, MAP_END] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Throws if a text has more values, or deeper ones, than a message may. */
function boundJson(text: string): void {
  // Every value but the first follows a bracket or a comma.
  let values = 1;
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) isInString = !isInString;
    else if (isInString) {
      if (unit === BACKSLASH) at++;
    } else if (unit === COMMA) values++;
    else if (unit === LIST || unit === MAP) {
      values++;
      depth++;
      if (depth > DEPTH_MAX) throw tooDeep();
    } else if (unit === LIST_END || unit === MAP_END) depth--;
  }
  if (values > VALUES_MAX) throw tooManyValues();
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/**
 * A text up to this length is joined from its characters, which costs less than a call out of
 * JavaScript.
 */
const SHORT = 24;

class MsgpackReader {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  #at = 0;
  #values = 1;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  end(): void {
    if (this.#at !== this.#bytes.length) {
      throw invalidRequest('the message has bytes after its msgpack');
    }
  }

  /** @param depth how many lists and maps it is within */
  value(depth: number): unknown {
    const head = this.#view.getUint8(this.#take(1));
    if (head < 0x80) return head;
    if (head >= 0xe0) return head - 0x100;
    if (head < 0x90) return this.#map(head & 0x0f, depth);
    if (head < 0xa0) return this.#list(head & 0x0f, depth);
    if (head < 0xc0) return this.#text(head & 0x1f);
    switch (head) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xca:
        return this.#view.getFloat32(this.#take(4));
      case 0xcb:
        return this.#view.getFloat64(this.#take(8));
      case 0xcc:
        return this.#length(1);
      case 0xcd:
        return this.#length(2);
      case 0xce:
        return this.#length(4);
      case 0xcf:
        return Number(this.#view.getBigUint64(this.#take(8)));
      case 0xd0:
        return this.#view.getInt8(this.#take(1));
      case 0xd1:
        return this.#view.getInt16(this.#take(2));
      case 0xd2:
        return this.#view.getInt32(this.#take(4));
      case 0xd3:
        return Number(this.#view.getBigInt64(this.#take(8)));
      case 0xd9:
        return this.#text(this.#length(1));
      case 0xda:
        return this.#text(this.#length(2));
      case 0xdb:
        return this.#text(this.#length(4));
      case 0xdc:
        return this.#list(this.#length(2), depth);
      case 0xdd:
        return this.#list(this.#length(4), depth);
      case 0xde:
        return this.#map(this.#length(2), depth);
      case 0xdf:
        return this.#map(this.#length(4), depth);
      case 0xc1:
        throw unreadable();
      default:
        throw invalidRequest(
          'the message has a msgpack type that JSON lacks: bytes or an extension',
        );
    }
  }

  /** Moves on by so many bytes, and returns where they begin. */
  #take(bytes: number): number {
    const from = this.#at;
    if (bytes > this.#bytes.length - from) throw unreadable();
    this.#at = from + bytes;
    return from;
  }

  /** An unsigned number of so many bytes. */
  #length(bytes: 1 | 2 | 4): number {
    const at = this.#take(bytes);
    if (bytes === 1) return this.#view.getUint8(at);
    return bytes === 2 ? this.#view.getUint16(at) : this.#view.getUint32(at);
  }

  #text(length: number): string {
    const from = this.#take(length);
    const bytes = this.#bytes;
    let text = '';
    for (let at = from; at < this.#at; at++) {
      const byte = bytes[at]!;
      if (byte >= 0x80) return this.#utf8(from);
      if (length <= SHORT) text += String.fromCharCode(byte);
    }
    return length <= SHORT ? text : bytes.toString('latin1', from, this.#at);
  }

  #utf8(from: number): string {
    try {
      return UTF8.decode(this.#bytes.subarray(from, this.#at));
    } catch {
      throw invalidRequest('a text of the message is not UTF-8');
    }
  }

  #list(length: number, depth: number): unknown[] {
    this.#enter(length, depth);
    const list: unknown[] = [];
    for (let entry = 0; entry < length; entry++) list.push(this.value(depth + 1));
    return list;
  }

  #map(length: number, depth: number): object {
    this.#enter(length, depth, 2 * length);
    const map: Record<string, unknown> = {};
    for (let member = 0; member < length; member++) {
      const key = this.value(depth + 1);
      if (typeof key !== 'string') throw invalidRequest('a key of the message is no text');
      if (Object.hasOwn(map, key)) throw givenTwice(key);
      const value = this.value(depth + 1);
      setOwn(map, key, value);
    }
    return map;
  }

  /** A list or map begins. Each value within has at least a byte, so a claim of more is false. */
  #enter(length: number, depth: number, values = length): void {
    if (values > this.#bytes.length - this.#at) throw unreadable();
    this.#values += Math.max(length, 1);
    if (this.#values > VALUES_MAX) throw tooManyValues();
    if (depth === DEPTH_MAX) throw tooDeep();
  }
}

const unreadable = () => invalidRequest('the message is not msgpack');
const tooManyValues = () => invalidRequest(`the message must have at most ${VALUES_MAX} values`);
const tooDeep = () => invalidRequest(`the message must be nested at most ${DEPTH_MAX} levels deep`);

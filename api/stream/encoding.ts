/** How the messages of a connection are written: JSON text, or msgpack. Rules J2, J3 (api/RULES.md). */
import { Packr, Unpackr } from 'msgpackr';
import { invalidRequest } from '../errors.ts';
import { parseObject } from '../validation.ts';

export type Encoding = {
  /** The subprotocol that asks for it. */
  name: 'json' | 'msgpack';
  isBinary: boolean;
  /** Throws `invalid_request`. */
  read(bytes: ArrayBuffer): object;
  /** @param text JSON */
  write(text: string): string | Uint8Array;
};

// Without records every client can read the answers.
const packr = new Packr({ useRecords: false });
const unpackr = new Unpackr({ useRecords: false, int64AsType: 'number' });

export const JSON_TEXT: Encoding = {
  name: 'json',
  isBinary: false,
  read: (bytes) => parseObject(Buffer.from(bytes).toString(), 'the message'),
  write: (text) => text,
};

export const MSGPACK: Encoding = {
  name: 'msgpack',
  isBinary: true,
  read: (bytes) => {
    let value: unknown;
    try {
      value = unpackr.unpack(new Uint8Array(bytes));
    } catch {
      throw invalidRequest('the message is not msgpack');
    }
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
    throw invalidRequest('the message must be a map');
  },
  write: (text) => packr.pack(JSON.parse(text)),
};

/** @param protocols as the caller offers them, with commas between */
export function encodingOf(protocols: string): { encoding: Encoding; protocol: string } {
  const offered = protocols.split(',').map((name) => name.trim());
  const encoding = [MSGPACK, JSON_TEXT].find(({ name }) => offered.includes(name));
  return { encoding: encoding ?? JSON_TEXT, protocol: encoding?.name ?? '' };
}

/** How the messages of a connection are written: JSON text, or msgpack. Rules J2, J3 (api/RULES.md). */
import { Packr } from 'msgpackr';
import { readJson, readMsgpack } from './message-reader.ts';

export type Encoding = {
  /** The subprotocol that asks for it. */
  name: 'json' | 'msgpack';
  isBinary: boolean;
  /** Throws `invalid_request`. */
  read(bytes: Uint8Array): object;
  /** @param text JSON */
  write(text: string): string | Uint8Array;
};

// Without records every client can read the answers.
const packr = new Packr({ useRecords: false });

export const JSON_TEXT: Encoding = {
  name: 'json',
  isBinary: false,
  read: readJson,
  write: (text) => text,
};

export const MSGPACK: Encoding = {
  name: 'msgpack',
  isBinary: true,
  read: readMsgpack,
  write: (text) => packr.pack(JSON.parse(text)),
};

/** @param protocols as the caller offers them, with commas between */
export function encodingOf(protocols: string): { encoding: Encoding; protocol: string } {
  const offered = protocols.split(',').map((name) => name.trim());
  const encoding = [MSGPACK, JSON_TEXT].find(({ name }) => offered.includes(name));
  return { encoding: encoding ?? JSON_TEXT, protocol: encoding?.name ?? '' };
}

/** Uuids as the 16 bytes that SQLite stores and compares; they sort as the texts do. */
import { invariant } from '../../base/invariant.ts';
import { UUID_LENGTH, type Uuid } from '../../base/units.ts';

export function uuidBytes(id: Uuid): Buffer {
  invariant(id.length === UUID_LENGTH, 'an id of the records is no uuid');
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}

export function uuidText(bytes: Uint8Array): Uuid {
  invariant(bytes.length === 16, 'a uuid of the records has not 16 bytes');
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, 16).toString('hex');
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)];
  return `${parts.join('-')}-${hex.slice(20)}`;
}

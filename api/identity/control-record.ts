/**
 * The changes of the control store as a record of a cluster: each names its table by a permanent
 * number, and has its row as the disk has it, without the checksum. Rule N131 (engine/RULES.md).
 *
 *   fingerprint of the layout: 4 bytes · changes: 4 bytes · for each change
 *   table: 1 byte · length of the key: 2 bytes · length of the row and one, 0 if removed: 4 bytes
 *   key in UTF-8 · row
 */
import { invariant } from '../../engine/base/invariant.ts';
import { CONTROL_FINGERPRINT, type TABLE_NAMES } from './control-format.ts';

/** Counts and last uses are each node's own. */
type OwnTable = 'requests' | 'keyUses';
export type ReplicatedTable = Exclude<(typeof TABLE_NAMES)[number], OwnTable> | 'values';

/** Permanent numbers. */
const NUMBERS: { [N in ReplicatedTable]: number } = {
  users: 1,
  keys: 2,
  venueKeys: 3,
  organizations: 4,
  memberships: 5,
  sessions: 6,
  passwords: 7,
  subjects: 8,
  userEmails: 9,
  userNames: 10,
  keyHashes: 11,
  keyOwners: 12,
  sessionFamilies: 13,
  sessionOwners: 14,
  realism: 15,
  venueApiKeys: 16,
  venueApiKeyOwners: 17,
  names: 18,
  values: 19,
  results: 20,
};
const TABLES = new Map(
  Object.entries(NUMBERS).map(([name, number]) => [number, name as ReplicatedTable]),
);

/** A change of a record; null: the row is removed. */
export type RecordedChange = { table: ReplicatedTable; key: string; packed: Uint8Array | null };

const HEADER_BYTES = 8;
const CHANGE_BYTES = 7;

export function writeControlRecord(
  changes: readonly { table: { name: string }; key: string; packed: Uint8Array | null }[],
): Buffer {
  const rows = changes.map(({ table, key, packed }) => {
    const number = NUMBERS[table.name as ReplicatedTable];
    invariant(number !== undefined, `rows of ${table.name} are in no record`);
    return { number, key: Buffer.from(key), packed };
  });
  const lengths = rows.map(({ key, packed }) => CHANGE_BYTES + key.length + (packed?.length ?? 0));
  const bytes = Buffer.alloc(lengths.reduce((sum, length) => sum + length, HEADER_BYTES));
  bytes.writeUInt32LE(CONTROL_FINGERPRINT, 0);
  bytes.writeUInt32LE(rows.length, 4);
  let at = HEADER_BYTES;
  for (const { number, key, packed } of rows) {
    bytes.writeUInt8(number, at);
    bytes.writeUInt16LE(key.length, at + 1);
    bytes.writeUInt32LE(packed === null ? 0 : packed.length + 1, at + 3);
    at += CHANGE_BYTES;
    at += key.copy(bytes, at);
    if (packed === null) continue;
    bytes.set(packed, at);
    at += packed.length;
  }
  return bytes;
}

/** Throws for a record of another layout, or one that is not whole. The rows stay part of `bytes`. */
export function readControlRecord(bytes: Buffer): RecordedChange[] {
  const layout = bytes.length < HEADER_BYTES ? 'none' : bytes.readUInt32LE(0);
  if (layout !== CONTROL_FINGERPRINT) {
    throw new Error(
      `a record of control data has layout ${layout}, and this program ${CONTROL_FINGERPRINT}`,
    );
  }
  let at = HEADER_BYTES;
  return Array.from({ length: bytes.readUInt32LE(4) }, () => {
    const table = TABLES.get(bytes.readUInt8(at));
    if (table === undefined) throw new Error('a record of control data names no table');
    const keyLength = bytes.readUInt16LE(at + 1);
    const length = bytes.readUInt32LE(at + 3);
    const row = at + CHANGE_BYTES + keyLength;
    const key = bytes.toString('utf8', row - keyLength, row);
    at = length === 0 ? row : row + length - 1;
    if (at > bytes.length) throw new Error('a record of control data is not whole');
    return { table, key, packed: length === 0 ? null : bytes.subarray(row, at) };
  });
}

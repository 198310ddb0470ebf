/**
 * The small JSON files that a server keeps in its data directory, each with a checksum of its
 * content. Rule D36 (engine/RULES.md).
 */
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { DataDirError, readJsonFile, replaceFile } from './directory-files.ts';

/** By file name: the fields that the file may have beside its checksum. */
const FIELDS = {
  'paperbook.json': [
    ...['format', 'version', 'shards', 'id', 'fromReplay'],
    ...['historyMadeAtMs', 'hasPositions', 'trackRecordKeys'],
  ],
  'auth-key.json': ['kty', 'crv', 'x', 'y', 'd'],
  'track-record-key.json': ['kty', 'crv', 'x', 'd'],
  'track-record-keys.json': ['publicKeys'],
  'positions.json': ['facts'],
  'contradicted.json': ['said'],
  'demo.json': ['baseUrl', 'adminUrl', 'email', 'password', 'key', 'bots'],
  'demo/simulator.json': ['seed', 'firstStartMs', 'longGames', 'expressSinceMs'],
} as const;

export type CheckedName = keyof typeof FIELDS;
export const CHECKED_NAMES = Object.keys(FIELDS) as CheckedName[];

export function writeChecked(dataDir: string, name: CheckedName, value: object): void {
  replaceFile(path.join(dataDir, name), checkedText(value));
}

/** The text of a file with this content, one field per line, which scripts can read. */
export function checkedText(value: object): string {
  const checked = { ...value, crc32: crc32(JSON.stringify(value)) };
  return `${JSON.stringify(checked, null, 2)}\n`;
}

/**
 * The content of the file; undefined: it is missing. A person who edits it removes its checksum.
 * Throws `DataDirError` if the checksum does not match.
 */
export function readChecked(dataDir: string, name: CheckedName): object | undefined {
  const file = path.join(dataDir, name);
  const stored = readJsonFile(file);
  if (stored === undefined) return undefined;
  const { crc32: checksum, ...value } = (stored ?? {}) as Record<string, unknown>;
  if (checksum !== undefined && crc32(JSON.stringify(value)) !== checksum) {
    throw new DataDirError(`${file} is damaged: it does not have its checksum`);
  }
  const foreign = Object.keys(value).find((field) => !FIELDS[name].includes(field as never));
  if (foreign === undefined) return value;
  throw new DataDirError(
    `${file} is damaged: it has no field of the name ${JSON.stringify(foreign)}`,
  );
}

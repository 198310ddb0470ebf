/**
 * The files that a history must have, recorded beside them. It distinguishes a history that was cut
 * short, replaced or removed from one that a crash has torn. Rule D82 (engine/RULES.md).
 */
import {
  closeSync,
  fdatasyncSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { invariant } from '../base/invariant.ts';
import type { EpochMs } from '../base/units.ts';
import { syncDirectory } from '../log/segment-file.ts';
import { HistoryDamage } from './block-format.ts';
import { HISTORY_VERSION } from './kinds.ts';

export const MANIFEST_NAME = 'manifest.json';

/** A journal by its number, and how much of its file is certainly on disk. */
export type Vouched = { number: number; bytes: number };

/** The number before the first one. */
export const NO_JOURNAL: Vouched = { number: 0, bytes: 0 };

export type Manifest = {
  /** When the history was made. */
  sinceMs: EpochMs;
  /** The engine's time. */
  atMs: EpochMs;
  journal: Vouched;
  /** The journal before, until the current one has replaced it; then null. */
  previous: Vouched | null;
};

/** On disk on return. */
export function writeManifest(directory: string, manifest: Manifest): void {
  const { journal, previous } = manifest;
  invariant(journal.number > 0 && journal.bytes > 0, 'a manifest names no journal');
  invariant(previous === null || previous.number !== journal.number, 'a journal follows itself');
  const value = { version: HISTORY_VERSION, ...manifest };
  const file = path.join(directory, MANIFEST_NAME);
  const text = JSON.stringify({ ...value, crc32: crc32(JSON.stringify(value)) });
  const made = `${file}.new`;
  writeFileSync(made, text, { mode: 0o600 });
  const fd = openSync(made, 'r');
  try {
    fdatasyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(made, file);
  syncDirectory(directory);
}

/** Null: there is none. Throws `HistoryDamage`, and an error that names both versions. */
export function readManifest(directory: string): Manifest | null {
  let text: string;
  try {
    text = readFileSync(path.join(directory, MANIFEST_NAME), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  const { crc32: checksum, version, ...manifest } = parsed(text);
  if (crc32(JSON.stringify({ version, ...manifest })) !== checksum) {
    throw new HistoryDamage(MANIFEST_NAME, 0, 'it does not have its checksum');
  }
  if (version === HISTORY_VERSION) return manifest;
  throw new Error(
    `${MANIFEST_NAME} has version ${version} of the history's format, and this is version ${HISTORY_VERSION}`,
  );
}

function parsed(text: string): Manifest & { version: number; crc32: number } {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as never;
  } catch {
    // The same problem as any foreign text.
  }
  throw new HistoryDamage(MANIFEST_NAME, 0, 'it holds no JSON object');
}

/** How much of a journal is certainly on disk; null: it does not belong here. */
export function vouchedBytes(manifest: Manifest, journal: number): number | null {
  const { journal: present, previous } = manifest;
  if (present.number === journal) return present.bytes;
  return previous?.number === journal ? previous.bytes : null;
}

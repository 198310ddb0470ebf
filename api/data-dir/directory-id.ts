/**
 * The id of a data directory, in paperbook.json and in its control store. So the users of one
 * directory are never used with another. Rule D14 (engine/RULES.md).
 */
import path from 'node:path';
import type { EpochMs, Uuid } from '../../engine/base/units.ts';
import { checkLmdbFile } from '../../engine/lmdb/lmdb-file.ts';
import { newUuid } from '../base/uuid.ts';
import { type Meta, metaFileIn, metaOf, shardsIn, writeMeta } from './data-dir.ts';
import { DataDirError } from './directory-files.ts';

/**
 * Runs before the store is opened, which would create a new store and leave the accounts without
 * users. Throws if shards exist and the store is missing.
 */
export function refuseLostControl(dataDir: string): void {
  if (checkLmdbFile(controlIn(dataDir)) !== null) return;
  const shards = shardsIn(dataDir);
  const meta = metaOf(dataDir);
  if (shards.length === 0 || isReplays(meta)) return;
  const { id } = meta;
  const older =
    id === undefined
      ? `, or, where a replay made the directory, put "fromReplay":true into ` +
        `${metaFileIn(dataDir)} and take "crc32" out`
      : '';
  throw new DataDirError(
    `${controlIn(dataDir)} is missing, and ${dataDir} holds ${shards.join(', ')}, whose accounts ` +
      `would be nobody's: restore it, from a backup of the same directory${older}`,
  );
}

/** The part of the control store that says whose it is. */
export type OwnedStore = {
  readonly directoryId: Uuid | null;
  numbers(): unknown;
  putDirectoryId(id: Uuid): Promise<void>;
};

/**
 * Gives both the same id if neither has one: at the first start, and at the first start of a
 * version that uses ids. Throws if they belong to two directories, without writing anything.
 */
export async function settleDirectoryId(
  dataDir: string,
  store: OwnedStore,
  nowMs: EpochMs,
): Promise<void> {
  const meta = metaOf(dataDir);
  // A start writes the numbers last: a store without numbers is new, and so are its shards.
  const isNew = store.directoryId === null && store.numbers() === null;
  const problem = isNew ? null : idProblem(dataDir, meta, store.directoryId);
  if (problem !== null) throw new DataDirError(problem);
  const id = store.directoryId ?? meta.id ?? newUuid(nowMs);
  // In this order, so that the next start can finish one that was interrupted in between.
  if (store.directoryId === null) await store.putDirectoryId(id);
  if (meta.id !== id) writeMeta(dataDir, { ...meta, id });
}

/** A replay leaves shards and no users. The first server on such a directory gives it an id. */
export function isReplays({ id, fromReplay }: Meta): boolean {
  return fromReplay === true && id === undefined;
}

/** Describes the problem of the ids; `inControl` null: the store has none. */
export function idProblem(dataDir: string, meta: Meta, inControl: Uuid | null): string | null {
  if (meta.id === undefined || meta.id === inControl) return null;
  const control = controlIn(dataDir);
  return inControl === null
    ? `${control} has no id, and ${metaFileIn(dataDir)} has ${meta.id}: it is of another ` +
        'directory, or from before there were ids; restore the whole of one backup'
    : `${control} is that of directory ${inControl}, and ${metaFileIn(dataDir)} is that of ` +
        `${meta.id}: restore the right one`;
}

const controlIn = (dataDir: string) => path.join(dataDir, 'control');

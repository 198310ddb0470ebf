/**
 * A data directory: created at the first start, used by one server at a time, with a number of
 * shards that never changes. Rules D5, D13 (engine/RULES.md).
 */
import { accessSync, constants, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import type { EpochMs, Uuid } from '../../engine/base/units.ts';
import { FORMAT_VERSION, FormatMismatch } from '../../engine/format/version.ts';
import { isUuid } from '../../engine/rules/ids.ts';
import { readChecked, writeChecked } from './checked-file.ts';
import { DataDirError } from './directory-files.ts';
import { InUse, takeLock } from './directory-lock.ts';
import { closeToOthers, foreignProblem, makeDirectory } from './private-files.ts';

export type DataDir = {
  path: string;
  shards: number;
  /**
   * Files that other users of the machine could read or write so far, and the remedy; one line
   * each.
   */
  exposed: string[];
  release(): Promise<void>;
};

type ShardsWanted = {
  /** Null: the directory's own number, or `byDefault` for a new one. */
  wanted: number | null;
  byDefault: number;
  /** A new directory belongs to a replay. */
  fromReplay?: true;
};

/**
 * Creates or opens the directory and locks it for this process.
 *
 * Other users of the machine cannot read it from then on: see `DataDir.exposed`.
 *
 * @param mayOpen called once it is locked; if it rejects, nothing is written there
 */
export async function openDataDir(
  directory: string,
  shards: ShardsWanted,
  mayOpen: () => Promise<void> = async () => {},
): Promise<DataDir> {
  try {
    makeDirectory(directory);
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new DataDirError(`PAPERBOOK_DATA_DIR ${directory} cannot be written to (${code})`);
  }
  // Checked first: a person who reads that our own directory is foreign looks for the wrong fault.
  if (readMeta(directory) === undefined) refuseLostMeta(directory);
  const problem = foreignProblem(directory);
  if (problem !== null) {
    throw new DataDirError(
      `PAPERBOOK_DATA_DIR ${directory} ${problem}: set a directory of its own`,
    );
  }
  const lock = await takeLock(directory).catch((error: Error) => {
    const hint = error instanceof InUse ? ': stop that one, or set another directory' : '';
    throw new DataDirError(`PAPERBOOK_DATA_DIR ${directory} ${error.message}${hint}`);
  });
  try {
    await mayOpen();
    const exposed = closeToOthers(directory);
    const settled = settleShards(directory, shards);
    return { path: directory, shards: settled, exposed, release: () => lock.release() };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** The content of a data directory's paperbook.json. */
export type Meta = {
  format: 'paperbook-data';
  /** Version of the format of everything in the directory (engine/format/version.ts). */
  version: number;
  /** The number of shards at its first start. */
  shards: number;
  /** Absent until a server has started on it: directory-id.ts. */
  id?: Uuid;
  /** A replay created it: its accounts belong to no user. */
  fromReplay?: true;
  /**
   * When a server first recorded prices in it, on the engine's clock. If the history is gone later,
   * it is missing.
   */
  historyMadeAtMs?: EpochMs;
  /**
   * Whether the positions of shards are noted beside them (shard-positions.ts). If the note is gone
   * later, it is missing.
   */
  hasPositions?: true;
  /** How many keys have signed track records, so that a lost key is noticed. */
  trackRecordKeys?: number;
};

/** Throws if the directory is not a data directory. */
export function metaOf(directory: string): Meta {
  const meta = readMeta(directory);
  if (meta === undefined) {
    throw new DataDirError(`${directory} is no data directory: it has no paperbook.json`);
  }
  return meta;
}

export function writeMeta(directory: string, meta: Meta): void {
  writeChecked(directory, 'paperbook.json', meta);
}

export const metaFileIn = (directory: string) => path.join(directory, 'paperbook.json');

/** The names of the shards that exist. */
export function shardsIn(directory: string): string[] {
  return readdirSync(directory).filter((name) => /^shard-\d+$/.test(name));
}

function settleShards(directory: string, { wanted, byDefault, fromReplay }: ShardsWanted): number {
  const meta = readMeta(directory);
  if (meta === undefined) {
    const shards = wanted ?? byDefault;
    const made = fromReplay === true ? ({ fromReplay } as const) : {};
    writeMeta(directory, { format: 'paperbook-data', version: FORMAT_VERSION, shards, ...made });
    return shards;
  }
  if (wanted !== null && wanted !== meta.shards) {
    throw new DataDirError(
      `PAPERBOOK_SHARDS is ${wanted}, but ${directory} was first started with ${meta.shards}: ` +
        `an account always lives in one shard. Set it to ${meta.shards} or leave it out; to ` +
        `reshard, start a new data directory with PAPERBOOK_SHARDS=${wanted}`,
    );
  }
  return meta.shards;
}

/** What `paperbook verify` keeps for its next run. A copy of the directory has none of it. */
export const VERIFIED = 'verified';

/**
 * The part that belongs to one directory alone: numbers of accounts and markets, which mean others
 * elsewhere.
 */
const OF_ONE_DIRECTORY = ['control', 'history', 'records', 'closings-copy.db'];

/** Without paperbook.json the shard of an account is unknown: another number would reopen it. */
function refuseLostMeta(directory: string): void {
  const shards = shardsIn(directory);
  const others = OF_ONE_DIRECTORY.filter((name) => holdsSomething(path.join(directory, name)));
  const held = shards.length > 0 ? shards : others;
  if (held.length === 0) return;
  throw new DataDirError(
    `${metaFileIn(directory)} is missing, and ${directory} holds ${held.join(', ')}: ` +
      'restore it, from a backup of the same directory',
  );
}

/** An empty folder may be the place of a volume. */
function holdsSomething(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return false;
  return found.isDirectory() ? readdirSync(file).length > 0 : found.size > 0;
}

function readMeta(directory: string): Meta | undefined {
  const meta = readChecked(directory, 'paperbook.json') as Partial<Meta> | undefined;
  if (meta === undefined) return undefined;
  const file = metaFileIn(directory);
  const { id } = meta;
  if (meta.format === 'paperbook-data' && meta.version !== FORMAT_VERSION) {
    throw new DataDirError(new FormatMismatch(file, meta.version ?? 'unknown').message);
  }
  const isKnown =
    meta.format === 'paperbook-data' &&
    Number.isInteger(meta.shards) &&
    (id === undefined || (typeof id === 'string' && isUuid(id)));
  if (!isKnown) {
    throw new DataDirError(`${file} does not describe a data directory of this version`);
  }
  return meta as Meta;
}

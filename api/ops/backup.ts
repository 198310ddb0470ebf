/**
 * Copies a data directory, with or without a running server, into a directory that a server can
 * start on. A target with an earlier copy of the same directory receives the changes since. Rules
 * D17, D32 (engine/RULES.md).
 *
 * A log is copied at least as far as its checkpoint covers. The control store is copied last,
 * because it stores users and numbers before a shard refers to them. Files are put in place in the
 * reverse order, so that the copy is complete at every moment.
 */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import path from 'node:path';
import { open } from 'lmdb';
import { copyHistory, placeOf } from '../../engine/history/copy.ts';
import { DAMAGED } from '../../engine/history/set-aside.ts';
import { checkLmdbFile, missingFile } from '../../engine/lmdb/lmdb-file.ts';
import { copyClosings, isClosings } from '../../engine/records/projection/closing-lines.ts';
import { identityOf } from '../../engine/shard/store/data-format.ts';
import { logIn } from '../../engine/shard/store/shard-log.ts';
import { openSnapshot } from '../../engine/shard/store/snapshot.ts';
import { type Meta, metaOf, VERIFIED } from '../data-dir/data-dir.ts';
import { DataDirError, replaceFile, syncPath } from '../data-dir/directory-files.ts';
import { takeLock } from '../data-dir/directory-lock.ts';
import { makeDirectory } from '../data-dir/private-files.ts';
import { POSITIONS_NAME } from '../data-dir/shard-positions.ts';
import { copyLog, type LogCopy, planLogCopy } from './backup-log.ts';

/** `files` and `bytes`: counts of this run's copies. */
export type Backup = { directory: string; shards: number; files: number; bytes: number };

const HISTORY = 'history';
/** Where new files wait before they move into an existing copy. */
const ARRIVING = 'backup.partial';
/**
 * Files that a server creates again at its start, secrets too, and files of the running process.
 */
const LEFT_OUT = new Set([
  ...['admin.token', 'auth-key.json', 'track-record-key.json', 'demo.json'],
  ...['server.lock', 'lock.mdb', ARRIVING],
  // Copied by itself.
  POSITIONS_NAME,
]);

/**
 * Copies `dataDir` to `target`, which must be missing, empty, or a backup of the same directory.
 * A new copy is written beside `target` and renamed at the end; an existing one stays complete
 * throughout. Throws `DataDirError` with a message for the operator.
 */
export async function backUp(dataDir: string, target: string): Promise<Backup> {
  const meta = metaOf(dataDir);
  const inside = path.relative(path.resolve(dataDir), path.resolve(target));
  if (!inside.startsWith('..') && !path.isAbsolute(inside)) {
    throw new DataDirError(`${target} is inside ${dataDir}: a backup goes elsewhere`);
  }
  const copied = { files: 0, bytes: 0 };
  const isNew = !existsSync(target) || (isDirectory(target) && readdirSync(target).length === 0);
  await (isNew ? copyAnew : copyAgain)({ dataDir, target, meta, copied });
  return { directory: target, shards: meta.shards, ...copied };
}

type Copied = { files: number; bytes: number };
type Task = { dataDir: string; target: string; meta: Meta; copied: Copied };

async function copyAnew({ dataDir, target, meta, copied }: Task): Promise<void> {
  const partial = `${path.resolve(target)}.partial`;
  try {
    makeDirectory(path.dirname(partial));
    mkdirSync(partial, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const isThere = code === 'EEXIST';
    const why = isThere
      ? 'exists: a backup is running, or was broken off; if none runs, remove it'
      : `cannot be made (${code})`;
    throw new DataDirError(`${partial} ${why}`);
  }
  try {
    await copyInto(partial, { dataDir, meta, copied });
    renameSync(partial, target);
    syncPath(path.dirname(partial));
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    throw notCopied(dataDir, error);
  }
}

async function copyAgain({ dataDir, target, meta, copied }: Task): Promise<void> {
  refuseOther(target, meta);
  const lock = await takeLock(target).catch((error: Error) => {
    throw new DataDirError(`${target} ${error.message}`);
  });
  try {
    await copyInto(target, { dataDir, meta, copied });
  } catch (error) {
    throw notCopied(dataDir, error);
  } finally {
    rmSync(path.join(target, ARRIVING), { recursive: true, force: true });
    await lock.release();
  }
}

function notCopied(dataDir: string, error: unknown): DataDirError {
  return new DataDirError(`${dataDir} was not copied: ${(error as Error).message}`);
}

function isDirectory(target: string): boolean {
  return statSync(target).isDirectory();
}

/** Throws unless `target` is a copy of the directory that `meta` describes. */
function refuseOther(target: string, meta: Meta): void {
  const isBackup = isDirectory(target) && existsSync(path.join(target, 'paperbook.json'));
  const other = isBackup ? metaOf(target) : null;
  if (other?.id === undefined || meta.id === undefined) {
    throw new DataDirError(`${target} exists and is not an empty directory`);
  }
  if (other.id === meta.id && other.shards === meta.shards) return;
  throw new DataDirError(
    `${target} is a copy of directory ${other.id} (${other.shards} shards), and this is directory ` +
      `${meta.id} (${meta.shards} shards)`,
  );
}

/**
 * `directory` is a complete copy, or empty. Files are put in place in the reverse order of reading:
 * a checkpoint before the log that must reach it, the log before the control store that must know
 * everything in it.
 */
async function copyInto(
  directory: string,
  { dataDir, meta: { shards }, copied }: Omit<Task, 'target'>,
): Promise<void> {
  refuseLostShard(dataDir, shards);
  const arriving = path.join(directory, ARRIVING);
  rmSync(arriving, { recursive: true, force: true });
  const names = Array.from({ length: shards }, (_, shard) => `shard-${shard}`);
  const [checkpoints, others] = ['checkpoints', 'others'].map((name) => path.join(arriving, name));
  for (const to of [checkpoints!, others!]) mkdirSync(to, { recursive: true, mode: 0o700 });
  // Copied before the shards, which a server may still write; put in place after them.
  const positions = readIfThere(path.join(dataDir, POSITIONS_NAME));
  const logs: LogCopy[] = [];
  for (const [shard, name] of names.entries()) {
    const checkpoint = path.join(checkpoints!, name);
    await copyEnvironment(path.join(dataDir, name), checkpoint, copied);
    const covered = await factsCovered(checkpoint, shard);
    const [from, to] = [dataDir, directory].map((base) => logIn(path.join(base, name)));
    logs.push(planLogCopy(from!, to!, shard, covered));
  }
  for (const name of readdirSync(dataDir).sort(controlLast)) {
    if (/^shard-\d+$/.test(name) || name === VERIFIED) continue;
    const [from, to] = [dataDir, others!].map((base) => path.join(base, name));
    if (name === HISTORY) copyHistoryOf(from!, to!, path.join(directory, name), copied);
    else await copyEntry(from!, to!, copied);
  }
  putInPlace(others!, directory);
  for (const log of logs) {
    copyLog(log);
    copied.files += log.parts.length;
    copied.bytes += log.parts.reduce((sum, part) => sum + part.to - part.from, 0);
  }
  putInPlace(checkpoints!, directory);
  if (positions !== null) {
    const file = path.join(directory, POSITIONS_NAME);
    replaceFile(file, positions);
    countFile(file, copied);
  }
  rmSync(arriving, { recursive: true });
  syncPath(directory);
}

/** Each file replaces its older version atomically. */
function putInPlace(from: string, to: string): void {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  const entries = readdirSync(from, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => placeOf(a.name) - placeOf(b.name))) {
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (entry.isDirectory()) {
      putInPlace(source, target);
      continue;
    }
    // LMDB's lock file belongs to the environment that was replaced.
    if (entry.name === 'data.mdb') rmSync(path.join(to, 'lock.mdb'), { force: true });
    renameSync(source, target);
  }
  syncPath(to);
}

/** A server creates its shards at the first start. A copy that lacks one is not a backup. */
function refuseLostShard(dataDir: string, shards: number): void {
  if (checkLmdbFile(path.join(dataDir, 'control')) === null) return;
  for (let shard = 0; shard < shards; shard++) {
    const directory = path.join(dataDir, `shard-${shard}`);
    if (checkLmdbFile(directory) === null) throw missingFile(directory);
  }
}

/** The last fact that the checkpoint of an environment covers; 0: there is none. */
async function factsCovered(environment: string, shard: number): Promise<number> {
  const snapshot = openSnapshot(environment, identityOf(shard));
  try {
    return snapshot?.read.readHead()?.facts ?? 0;
  } finally {
    await snapshot?.close();
    rmSync(path.join(environment, 'lock.mdb'), { force: true });
  }
}

function copyHistoryOf(from: string, to: string, over: string, copied: Copied): void {
  for (const file of copyHistory(from, to, over)) countFile(file, copied);
  const damaged = path.join(from, DAMAGED);
  if (!existsSync(damaged)) return;
  mkdirSync(path.join(to, DAMAGED), { mode: 0o700 });
  for (const name of readdirSync(damaged)) {
    const kept = path.join(to, DAMAGED, name);
    copyFileSync(path.join(damaged, name), kept);
    countFile(kept, copied);
  }
}

function readIfThere(file: string): string | null {
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}

function controlLast(a: string, b: string): number {
  return Number(a === 'control') - Number(b === 'control') || (a < b ? -1 : 1);
}

async function copyEntry(from: string, to: string, copied: Copied): Promise<void> {
  const name = path.basename(from);
  // replaceFile gives half-written files this ending.
  if (LEFT_OUT.has(name) || name.endsWith('.new') || isDerived(name)) return;
  const stat = statSync(from, { throwIfNoEntry: false });
  if (stat?.isFile() === true) {
    if (isClosings(name)) await copyClosings(from, to);
    else copyFileSync(from, to);
    countFile(to, copied);
  }
  if (stat?.isDirectory() !== true) return;
  if (existsSync(path.join(from, 'data.mdb'))) return copyEnvironment(from, to, copied);
  mkdirSync(to, { mode: 0o700 });
  for (const entry of readdirSync(from)) {
    await copyEntry(path.join(from, entry), path.join(to, entry), copied);
  }
}

/**
 * Files that are made again from the facts (D17), and SQLite's files beside a file that is copied
 * whole.
 */
function isDerived(name: string): boolean {
  return /^(records\.db|closings(-copy)?\.db-(wal|shm))/.test(name);
}

/** In one read transaction, without the free pages. */
async function copyEnvironment(from: string, to: string, copied: Copied): Promise<void> {
  if (checkLmdbFile(from) === null) return;
  mkdirSync(to, { mode: 0o700 });
  const root = open({ path: from, readOnly: true });
  try {
    await root.backup(to, true);
  } finally {
    await root.close();
  }
  const file = path.join(to, 'data.mdb');
  chmodSync(file, 0o600);
  countFile(file, copied);
}

function countFile(file: string, copied: Copied): void {
  syncPath(file);
  copied.files++;
  copied.bytes += statSync(file).size;
}

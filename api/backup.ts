/**
 * Copies a data directory, of a server that runs or of none, into a directory that a server can
 * start on. LMDB's own copies are of one moment each, and a shard's log comes behind its checkpoint; the control store comes last, since it holds
 * users and numbers before a shard names them. Rule D17 (engine/RULES.md).
 */
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs';
import path from 'node:path';
import { open } from 'lmdb';
import { checkLmdbFile, missingFile } from '../engine/lmdb/lmdb-file.ts';
import { LogReader } from '../engine/log/log-reader.ts';
import { identityOf } from '../engine/shard/data-format.ts';
import { logIn } from '../engine/shard/shard-log.ts';
import { DataDirError, metaOf, syncPath } from './data-dir.ts';
import { makeDirectory } from './private-files.ts';

export type Backup = { directory: string; shards: number; files: number; bytes: number };

/** Secrets that a server makes anew at its start, and what belongs to the process that runs. */
const LEFT_OUT = new Set(['admin.token', 'auth-key.json', 'demo.json', 'server.lock', 'lock.mdb']);

/**
 * Copies `dataDir` to `target`, which must not exist or be empty. What is at `target` is whole:
 * it is written beside it and takes its name at the end. Throws `DataDirError` in the words of the
 * operator; what was written is then gone.
 */
export async function backUp(dataDir: string, target: string): Promise<Backup> {
  const { shards } = metaOf(dataDir);
  checkTarget(dataDir, target);
  const partial = `${path.resolve(target)}.partial`;
  try {
    makeDirectory(path.dirname(partial));
    mkdirSync(partial, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'EEXIST' ? 'exists: a backup is running, or was broken off' : code;
    throw new DataDirError(`${partial} ${why}`);
  }
  try {
    refuseLostShard(dataDir, shards);
    const copied = { files: 0, bytes: 0 };
    const entries = readdirSync(dataDir).sort(controlLast);
    for (const name of entries) {
      await copyEntry(path.join(dataDir, name), path.join(partial, name), copied);
    }
    syncPath(partial);
    renameSync(partial, target);
    syncPath(path.dirname(partial));
    return { directory: target, shards, ...copied };
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    throw new DataDirError(`${dataDir} was not copied: ${(error as Error).message}`);
  }
}

function checkTarget(dataDir: string, target: string): void {
  const inside = path.relative(path.resolve(dataDir), path.resolve(target));
  if (!inside.startsWith('..') && !path.isAbsolute(inside)) {
    throw new DataDirError(`${target} is inside ${dataDir}: a backup goes elsewhere`);
  }
  if (!existsSync(target)) return;
  if (!statSync(target).isDirectory() || readdirSync(target).length > 0) {
    throw new DataDirError(`${target} exists and is not an empty directory`);
  }
}

/** A server makes its shards when it first starts. Without one of them a copy is no backup. */
function refuseLostShard(dataDir: string, shards: number): void {
  if (checkLmdbFile(path.join(dataDir, 'control')) === null) return;
  for (let shard = 0; shard < shards; shard++) {
    const directory = path.join(dataDir, `shard-${shard}`);
    if (checkLmdbFile(directory) === null) throw missingFile(directory);
  }
}

function controlLast(a: string, b: string): number {
  return Number(a === 'control') - Number(b === 'control') || (a < b ? -1 : 1);
}

type Copied = { files: number; bytes: number };

async function copyEntry(from: string, to: string, copied: Copied): Promise<void> {
  const name = path.basename(from);
  // Half-written files carry this ending: see replaceFile.
  if (LEFT_OUT.has(name) || name.endsWith('.new')) return;
  const stat = statSync(from, { throwIfNoEntry: false });
  if (stat?.isFile() === true) {
    copyFileSync(from, to, constants.COPYFILE_EXCL);
    countFile(to, copied);
  }
  if (stat?.isDirectory() !== true) return;
  mkdirSync(to, { mode: 0o700 });
  if (existsSync(path.join(from, 'data.mdb'))) {
    await copyEnvironment(from, to, copied);
    // Behind it, so that the log has all that the checkpoint covers.
    if (existsSync(logIn(from))) copyLog(from, to, copied);
  } else {
    for (const entry of readdirSync(from)) {
      await copyEntry(path.join(from, entry), path.join(to, entry), copied);
    }
  }
  syncPath(to);
}

/** In one read transaction, and without the pages that are free. */
async function copyEnvironment(from: string, to: string, copied: Copied): Promise<void> {
  if (checkLmdbFile(from) === null) return;
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

/** Every segment, as far as its records are whole and on disk. */
function copyLog(from: string, to: string, copied: Copied): void {
  const shard = Number(/\d+$/.exec(path.basename(from))?.[0]);
  const log = LogReader.open(logIn(from), identityOf(shard));
  try {
    mkdirSync(logIn(to), { mode: 0o700 });
    for (const { name, bytes } of log.durableFiles()) {
      const file = path.join(logIn(to), name);
      copyFileSync(path.join(logIn(from), name), file, constants.COPYFILE_EXCL);
      truncateSync(file, bytes);
      countFile(file, copied);
    }
    syncPath(logIn(to));
  } finally {
    log.close();
  }
}

function countFile(file: string, copied: Copied): void {
  syncPath(file);
  copied.files++;
  copied.bytes += statSync(file).size;
}

/**
 * Rebuilds the checkpoints of shards from their logs alone, which contain everything. It starts on
 * an empty environment. The new environment is verified before it replaces the old one, which is
 * kept. Rules D33, D72 (engine/RULES.md).
 */
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import path from 'node:path';
import { LogDamage, LogMismatch } from '../../engine/log/log-format.ts';
import { segmentsIn } from '../../engine/log/segment-file.ts';
import { logIn } from '../../engine/shard/store/shard-log.ts';
import { Shard } from '../../engine/shard/thread/shard.ts';
import type { ShardVerification } from '../../engine/verify/verify.ts';
import { metaOf } from '../data-dir/data-dir.ts';
import { DataDirError, syncPath } from '../data-dir/directory-files.ts';
import { takeLock } from '../data-dir/directory-lock.ts';
import { type PartVerifier, verifyParts } from './part-verifier.ts';

export type RebuiltShard = {
  shard: number;
  /** The last fact of its log; null: the shard was intact and stays unchanged. */
  facts: number | null;
  /** The file that was replaced, if there was one. */
  kept: string | null;
  /** Its problem. */
  problems: string[];
};

/** A new environment before it is put in place. LMDB takes a name with a dot for a file. */
const ARRIVING = 'rebuilding';
/** A replay does not use these limits. */
const CONFIG = { quoteMaxAgeMs: 15_000, routingBandCents: 10 };

/**
 * Rebuilds the shards in `dataDir` that do not verify. Throws `DataDirError` with a message for
 * the operator; the failing shard is then unchanged.
 */
export async function rebuild(dataDir: string): Promise<RebuiltShard[]> {
  const { shards } = metaOf(dataDir);
  const lock = await takeLock(dataDir).catch((error: Error) => {
    throw new DataDirError(`${dataDir} ${error.message}: stop it first`);
  });
  try {
    return await verifyParts(async (verifier) => {
      const rebuilt: RebuiltShard[] = [];
      for (let shard = 0; shard < shards; shard++) {
        const directory = path.join(dataDir, `shard-${shard}`);
        rebuilt.push(await rebuildShard(verifier, { directory, shard, shards }));
      }
      return rebuilt;
    });
  } finally {
    await lock.release();
  }
}

/** One shard, which nobody has open, of a directory that the caller has locked. */
export function rebuildOne(dataDir: string, shard: number): Promise<RebuiltShard> {
  const { shards } = metaOf(dataDir);
  const directory = path.join(dataDir, `shard-${shard}`);
  return verifyParts((verifier) => rebuildShard(verifier, { directory, shard, shards }));
}

type ShardDirectory = { directory: string; shard: number; shards: number };

async function rebuildShard(verifier: PartVerifier, { directory, shard, shards }: ShardDirectory) {
  const verify = (path: string) =>
    verifier.verify<ShardVerification>({ part: 'shard', path, shard, shards });
  const before = await verify(directory);
  const isThere = segmentsIn(logIn(directory)).length > 0;
  const isWhole = before.found !== null && before.problems.length === 0;
  if (isWhole || (!isThere && before.problems.length === 0)) {
    return { shard, facts: null, kept: null, problems: [] };
  }
  const arriving = path.join(directory, ARRIVING);
  try {
    if (!isThere) throw new Error('it has no log');
    const facts = await makeAnew(arriving, shard, before.found);
    const { problems } = await verify(arriving);
    if (problems.length > 0) throw new Error(problems.join('; '));
    return { shard, facts, kept: putInPlace(arriving, directory), problems: before.problems };
  } catch (error) {
    const isOfLog = error instanceof LogDamage || error instanceof LogMismatch;
    const what = `${isOfLog ? 'log/' : ''}${(error as Error).message}`;
    throw new DataDirError(`${directory} was not rebuilt, and is as it was: ${what}`);
  } finally {
    rmSync(arriving, { recursive: true, force: true });
  }
}

/** Starts on the log beside an empty environment, and ends with a checkpoint of all of it. */
async function makeAnew(
  arriving: string,
  shard: number,
  before: ShardVerification | null,
): Promise<number> {
  rmSync(arriving, { recursive: true, force: true });
  mkdirSync(arriving, { mode: 0o700 });
  symlinkSync(path.join('..', path.basename(logIn(arriving))), logIn(arriving));
  const made = await Shard.open({
    ...CONFIG,
    path: arriving,
    shard,
    durability: 'sync',
    checkpointEveryFacts: Number.POSITIVE_INFINITY,
  });
  const { lastNumber } = made;
  await made.close();
  const covered = before?.checkpointFacts ?? 0;
  if (covered <= lastNumber) return lastNumber;
  throw new Error(
    `its log ends with fact ${lastNumber}, and its checkpoint covers ${covered}: restore a backup`,
  );
}

/** An environment exists at every moment. Returns the new name of the old one. */
function putInPlace(arriving: string, directory: string): string | null {
  const file = path.join(directory, 'data.mdb');
  let kept: string | null = null;
  if (existsSync(file) && statSync(file).size > 0) {
    kept = freeName(`${file}.replaced`);
    linkSync(file, kept);
  }
  chmodSync(path.join(arriving, 'data.mdb'), 0o600);
  // LMDB's lock file belongs to the environment that was replaced.
  rmSync(path.join(directory, 'lock.mdb'), { force: true });
  renameSync(path.join(arriving, 'data.mdb'), file);
  syncPath(directory);
  return kept;
}

function freeName(file: string): string {
  for (let at = 1; ; at++) if (!existsSync(`${file}-${at}`)) return `${file}-${at}`;
}

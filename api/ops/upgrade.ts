/**
 * Upgrades a data directory to the format version that this program reads. There is one version
 * so far, so there is nothing to upgrade yet. Rule D34 (engine/RULES.md).
 */
import path from 'node:path';
import { FORMAT_VERSION } from '../../engine/format/version.ts';
import { LogReader } from '../../engine/log/log-reader.ts';
import { identityOf } from '../../engine/shard/store/data-format.ts';
import { logIn } from '../../engine/shard/store/shard-log.ts';
import { openSnapshot } from '../../engine/shard/store/snapshot.ts';
import { metaOf } from '../data-dir/data-dir.ts';
import { DataDirError } from '../data-dir/directory-files.ts';
import type { ControlAudit } from './audit.ts';
import { verifyParts } from './part-verifier.ts';

export type Upgraded = {
  directory: string;
  version: number;
  /** How many shards have it. */
  shards: number;
  /** The control store's version; null: a first start ended before there was one. */
  control: number | null;
  changed: boolean;
};

/** Throws `DataDirError`, which names the part of another version, and both versions. */
export async function upgrade(dataDir: string): Promise<Upgraded> {
  const { shards } = metaOf(dataDir);
  for (let shard = 0; shard < shards; shard++) {
    const directory = path.join(dataDir, `shard-${shard}`);
    try {
      await checkShard(directory, shard);
    } catch (error) {
      throw new DataDirError(`${directory}: ${(error as Error).message}`);
    }
  }
  const control = await controlVersion(dataDir);
  return { directory: dataDir, version: FORMAT_VERSION, shards, control, changed: false };
}

/** Throws if it is another version, or if the store cannot be read. */
async function controlVersion(dataDir: string): Promise<number | null> {
  const { found, problems } = await verifyParts((verifier) =>
    verifier.verify<ControlAudit>({ part: 'control', dataDir }),
  );
  if (problems.length > 0) throw new DataDirError(`${dataDir}: ${problems[0]}`);
  return found === null ? null : FORMAT_VERSION;
}

async function checkShard(directory: string, shard: number): Promise<void> {
  const identity = identityOf(shard);
  const log = LogReader.open(logIn(directory), identity);
  try {
    // This reads each segment's header.
    log.durableFiles();
  } finally {
    log.close();
  }
  const snapshot = openSnapshot(directory, identity);
  try {
    snapshot?.read.checkFormat(identity);
  } finally {
    await snapshot?.close();
  }
}

/**
 * Upgrades a data directory to the format version that this program reads. There is one version
 * so far, so there is nothing to upgrade yet. Rule D34 (engine/RULES.md).
 */
import path from 'node:path';
import { FORMAT_VERSION } from '../engine/format/version.ts';
import { LogReader } from '../engine/log/log-reader.ts';
import { identityOf } from '../engine/shard/data-format.ts';
import { logIn } from '../engine/shard/shard-log.ts';
import { openSnapshot } from '../engine/shard/snapshot.ts';
import { metaOf } from './data-dir.ts';
import { DataDirError } from './directory-files.ts';
import type { ControlAudit } from './identity/audit.ts';
import { verifyParts } from './part-verifier.ts';

export type Upgraded = { directory: string; version: number; changed: boolean };

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
  await checkControl(dataDir);
  return { directory: dataDir, version: FORMAT_VERSION, changed: false };
}

/** `verify` checks its content; opening it checks its version. */
async function checkControl(dataDir: string): Promise<void> {
  const { problems } = await verifyParts((verifier) =>
    verifier.verify<ControlAudit>({ part: 'control', dataDir }),
  );
  if (problems.length > 0) throw new DataDirError(`${dataDir}: ${problems[0]}`);
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

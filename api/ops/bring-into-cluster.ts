/**
 * Brings this node's data directory to where the records in etcd continue it, from a copy of another
 * node's: a new node, or one that was away too long. Rules N167, N168 (engine/RULES.md).
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { LogWriter } from '../../engine/log/log-writer.ts';
import { lastFactOf } from '../../engine/log/segment-chain.ts';
import { checkCluster, windowProblem } from '../../engine/replication/cluster.ts';
import { EtcdClient } from '../../engine/replication/etcd-client.ts';
import { addMember } from '../../engine/replication/members.ts';
import { identityOf } from '../../engine/shard/store/data-format.ts';
import { logIn } from '../../engine/shard/store/shard-log.ts';
import type { ClusterConfig } from '../config/settings.ts';
import { metaOf } from '../data-dir/data-dir.ts';
import { DataDirError } from '../data-dir/directory-files.ts';
import { takeLock } from '../data-dir/directory-lock.ts';
import { type Backup, backUp } from './backup.ts';
import { clusterIdentityOf } from './cluster-identity.ts';
import { readSecret } from './join-cluster.ts';

/**
 * `from`: a backup of a node, or the directory of a node that is stopped. etcd keeps all records from
 * the beginning of this call on. Rejects with one clear line for the operator, and leaves the log of
 * `dataDir` as it was or longer.
 */
export async function bringIntoCluster(
  { secretFile, ...settings }: ClusterConfig,
  dataDir: string,
  from: string,
): Promise<Backup> {
  const { id, shards } = metaOf(from);
  if (id === undefined) throw new DataDirError(`${from} has no id: no server has started on it`);
  const identity = clusterIdentityOf(from, { directory: id, shards });
  const { name } = settings;
  const etcd = new EtcdClient(settings.etcd);
  try {
    await checkCluster(etcd, name, identity, readSecret(secretFile));
    await addMember(etcd, name, settings, { isEmpty: true, shards });
    await shortenLogs(dataDir, shards);
    const copied = await backUp(from, dataDir);
    for (let shard = 0; shard < shards; shard++) {
      const log = logIn(path.join(dataDir, `shard-${shard}`));
      const last = lastFactOf(log, identityOf(shard));
      const problem = await windowProblem(etcd, name, shard, last);
      if (problem === null) continue;
      throw new DataDirError(
        `${from}: shard ${shard} ${problem}. Make a new copy of a node that is in the cluster, and ` +
          'run this again: etcd keeps all records for this node from now on',
      );
    }
    return copied;
  } finally {
    etcd.close();
  }
}

/** The logs of a node that has run end with room for more. Rejects while a server runs. */
async function shortenLogs(dataDir: string, shards: number): Promise<void> {
  if (!existsSync(dataDir)) return;
  const lock = await takeLock(dataDir).catch((error: Error) => {
    throw new DataDirError(`${dataDir} ${error.message}`);
  });
  try {
    for (let shard = 0; shard < shards; shard++) {
      const directory = logIn(path.join(dataDir, `shard-${shard}`));
      if (!existsSync(directory)) continue;
      const log = LogWriter.open(directory, { ...identityOf(shard), durability: 'sync' });
      try {
        log.giveBackRoom();
      } finally {
        log.close();
      }
    }
  } finally {
    await lock.release();
  }
}

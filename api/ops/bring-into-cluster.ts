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
import { type LogName, logsOf } from '../../engine/replication/shard-replica.ts';
import { identityOf } from '../../engine/shard/store/data-format.ts';
import { logIn } from '../../engine/shard/store/shard-log.ts';
import type { ClusterConfig } from '../config/settings.ts';
import { metaOf } from '../data-dir/data-dir.ts';
import { DataDirError } from '../data-dir/directory-files.ts';
import { takeLock } from '../data-dir/directory-lock.ts';
import { readControl } from './audit.ts';
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
    await etcd.reach();
    await checkCluster(etcd, name, identity, readSecret(secretFile));
    await addMember(etcd, name, settings, { isEmpty: true, shards });
    await shortenLogs(dataDir, shards);
    const copied = await backUp(from, dataDir);
    const ends = await endsOf(dataDir, shards);
    for (const [log, last] of ends) {
      const problem = await windowProblem(etcd, name, log, last);
      if (problem === null) continue;
      const subject = log === 'control' ? 'the control log' : log.replace('/', ' ');
      throw new DataDirError(
        `${from}: ${subject} ${problem}. Make a new copy of a node that is in the cluster, and ` +
          'run this again: etcd keeps all records for this node from now on',
      );
    }
    return copied;
  } finally {
    etcd.close();
  }
}

/** The last fact of each shard, and the last record of the control data. */
export async function endsOf(dataDir: string, shards: number): Promise<[LogName, number][]> {
  const control = await readControl(dataDir, (_, values) => values.get('replicated')?.number ?? 0);
  return logsOf(shards).map((log, shard) => {
    if (log === 'control') return [log, control ?? 0];
    return [log, lastFactOf(logIn(path.join(dataDir, `shard-${shard}`)), identityOf(shard))];
  });
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

/**
 * Begins a cluster that etcd knows nothing of with the data of this node: etcd has lost its data, or a
 * backup is restored as a cluster of its own. Rule O45 (api/RULES.md).
 */
import { beginCluster } from '../../engine/replication/cluster.ts';
import { EtcdClient } from '../../engine/replication/etcd-client.ts';
import type { LogName } from '../../engine/replication/shard-replica.ts';
import type { ClusterConfig } from '../config/settings.ts';
import { metaOf } from '../data-dir/data-dir.ts';
import { DataDirError } from '../data-dir/directory-files.ts';
import { takeLock } from '../data-dir/directory-lock.ts';
import { endsOf } from './bring-into-cluster.ts';
import { clusterIdentityOf } from './cluster-identity.ts';
import { readSecret } from './join-cluster.ts';

/**
 * Resolves with the last fact of each shard, and the last record of the control data. Rejects with one
 * clear line for the operator, and changes nothing then.
 */
export async function beginWith(
  { secretFile, name, etcd: urls }: ClusterConfig,
  dataDir: string,
): Promise<[LogName, number][]> {
  const { id, shards } = metaOf(dataDir);
  if (id === undefined) throw new DataDirError(`${dataDir} has no id: no server has started on it`);
  const lock = await takeLock(dataDir).catch((error: Error) => {
    throw new DataDirError(`${dataDir} ${error.message}`);
  });
  const etcd = new EtcdClient(urls);
  try {
    const identity = clusterIdentityOf(dataDir, { directory: id, shards });
    const ends = await endsOf(dataDir, shards);
    await etcd.reach();
    await beginCluster(etcd, name, identity, readSecret(secretFile));
    return ends;
  } finally {
    etcd.close();
    await lock.release();
  }
}

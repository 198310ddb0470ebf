/** What a data directory is, for the cluster that it is in. Rule N110 (engine/RULES.md). */
import path from 'node:path';
import type { Uuid } from '../../engine/base/units.ts';
import { segmentBytesOf } from '../../engine/log/log-writer.ts';
import type { ClusterIdentity } from '../../engine/replication/cluster.ts';
import { identityOf } from '../../engine/shard/store/data-format.ts';
import { logIn } from '../../engine/shard/store/shard-log.ts';

/** Throws if its shards differ in the size of their segments. */
export function clusterIdentityOf(
  dataDir: string,
  { directory, shards }: { directory: Uuid; shards: number },
): ClusterIdentity {
  const sizes = Array.from({ length: shards }, (_, shard) =>
    segmentBytesOf(logIn(path.join(dataDir, `shard-${shard}`)), identityOf(shard)),
  );
  const [segmentBytes] = sizes;
  if (segmentBytes === undefined || sizes.some((bytes) => bytes !== segmentBytes)) {
    throw new Error(`${dataDir} has logs with segments of different sizes: ${sizes.join(', ')}`);
  }
  return { directory, shards, formatVersion: identityOf(0).formatVersion, segmentBytes };
}

/** What a shard keeps on disk, opened: its log and its checkpoints. */
import { Checkpoints, type CheckpointsOptions, type Durability } from './checkpoints.ts';
import { identityOf } from './data-format.ts';
import { ShardLog } from './shard-log.ts';

/** Where a shard keeps what it knows. */
export type ShardStore = { log: ShardLog; checkpoints: Checkpoints };

/** Opens or makes what lies at `config.path`. Never twice in one process. */
export async function openStore(
  { path, durability, shard }: { path: string; durability: Durability; shard: number },
  options: Pick<CheckpointsOptions, 'sliceBytes' | 'beforeSlice'> & { segmentBytes?: number } = {},
): Promise<ShardStore> {
  const identity = identityOf(shard);
  const { segmentBytes, ...ofCheckpoints } = options;
  const ofLog = segmentBytes === undefined ? {} : { segmentBytes };
  const checkpoints = new Checkpoints(path, { ...ofCheckpoints, durability, identity });
  try {
    checkpoints.read.checkFormat(identity);
    const reaches = checkpoints.read.readHead()?.tail ?? 0;
    const log = new ShardLog(path, { ...ofLog, identity, durability, reaches });
    await checkpoints.settleFormat();
    return { log, checkpoints };
  } catch (error) {
    await checkpoints.close();
    throw error;
  }
}

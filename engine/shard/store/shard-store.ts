/** The parts that a shard is opened with: its settings, its log and its checkpoints. */
import { LogDamage, offsetOf, SEGMENT_HEADER_BYTES, segmentOf } from '../../log/log-format.ts';
import { segmentName } from '../../log/segment-file.ts';
import type { CoreConfig } from '../../rules/reference-data.ts';
import { Checkpoints, type CheckpointsOptions, type Durability } from './checkpoints.ts';
import { identityOf } from './data-format.ts';
import { ShardLog } from './shard-log.ts';

export type ShardConfig = CoreConfig & {
  path: string;
  /** Its number in the data directory. */
  shard: number;
  durability: Durability;
  /** A checkpoint is due after so many facts. */
  checkpointEveryFacts: number;
  /** The last fact that it certainly had, as recorded beside it; left out: none is recorded. */
  reached?: number;
  /** A batch settles so many orders and trades of markets with results; left out: 500. */
  settledAtOnce?: number;
};

/** The state of a shard in its files. */
export type ShardStore = { log: ShardLog; checkpoints: Checkpoints };

/** Opens or makes the files at `config.path`. Never twice in one process. */
export async function openStore(
  { path, durability, shard, reached = 0 }: ShardConfig,
  options: Pick<CheckpointsOptions, 'sliceBytes' | 'beforeSlice'> & { segmentBytes?: number } = {},
): Promise<ShardStore> {
  const identity = identityOf(shard);
  const { segmentBytes, ...ofCheckpoints } = options;
  const ofLog = segmentBytes === undefined ? {} : { segmentBytes };
  const checkpoints = new Checkpoints(path, { ...ofCheckpoints, durability, identity });
  try {
    checkpoints.read.checkFormat(identity);
    const atLeast = reached > 0 ? SEGMENT_HEADER_BYTES : 0;
    const reaches = checkpoints.read.readHead()?.tail ?? atLeast;
    const log = new ShardLog(path, { ...ofLog, identity, durability, reaches });
    try {
      checkReached(log, reached);
    } catch (error) {
      log.close();
      throw error;
    }
    await checkpoints.settleFormat();
    return { log, checkpoints };
  } catch (error) {
    await checkpoints.close();
    throw error;
  }
}

/**
 * A shard of an older copy is whole, and lacks facts that were answered since. Rule D85
 * (engine/RULES.md).
 */
function checkReached({ lastNumber, tail }: ShardLog, reached: number): void {
  if (lastNumber >= reached) return;
  throw new LogDamage(
    segmentName(segmentOf(tail)),
    offsetOf(tail),
    `it ends with fact ${lastNumber}, and the directory had fact ${reached} of this shard. It is of an ` +
      'older copy: restore the newest, or all of one backup',
  );
}

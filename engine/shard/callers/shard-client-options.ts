/** Options of a shard client. */
import type { Message } from '../../format/codec.ts';
import type { LiquidityMemory } from '../../memory/market-liquidity.ts';
import type { Log } from '../../threads/logger.ts';
import type { OpenReport } from '../store/open-report.ts';
import type { ShardConfig } from '../store/shard-store.ts';
import type { RebuildShard } from './checkpoint-repair.ts';
import type { FurtherEnds } from './further-ends.ts';

export type ShardClientOptions = {
  config: ShardConfig;
  /** Displayed sizes that it shares with other shards. */
  liquidity: LiquidityMemory;
  /** Whether an earlier start made its file. If so, a missing file is lost, not new. */
  wasMade: boolean;
  /** Requests that may wait or be in flight before callers are refused. */
  queueDepthMax: number;
  /** The first messages to a shard at every start of its thread. */
  startupMessages: () => Message[];
  /** Gets the report of each start of the thread, before the shard takes a request. */
  opened: (report: OpenReport) => void;
  /** Rebuilds a checkpoint that is damaged; left out: an operator does (D33). */
  rebuild?: RebuildShard | undefined;
  /** The ends of further threads. */
  further: Pick<FurtherEnds, 'count' | 'served' | 'lost'>;
  log: Log;
};

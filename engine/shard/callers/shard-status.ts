/** A shard as its client sees it, for operators. Rules O18, O34 (api/RULES.md). */

import type { ShardFailure } from '../../threads/restarts.ts';
import type { BatchTimesShown } from '../thread/batch-times.ts';
import type { OrderCountsShown } from '../thread/order-counts.ts';
import type { ShardProgress } from '../thread/shard-gauges.ts';

export type ShardStatus = {
  /** Another node leads it; `following`: and it has every record of that node. */
  state: 'opening' | 'catching_up' | 'following' | 'open' | 'restarting' | 'closed';
  /** The checkpoint rebuilt from its log since this process started; null: none. */
  repaired: string | null;
  /** Why no order can be placed here now, as damaged data or a full disk; null: orders can. */
  problem: string | null;
  /** Its repeated failure; null: there is none. */
  restartProblem: string | null;
  lastFailure: ShardFailure | null;
  /** Requests that wait or are in flight, and how many may now. */
  queued: number;
  queuedMax: number;
  /** Null: it was never open. */
  progress: ShardProgress | null;
  batches: BatchTimesShown;
  orders: OrderCountsShown;
};

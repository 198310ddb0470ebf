/** What the way to a shard is given. */
import type { Message } from '../format/codec.ts';
import type { Log } from './log.ts';
import type { OpenReport } from './open-report.ts';
import type { ShardConfig } from './shard.ts';

export type ShardClientOptions = {
  config: ShardConfig;
  /** Whether an earlier start made its file: one that is not there any more is lost, not new. */
  wasMade: boolean;
  /** Requests that may wait or be in flight before callers are refused. */
  queueDepthMax: number;
  /** What a shard must be told before anything else, at every start of its thread. */
  startupMessages: () => Message[];
  /** Is given what each start of its thread found, before any request is. */
  opened: (report: OpenReport) => void;
  log: Log;
};

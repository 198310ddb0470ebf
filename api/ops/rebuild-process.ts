/**
 * The process that rebuilds a shard of a running server, because a damaged file may end it, and a
 * long log takes its time. It takes a task, sends the result, and ends with its parent's end of the
 * channel. Rule D72 (engine/RULES.md).
 */
import { type RebuiltShard, rebuildOne } from './rebuild.ts';

export type RebuildTask = { dataDir: string; shard: number };
export type RebuildAnswer = { ok: true; rebuilt: RebuiltShard } | { ok: false; failure: string };

process.once('disconnect', () => process.exit());
process.once('message', ({ dataDir, shard }: RebuildTask) => {
  rebuildOne(dataDir, shard).then(
    (rebuilt) => process.send!({ ok: true, rebuilt } satisfies RebuildAnswer),
    (error: Error) => process.send!({ ok: false, failure: error.message } satisfies RebuildAnswer),
  );
});

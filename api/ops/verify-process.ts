/**
 * The process that verifies parts. LMDB maps files into memory, and reading a damaged one can end
 * the process. `verify` itself must continue. It takes a message, sends one back, and ends with its
 * parent's end of the channel.
 */
import { type Keeping, verifyShard } from '../../engine/verify/verify.ts';
import { auditControl } from './audit.ts';

export type VerifyTask =
  | { part: 'shard'; path: string; shard: number; shards: number; keeping?: Keeping | null }
  | { part: 'control'; dataDir: string };
/** `failure`: why the part cannot be read at all. */
export type VerifyAnswer = { ok: true; found: unknown } | { ok: false; failure: string };

process.on('message', (task: VerifyTask) => {
  void answer(task).then((message) => process.send!(message));
});

async function answer(task: VerifyTask): Promise<VerifyAnswer> {
  try {
    const found =
      task.part === 'shard'
        ? await verifyShard(task.path, task.shard, task.shards, task.keeping)
        : await auditControl(task.dataDir);
    return { ok: true, found };
  } catch (error) {
    return { ok: false, failure: (error as Error).message };
  }
}

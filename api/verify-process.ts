/**
 * The process of one part of a verification. LMDB maps files into memory, and reading a damaged one
 * can end the process. `verify` itself must go on. Takes one message, sends one back, and ends.
 */
import { verifyShard } from '../engine/shard/verify.ts';
import { auditControl } from './identity/audit.ts';

export type VerifyTask =
  | { part: 'shard'; path: string; shard: number; shards: number }
  | { part: 'control'; dataDir: string };
/** `failure`: it cannot be read at all, and why. */
export type VerifyAnswer = { ok: true; found: unknown } | { ok: false; failure: string };

process.once('message', (task: VerifyTask) => {
  void answer(task).then((message) => {
    process.send!(message, () => process.disconnect());
  });
});

async function answer(task: VerifyTask): Promise<VerifyAnswer> {
  try {
    const found =
      task.part === 'shard'
        ? await verifyShard(task.path, task.shard, task.shards)
        : await auditControl(task.dataDir);
    return { ok: true, found };
  } catch (error) {
    return { ok: false, failure: (error as Error).message };
  }
}

/**
 * The process that verifies one part. LMDB maps files into memory, and reading a damaged one can
 * end the process, which must not end `verify` itself. Receives one message, sends one, and ends.
 */
import { verifyShard } from '../engine/shard/verify.ts';
import { auditControl } from './identity/audit.ts';

export type VerifyTask =
  | { part: 'shard'; path: string; shard: number; shards: number }
  | { part: 'control'; dataDir: string };
/** `failure`: why the part cannot be read at all. */
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

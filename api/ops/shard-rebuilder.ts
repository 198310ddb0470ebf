/** Rebuilds checkpoints of a running server. Rule D72 (engine/RULES.md). */
import { fork } from 'node:child_process';
import type { RebuildShard } from '../../engine/shard/callers/checkpoint-repair.ts';
import { workerUrl } from '../../engine/threads/worker-url.ts';
import type { RebuildAnswer, RebuildTask } from './rebuild-process.ts';

/**
 * Each rebuild has a separate process. It rejects if a shard was not rebuilt, and once it is
 * aborted.
 */
export function rebuilder(dataDir: string): RebuildShard {
  return (shard, signal) =>
    new Promise((resolve, reject) => {
      const child = fork(workerUrl(import.meta.url, './rebuild-process'), [], {
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
        signal,
      });
      child.once('message', (answer: RebuildAnswer) => {
        child.disconnect();
        if (answer.ok) resolve(answer.rebuilt);
        else reject(new Error(answer.failure));
      });
      child.once('error', reject);
      child.once('exit', (code, by) => {
        reject(new Error(`it was not rebuilt: the process ended with ${by ?? `code ${code}`}`));
      });
      child.send({ dataDir, shard } satisfies RebuildTask);
    });
}

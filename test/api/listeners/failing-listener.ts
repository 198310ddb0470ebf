/** Loaded first by each thread: a further listener fails once a file is there. */
import { existsSync, rmSync } from 'node:fs';
import { workerData } from 'node:worker_threads';

const file = process.env.TEST_FAIL_LISTENER;
const isListener = typeof workerData === 'object' && workerData !== null && 'roaming' in workerData;
if (file !== undefined && isListener) {
  setInterval(() => {
    if (!existsSync(file)) return;
    rmSync(file);
    throw new Error('planted');
  }, 10);
}

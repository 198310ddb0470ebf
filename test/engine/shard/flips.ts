/** Flips seeded bytes of files, in processes that may die of it. */
import { fork } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { newestMeta } from '../../../engine/lmdb/lmdb-file.ts';
import type { FlipResult, FlipTask } from './flip-process.ts';

const DIES_WITHIN_MS = 30_000;

type Looked = FlipResult & { died: boolean };

/** Flips seeded bytes, each of the files as they are; a process that dies has seen it. */
export async function flips(
  task: Omit<FlipTask, 'from' | 'until'>,
  count: number,
): Promise<Looked[]> {
  const looked: Looked[] = [];
  for (let from = 0; from < count; from = looked.length) {
    let begun: FlipResult | null = null;
    await new Promise<void>((resolve, reject) => {
      const child = fork(new URL('./flip-process.ts', import.meta.url), [], {
        serialization: 'advanced',
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      });
      let hung: NodeJS.Timeout | undefined;
      child.on('message', (result: FlipResult) => {
        clearTimeout(hung);
        hung = setTimeout(() => child.kill('SIGKILL'), DIES_WITHIN_MS);
        begun = result.seen === null ? result : null;
        if (result.seen !== null) looked.push({ ...result, died: false });
      });
      child.once('error', reject);
      child.once('exit', () => {
        clearTimeout(hung);
        resolve();
      });
      child.send({ ...task, from, until: count });
    });
    if (begun !== null) looked.push({ ...(begun as FlipResult), died: true });
  }
  return looked;
}

/** For an LMDB file: its pages up to the last one that was ever used. */
export function usedBytes(file: string): number {
  const fd = openSync(file, 'r');
  try {
    const { lastPage, pageBytes } = newestMeta(fd, file);
    return (lastPage + 1) * pageBytes;
  } finally {
    closeSync(fd);
  }
}

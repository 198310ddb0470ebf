/**
 * Loaded first into each thread of a process. Whenever the file THREAD_HEAPS changes, the thread
 * collects its garbage, and writes to a file beside it how large its heap was and what is left of
 * it. A shard that sleeps writes nothing.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread, threadId } from 'node:worker_threads';

const EVERY_MS = 100;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
const file = process.env.THREAD_HEAPS;
let asked = readFileSync(file, 'utf8');

setInterval(() => {
  const now = readFileSync(file, 'utf8');
  if (now === asked) return;
  asked = now;
  const { total_physical_size: held } = getHeapStatistics();
  // What a first collection finalizes, the second one frees.
  collect();
  collect();
  const { used_heap_size: used, external_memory: external } = getHeapStatistics();
  const module = path.basename(process.argv[1] ?? '').replace(/\..*/, '');
  const folder = path.basename(path.dirname(process.argv[1] ?? ''));
  const name = isMainThread ? 'main' : `${folder}/${module}`;
  writeFileSync(`${file}-${asked}-${threadId}`, JSON.stringify({ name, held, used, external }));
}, EVERY_MS).unref();

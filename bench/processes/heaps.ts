/**
 * Loaded into a server before its own code (`--import`). Twice a second it writes the heap sizes of
 * its threads to the file that BENCH_HEAPS names.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { getHeapStatistics, type HeapInfo } from 'node:v8';
import { isMainThread, type Worker } from 'node:worker_threads';
import type { Heap } from '../lib/heaps.ts';

const EVERY_MS = 500;

const file = process.env.BENCH_HEAPS;
if (isMainThread && file !== undefined) {
  const workers = new Set<Worker>();
  process.on('worker', (worker: Worker) => {
    workers.add(worker);
    worker.once('exit', () => workers.delete(worker));
  });
  void write(file, workers);
  setInterval(() => void write(file, workers), EVERY_MS).unref();
}

async function write(to: string, workers: ReadonlySet<Worker>): Promise<void> {
  // A thread that ends meanwhile has no heap.
  const asked = [...workers].map((worker) => worker.getHeapStatistics().catch(() => null));
  const others = (await Promise.all(asked)).filter((heap) => heap !== null);
  const heaps = [getHeapStatistics(), ...others].map(heapOf);
  // A reader sees a whole file.
  writeFileSync(`${to}.new`, JSON.stringify(heaps));
  renameSync(`${to}.new`, to);
}

function heapOf(heap: HeapInfo): Heap {
  return {
    resident: heap.total_physical_size,
    used: heap.used_heap_size,
    external: heap.external_memory,
  };
}

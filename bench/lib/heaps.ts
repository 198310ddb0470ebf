/** Memory of a server, and the part of it in the heaps of its threads. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { residentBytes } from './proc.ts';

/** Of one thread, in bytes; `external`: buffers, outside of the heap. */
export type Heap = { resident: number; used: number; external: number };
/** `resident`: of the process; the others are sums over its threads. */
export type Memory = { resident: number; heaps: number; used: number; external: number };

/** Arguments of Node and variables with which a server writes its heaps to a file. */
export function heapsTo(file: string): { nodeArgs: string[]; variables: NodeJS.ProcessEnv } {
  const module = fileURLToPath(new URL('../processes/heaps.ts', import.meta.url));
  return { nodeArgs: ['--import', module], variables: { BENCH_HEAPS: file } };
}

/** The memory of a server that was started with `heapsTo(file)`, half a second old at most. */
export function memoryOf(pid: number, file: string): Memory {
  const heaps = JSON.parse(readFileSync(file, 'utf8')) as Heap[];
  const sum = (name: keyof Heap) => heaps.reduce((all, heap) => all + heap[name], 0);
  const resident = residentBytes(pid).all;
  return { resident, heaps: sum('resident'), used: sum('used'), external: sum('external') };
}

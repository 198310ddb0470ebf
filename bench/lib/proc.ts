/** The kernel's figures of a process. Linux only, as the benchmarks are. */
import { readdirSync, readFileSync } from 'node:fs';

/** The kernel's clock tick for /proc/PID/stat: 100 a second on every Linux that Node runs on. */
const TICK_MS = 10;

/** Processor milliseconds of all threads since the start. */
export function cpuMsOf(pid: number): number {
  return cpuMsIn(`/proc/${pid}/stat`);
}

/** Processor milliseconds by thread; the main thread's id is the process id. */
export function threadCpuMs(pid: number): Map<number, number> {
  const threads = readdirSync(`/proc/${pid}/task`).map(Number);
  return new Map(threads.map((thread) => [thread, cpuMsIn(`/proc/${pid}/task/${thread}/stat`)]));
}

/** The use of each thread since `before`, the busiest first; always includes the main thread. */
export function threadCpuSince(
  pid: number,
  before: ReadonlyMap<number, number>,
): { main: number; others: number[] } {
  const now = threadCpuMs(pid);
  const used = [...now].map(([thread, ms]) => ({ thread, ms: ms - (before.get(thread) ?? 0) }));
  return {
    main: used.find(({ thread }) => thread === pid)?.ms ?? 0,
    others: used
      .filter(({ thread, ms }) => thread !== pid && ms > 0)
      .map(({ ms }) => ms)
      .sort((a, b) => b - a),
  };
}

/** The resources that a server used under load. */
export type Usage = {
  serverCpuMs: number;
  /** Of its main thread, and of its busiest other one. */
  mainCpuMs: number;
  otherCpuMs: number;
  /** Bytes passed to write calls. */
  writtenBytes: number;
};

/** Begins to measure a process; the returned function gives its use since then. */
export function usageSince(pid: number): () => Usage {
  const cpuMs = cpuMsOf(pid);
  const threads = threadCpuMs(pid);
  const written = writtenBytes(pid);
  return () => {
    const { main, others } = threadCpuSince(pid, threads);
    return {
      serverCpuMs: cpuMsOf(pid) - cpuMs,
      mainCpuMs: main,
      otherCpuMs: others[0] ?? 0,
      writtenBytes: writtenBytes(pid) - written,
    };
  };
}

/** Processor milliseconds of children of this process that have ended. */
export function endedChildrenCpuMs(): number {
  return cpuMsIn('/proc/self/stat', CHILDREN);
}

/** Bytes that a process passed to write calls: files and pipes, but not sockets. */
export function writtenBytes(pid: number | 'self'): number {
  const written = /^wchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1];
  if (written === undefined) throw new Error(`/proc/${pid}/io has no wchar`);
  return Number(written);
}

/** Resident bytes: all bytes, and the bytes that no file backs (an LMDB map is a file). */
export function residentBytes(pid: number): { all: number; anonymous: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string) => {
    const kib = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1];
    if (kib === undefined) throw new Error(`/proc/${pid}/status has no ${name}`);
    return Number(kib) * 1024;
  };
  return { all: field('VmRSS'), anonymous: field('RssAnon') };
}

/** The indexes of user and system time after the command's name. */
const OWN = 11;
const CHILDREN = 13;

function cpuMsIn(file: string, first = OWN): number {
  const text = readFileSync(file, 'utf8');
  // The command's name may contain anything, spaces included; fields are counted after it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[first]) + Number(fields[first + 1])) * TICK_MS;
}

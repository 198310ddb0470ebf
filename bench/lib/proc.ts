/** What the kernel says of a process. Linux only, as the figures are. */
import { readdirSync, readFileSync } from 'node:fs';

/** The kernel's clock tick for /proc/PID/stat: 100 a second on every Linux that Node runs on. */
const TICK_MS = 10;

/** Processor milliseconds of all threads since the start. */
export function cpuMsOf(pid: number): number {
  return cpuMsIn(`/proc/${pid}/stat`);
}

/** Processor milliseconds by thread; the main thread has the process's own number. */
export function threadCpuMs(pid: number): Map<number, number> {
  const threads = readdirSync(`/proc/${pid}/task`).map(Number);
  return new Map(threads.map((thread) => [thread, cpuMsIn(`/proc/${pid}/task/${thread}/stat`)]));
}

/** What each thread used since `before`, the busiest first, the main thread always named. */
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

/** What a server under load used. */
export type Usage = {
  serverCpuMs: number;
  /** Of its main thread, and of its busiest other one. */
  mainCpuMs: number;
  otherCpuMs: number;
  /** Bytes that it gave to write calls. */
  writtenBytes: number;
};

/** Begins to measure a process; the result says what it used since. */
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

/** Bytes that a process has given to write calls: files and pipes, but not what it sends. */
export function writtenBytes(pid: number | 'self'): number {
  const written = /^wchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1];
  if (written === undefined) throw new Error(`/proc/${pid}/io has no wchar`);
  return Number(written);
}

/** Resident bytes: all, and those that no file backs (an LMDB map is a file). */
export function residentBytes(pid: number): { all: number; anonymous: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string) => {
    const kib = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1];
    if (kib === undefined) throw new Error(`/proc/${pid}/status has no ${name}`);
    return Number(kib) * 1024;
  };
  return { all: field('VmRSS'), anonymous: field('RssAnon') };
}

/** Where user and then system time stand behind the command's name. */
const OWN = 11;
const CHILDREN = 13;

function cpuMsIn(file: string, first = OWN): number {
  const text = readFileSync(file, 'utf8');
  // The command's name may hold anything, spaces included; fields are counted behind it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[first]) + Number(fields[first + 1])) * TICK_MS;
}

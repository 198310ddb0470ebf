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

/** What the threads of one name used. */
export type ThreadUse = { name: string; cpuMs: number; writtenBytes: number };

/** The resources that a whole server used under load. */
export type Usage = {
  serverCpuMs: number;
  /** Bytes passed to write calls. */
  writtenBytes: number;
  /** The main thread first, then by CPU; threads that ended meanwhile come last. */
  threads: ThreadUse[];
};

/** The use of a process since it was started. */
export function usageOf(pid: number): Usage {
  return usageBetween({ cpuMs: 0, writtenBytes: 0, threads: new Map() }, usedBy(pid));
}

/** Begins to measure a process; the returned function gives its use since then. */
export function usageSince(pid: number): () => Usage {
  const before = usedBy(pid);
  return () => usageBetween(before, usedBy(pid));
}

function usageBetween(before: Used, now: Used): Usage {
  const serverCpuMs = now.cpuMs - before.cpuMs;
  const writtenBytes = now.writtenBytes - before.writtenBytes;
  const byName = new Map<string, ThreadUse>();
  const ended = { name: 'ended', cpuMs: serverCpuMs, writtenBytes };
  for (const [thread, use] of now.threads) {
    const known = before.threads.get(thread);
    const used = byName.get(use.name) ?? { name: use.name, cpuMs: 0, writtenBytes: 0 };
    byName.set(use.name, used);
    const cpuMs = use.cpuMs - (known?.cpuMs ?? 0);
    const written = use.writtenBytes - (known?.writtenBytes ?? 0);
    used.cpuMs += cpuMs;
    used.writtenBytes += written;
    ended.cpuMs -= cpuMs;
    ended.writtenBytes -= written;
  }
  const threads = [...byName.values()].sort((one, other) => {
    return Number(other.name === MAIN) - Number(one.name === MAIN) || other.cpuMs - one.cpuMs;
  });
  // Less than a tick for each thread is rounding.
  if (ended.cpuMs > TICK_MS * now.threads.size || ended.writtenBytes > 0) threads.push(ended);
  return { serverCpuMs, writtenBytes, threads };
}

const MAIN = 'main';

/** Since the start of the process, in all and by thread. */
type Used = { cpuMs: number; writtenBytes: number; threads: Map<number, ThreadUse> };

function usedBy(pid: number): Used {
  const threads: Used['threads'] = new Map();
  for (const thread of readdirSync(`/proc/${pid}/task`).map(Number)) {
    const task = `/proc/${pid}/task/${thread}`;
    try {
      const comm = readFileSync(`${task}/comm`, 'utf8').trim();
      threads.set(thread, {
        name: thread === pid ? MAIN : (UNNAMED[comm] ?? comm),
        cpuMs: cpuMsIn(`${task}/stat`),
        writtenBytes: writtenIn(`${task}/io`),
      });
    } catch (error) {
      // It has ended since the list was read.
      if (!['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
  return { cpuMs: cpuMsOf(pid), writtenBytes: writtenBytes(pid), threads };
}

/** Threads that Node starts and that no module names; V8's compile and collect garbage. */
const UNNAMED: Readonly<Record<string, string>> = {
  node: 'V8',
  DelayedTaskSche: 'V8',
  'libuv-worker': 'libuv',
};

/** Processor milliseconds of children of this process that have ended. */
export function endedChildrenCpuMs(): number {
  return cpuMsIn('/proc/self/stat', CHILDREN);
}

/** Bytes that a process passed to write calls: files and pipes, but not sockets. */
export function writtenBytes(pid: number | 'self'): number {
  return writtenIn(`/proc/${pid}/io`);
}

function writtenIn(file: string): number {
  const written = /^wchar: (\d+)$/m.exec(readFileSync(file, 'utf8'))?.[1];
  if (written === undefined) throw new Error(`${file} has no wchar`);
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

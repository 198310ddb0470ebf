/** Reads the profiles that `node --cpu-prof` writes: self time by function. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

type CallFrame = { functionName: string; url: string; lineNumber: number };
type CpuProfile = {
  nodes: { id: number; callFrame: CallFrame }[];
  samples: number[];
  /** Microseconds between a sample and the one before it. */
  timeDeltas: number[];
  /** Microseconds, on the clock to which the deltas are added. */
  startTime: number;
  endTime: number;
};

export type FunctionTime = { name: string; place: string; share: number };
export type ThreadProfile = {
  file: string;
  /** `main`, or the folder whose module the thread runs: `engine/records/thread`. */
  name: string;
  /** Without idle time; shares are of this. */
  busyMs: number;
  totalMs: number;
  functions: FunctionTime[];
  /** The same by file or package. */
  places: FunctionTime[];
};

const IDLE = '(idle)';

/** The last `lastMs` of the threads' profiles in a directory, the main thread's first. */
export function readProfiles(dir: string, lastMs: number): ThreadProfile[] {
  return readdirSync(dir)
    .filter((file) => file.endsWith('.cpuprofile'))
    .map((file) => profileOf(file, JSON.parse(readFileSync(path.join(dir, file), 'utf8')), lastMs))
    .sort((a, b) => threadOf(a.file) - threadOf(b.file));
}

/** `CPU.20261121.100000.1234.0.001.cpuprofile`: the thread's number follows the process's. */
function threadOf(file: string): number {
  return Number(file.split('.')[4]);
}

/** The module of a worker is the first of ours whose top-level code ran. */
function threadName(file: string, nodes: CpuProfile['nodes']): string {
  if (threadOf(file) === 0) return 'main thread';
  const worker = nodes.find(({ callFrame }) => WORKER.test(callFrame.url))?.callFrame.url;
  return worker === undefined ? `thread ${threadOf(file)}` : `${WORKER.exec(worker)![1]} thread`;
}

const WORKER = /\/((?:engine|api|feeds)\/.*?)(?:\/thread)?\/[^/]*(?:worker|thread)[^/]*$/;

function profileOf(file: string, profile: CpuProfile, lastMs: number): ThreadProfile {
  const { nodes, samples, timeDeltas, startTime, endTime } = profile;
  const fromTime = endTime - lastMs * 1000;
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const functions = new Map<string, FunctionTime & { micros: number }>();
  const places = new Map<string, FunctionTime & { micros: number }>();
  let totalMicros = 0;
  let busyMicros = 0;
  let time = startTime;
  for (const [at, node] of samples.entries()) {
    const micros = timeDeltas[at]!;
    time += micros;
    if (time < fromTime) continue;
    const frame = frames.get(node)!;
    totalMicros += micros;
    if (frame.functionName === IDLE) continue;
    busyMicros += micros;
    const place = placeOf(frame);
    add(functions, frame.functionName || '(anonymous)', lineOf(place, frame), micros);
    add(places, '', place, micros);
  }
  return {
    file,
    name: threadName(file, nodes),
    busyMs: busyMicros / 1000,
    totalMs: totalMicros / 1000,
    functions: sharesOf(functions, busyMicros),
    places: sharesOf(places, busyMicros),
  };
}

type Times = Map<string, FunctionTime & { micros: number }>;

function add(times: Times, name: string, place: string, micros: number): void {
  const key = `${name} ${place}`;
  const known = times.get(key);
  if (known === undefined) times.set(key, { name, place, share: 0, micros });
  else known.micros += micros;
}

function sharesOf(times: Times, ofMicros: number): FunctionTime[] {
  return [...times.values()]
    .sort((a, b) => b.micros - a.micros)
    .map(({ name, place, micros }) => ({ name, place, share: micros / ofMicros }));
}

/** One of our files by its path in the repository, a package by its name, else Node's own name. */
function placeOf({ url }: CallFrame): string {
  const inPackage = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/.exec(url);
  if (inPackage !== null) return inPackage[1]!;
  const ours = /\/((?:engine|api|feeds)\/.*)$/.exec(url);
  if (ours !== null) return ours[1]!;
  return url === '' ? 'native' : url;
}

function lineOf(place: string, { lineNumber }: CallFrame): string {
  // The profile counts lines from 0.
  return lineNumber >= 0 && /\.(ts|js)$/.test(place) ? `${place}:${lineNumber + 1}` : place;
}

/** Tries faults in processes of their own: one after the other, each ended where a test does not. */
import { type ChildProcess, fork } from 'node:child_process';
import { on } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Fault, filesUnder } from './faults.ts';
import type { Measured, Report, Task } from './trial-process.ts';

const PROCESS_FILE = fileURLToPath(new URL('trial-process.ts', import.meta.url));
/** Modules once loaded stay in memory, so a process ends after so many faults. */
const FAULTS_PER_PROCESS = 60;
/** V8 does not count the calls of functions that it has optimized. */
const COUNTED = ['--no-opt', '--no-maglev'];
const EXEC_ARGV = ['--max-old-space-size=1024', '--disable-warning=ExperimentalWarning'];
/**
 * The time of a test: many times its time without a fault, and this. It is CPU time, which other
 * work on the machine does not lengthen. A test that only waits ends in the end, too.
 */
const PATIENCE = { factor: 5, atLeastMs: 3_000, waitingMs: 120_000 };
const LOOK_EVERY_MS = 250;

/** Tests that run in one process, without threads, servers or a disk. */
const TEST_PATHS = [
  'test/mutation/short-runs.ts',
  'test/engine/rules',
  'test/engine/memory',
  'test/engine/format',
  'test/engine/audit',
  'test/engine/shard/core/views/quote.test.ts',
  'test/engine/shard/core/shard-records.test.ts',
  'test/engine/shard/core/views/views.test.ts',
  'test/feeds/catalog/catalog-fields.test.ts',
  'test/feeds/catalog/catalog-words.test.ts',
  'test/feeds/ingest/ingest.test.ts',
  'test/feeds/venues/native/frames.test.ts',
];
/** Where a fault must be seen. */
export function filesOfTests(): string[] {
  return TEST_PATHS.flatMap(filesUnder).filter((file) => /(-runs|\.test)\.ts$/.test(file));
}

/** `seenBy`: the test that fell, or null; `isEndless` where it did not end. */
export type Outcome = { seenBy: Measured | null; isEndless: boolean };

export class TrialProcess {
  #child: ChildProcess | null = null;
  #tried = 0;

  /** Runs the tests without a fault. @throws if one fails */
  async measure(
    files: string[],
    faults: Fault[],
    env = process.env,
  ): Promise<Extract<Report, { kind: 'measured' }>> {
    this.#child = fork(PROCESS_FILE, { execArgv: [...EXEC_ARGV, ...COUNTED], env });
    const report = await this.#report({ kind: 'measure', files, faults }, () => {});
    this.close();
    if (report?.kind !== 'measured') throw new Error('the tests fail without a fault');
    return report;
  }

  /** Runs the tests in their order until one fails. */
  async try(fault: Fault, tests: readonly Measured[]): Promise<Outcome> {
    if (tests.length === 0) return { seenBy: null, isEndless: false };
    let begun = tests[0]!;
    let [begunMs, begunCpuMs] = [0, 0];
    const begin = (position: number) => {
      begun = tests[position]!;
      begunMs = performance.now();
      begunCpuMs = cpuMsOf(this.#child!);
    };
    const look = setInterval(() => {
      if (begunMs === 0 || this.#child === null) return;
      const mayTakeMs = PATIENCE.atLeastMs + PATIENCE.factor * begun.durationMs;
      const waitedMs = performance.now() - begunMs;
      const isEndless = cpuMsOf(this.#child) - begunCpuMs > mayTakeMs;
      if (isEndless || waitedMs > PATIENCE.waitingMs + mayTakeMs) this.#child.kill('SIGKILL');
    }, LOOK_EVERY_MS);
    const names = tests.map(({ file, index }) => ({ file, index }));
    const report = await this.#report({ kind: 'try', fault, tests: names }, begin);
    clearInterval(look);
    this.#tried += 1;
    if (report === null || this.#tried >= FAULTS_PER_PROCESS) this.close();
    if (report?.kind !== 'tried') return { seenBy: begun, isEndless: true };
    return { seenBy: report.seenBy === null ? null : tests[report.seenBy]!, isEndless: false };
  }

  close(): void {
    this.#child?.kill('SIGKILL');
    this.#child = null;
    this.#tried = 0;
  }

  /** The task's last report, or null if the process ended without one. */
  async #report(task: Task, begin: (position: number) => void): Promise<Report | null> {
    this.#child ??= fork(PROCESS_FILE, { execArgv: EXEC_ARGV });
    const child = this.#child;
    const ended = new AbortController();
    const end = () => ended.abort();
    child.once('exit', end);
    const reports = on(child, 'message', { signal: ended.signal });
    child.send(task);
    try {
      for await (const [report] of reports as AsyncIterable<[Report]>) {
        if (report.kind !== 'begun') return report;
        begin(report.position);
      }
    } catch (error) {
      if (!ended.signal.aborted) throw error;
    } finally {
      child.off('exit', end);
    }
    return null;
  }
}

const MS_PER_TICK = 10;

/** The CPU use of a process, as Linux reports it (proc(5), fields 14 and 15); 0 if it has ended. */
function cpuMsOf({ pid }: ChildProcess): number {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return 0;
  }
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
}

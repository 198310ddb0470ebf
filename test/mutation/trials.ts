/** Tries faults in processes of their own: one after the other, each ended where a test does not. */
import { type ChildProcess, fork } from 'node:child_process';
import { on } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Fault } from './faults.ts';
import type { Measured, Report, Task } from './trial-process.ts';

const PROCESS_FILE = fileURLToPath(new URL('trial-process.ts', import.meta.url));
/** Modules once loaded stay in memory, so a process ends after so many faults. */
const FAULTS_PER_PROCESS = 60;
/** V8 does not count the calls of functions that it has optimized. */
const COUNTED = ['--no-opt', '--no-maglev'];
const EXEC_ARGV = ['--max-old-space-size=1024', '--disable-warning=ExperimentalWarning'];
/** How long a test may take: what it takes without a fault, many times over, and this. */
const PATIENCE = { factor: 5, atLeastMs: 3_000 };

/** `seenBy`: the test that fell, or null; `isEndless` where it did not end. */
export type Outcome = { seenBy: Measured | null; isEndless: boolean };

export class TrialProcess {
  #child: ChildProcess | null = null;
  #tried = 0;

  /** Runs the tests without a fault. @throws where one fails */
  async measure(files: string[], faults: Fault[]): Promise<Extract<Report, { kind: 'measured' }>> {
    this.#child = fork(PROCESS_FILE, { execArgv: [...EXEC_ARGV, ...COUNTED] });
    const report = await this.#report({ kind: 'measure', files, faults }, () => {});
    this.close();
    if (report?.kind !== 'measured') throw new Error('the tests fail without a fault');
    return report;
  }

  /** Runs the tests in their order until one fails. */
  async try(fault: Fault, tests: readonly Measured[]): Promise<Outcome> {
    if (tests.length === 0) return { seenBy: null, isEndless: false };
    let begun = tests[0]!;
    let timer: NodeJS.Timeout | undefined;
    const begin = (position: number) => {
      begun = tests[position]!;
      clearTimeout(timer);
      const waitMs = PATIENCE.atLeastMs + PATIENCE.factor * begun.durationMs;
      timer = setTimeout(() => this.#child?.kill('SIGKILL'), waitMs);
    };
    const names = tests.map(({ file, index }) => ({ file, index }));
    const report = await this.#report({ kind: 'try', fault, tests: names }, begin);
    clearTimeout(timer);
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

  /** The task's last report, or null where the process ended without one. */
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

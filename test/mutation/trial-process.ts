/**
 * A process that runs tests on planted faults. The parent sends a Task. The process names each test
 * before it begins, so that the parent can end a test that does not end.
 */
import type { Fault } from './faults.ts';
import { beginGeneration, importAnew } from './generations.ts';
import { ReachMeter } from './reach.ts';
import { runTest, testCases } from './test-cases.ts';

/** Where a test is: its file, and its place in it. */
export type TestName = { file: string; index: number };
/** `durationMs`: of CPU. `reached`: numbers of faults. */
export type Measured = TestName & { durationMs: number; reached: number[] };

export type Task =
  | { kind: 'measure'; files: string[]; faults: Fault[] }
  | { kind: 'try'; fault: Fault; tests: TestName[] };

/** `position`: of the test in the task. `reachedByAll`: blocks that run while modules load. */
export type Report =
  | { kind: 'measured'; tests: Measured[]; reachedByAll: number[] }
  | { kind: 'begun'; position: number }
  | { kind: 'tried'; seenBy: number | null };

process.on('message', (task: Task) => {
  if (task.kind === 'try') tryFault(task.fault, task.tests).then(send);
  else measure(task.files, task.faults).then(send);
});

function send(report: Report): void {
  process.send!(report);
}

async function tryFault(fault: Fault, tests: readonly TestName[]): Promise<Report> {
  beginGeneration(fault);
  const loaded = new Map<string, typeof testCases>();
  for (const [position, { file, index }] of tests.entries()) {
    send({ kind: 'begun', position });
    try {
      if (!loaded.has(file)) loaded.set(file, await casesOf(file));
      await runTest(loaded.get(file)![index]!);
    } catch {
      return { kind: 'tried', seenBy: position };
    }
  }
  return { kind: 'tried', seenBy: null };
}

/** @throws if a test fails without a fault */
async function measure(files: readonly string[], faults: readonly Fault[]): Promise<Report> {
  const meter = new ReachMeter(faults);
  await meter.start();
  beginGeneration(null);
  const cases = new Map<string, typeof testCases>();
  for (const file of files) cases.set(file, await casesOf(file));
  const reachedByAll = await meter.take();
  const tests: Measured[] = [];
  for (const [file, ofFile] of cases) {
    for (const [index, testCase] of ofFile.entries()) {
      const start = process.cpuUsage();
      await runTest(testCase).catch((cause: unknown) => {
        throw new Error(`${file}: ${testCase.title}: fails without a fault`, { cause });
      });
      const { user, system } = process.cpuUsage(start);
      const durationMs = (user + system) / 1000;
      tests.push({ file, index, durationMs, reached: await meter.take() });
    }
  }
  meter.stop();
  return { kind: 'measured', tests, reachedByAll };
}

async function casesOf(file: string): Promise<typeof testCases> {
  testCases.length = 0;
  await importAnew(file);
  return [...testCases];
}

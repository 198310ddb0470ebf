/**
 * `npm run mutate [-- PATH… --every N --from K]`: plants one fault at a time in the rules, or in
 * the named files, folders and lines, and checks whether a test fails. Prints the undetected
 * faults.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { EQUAL } from './equal.ts';
import { type Fault, faultsUnder } from './faults.ts';
import type { Measured } from './trial-process.ts';
import { filesOfTests, TrialProcess } from './trials.ts';

const DEFAULT_PATHS = ['engine/rules'];
/** The share of the usual seeds that tests take here. */
const SEEDS_PERCENT = '10';

const startMs = Date.now();
const { values, positionals } = parseArgs({
  options: { every: { type: 'string' }, from: { type: 'string' } },
  allowPositionals: true,
});
process.env.SEEDS_PERCENT ??= SEEDS_PERCENT;
const every = Number(values.every ?? 1);
const from = Number(values.from ?? 0);
const all = (positionals.length > 0 ? positionals : DEFAULT_PATHS).flatMap(faultsUnder);
const faults = all.filter((_, index) => index % every === from);
const planted = faults.filter(({ key }) => !EQUAL.has(key));
const testFiles = filesOfTests();
const { tests, reachedByAll } = await new TrialProcess().measure(testFiles, planted);
const testsOf = reachingTests();
const waiting = planted.map((_, number) => number);
/** The test that detected a fault is first for the next fault, which is often beside it. */
const lastSeenBy: Measured[] = [];
let unseen = 0;
let endless = 0;

await Promise.all(Array.from({ length: availableParallelism() }, tryFaults));
report();

/** By fault: the tests that reach it, the quickest first. */
function reachingTests(): Measured[][] {
  const byDuration = tests.toSorted((a, b) => a.durationMs - b.durationMs);
  const reaching: Measured[][] = planted.map(() => []);
  for (const test of byDuration) for (const number of test.reached) reaching[number]!.push(test);
  for (const number of reachedByAll) reaching[number] = byDuration;
  return reaching;
}

async function tryFaults(): Promise<void> {
  const trial = new TrialProcess();
  for (let number = waiting.shift(); number !== undefined; number = waiting.shift()) {
    const reaching = new Set(testsOf[number]);
    const recent = lastSeenBy.filter((test) => reaching.has(test)).slice(0, 8);
    const order = [...new Set([...recent, ...reaching])];
    const { seenBy, isEndless } = await trial.try(planted[number]!, order);
    if (seenBy !== null) {
      putFirst(seenBy);
    } else {
      unseen += 1;
      process.stdout.write(`${shownOf(planted[number]!, number)}\n`);
    }
    if (isEndless) endless += 1;
    const left = waiting.length;
    if (left % 50 === 0) process.stderr.write(`${left} left, ${unseen} not seen\n`);
  }
  trial.close();
}

function putFirst(test: Measured): void {
  const at = lastSeenBy.indexOf(test);
  if (at !== -1) lastSeenBy.splice(at, 1);
  lastSeenBy.unshift(test);
}

function report(): void {
  const killed = planted.length - unseen;
  const seconds = Math.round((Date.now() - startMs) / 1000);
  const lines = [
    `${killed} of ${planted.length} faults were seen (${percent(killed, planted.length)}), ` +
      `${endless} of them because a test did not end; ` +
      `${faults.length - planted.length} more change nothing; ${seconds} s`,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

function shownOf({ shown }: Fault, number: number): string {
  return testsOf[number]!.length === 0 ? `${shown} (no test comes here)` : shown;
}

function percent(part: number, whole: number): string {
  return `${((100 * part) / whole).toFixed(1)}%`;
}

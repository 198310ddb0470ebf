/**
 * Plays many test files in one process of ava. A separate process costs each file half a second
 * before its first test, and its code is compiled and warmed once more.
 *
 * Files run one after the other. Within a file the order is ava's: serial tests first, then all
 * others at once. `npx ava FILE` runs a file by itself.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { flushCompileCache, registerHooks } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import ava, { type ExecutionContext } from 'ava';
import { ROOT, testFiles } from './test-files.ts';

type Play = (t: ExecutionContext) => unknown;

const ALIVE_MS = 60_000;

/** A test file: its registered tests, and when they may run. */
type TestFile = {
  name: string;
  before: (() => unknown)[];
  afterEach: Play[];
  /** They end what its tests share: a server that runs on costs the files after it. */
  after: (() => unknown)[];
  /** The last serial test; the next one waits for it. */
  lastSerial: Promise<void>;
  /** All tests so far. */
  ended: Promise<void>[];
  /** The end of the file before. */
  earlier: Promise<unknown>;
  /** Set by the first test: `earlier`, and then the first hooks. */
  begun: Promise<void> | null;
};

let current: TestFile | null = null;
/** A thread that keeps no process alive may be all that a test waits for. */
let alive: NodeJS.Timeout | undefined;

/** Loads the test files of `testFiles`, in their order. */
export async function playFiles(...patterns: string[]): Promise<void> {
  const files = testFiles(patterns);
  let earlier: Promise<unknown> = Promise.resolve();
  for (const file of files) {
    const loaded: TestFile = {
      name: file.slice('test/'.length, -'.test.ts'.length).replaceAll('/', ' › '),
      ...{ before: [], afterEach: [], after: [], ended: [], begun: null, earlier },
      lastSerial: Promise.resolve(),
    };
    current = loaded;
    await import(pathToFileURL(path.join(ROOT, file)).href);
    earlier = Promise.all([earlier, ...loaded.ended]).then(() => finish(loaded));
  }
  ava.after.always('the ends of all files', async () => {
    await earlier;
    clearInterval(alive);
  });
  current = null;
  // For the rooms that begin later; Node itself keeps what it has compiled as the process ends.
  flushCompileCache();
  writeCost(`start of ${files[0]} and others`);
  // A browser, and what else ends with the room.
  process.once('exit', () => writeCost(`end of ${files[0]} and others`));
}

function register(title: string, play: Play, isSerial: boolean): void {
  const file = currentFile();
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  file.ended.push(ended);
  const earlier = file.lastSerial;
  if (isSerial) file.lastSerial = ended;
  ava(`${file.name} › ${title}`, async (t) => {
    // Teardowns run in reverse: this one is last.
    t.teardown(end);
    file.begun ??= begin(file);
    alive ??= setInterval(() => {}, ALIVE_MS);
    await file.begun;
    await (isSerial ? earlier : file.lastSerial);
    for (const hook of file.afterEach) t.teardown(() => hook(t));
    compareQuickly(t);
    await play(t);
  });
}

/**
 * What ava compares it first describes value by value, which costs much more than Node's own
 * comparison by the same rules. So ava looks only at what differs.
 */
function compareQuickly(t: ExecutionContext): void {
  const { deepEqual } = t;
  const quick = (...args: Parameters<typeof deepEqual>) =>
    isDeepStrictEqual(args[0], args[1]) ? t.pass() : deepEqual(...args);
  t.deepEqual = Object.assign(quick, deepEqual) as typeof deepEqual;
}

/** Of this process, of its threads, and of ended processes that it started; and since it began. */
const spent = { cpuSeconds: 0, wallSeconds: 0 };
function writeCost(name: string): void {
  const to = process.env.COSTS;
  if (to === undefined) return;
  const now = { cpuSeconds: cpuSeconds(), wallSeconds: performance.now() / 1000 };
  const cpu = (now.cpuSeconds - spent.cpuSeconds).toFixed(2);
  const wall = (now.wallSeconds - spent.wallSeconds).toFixed(2);
  appendFileSync(to, `${cpu} ${wall} ${name}\n`);
  Object.assign(spent, now);
}

function cpuSeconds(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) / 100, 0);
}

async function begin({ earlier, before }: TestFile): Promise<void> {
  await earlier;
  for (const hook of before) await hook();
}

async function finish({ name, after }: TestFile): Promise<void> {
  for (const hook of after.reverse()) await hook();
  writeCost(name);
}

/** A helper that files share registers its hook as it is loaded: no test file is on the stack. */
function afterAlways(title: string | (() => unknown), hook?: () => unknown): void {
  const run = typeof title === 'string' ? hook! : title;
  if (/\.test\.ts:/.test(new Error().stack!)) currentFile().after.push(run);
  else ava.after.always(run);
}

function currentFile(): TestFile {
  if (current === null) throw new Error('a test is registered outside of a test file');
  return current;
}

function skip(title: string, _play: Play): void {
  ava.skip(`${currentFile().name} › ${title}`, () => {});
}

/** The part of `ava` that test files import here. */
export default Object.assign((title: string, play: Play) => register(title, play, false), {
  skip,
  serial: Object.assign((title: string, play: Play) => register(title, play, true), { skip }),
  before: (hook: () => unknown) => currentFile().before.push(hook),
  afterEach: { always: (hook: Play) => currentFile().afterEach.push(hook) },
  /** At the end of the process; `always` at that of the file. */
  after: Object.assign((title: string, play: Play) => ava.after(title, play), {
    always: afterAlways,
  }),
});

registerHooks({
  resolve(name, context, next) {
    const isOfTests = name === 'ava' && context.parentURL !== import.meta.url;
    return isOfTests ? { url: import.meta.url, shortCircuit: true } : next(name, context);
  },
});

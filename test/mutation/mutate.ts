/**
 * `npm run mutate [-- PATH… --every N]`: plants one fault at a time in the rules, or in the named
 * files and folders, and looks whether a test falls. Prints the faults that none has seen.
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { EQUAL } from './equal.ts';
import { type Mutant, mutantsOf } from './mutants.ts';
import { PLANTED_VARIABLE, type Planted } from './plant.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DEFAULT_PATHS = ['engine/rules'];
/** What looks at a fault, the quick one first; the second only at what the first has not seen. */
const LOOKS: { command: string[]; withinMs: number }[] = [
  { command: ['test/mutation/quick.ts'], withinMs: 60_000 },
  {
    command: [
      'node_modules/ava/entrypoints/cli.js',
      '--fail-fast',
      'test/engine/rules/*',
      'test/engine/memory/*',
      'test/engine/format/*',
      'test/engine/audit/*',
      'test/engine/shard/quote.test.ts',
      'test/engine/shard/views.test.ts',
    ],
    withinMs: 300_000,
  },
];
/** The second look has this share of its usual seeds: the first has looked at others. */
const SEEDS_PERCENT = '5';

/** `key`: names it however lines move. */
type Fault = { file: string; mutant: Mutant; shown: string; key: string };

const { values, positionals } = parseArgs({
  options: { every: { type: 'string' } },
  allowPositionals: true,
});
const every = Number(values.every ?? 1);
const files = (positionals.length > 0 ? positionals : DEFAULT_PATHS).flatMap(filesUnder);
const faults = files.flatMap(faultsOf).filter((_, index) => index % every === 0);
const equal = faults.filter(({ key }) => EQUAL.has(key));
const waiting = faults.filter(({ key }) => !EQUAL.has(key));
const planted = waiting.length;
const survivors: string[] = [];
let endless = 0;
for (const look of LOOKS) {
  if (await fails(look, null)) throw new Error(`${look.command.join(' ')} fails without a fault`);
}
await Promise.all(Array.from({ length: availableParallelism() }, lookOn));
const killed = planted - survivors.length;
for (const shown of survivors.sort()) process.stdout.write(`${shown}\n`);
process.stdout.write(
  `${killed} of ${planted} faults were seen (${((100 * killed) / planted).toFixed(1)}%), ` +
    `${endless} of them since a look did not end; ${equal.length} more change nothing\n`,
);

async function lookOn(): Promise<void> {
  for (let fault = waiting.shift(); fault !== undefined; fault = waiting.shift()) {
    const isSeen = await seen(fault);
    if (!isSeen) survivors.push(fault.shown);
    process.stderr.write(`\r${waiting.length} left, ${survivors.length} not seen `);
  }
}

async function seen({ file, mutant }: Fault): Promise<boolean> {
  const url = pathToFileURL(path.join(ROOT, file)).href;
  for (const look of LOOKS) if (await fails(look, { url, mutant })) return true;
  return false;
}

/** Whether the look fails with the fault, or does not end in time. */
function fails(
  { command, withinMs }: (typeof LOOKS)[number],
  planted: Planted | null,
): Promise<boolean> {
  const child = spawn(process.execPath, command, {
    cwd: ROOT,
    stdio: 'ignore',
    detached: true,
    env: {
      ...process.env,
      SEEDS_PERCENT,
      NODE_OPTIONS: `--import ${new URL('plant.ts', import.meta.url).href}`,
      ...(planted === null ? {} : { [PLANTED_VARIABLE]: JSON.stringify(planted) }),
    },
  });
  // The whole group: a test runner has children of its own.
  const timer = setTimeout(() => {
    endless += 1;
    process.kill(-child.pid!, 'SIGKILL');
  }, withinMs);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => {
      clearTimeout(timer);
      resolve(code !== 0);
    });
  });
}

function filesUnder(place: string): string[] {
  if (statSync(path.join(ROOT, place)).isFile()) return [place];
  return readdirSync(path.join(ROOT, place), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => path.posix.join(place, name));
}

function faultsOf(file: string): Fault[] {
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  return mutantsOf(file, text).map((mutant) => {
    const before = text.slice(mutant.start, mutant.end).replaceAll(/\s+/g, ' ');
    const change = `${before} -> ${mutant.replacement}`;
    const key = `${file} | ${text.split('\n')[mutant.line - 1]!.trim()} | ${change}`;
    return { file, mutant, shown: `${file}:${mutant.line}: ${change}`, key };
  });
}

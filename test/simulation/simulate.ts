/**
 * `npm run simulate -- --seconds 60 --seed 17`: simulates one seed after the other. With `--seed`
 * alone, that one; without it, seeds that nobody has seen. Prints a summary line. A failure prints
 * the seed that replays it, and exits 1.
 */
import { randomInt } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { simulate } from './simulation.ts';
import { Tally } from './tally.ts';

const DEFAULT_SECONDS = 60;
const SEED_MAX = 2 ** 31 - 1;
/** DiskReserve to count up in. */
const FRESH_SEED_MAX = 2 ** 30;

const { values } = parseArgs({
  options: { seconds: { type: 'string' }, seed: { type: 'string' } },
});
const isReplay = values.seed !== undefined && values.seconds === undefined;
const seconds = numberOf('seconds', values.seconds) ?? DEFAULT_SECONDS;
const firstSeed = numberOf('seed', values.seed) ?? randomInt(1, FRESH_SEED_MAX);

const tally = new Tally();
const startedMs = Date.now();
const dir = mkdtempSync(path.join(tmpdir(), 'paperbook-simulate-'));
try {
  for (let seed = firstSeed; seed === firstSeed || mayGoOn(); seed++) await runSeed(seed);
} finally {
  rmSync(dir, { recursive: true });
  const outcome = process.exitCode === 1 ? 'FAILED' : 'ok';
  const took = Math.round((Date.now() - startedMs) / 1000);
  process.stderr.write('\n');
  process.stdout.write(`simulate ${outcome}: ${took} s from seed ${firstSeed}; ${tally}\n`);
}

async function runSeed(seed: number): Promise<void> {
  // A state that went wrong can also loop forever, and then this line is the only sign.
  process.stderr.write(`\rseed ${seed} `);
  const seedDir = path.join(dir, String(seed));
  mkdirSync(seedDir);
  try {
    await simulate({ seed, dir: seedDir, tally });
    rmSync(seedDir, { recursive: true });
  } catch (error) {
    process.exitCode = 1;
    process.stdout.write(`${(error as Error).message}\n`);
    process.stdout.write(`To replay it: npm run simulate -- --seed ${seed}\n`);
  }
}

function mayGoOn(): boolean {
  return !isReplay && process.exitCode !== 1 && Date.now() < startedMs + seconds * 1000;
}

function numberOf(name: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  const number = Number(text);
  if (Number.isSafeInteger(number) && number > 0 && number <= SEED_MAX) return number;
  process.stderr.write(`simulate: --${name} ${text} is not a whole number above 0\n`);
  process.exit(2);
}

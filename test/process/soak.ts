/**
 * `node test/process/soak.ts --minutes 10 --keys 20 --kill-every 60 --seed 1`: the demo under
 * random traders, killed every so often. Prints what was done in a line; exits 1 on any breach.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createRandomSource } from '../model/random-source.ts';
import { Session, type Stop } from './session.ts';

const STEPS_A_ROUND = 25;
/** Rounds begin no sooner than this, so that the lists stay of a size to be read in full. */
const ROUND_MS = 1000;
const STOPS: Record<Stop, number> = { SIGKILL: 3, 'SIGINT+SIGKILL': 1, SIGINT: 1 };

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    keys: { type: 'string', default: '20' },
    'kill-every': { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
  },
});
const [minutes, keys, killEverySeconds, seed] = [
  values.minutes,
  values.keys,
  values['kill-every'],
  values.seed,
].map(positive) as [number, number, number, number];

const dir = mkdtempSync(path.join(tmpdir(), 'paperbook-soak-'));
const session = new Session({ dataDir: path.join(dir, 'data'), keys, seed });
const startedMs = Date.now();
try {
  await soak();
} catch (error) {
  session.breaches.push(String((error as Error).stack));
} finally {
  await session.abandon();
}
report();

async function soak(): Promise<void> {
  const random = createRandomSource(seed);
  const untilMs = Date.now() + minutes * 60_000;
  await session.start();
  let nextStopMs = Date.now() + killEverySeconds * 1000;
  while (Date.now() < untilMs && session.breaches.length === 0) {
    const roundMs = Date.now();
    if (roundMs >= nextStopMs) {
      await session.stopUnderLoad(random.weighted(STOPS));
      nextStopMs = Date.now() + killEverySeconds * 1000;
    }
    await session.round(STEPS_A_ROUND);
    const leftMs = roundMs + ROUND_MS - Date.now();
    if (leftMs > 0) await new Promise((resolve) => setTimeout(resolve, leftMs));
  }
  if (session.breaches.length === 0) await session.finish();
}

function report(): void {
  const { breaches, rounds, stops } = session;
  const seconds = Math.round((Date.now() - startedMs) / 1000);
  const counts = Object.entries(session.counts())
    .sort(([, a], [, b]) => b - a)
    .map(([what, count]) => `${what} ${count}`);
  const outcome = breaches.length === 0 ? 'ok' : 'FAILED';
  process.stdout.write(
    `soak ${outcome}: ${seconds} s, ${keys} keys, seed ${seed}, ${rounds} rounds, ` +
      `${stops} stops, ${breaches.length} breaches; ${counts.join(', ')}\n`,
  );
  for (const breach of breaches) process.stdout.write(`  ${breach}\n`);
  // What broke is worth keeping; what held is not.
  if (breaches.length === 0) rmSync(dir, { recursive: true });
  else process.stdout.write(`  data directory: ${dir}\n`);
  process.exitCode = breaches.length === 0 ? 0 : 1;
}

function positive(text: string): number {
  const number = Number(text);
  if (number > 0) return number;
  process.stderr.write(`soak: ${text} is not a number above 0\n`);
  process.exit(2);
}

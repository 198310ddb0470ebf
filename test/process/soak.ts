/**
 * `node test/process/soak.ts --minutes 10 --keys 20 --kill-every 60 --seed 1`: the demo under
 * random traders, killed every so often. Prints a summary line; exits 1 on any breach.
 */
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createRandomSource } from '../model/random-source.ts';
import { positive, runSession } from './script.ts';
import { Session, type Stop } from './session.ts';

const STEPS_A_ROUND = 25;
/** Rounds begin no sooner than this, so that the lists stay of a size to be read in full. */
const ROUND_MS = 1000;
const STOPS = {
  SIGKILL: 3,
  'SIGINT+SIGKILL': 1,
  SIGINT: 1,
} satisfies Partial<Record<Stop, number>>;

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
].map((text) => positive('soak', text)) as [number, number, number, number];

await runSession({
  name: 'soak',
  settings: `${keys} keys, seed ${seed}`,
  session: async (dir) => new Session({ dataDir: path.join(dir, 'data'), keys, seed }),
  work: soak,
});

async function soak(session: Session): Promise<void> {
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

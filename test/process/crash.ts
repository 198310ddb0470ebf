/**
 * `npm run crash -- --kills 50 --keys 8 --seed 1`: `paperbook serve` with two shards and sync
 * durability on simulated venues, under random traders, killed many times: under load, while it
 * closes, and while it starts. Prints a summary line; exits 1 on any breach.
 */
import { parseArgs } from 'node:util';
import { createRandomSource } from '../model/random-source.ts';
import { positive, runSession } from './script.ts';
import { createServeSession, type Session, type Stop } from './session.ts';

const STEPS_A_ROUND = 20;
const STOPS = {
  SIGKILL: 4,
  'SIGKILL+SIGKILL': 2,
  'SIGINT+SIGKILL': 2,
} satisfies Partial<Record<Stop, number>>;

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '50' },
    keys: { type: 'string', default: '8' },
    seed: { type: 'string', default: '1' },
  },
});
const [kills, keys, seed] = [values.kills, values.keys, values.seed].map((text) => {
  return positive('crash', text);
}) as [number, number, number];

await runSession({
  name: 'crash',
  settings: `${keys} keys, seed ${seed}`,
  session: (dir) => createServeSession(dir, { keys, seed }),
  work: killAgainAndAgain,
});

async function killAgainAndAgain(session: Session): Promise<void> {
  const random = createRandomSource(seed);
  await session.start();
  while (session.kills < kills && session.breaches.length === 0) {
    await session.round(STEPS_A_ROUND);
    await session.stopUnderLoad(random.weighted(STOPS));
  }
  if (session.breaches.length === 0) await session.finish();
}

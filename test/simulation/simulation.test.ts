import test, { type ExecutionContext } from 'ava';
import type { Durability } from '../../engine/shard/store/checkpoints.ts';
import { tempDir } from '../engine/shard/engine-process.ts';
import { seedsOfRun } from '../model/seeds.ts';
import { simulate } from './simulation.ts';
import { Tally } from './tally.ts';

const USUAL_SEEDS = 40;
const SEEDS = seedsOfRun(USUAL_SEEDS);
const tally = new Tally();

for (const seed of SEEDS) {
  const title = 'a shard answers as the model, whenever it crashes, and loses nothing acknowledged';
  test.serial(`${title}, seed ${seed}`, async (t) => {
    await t.notThrowsAsync(simulate({ seed, dir: tempDir(t), tally }));
  });
}

const endOf = (t: ExecutionContext, seed: number, durability: Durability) =>
  simulate({ seed, dir: tempDir(t), tally: new Tally(), durability });

// Fewer seeds than usual say nothing of what all of them cover.
const whole = SEEDS.length < USUAL_SEEDS ? test.serial.skip : test.serial;

whole('D1, PAPERBOOK_DURABILITY: a crash of the process finds both alike', async (t) => {
  t.is(await endOf(t, 2, 'sync'), await endOf(t, 2, 'commit'));
});

whole('the seeds of a test run cover every kind of event, checkpoint and crash', (t) => {
  t.log(String(tally));
  t.deepEqual(tally.missing(), []);
});

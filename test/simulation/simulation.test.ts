import test, { type ExecutionContext } from 'ava';
import type { Durability } from '../../engine/shard/store.ts';
import { tempDir } from '../engine/shard/engine-process.ts';
import { simulate } from './simulation.ts';
import { IngestCounters } from './tally.ts';

const { SEED } = process.env;
const SEEDS = SEED === undefined ? seedsFrom(1, 40) : [Number(SEED)];
const tally = new IngestCounters();

function seedsFrom(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}

for (const seed of SEEDS) {
  const title = 'a shard answers as the model, whenever it crashes, and loses nothing acknowledged';
  test.serial(`DESIGN section 6: ${title}, seed ${seed}`, async (t) => {
    await t.notThrowsAsync(simulate({ seed, dir: tempDir(t), tally }));
  });
}

const endOf = (t: ExecutionContext, seed: number, durability: Durability) =>
  simulate({ seed, dir: tempDir(t), tally: new IngestCounters(), durability });

// One seed under test says nothing of what the budget covers.
const whole = SEED === undefined ? test.serial : test.serial.skip;

whole(
  'CONTRACT section 8, PAPERBOOK_DURABILITY: a crash of the process finds both alike',
  async (t) => {
    t.is(await endOf(t, 2, 'sync'), await endOf(t, 2, 'commit'));
  },
);

whole('the seeds of a test run cover every kind of event, checkpoint and crash', (t) => {
  t.log(String(tally));
  t.deepEqual(tally.missing(), []);
});

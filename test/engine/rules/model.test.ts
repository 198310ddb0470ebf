import test from 'ava';
import { FILL_MODELS } from '../../../engine/base/units.ts';
import { compareWithModel } from '../../model/compare.ts';
import { seedsOfRun } from '../../model/seeds.ts';

const STEPS = 1500;

for (const seed of seedsOfRun(40)) {
  for (const fillModel of FILL_MODELS) {
    test(`the engine answers and fills as the naive model, ${fillModel}, seed ${seed}`, (t) => {
      t.notThrows(() => compareWithModel({ seed, fillModel, steps: STEPS }));
    });
  }
}

for (const seed of seedsOfRun(40)) {
  const fillModel = FILL_MODELS[seed % FILL_MODELS.length]!;
  const settledAtOnce = seed % 4;
  test(`S15: ${settledAtOnce} settled at once, and whoever asks: as the naive model, ${seed}`, (t) => {
    t.notThrows(() => compareWithModel({ seed, fillModel, steps: STEPS, settledAtOnce }));
  });
}

for (const seed of seedsOfRun(6)) {
  const fillModel = FILL_MODELS[seed % FILL_MODELS.length]!;
  test(`T158, T164: accounts of different realism, as the naive model, ${fillModel}, ${seed}`, (t) => {
    const latency = seed % 2 === 0;
    t.notThrows(() => {
      compareWithModel({ seed, fillModel, steps: STEPS, perAccount: true, latency });
    });
  });

  test(`T230, T231: such accounts in three shards, as the naive model, ${fillModel}, ${seed}`, (t) => {
    t.notThrows(() => {
      compareWithModel({ seed, fillModel, steps: STEPS, perAccount: true, shards: 3 });
    });
  });
}

/**
 * The runs that detect most faults at the least cost: a few short runs of the engine against the
 * model.
 */
import test from 'ava';
import { FILL_MODELS } from '../../engine/base/units.ts';
import { compareWithModel } from '../model/compare.ts';

const SEEDS = 6;
const STEPS = 700;

for (let seed = 1; seed <= SEEDS; seed++) {
  for (const fillModel of FILL_MODELS) {
    test(`a short run answers as the model, ${fillModel}, seed ${seed}`, (t) => {
      t.notThrows(() => compareWithModel({ seed, fillModel, steps: STEPS }));
    });
  }
}

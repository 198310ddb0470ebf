/** The cheapest proof that sees most faults: a few short runs of the engine against the model. */
import { FILL_MODELS } from '../../engine/rules/units.ts';
import { compareWithModel } from '../model/compare.ts';

const SEEDS = 6;
const STEPS = 700;

for (let seed = 1; seed <= SEEDS; seed++) {
  for (const fillModel of FILL_MODELS) compareWithModel({ seed, fillModel, steps: STEPS });
}

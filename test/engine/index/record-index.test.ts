import test from 'ava';
import { IndexModel } from './index-model.ts';

const SEEDS = Math.ceil((12 * Number(process.env.SEEDS_PERCENT ?? 100)) / 100);
const first = Number(process.env.SEED ?? 1);

for (let seed = first; seed < first + (process.env.SEED === undefined ? SEEDS : 1); seed++) {
  test(`D40, D41: an index finds and lists what a plain map does, crashed at any step; seed ${seed}`, (t) => {
    // Odd seeds fill slabs and chunks, even ones merge what was merged.
    const model = new IndexModel(seed);
    const isLarge = seed % 2 === 1;
    const seals = model.play(isLarge ? { turns: 30, adds: 2500 } : { turns: 160, adds: 60 });
    t.deepEqual(model.problems, []);
    t.true(seals > (isLarge ? 10 : 64));
    t.true(model.level >= (isLarge ? 1 : 2), `level ${model.level}`);
  });
}

import test from 'ava';
import { INDEX_CLASS } from '../../../engine/index/entry.ts';
import { falseRateOf, filterSizeOf, KeyFilter } from '../../../engine/index/key-filter.ts';
import { RecordIndex } from '../../../engine/index/record-index.ts';
import { randomOf, SEED, sealed } from './index-model.ts';
import { MemoryRunStore } from './memory-run-store.ts';

const BLOCK_BITS = 2048;
const MILLION = 1e6;

/** What a filter does by the theory: the keys of a block are Poisson distributed. */
function rateOf(keys: number): number {
  const { blocks, probes } = filterSizeOf(keys);
  const mean = keys / blocks;
  let chance = Math.exp(-mean);
  let rate = 0;
  for (let inBlock = 0; inBlock < mean * 3 + 100; inBlock++) {
    if (inBlock > 0) chance *= mean / inBlock;
    rate += chance * (1 - (1 - 1 / BLOCK_BITS) ** (probes * inBlock)) ** probes;
  }
  return rate;
}

test('T90: a filter keeps to the rate that its run may have, from a thousand keys to a billion', (t) => {
  for (let keys = 1000; keys <= 1e9; keys *= 1.3) {
    t.true(rateOf(keys) <= falseRateOf(keys), `${Math.round(keys)} keys: ${rateOf(keys)}`);
  }
});

test('T90: all runs of 100 million keys call at most 1% of new keys used, in about 160 MB', (t) => {
  // A million a seal: eight runs become one, and eight of those.
  const runs = [64, 8, 8, 8, 8, 1, 1, 1, 1].map((millions) => millions * MILLION);
  t.is(
    runs.reduce((sum, keys) => sum + keys),
    100 * MILLION,
  );
  t.true(runs.reduce((sum, keys) => sum + rateOf(keys), 0) <= 0.01);
  const bytes = runs.reduce((sum, keys) => sum + (filterSizeOf(keys).blocks * BLOCK_BITS) / 8, 0);
  t.true(bytes <= 160 * MILLION, `${bytes}`);
});

test('T90: what a filter does is what the theory says, and it never denies what it has', (t) => {
  const random = randomOf(5);
  const word = () => random(2 ** 32);
  for (const keys of [MILLION, 8 * MILLION, 64 * MILLION]) {
    // As many bits a key and probes as a run of so many has, with fewer keys.
    const { blocks, probes } = filterSizeOf(keys);
    const few = 100_000;
    const filter = new KeyFilter({ blocks: Math.ceil((blocks * few) / keys), probes });
    const names = Array.from({ length: few }, () => [word(), word(), word(), word()] as const);
    for (const name of names) filter.add(...name);
    t.true(names.every((name) => filter.mayHave(...name)));
    let wrong = 0;
    const looks = 1_000_000;
    for (let look = 0; look < looks; look++) {
      if (filter.mayHave(word(), word(), word(), word())) wrong++;
    }
    const expected = rateOf(keys) * looks;
    const isNear = Math.abs(wrong - expected) < 4 * Math.sqrt(expected) + 0.1 * expected;
    t.true(isNear, `${keys}: ${wrong}, and ${expected} by the theory`);
  }
});

test('T90: a new key reads nothing from disk, a used one a chunk of its run', (t) => {
  const store = new MemoryRunStore();
  const index = new RecordIndex(store, SEED);
  const keys: Uint32Array[] = [];
  for (let run = 0; run < 5; run++) {
    for (let count = 0; count < 3000; count++) {
      const [w0, w1, w2, w3] = index.nameOfKey(7, `key ${keys.length}`);
      keys.push(Uint32Array.of(w0!, w1!, w2!, w3!));
      index.add(7, INDEX_CLASS.key, w0!, w1!, w2!, w3!, run, 0);
    }
    sealed(index, store);
  }
  store.gets = 0;
  for (let count = 0; count < 20_000; count++) {
    const [w0, w1, w2, w3] = index.nameOfKey(7, `new ${count}`);
    t.is(index.find(7, INDEX_CLASS.key, w0!, w1!, w2!, w3!).length, 0);
  }
  t.true(store.gets <= 2, `${store.gets}`);
  for (const at of [0, 2999, 3000, 14_999]) {
    store.gets = 0;
    const [w0, w1, w2, w3] = keys[at]!;
    t.deepEqual(index.find(7, INDEX_CLASS.key, w0!, w1!, w2!, w3!), [
      { record: Math.floor(at / 3000), offset: 0 },
    ]);
    t.true(store.gets <= 1);
  }
});

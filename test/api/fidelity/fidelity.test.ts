import test from 'ava';
import type { Fidelity } from '../../../api/fidelity/fidelity.ts';
import { runHere } from '../../process/run-here.ts';
import { book, delta, print, recording } from './recording.ts';

/**
 * Both sides show 10 contracts at the best price and at the next, until at 42 s a taker of 15 meets
 * each of them. Orders are placed in the first 40 s; a far level keeps quotes fresh.
 */
function frames(): [number, object][] {
  const fresh = Array.from({ length: 20 }, (_, nth): [number, object] => {
    const atMs = (nth + 1) * 5000;
    return [atMs, delta('yes', 5, 1, atMs)];
  });
  const traded = (['yes', 'no'] as const).flatMap((side): [number, object][] => {
    const cents = side === 'yes' ? 40 : 55;
    return [
      [42_000, delta(side, cents, -10, 41_990)],
      [42_000, print(side, cents, 10, 41_990)],
      [42_000, delta(side, cents - 1, -5, 41_990)],
      [42_000, print(side, cents - 1, 5, 41_990)],
    ];
  });
  const all = [[0, book({ 40: 10, 39: 10 }, { 55: 10, 54: 10 })], ...fresh, ...traded];
  return (all as [number, object][]).sort(([a], [b]) => a - b);
}

test.serial('X10, X13, X14: rates of a recording that can be reckoned by hand', async (t) => {
  const file = recording(t, frames());
  const exit = await runHere(['fidelity', file, '--orders', '48', '--json']);
  t.is(exit.code, 0, exit.stderr);
  const found: Fidelity = JSON.parse(exit.stdout);
  t.is(found.windows, 1);
  const rates = (place: string) =>
    found.fillRates
      .filter((rate) => rate.place === place && rate.withinMs === 60_000)
      .map(({ contracts, orders, low, high, top_of_book, book_depth }) => {
        t.is(top_of_book.gap, top_of_book.rate - low);
        t.is(top_of_book.interval, null, 'one file');
        return [contracts, orders, low, high, top_of_book.rate, book_depth.rate];
      });
  // Ten go to those ahead, and five met a worse price: whoever bids more gets all fifteen.
  t.deepEqual(rates('joined'), [
    [1, 4, 1, 1, 0, 0],
    [10, 4, 0, 0, 0, 0],
    [100, 4, 0, 0, 0, 0],
    [1000, 4, 0, 0, 0, 0],
  ]);
  t.deepEqual(
    rates('improved').map(([contracts, , low, high]) => [contracts, low, high]),
    [
      [1, 1, 1],
      [10, 1, 1],
      [100, 0, 0],
      [1000, 0, 0],
    ],
  );
  t.deepEqual(
    rates('one_below').map(([contracts, , low, high]) => [contracts, low, high]),
    [1, 10, 100, 1000].map((contracts) => [contracts, 0, 0]),
  );
  // Ten contracts at the first price and ten at the second: a hundred are not there.
  t.deepEqual(
    found.takerCosts.map(({ contracts, orders, top_of_book, book_depth }) => [
      ...[contracts, orders, top_of_book, book_depth],
    ]),
    [
      [1, 4, 0, 0],
      [10, 4, 0, 0],
      [100, 0, null, null],
      [1000, 0, null, null],
    ],
  );
});

test.serial('X10: a file that cannot be used is named', async (t) => {
  const empty = recording(t, []);
  const one = recording(t, [[0, book({ 40: 10 }, {})]]);
  for (const file of [empty, one]) {
    const { code, stdout, stderr } = await runHere(['fidelity', file]);
    t.like({ code, stdout }, { code: 1, stdout: '' });
    t.true(stderr.includes(`${file}: no book of increments has both sides`), stderr);
  }
  const missing = await runHere(['fidelity', `${empty}.gz`]);
  t.true(missing.stderr.includes(`${empty}.gz: the feed file cannot be read`), missing.stderr);
});

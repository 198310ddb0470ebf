import test from 'ava';
import { HashedCounts } from '../../../engine/memory/hashed-counts.ts';

const TOP_BIT = 2 ** 31;

/** Rows are keyed by themselves, in the upper bits of their hash. */
function countsOf(rows: Set<number>) {
  let reads = 0;
  const table = {
    *rows() {
      reads++;
      yield* rows;
    },
  };
  const counts = new HashedCounts<number>(table, (row) => row * TOP_BIT);
  return { counts, reads: () => reads };
}

test('rows are counted from the first question on, and then one by one', (t) => {
  const rows = new Set([1, 3]);
  const { counts, reads } = countsOf(rows);
  rows.add(5);
  counts.add(5);
  counts.remove(5);
  rows.delete(5);
  t.is(reads(), 0, 'nobody has asked');
  // Odd rows share a place, and even ones another.
  t.deepEqual([counts.atMost(TOP_BIT), counts.atMost(0)], [2, 0]);
  counts.add(7);
  counts.add(8);
  counts.remove(1);
  t.deepEqual([counts.atMost(TOP_BIT), counts.atMost(0)], [2, 1]);
  counts.remove(3);
  counts.remove(7);
  t.is(counts.atMost(TOP_BIT), 0);
  t.is(reads(), 1);
  t.throws(() => counts.remove(7), { message: /a row leaves that was never counted/ });
});

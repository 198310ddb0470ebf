import test from 'ava';
import fc from 'fast-check';
import { OwnerIndex } from '../../../engine/memory/owner-index.ts';
import { Table } from '../../../engine/memory/table.ts';

const OWNERS = 3;

/** A table whose rows have owners, and its lists; beside it, the same lists as plain arrays. */
function ownedRows() {
  const table = new Table('owned', { sequence: 'f64', owner: 'i32' }, {}, 'owner');
  const lists = new OwnerIndex(table, table.col.owner);
  lists.ensureOwners(OWNERS);
  const naive: number[][] = Array.from({ length: OWNERS }, () => []);
  let sequence = 0;
  return {
    lists,
    naive,
    add(owner: number) {
      const row = table.claim();
      const to = table.change(row);
      to.sequence.set(row, ++sequence);
      to.owner.set(row, owner);
      lists.add(owner, row);
      naive[owner]!.unshift(row);
    },
    removeOne(owner: number, pick: number) {
      const rows = naive[owner]!;
      if (rows.length === 0) return;
      const [row] = rows.splice(pick % rows.length, 1);
      table.release(row!);
      lists.remove(owner);
    },
  };
}

test('the rows of an owner come newest first', (t) => {
  const { lists, add } = ownedRows();
  for (const owner of [0, 1, 0, 0]) add(owner);
  t.deepEqual([...lists.of(0)], [3, 2, 0]);
  t.deepEqual([...lists.of(1)], [1]);
  t.deepEqual([...lists.of(2)], []);
  t.is(lists.count(0), 3);
  t.is(lists.count(2), 0);
});

test('a row that its owner is given again comes once, at its place of now', (t) => {
  const { lists, add, removeOne } = ownedRows();
  for (let row = 0; row < 3; row++) add(0);
  // Row 0, which is the last of the newest first, goes and comes again.
  removeOne(0, 2);
  add(0);
  t.deepEqual([...lists.of(0)], [0, 2, 1]);
  t.is(lists.count(0), 3);
});

test('lists answer as plain arrays under random joining and leaving', (t) => {
  const step = fc.record({
    owner: fc.nat({ max: OWNERS - 1 }),
    joins: fc.boolean(),
    pick: fc.nat(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const { lists, naive, add, removeOne } = ownedRows();
      for (const { owner, joins, pick } of steps) {
        if (joins) add(owner);
        else removeOne(owner, pick);
        for (const [each, rows] of naive.entries()) {
          t.deepEqual([...lists.of(each)], rows);
          const isWanted = (row: number) => row % 2 === pick % 2;
          t.deepEqual(lists.having(each, isWanted), rows.filter(isWanted));
          t.is(lists.count(each), rows.length);
        }
      }
    }),
    { numRuns: 50 },
  );
});

import test from 'ava';
import fc from 'fast-check';
import { PAGE_ROWS, Table } from '../../../engine/memory/table.ts';
import { UuidIndex } from '../../../engine/memory/uuid-index.ts';
import { tradeIdOf } from '../../../engine/rules/ids.ts';
import { NO_ROW } from '../../../engine/rules/units.ts';
import { headOf, loadHead, referenceDataOf } from '../../../engine/shard/checkpoint-state.ts';
import { createState } from '../../../engine/shard/create-state.ts';
import { NOON_MS, uuidOf } from '../fixtures.ts';

const newTable = () =>
  new Table('rows', { id: 'uuid', cents: 'f64', small: 'u8' }, { link2: 'i32' });

test('rows are used again, last released first', (t) => {
  const table = newTable();
  t.deepEqual([table.claim(), table.claim(), table.claim()], [0, 1, 2]);
  table.release(0);
  table.release(2);
  t.is(table.nextRow, 2);
  t.deepEqual([table.claim(), table.claim(), table.claim()], [2, 0, 3]);
  t.is(table.live, 4);
  t.throws(() => newTable().release(0), { message: /released a free row/ });
});

test('pages and head bring a table back, and only changed pages are taken', (t) => {
  const table = newTable();
  for (let row = 0; row < 3 * PAGE_ROWS; row++) {
    const { cents, small } = table.change(table.claim());
    cents.set(row, row * 1000 + 0.5);
    small.set(row, row % 100);
  }
  for (const row of [5, 200, 7]) table.release(row);
  const pages = takePages(table);
  t.is(pages.length, 3);
  t.deepEqual(takePages(table), []);
  table.change(PAGE_ROWS);
  t.deepEqual(
    takePages(table).map(({ page }) => page),
    [1],
  );

  const copy = newTable();
  for (const { page, bytes } of pages) copy.loadPage(page, bytes);
  copy.loadHead(table.head());
  t.deepEqual([...copy.rows()], [...table.rows()]);
  for (const row of copy.rows()) t.is(copy.col.cents.get(row), table.col.cents.get(row));
  t.is(copy.claim(), table.claim());
  t.is(copy.claim(), table.claim());
});

test('a page that changes before a checkpoint takes it is taken as it was, and again by the next', (t) => {
  const table = newTable();
  for (let count = 0; count < 3 * PAGE_ROWS; count++) {
    const row = table.claim();
    table.change(row).cents.set(row, row % PAGE_ROWS);
  }
  t.deepEqual(table.beginCheckpoint(), [0, 1, 2]);
  const asItWas = table.takePage(0);
  for (const row of [0, PAGE_ROWS]) {
    table.change(row).cents.set(row, 77);
  }
  table.release(PAGE_ROWS + 5);
  t.deepEqual(table.takePage(1), asItWas, 'its rows were those of page 0');
  t.deepEqual(table.takePage(2), asItWas);
  t.throws(() => table.takePage(2), { message: /a page was taken that is in no checkpoint/ });

  t.deepEqual(table.beginCheckpoint(), [0, 1]);
  const copy = newTable();
  for (const page of [0, 1]) copy.loadPage(page, table.takePage(page));
  t.deepEqual([copy.col.cents.get(0), copy.col.cents.get(PAGE_ROWS)], [77, 77]);
  table.change(0);
  t.deepEqual(table.beginCheckpoint(), [0]);
  t.throws(() => table.beginCheckpoint(), { message: /a page was never taken/ });
});

/** What a checkpoint takes of a table, all at once. */
function takePages(table: ReturnType<typeof newTable>) {
  return table.beginCheckpoint().map((page) => ({ page, bytes: table.takePage(page) }));
}

test('free rows can be chained in a column that is 0 or above in every row in use', (t) => {
  const table = new Table('rows', { cents: 'f64', owner: 'i32' }, {}, 'owner');
  for (const owner of [7, 0, 9]) {
    const row = table.claim();
    table.change(row).owner.set(row, owner);
  }
  table.release(0);
  table.release(1);
  t.deepEqual([...table.rows()], [2]);
  t.is(table.col.owner.get(2), 9);
  t.deepEqual([table.isLive(1), table.isLive(2)], [false, true]);
  t.deepEqual([table.claim(), table.claim(), table.claim()], [1, 0, 3]);
  t.deepEqual([...table.problems()], []);
  t.is(table.layout, 'cents@0:f64,owner@8:i32,12 bytes');
});

test('a checkpoint whose rows lay in another way is refused by the name of its table', (t) => {
  const newState = () =>
    createState({ quoteMaxAgeMs: 1, routingBandCents: 0 }, { keyHashes: () => [] } as never);
  const head = { ...headOf(newState()), ...referenceDataOf(newState()) };
  t.notThrows(() => loadHead(newState(), head));
  head.layouts.orders = `link:i32,${head.layouts.orders}`;
  t.throws(() => loadHead(newState(), head), {
    message: /table orders was written with other columns/,
  });
});

test('the uuid index finds what is set and nothing that was removed', (t) => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 40 }), { maxLength: 400 }), (numbers) => {
      const table = newTable();
      const index = new UuidIndex(table);
      const rows = new Map<number, number>();
      for (const number of numbers) {
        const id = uuidOf(number * 4096);
        const known = rows.get(number);
        if (known === undefined) {
          const row = table.claim();
          index.set(row, id);
          rows.set(number, row);
        } else {
          index.remove(known);
          table.release(known);
          rows.delete(number);
        }
        for (let other = 0; other <= 40; other++) {
          t.is(index.find(uuidOf(other * 4096)), rows.get(other) ?? NO_ROW);
        }
      }
      for (const [number, row] of rows) t.is(index.idOf(row), uuidOf(number * 4096));
    }),
    { numRuns: 25 },
  );
});

test('changes of an index that wait together come in their order', (t) => {
  const table = newTable();
  const index = new UuidIndex(table);
  const row = table.claim();
  index.set(row, uuidOf(1));
  index.remove(row);
  index.set(row, uuidOf(2));
  t.is(index.size, 1);
  t.is(index.find(uuidOf(1)), NO_ROW);
  t.is(index.find(uuidOf(2)), row);
});

test('two indexes that share their slots answer as two, and a trade may follow its order', (t) => {
  const step = fc.record({
    number: fc.nat({ max: 20 }),
    what: fc.nat({ max: 3 }),
    looks: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const tables = [newTable(), newTable()] as const;
      const indexes = UuidIndex.pair(tables[0], tables[1]);
      const rows = [new Map<number, number>(), new Map<number, number>()] as const;
      const idOf = (number: number, which: 0 | 1) => {
        return which === 0 ? uuidOf(number) : tradeIdOf(uuidOf(number), NOON_MS);
      };
      const add = (number: number, which: 0 | 1) => {
        if (rows[which].has(number)) return;
        const row = tables[which].claim();
        indexes[which].set(row, idOf(number, which));
        rows[which].set(number, row);
      };
      const remove = (number: number, which: 0 | 1) => {
        const row = rows[which].get(number);
        if (row === undefined) return;
        indexes[which].remove(row);
        tables[which].release(row);
        rows[which].delete(number);
      };
      for (const { number, what, looks } of steps) {
        if (what === 0) add(number, 0);
        else if (what === 1) remove(number, 0);
        else if (what === 2) remove(number, 1);
        else {
          add(number, 1);
          remove(number, 0);
        }
        for (let other = 0; looks && other <= 20; other++) {
          for (const which of [0, 1] as const) {
            const found = indexes[which].find(idOf(other, which));
            t.is(found, rows[which].get(other) ?? NO_ROW);
          }
        }
      }
      for (const which of [0, 1] as const) t.is(indexes[which].size, rows[which].size);
    }),
    { numRuns: 50 },
  );
});

test('the uuid index grows past many collisions', (t) => {
  const table = newTable();
  const index = new UuidIndex(table);
  for (let number = 0; number < 5000; number++) index.set(table.claim(), uuidOf(number));
  for (let number = 0; number < 5000; number++) t.is(index.find(uuidOf(number)), number);
});

import test from 'ava';
import fc from 'fast-check';
import { NO_ROW } from '../../../engine/base/units.ts';
import { BLOCK_ROWS, CHECKPOINTS_KEPT, TURNS } from '../../../engine/memory/row-changes.ts';
import { takeRow } from '../../../engine/memory/row-pages.ts';
import { Table } from '../../../engine/memory/table.ts';
import { UuidIndex } from '../../../engine/memory/uuid-index.ts';
import { tradeIdOf } from '../../../engine/rules/ids.ts';
import { createState } from '../../../engine/shard/core/create-state.ts';
import { headOf, loadHead, referenceDataOf } from '../../../engine/shard/store/checkpoint-state.ts';
import { NOON_MS, uuidOf } from '../fixtures.ts';
import { rowsOf } from '../memory-engine.ts';

const newTable = () =>
  new Table('rows', { id: 'uuid', cents: 'f64', small: 'u8' }, { link2: 'i32' });

/** Of its stored columns, and where its cents lie as a number of 8 bytes. */
const STORED_WORDS = 8;
const CENTS_AT = 2;

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

/** The rows in a page, and the cents that each has there. */
function centsIn(page: Uint32Array): [row: number, cents: number][] {
  const found: [number, number][] = [];
  for (let at = 0; at < page.length; ) {
    const row = page[at]!;
    const words = new Uint32Array(8);
    at = takeRow(page, at, words, 0, STORED_WORDS);
    found.push([row, new Float64Array(words.buffer)[CENTS_AT]!]);
  }
  return found;
}

/** A table with so many rows, each of which has its number in cents. */
function filled(rows: number) {
  const table = newTable();
  for (let count = 0; count < rows; count++) {
    const row = table.claim();
    table.change(row).cents.set(row, row);
  }
  return table;
}

test('D42: pages and head bring a table back, and only rows that changed are taken', (t) => {
  const table = filled(300);
  for (const row of [5, 200, 7]) table.release(row);
  const page = rowsOf(table, 1);
  t.is(centsIn(page).length, 300);
  t.deepEqual(rowsOf(table, 4), new Uint32Array(0), 'no block has its turn');
  table.change(130).cents.set(130, -3);
  t.deepEqual(centsIn(rowsOf(table, 5)), [[130, -3]]);

  const copy = newTable();
  copy.loadHead(table.head());
  copy.loadRows(page);
  copy.endLoad();
  t.deepEqual([...copy.rows()], [...table.rows()]);
  for (const row of copy.rows()) t.is(copy.col.cents.get(row), row);
  t.is(copy.claim(), table.claim());
  t.is(copy.claim(), table.claim());
});

test('D42: a row that changes before a checkpoint takes it is taken as it was, and again by the next', (t) => {
  const table = filled(4);
  const page = new Uint32Array(1000);
  table.beginCheckpoint(1);
  table.change(2).cents.set(2, 77);
  table.change(2).cents.set(2, 78);
  table.release(3);
  const end = table.takeRows(page, 0);
  t.deepEqual(
    centsIn(page.subarray(0, end)),
    [2, 3, 0, 1].map((row) => [row, row]),
  );
  table.change(0).cents.set(0, 79);
  t.is(table.takeRows(page, 0), 0, 'all are taken');
  t.deepEqual(
    centsIn(rowsOf(table, 2)).filter(([row]) => row !== 3),
    [
      [0, 79],
      [2, 78],
    ],
  );
  table.change(1).cents.set(1, 80);
  table.beginCheckpoint(3);
  t.throws(() => table.beginCheckpoint(4), { message: /a row was never taken/ });
});

test('D42: a page takes as many rows as fit, and the next continues after them', (t) => {
  const table = filled(20);
  table.beginCheckpoint(1);
  const found: number[] = [];
  const page = new Uint32Array(30);
  for (let end = table.takeRows(page, 3); end > 3; end = table.takeRows(page, 3)) {
    found.push(...centsIn(page.subarray(3, end)).map(([row]) => row));
  }
  t.deepEqual(found, [...Array(20).keys()]);
});

test('D42: the newest checkpoints have every row together, whatever changes while they are written', (t) => {
  const step = fc.record({ claims: fc.nat({ max: 300 }), changes: fc.array(fc.nat()) });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 3 * TURNS }), (steps) => {
      const table = filled(2 * TURNS * BLOCK_ROWS);
      const written: Uint32Array[] = [];
      const change = (changes: number[]) => {
        for (const number of changes) {
          const row = number % table.size;
          table.change(row).cents.add(row, 1);
        }
      };
      for (const [at, { claims, changes }] of steps.entries()) {
        for (let count = 0; count < claims; count++) table.claim();
        change(changes);
        const head = table.head();
        const cents = Array.from({ length: table.size }, (_, row) => table.col.cents.get(row));
        table.beginCheckpoint(at + 1);
        change(changes.map((number) => number + at));
        const pages = new Uint32Array(head.size * 10);
        const half = pages.subarray(0, head.size * 5);
        const first = table.takeRows(half, 0);
        for (let count = 0; count < claims; count++) table.claim();
        change(changes);
        written.push(pages.slice(0, table.takeRows(pages, first)));
        t.is(table.takeRows(new Uint32Array(100), 0), 0);

        const copy = newTable();
        copy.loadHead(head);
        for (const page of written.slice(-CHECKPOINTS_KEPT)) copy.loadRows(page);
        t.notThrows(() => copy.endLoad());
        t.deepEqual(
          Array.from({ length: copy.size }, (_, row) => copy.col.cents.get(row)),
          cents,
        );
      }
    }),
    { numRuns: 40 },
  );
});

test('D42: a row that is in no page, and a page that ends inside a row, are refused', (t) => {
  const table = filled(3);
  const page = rowsOf(table, 1);
  const load = (rows: Uint32Array) => {
    const copy = newTable();
    copy.loadHead(table.head());
    copy.loadRows(rows);
    copy.endLoad();
  };
  t.notThrows(() => load(page));
  t.throws(() => load(page.subarray(takeRow(page, 0, new Uint32Array(8), 0, STORED_WORDS))), {
    message: /rows: row 0 is in no page/,
  });
  t.throws(() => load(page.subarray(0, -1)), { message: /a page ends inside a row/ });
  t.throws(() => load(Uint32Array.of(1, 1 << STORED_WORDS)), {
    message: /more words than columns/,
  });
});

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

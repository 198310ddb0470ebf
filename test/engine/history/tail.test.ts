import test from 'ava';
import fc from 'fast-check';
import { Tail } from '../../../engine/history/tail.ts';

const WIDTH = 3;
const record = fc.tuple(fc.nat(3), fc.integer(), fc.constantFrom(0, 1, 2 ** 36));

test('D50: an unfinished block has its records in parts, whatever was packed of them', (t) => {
  fc.assert(
    fc.property(fc.array(record, { maxLength: 511, size: 'max' }), (made) => {
      const tail = new Tail(WIDTH);
      let atMs = 1_000;
      const records = made.map(([laterMs, ...rest]) => {
        atMs += laterMs;
        return [atMs, ...rest];
      });
      for (const values of records) if (tail.push(values)) tail.pack();
      t.is(tail.length, records.length);
      t.is(tail.firstMs, records[0]?.[0]);
      t.is(tail.lastMs, records.at(-1)?.[0]);
      const rows = (columns: readonly (readonly number[] | Float64Array)[], count: number) =>
        Array.from({ length: count }, (_, at) => columns.map((values) => values[at]!));
      t.deepEqual(rows(tail.columns(), records.length), records);
      const read = tail.parts().flatMap((part) => {
        const values = rows(part.columns(), part.records);
        t.is(part.firstMs, values[0]![0]!);
        t.is(part.lastMs, values.at(-1)![0]!);
        t.deepEqual(values, records.slice(part.first, part.first + part.records));
        return values;
      });
      t.deepEqual(read, records);
    }),
    { numRuns: 30 },
  );
});

test('D50: parts that were taken stay as they were', (t) => {
  const tail = new Tail(WIDTH);
  for (let at = 0; at < 50; at++) tail.push([at, 1, 2]);
  const taken = tail.parts();
  for (let at = 50; at < 300; at++) if (tail.push([at, 3, 4])) tail.pack();
  const times = taken.flatMap(({ columns }) => [...columns()[0]!]);
  t.deepEqual(
    times,
    Array.from({ length: 50 }, (_, at) => at),
  );
  t.true(tail.parts().length > 1);
});

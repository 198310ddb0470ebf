import test from 'ava';
import fc from 'fast-check';
import { NO_ROW } from '../../../engine/base/units.ts';
import { Table } from '../../../engine/memory/table.ts';
import { UuidIndex } from '../../../engine/memory/uuid-index.ts';
import { uuidOfWords, uuidWord, uuidWords } from '../../../engine/memory/uuid-words.ts';

const word = fc.integer({ min: 0, max: 0xffffffff });
const anyWords = fc.tuple(word, word, word, word);

test('the words of an id are the words of its digits, in small and in capital letters', (t) => {
  fc.assert(
    fc.property(anyWords, (words) => {
      const id = uuidOfWords(...words);
      t.deepEqual([...uuidWords(id)], words);
      t.deepEqual([...uuidWords(id.toUpperCase())], words);
      t.deepEqual(
        [0, 1, 2, 3].map((at) => uuidWord(id, at as 0)),
        words,
      );
      // A text that is put together of pieces, or cut out of a longer one, reads the same.
      t.deepEqual([...uuidWords(`/orders/${id}`.slice(8))], words);
    }),
  );
  const digits = '0123abcd-4567-7ef8-89ab-cdef01234567';
  t.deepEqual([...uuidWords(digits)], [0x0123abcd, 0x45677ef8, 0x89abcdef, 0x01234567]);
});

test('an id of another length is refused before it is looked up', (t) => {
  t.throws(() => uuidWords('0123abcd-4567-7ef8-89ab-cdef0123456'), { message: /no uuid/ });
});

test('the index tells ids apart that differ in any one digit', (t) => {
  const table = new Table('ids', { id: 'uuid' }, {});
  const index = new UuidIndex(table);
  const id = '0123abcd-4567-7ef8-89ab-cdef01234567';
  const row = table.claim();
  index.set(row, id);
  t.is(index.find(id), row);
  t.true(index.isOf(row, id));
  for (let at = 0; at < id.length; at++) {
    if (id[at] === '-') continue;
    const other = `${id.slice(0, at)}${id[at] === '5' ? '6' : '5'}${id.slice(at + 1)}`;
    t.is(index.find(other), NO_ROW, other);
    t.false(index.isOf(row, other), other);
  }
});

test('the index answers as a map does, with thousands of ids that come and go', (t) => {
  const step = fc.record({ id: anyWords, leaves: fc.boolean(), at: fc.nat() });
  fc.assert(
    fc.property(fc.array(step, { minLength: 500, maxLength: 3000 }), (steps) => {
      const table = new Table('ids', { id: 'uuid' }, {});
      const index = new UuidIndex(table);
      const rows = new Map<string, number>();
      const gone: string[] = [];
      for (const { id, leaves, at } of steps) {
        const known = leaves ? [...rows.keys()][at % 64] : undefined;
        if (known !== undefined) {
          const row = index.find(known);
          t.is(row, rows.get(known)!);
          index.remove(row);
          table.release(row);
          rows.delete(known);
          gone.push(known);
        } else if (!rows.has(uuidOfWords(...id))) {
          const row = table.claim();
          index.set(row, uuidOfWords(...id));
          rows.set(uuidOfWords(...id), row);
        }
      }
      for (const [id, row] of rows) t.is(index.find(id), row);
      for (const id of gone) t.is(index.find(id), rows.get(id) ?? NO_ROW);
      t.is(index.size, rows.size);
    }),
    { numRuns: 5 },
  );
});

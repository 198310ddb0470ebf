import test from 'ava';
import fc from 'fast-check';
import { ByteReader, ByteWriter } from '../../../engine/format/bytes.ts';
import {
  compile,
  f64,
  flag,
  json,
  type Layout,
  nullable,
  record,
  text,
  u8,
  u32,
  uuid,
  word,
} from '../../../engine/format/layout.ts';
import { uuidOfWords } from '../../../engine/memory/uuid-words.ts';

type Sample = {
  price: number;
  row: number;
  cents: number;
  id: string;
  name: string;
  isSet: boolean;
  side: 'yes' | 'no';
  inner: { at: number } | null;
  any: unknown;
};

const sample = record<Sample>({
  price: u8,
  row: u32,
  cents: f64,
  id: uuid,
  name: text,
  isSet: flag,
  side: word('yes', 'no'),
  inner: nullable(record({ at: f64 })),
  any: json,
});

const word32 = fc.nat({ max: 0xffffffff });
/** Objects as code makes them, with a prototype. */
const PLAIN = { noNullPrototype: true };
const samples: fc.Arbitrary<Sample> = fc.record(
  {
    price: fc.nat({ max: 255 }),
    row: word32,
    cents: fc.maxSafeInteger(),
    id: fc.tuple(word32, word32, word32, word32).map(([a, b, c, d]) => uuidOfWords(a, b, c, d)),
    name: fc.string({ unit: 'grapheme', maxLength: 9000 }),
    isSet: fc.boolean(),
    side: fc.constantFrom('yes' as const, 'no' as const),
    inner: fc.option(fc.record({ at: fc.maxSafeInteger() }, PLAIN)),
    any: fc.constantFrom(null, [1, 'two'], { three: 3 }),
  },
  PLAIN,
);

function roundTrip<T>(layout: Layout<T>, values: readonly T[]): T[] {
  const { write, read } = compile(layout);
  const writer = new ByteWriter();
  writer.begin();
  for (const value of values) write(writer, value);
  const reader = new ByteReader(writer.copy());
  const found: T[] = [];
  while (!reader.isAtEnd) found.push(read(reader));
  return found;
}

test('records of every kind of field come back as they were, one after another', (t) => {
  fc.assert(
    fc.property(fc.array(samples, { maxLength: 5 }), (values) => {
      t.deepEqual(roundTrip(sample, values), values);
    }),
    { numRuns: 200, seed: 3 },
  );
});

test('a word that the layout does not list is an error, and not another word', (t) => {
  const sides: Layout<string> = word('yes', 'no');
  t.throws(() => roundTrip(sides, ['maybe']), {
    message: 'its layout does not list the word maybe',
  });
});

test('a writer that failed half way starts again', (t) => {
  const { write } = compile(record({ row: u32, side: word<string>('yes', 'no') }));
  const writer = new ByteWriter();
  t.throws(() => write(writer, { row: 1, side: 'maybe' }));
  writer.begin();
  write(writer, { row: 2, side: 'no' });
  t.deepEqual([...writer.copy()], [0, 0, 0, 2, 1]);
});

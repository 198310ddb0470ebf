import test from 'ava';
import fc from 'fast-check';
import { keysOf, sorted, valuesOf } from '../../../../engine/records/maths/radix.ts';

const number = fc.oneof(
  fc.double({ noNaN: true }),
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom(0, -0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
);

test('Y22: sorting by digits is a stable sort by number', (t) => {
  fc.assert(
    fc.property(fc.array(number), (numbers) => {
      const values = Float64Array.from(numbers);
      const items = Uint32Array.from(numbers, (_, at) => at);
      const by = (a: number, b: number) => (a === b ? 0 : a < b ? -1 : 1);
      const expected = [...items].sort((a, b) => by(values[a]!, values[b]!) || a - b);
      const found = sorted({ items, keys: keysOf(values) });
      t.deepEqual([...found.items], expected);
      const inOrder = expected.map((at) => values[at]! + 0);
      t.deepEqual([...valuesOf(found.keys)], inOrder);
    }),
  );
});

test('Y44: what is no number comes last', (t) => {
  const values = Float64Array.of(Number.NaN, 1, Number.POSITIVE_INFINITY, -1);
  const found = sorted({ items: Uint32Array.of(0, 1, 2, 3), keys: keysOf(values) });
  t.deepEqual([...found.items], [3, 1, 2, 0]);
});

test('items that come with other keys are a fault', (t) => {
  const items = Uint32Array.of(0, 1);
  t.throws(() => sorted({ items, keys: new Uint32Array(2) }), { message: /by other keys/ });
});

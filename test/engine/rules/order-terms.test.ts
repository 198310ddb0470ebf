/** Every form that a term of an order can have, in a column and in an answer. */
import test from 'ava';
import { JsonWriter, memberNames } from '../../../engine/format/json-writer.ts';
import type { TermForm } from '../../../engine/rules/order-terms.ts';
import { CODES } from '../../../engine/rules/row-terms.ts';
import { WRITTEN_BY } from '../../../engine/shard/core/views/terms.ts';
import { NOON_MS } from '../fixtures.ts';

const WORDS = ['first', 'second'];
const VALUES: Record<TermForm, readonly unknown[]> = {
  word: WORDS,
  'word or null': [...WORDS, null],
  flag: [true, false],
  'small or null': [1, 255, null],
  'time or null': [NOON_MS, null],
  'number or null': [1, 2 ** 48 - 1, null],
};
const evaluate = (source: string, value: unknown): unknown => {
  return new Function('value', 'words', `return ${source};`)(value, WORDS);
};

for (const [form, { to, of }] of Object.entries(CODES)) {
  test(`D3: a column holds a term so that it comes back: ${form}`, (t) => {
    const values = VALUES[form as TermForm];
    const codes = values.map((value) => evaluate(to('value', 'words'), value) as number);
    t.deepEqual(
      codes.map((code) => evaluate(of('value', 'words'), code)),
      values,
    );
    t.is(new Set(codes).size, values.length, 'each value has a number of its own');
    t.true(codes.every((code) => Number.isInteger(code) && code >= 0));
  });
}

const NAMES = memberNames('term');
for (const [form, method] of Object.entries(WRITTEN_BY)) {
  test(`A3: an answer shows a term as JSON: ${form}`, (t) => {
    const values = VALUES[form as TermForm];
    t.deepEqual(
      values.map((value) => {
        const to = new JsonWriter();
        const start = to.open();
        to[method](NAMES.term, value as never);
        to.close(start);
        return JSON.parse(to.bytes.copy().toString());
      }),
      values.map((term) => ({ term })),
    );
  });
}

/**
 * The bytes that data directories hold, as they were first written. A line or a number that fails
 * here means that an older directory would be misread: append, never change one. The golden files
 * pin each field's place, the lists below each word's number.
 */
import { readFileSync } from 'node:fs';
import test from 'ava';
import {
  keyRow,
  orderRow,
  outcomeRow,
  type RowFormat,
  tradeRow,
} from '../../../engine/format/event-layouts.ts';

type Line<T> = { value: T; hex: string };

function goldenOf<T>(name: string): T[] {
  const file = new URL(`../../golden/format/${name}.jsonl`, import.meta.url);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as T);
}

const rows = goldenOf<Line<object> & { row: keyof typeof ROWS }>('rows');
const ROWS = { outcome: outcomeRow, trade: tradeRow, order: orderRow, key: keyRow };

for (const [at, { row, value, hex }] of rows.entries()) {
  test(`an archived ${row} (line ${at + 1}) stands as it always did`, (t) => {
    const format = ROWS[row] as RowFormat<object>;
    t.is(format.pack(value).toString('hex'), hex);
    t.deepEqual(format.unpack(Buffer.from(hex, 'hex')), value);
  });
}

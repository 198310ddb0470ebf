/** JSON as bytes is what `JSON.stringify` makes of the same values. */
import test from 'ava';
import { dollarsOf, isoOf } from '../../../engine/base/units.ts';
import {
  JsonWriter,
  memberNames,
  type Piece,
  pieceOf,
} from '../../../engine/format/json-writer.ts';
import { Table } from '../../../engine/memory/table.ts';
import { UuidIndex } from '../../../engine/memory/uuid-index.ts';
import { NOON_MS, uuidOf } from '../fixtures.ts';

const NAMES = memberNames('value', 'next');

/** An object of what is written and one member more, so that what is written too far shows. */
function written(write: (to: JsonWriter, name: Piece) => void): string {
  const to = new JsonWriter();
  const start = to.open();
  write(to, NAMES.value);
  to.flag(NAMES.next, true);
  to.close(start);
  return to.bytes.copy().toString();
}

const json = (value: unknown) => JSON.stringify({ value, next: true });

test('A3: text, whatever it is made of', (t) => {
  const plain = ['', 'a', 'yes', uuidOf(1), ' ~!#[]^', 'x'.repeat(5000), null];
  const escaped = ['"', '\\', 'a"b\\c', '\n\u0000\u001f', '\u007f', 'é', '漢字', '😀', '\ud800'];
  for (const text of [...plain, ...escaped, ...escaped.map((part) => `before ${part} after`)]) {
    t.is(
      written((to, name) => to.text(name, text)),
      json(text),
    );
  }
});

test('A3: numbers of every length', (t) => {
  const powers = Array.from({ length: 16 }, (_, digits) => 10 ** digits);
  const numbers = [0, ...powers, ...powers.map((power) => power - 1), 2 ** 31, 2 ** 32, 0.5, 1e21];
  for (const number of [...numbers, ...numbers.map((value) => -value), null]) {
    t.is(
      written((to, name) => to.number(name, number)),
      json(number),
    );
  }
});

test('A4: money is shown as the number of dollars that JSON has', (t) => {
  const large = [999_999_999, 1_000_000_000, 10_000_000_00, Number.MAX_SAFE_INTEGER];
  const cents = [...Array.from({ length: 1200 }, (_, at) => at), ...large, 12_345_605, 12_345_650];
  for (const amount of [...cents, ...cents.map((value) => -value)]) {
    t.is(
      written((to, name) => to.dollars(name, amount)),
      json(dollarsOf(amount)),
    );
  }
  t.throws(() => written((to, name) => to.dollars(name, 0.5)), { message: /not in whole cents/ });
});

test('A4: times of one day and another', (t) => {
  const dayMs = 86_400_000;
  const moments = [0, 1, 999, 1000, 59_999, 60_000, 3_599_999, 3_600_000, dayMs - 1];
  for (const day of [0, 20_000, 20_001, 20_000, -1, 3_000_000]) {
    for (const ms of moments) {
      const at = day * dayMs + ms;
      t.is(
        written((to, name) => to.time(name, at)),
        json(isoOf(at)),
      );
    }
  }
  t.is(
    written((to, name) => to.time(name, null)),
    json(null),
  );
  const one = new JsonWriter();
  for (const at of [NOON_MS, NOON_MS + dayMs, NOON_MS]) one.time(NAMES.value, at);
  const texts = [NOON_MS, NOON_MS + dayMs, NOON_MS].map((at) => `,"value":"${isoOf(at)}"`);
  t.is(one.bytes.copy().toString(), texts.join(''), 'the day that is kept is that of the time');
});

test('A3: the id of a row', (t) => {
  const table = new Table('ids', { id: 'uuid' }, {});
  const ids = new UuidIndex(table);
  for (const id of [uuidOf(1), '01234567-89ab-7cde-bf01-23456789abcd']) {
    const row = table.claim();
    ids.set(row, id);
    t.is(
      written((to, name) => to.idAt(name, table.col.id, row)),
      json(id),
    );
  }
});

test('A3: lists, objects in them, and what is ready', (t) => {
  for (const list of [[], [1], [1, 2, 3]]) {
    const text = written((to, name) => {
      to.list(name, list, (item) => {
        const start = to.open();
        to.number(NAMES.value, item);
        to.close(start);
      });
    });
    t.is(text, json(list.map((value) => ({ value }))));
  }
  for (const label of ['', 'a', 'ab', 'abc', 'abcd', 'naïve 漢']) {
    const ready = pieceOf(`,"value":${JSON.stringify(label)}`);
    t.is(
      written((to) => to.piece(ready)),
      json(label),
    );
  }
  for (const value of [{ a: [1] }, null, true]) {
    t.is(
      written((to, name) => to.json(name, value)),
      json(value),
    );
  }
});

test('an object without a member is no object that it can write', (t) => {
  const to = new JsonWriter();
  t.throws(() => to.close(to.open()), { message: /an object has no member/ });
});

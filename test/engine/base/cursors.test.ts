import { randomUUID } from 'node:crypto';
import test from 'ava';
import {
  cursorOf,
  nextCursorOf,
  placeOfCursor,
  ROW_ID,
  WHOLE_NUMBER,
} from '../../../engine/base/cursors.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

test('P3: a cursor is opaque, of its list, and checked', (t) => {
  const id = randomUUID();
  const cursor = cursorOf('o', id, ROW_ID);
  const read = (text: string) => placeOfCursor('o', text, ROW_ID);
  t.regex(cursor, /^[\w-]+$/);
  t.is(read(cursor), id);
  t.is(placeOfCursor('t', cursor, ROW_ID), null);
  t.is(placeOfCursor('t', cursorOf('t', id, ROW_ID), ROW_ID), id);
  for (const bad of ['', 'x', `${cursor}A`, cursor.slice(1), '!'.repeat(23), '='.repeat(23)]) {
    t.is(read(bad), null);
  }
  for (const more of ['=', '\n', ' ', 'AAAA', '!', '.']) {
    t.is(read(cursor + more), null);
    t.is(read(more + cursor), null);
  }
  // The last character carries two bits of nothing.
  const alike = [...ALPHABET].filter((last) => read(cursor.slice(0, -1) + last) === id);
  t.deepEqual(alike, [cursor.at(-1)]);
});

test('P3: the bytes of a cursor are its tag and the place, whatever the bytes of an id', (t) => {
  const id = '0195d3a0-fbff-7abc-bfff-ffeeddccbbaa';
  const bytes = Buffer.from(
    `${Buffer.from('tagged').toString('hex')}${id.replaceAll('-', '')}`,
    'hex',
  );
  t.is(cursorOf('tagged', id, ROW_ID), bytes.toString('base64url'));
  t.is(cursorOf('tagged', 12, WHOLE_NUMBER), Buffer.from('tagged12').toString('base64url'));
  t.is(nextCursorOf('tagged', null, WHOLE_NUMBER), null);
});

test('P3: a number in a cursor is whole and not negative', (t) => {
  const read = (text: string) => {
    return placeOfCursor('', Buffer.from(text).toString('base64url'), WHOLE_NUMBER);
  };
  t.is(read('0'), 0);
  t.is(read('1790000000000'), 1_790_000_000_000);
  for (const bad of ['', '-1', '1.5', '01', '1e3', ' 1', 'x', '9007199254740993']) {
    t.is(read(bad), null, bad);
  }
});

import test from 'ava';
import { newOrderId, newUuid } from '../../../api/base/uuid.ts';
import { uuidTimeMs } from '../../../engine/memory/uuid-words.ts';

test('A6, ids: version 7, variant 2, carrying their time', (t) => {
  for (const atMs of [0, 1, 0xffff, 0x10000, Date.parse('2026-11-21T05:00:00Z'), 2 ** 48 - 1]) {
    const id = newUuid(atMs);
    t.regex(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    t.is(uuidTimeMs(id), atMs);
  }
});

test('P7: ids of orders of one millisecond rise, and are random after that', (t) => {
  for (const atMs of [7, 8, 7]) {
    const ids = Array.from({ length: 40_000 }, () => newOrderId(atMs));
    t.deepEqual(ids, ids.toSorted());
    t.is(new Set(ids.map((id) => id.slice(-12))).size, ids.length);
    t.is(uuidTimeMs(ids[0]!), atMs);
    t.regex(ids.at(-1)!, /^00000000-000\d-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  }
  const firsts = Array.from({ length: 50 }, (_, ms) => newOrderId(ms).slice(14, 23));
  t.true(new Set(firsts).size > 45, 'where a millisecond begins is random');
});

test('ids of one millisecond differ in every random bit', (t) => {
  const ids = Array.from({ length: 5000 }, () => newUuid(1));
  t.is(new Set(ids).size, ids.length);
  const random = ids.map((id) => BigInt(`0x${id.replaceAll('-', '').slice(12)}`));
  const ever = random.reduce((a, b) => a | b);
  const always = random.reduce((a, b) => a & b);
  const changing = ever ^ always;
  // 80 bits follow the time: 4 of version, 12 random, 2 of variant, 62 random.
  t.is(changing, (0xfffn << 64n) | ((1n << 62n) - 1n));
});

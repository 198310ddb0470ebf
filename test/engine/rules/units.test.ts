import test from 'ava';
import fc from 'fast-check';
import { instantOf, isoOf } from '../../../engine/base/units.ts';

test('A4: ISO 8601 UTC with milliseconds, as the platform writes it', (t) => {
  const times = fc.integer({ min: 0, max: Date.parse('2200-01-01T00:00:00Z') });
  fc.assert(
    fc.property(times, (atMs) => t.is(isoOf(atMs), new Date(atMs).toISOString())),
    { numRuns: 2000, seed: 1 },
  );
  for (const edge of [0, 999, 1000, 86_399_999, 86_400_000]) {
    t.is(isoOf(edge), new Date(edge).toISOString());
  }
});

test('A4: a date-time names its zone and a day there is, seconds or not', (t) => {
  const atMs = Date.UTC(2026, 10, 21, 5);
  for (const text of [
    '2026-11-21T05:00Z',
    '2026-11-21T05:00:00Z',
    '2026-11-21T05:00:00z',
    '2026-11-21t05:00:00Z',
    '2026-11-21t06:30+01:30',
    '2026-11-21T05:00:00.000000000000Z',
    '2026-11-21T05:00:00.000000Z',
    '2026-11-21T06:30+01:30',
    '2026-11-21T00:00-05:00',
    '2026-11-21T05:00-00:00',
  ]) {
    t.is(instantOf(text), atMs, text);
  }
  for (const digits of ['1239999', '1239999999999', `123${'9'.repeat(300)}`]) {
    t.is(instantOf(`2026-11-21T05:00:00.${digits}Z`), atMs + 123, 'cut off');
  }
  t.is(instantOf('2028-02-29T00:00Z'), Date.UTC(2028, 1, 29));
  t.is(instantOf('0001-01-30T00:00Z'), Date.parse('0001-01-30T00:00Z'));
  for (const bad of [
    ...['2026-11-21', '2026-11-21T05:00', '2026-11-21T05:00:00', '2026-11-21T05Z', 'tomorrow', ''],
    ...['2026-11-21 05:00Z', '2026-02-30t05:00Z', '2026-11-21T05:00+0200', '2026-11-21T05:00+02'],
    ...['2026-02-29T00:00Z', '2026-04-31T00:00Z', '2026-13-01T00:00Z', '2026-00-01T00:00Z'],
    ...['2026-11-21T24:00Z', '2026-11-21T05:60Z', '2016-12-31T23:59:60Z', '2026-11-21T05:00+24:00'],
    ...[
      '2026-11-21T05:00.5Z',
      '2026-11-21T05:00:00.Z',
      '2026-11-21T05:00Z\n',
      ' 2026-11-21T05:00Z',
    ],
  ]) {
    t.is(instantOf(bad), null, bad);
  }
});

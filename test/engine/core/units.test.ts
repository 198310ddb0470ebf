import test from 'ava';
import fc from 'fast-check';
import { isoOf } from '../../../engine/core/units.ts';

test('CONTRACT.md section 1, time: ISO 8601 UTC with milliseconds, as the platform writes it', (t) => {
  const times = fc.integer({ min: 0, max: Date.parse('2200-01-01T00:00:00Z') });
  fc.assert(
    fc.property(times, (atMs) => t.is(isoOf(atMs), new Date(atMs).toISOString())),
    { numRuns: 2000, seed: 1 },
  );
  for (const edge of [0, 999, 1000, 86_399_999, 86_400_000]) {
    t.is(isoOf(edge), new Date(edge).toISOString());
  }
});

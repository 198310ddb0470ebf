import test from 'ava';
import { BodylessResponses } from '../../../api/http/bodyless-responses.ts';

test('A62: of answers without a body ten thousand keep the connection, then none for 20 seconds', (t) => {
  const bare = new BodylessResponses();
  const ended = (many: number, nowMs: number) =>
    Array.from({ length: many }, () => bare.endsConnection(nowMs)).filter(Boolean).length;
  t.is(ended(9999, 0), 0);
  t.is(ended(1, 1_000_000), 0, 'however slowly they came');
  t.is(ended(100, 1_000_000), 100);
  t.is(ended(100, 1_019_999), 100);
  t.is(ended(10_000, 1_020_000), 0);
  t.is(ended(1, 1_020_000), 1);
});

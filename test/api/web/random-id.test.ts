import test from 'ava';
import { randomId } from '../../../api/web/state/random-id.ts';

test('an id of the page is a UUID of version 4, and no two are equal', (t) => {
  const ids = Array.from({ length: 1000 }, randomId);
  for (const id of ids)
    t.regex(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  t.is(new Set(ids).size, ids.length);
});

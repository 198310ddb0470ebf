import test from 'ava';
import { feed } from '../../bench/suites/feed.ts';

test('bench feed: a venue’s frames reach quotes, orders fill by them, and both are timed', async (t) => {
  const { figures } = await feed.run(
    {
      ...{ markets: 20, framesPerSecond: 200, forMs: 500, warmUpMs: 200 },
      ...{ ordersPerSecond: 20, ordersForMs: 500, probes: 3 },
    },
    () => {},
  );
  for (const name of [
    'top_of_book, as recorded/taken',
    'book_depth, all shown/taken',
    'book_depth, as recorded/memory at the end',
    'frame to quote/p50',
  ]) {
    t.true(Number(figures[name]!.value) > 0, name);
  }
  t.true(Number(figures['frame to fill/p50']!.value) > 0);
});

import test from 'ava';
import type { Uuid } from '../../../../engine/base/units.ts';
import { uuidWords } from '../../../../engine/memory/uuid-words.ts';
import { IdOrder } from '../../../../engine/records/boards/ranking.ts';
import { TraderIds } from '../../../../engine/records/store/trader-ids.ts';
import { createRandomSource } from '../../../model/random-source.ts';
import { seedsOfRun } from '../../../model/seeds.ts';

/** Some begin alike, as of one millisecond, so that half an id does not order them. */
function randomId(random: ReturnType<typeof createRandomSource>): Uuid {
  const id = random.uuid(random.int(0, 5));
  return random.oneIn(2) ? id : `00000000-0000-7000-8000-${id.slice(24)}`;
}

test('Y22: traders are found by their ids, and stand in their order, whatever their numbers are', (t) => {
  for (const seed of seedsOfRun(3)) {
    const random = createRandomSource(seed);
    const ids = new TraderIds();
    const order = new IdOrder(ids);
    const known = new Map<Uuid, number>();
    for (let round = 0; round < 6; round++) {
      for (let added = 0; added < 700; added++) {
        const id = randomId(random);
        const number = 3 * (round * 700 + added) + random.int(0, 2);
        if (known.has(id)) continue;
        ids.add(number, uuidWords(id));
        known.set(id, number);
      }
      t.is(ids.count, known.size);
      for (const [id, number] of known) if (ids.find(id) !== number) t.fail(id);
      t.is(ids.find(random.uuid(99)), undefined);
      const places = order.places();
      const expected = [...known].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, number]) => number);
      const found = [...known.values()].sort((a, b) => places[a]! - places[b]!);
      t.deepEqual(found, expected, String(seed));
    }
    const [, number] = [...known][0]!;
    t.throws(() => ids.add(number, uuidWords(random.uuid(1))), { message: /two traders/ });
    t.throws(() => ids.idOf(ids.end), { message: /id of no trader/ });
  }
});

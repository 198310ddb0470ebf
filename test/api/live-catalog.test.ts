/** The catalog in use over changes of its file. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { ControlStore } from '../../api/identity/store.ts';
import { LiveCatalog } from '../../api/live-catalog.ts';
import type { Shards } from '../../engine/shard/shards.ts';
import { tempDir } from '../engine/shard/engine-process.ts';
import { catalogOf, game, instrument } from '../process/catalogs.ts';

const engine = { setCatalog: async () => {} } as unknown as Shards;

test('K10: a market with a result is dropped with its line, after any reload before', async (t) => {
  const dir = tempDir(t);
  const file = path.join(dir, 'catalog.json');
  const list = (...slugs: string[]) => {
    const instruments = slugs.map((slug) => {
      const made = instrument(slug.toLowerCase(), 'g1');
      return { ...made, listings: [{ ...made.listings[0], venueMarketId: slug }] };
    });
    writeFileSync(file, catalogOf([game('g1')], instruments));
  };
  const identity = new ControlStore(dir);
  t.teardown(() => identity.close());
  const catalog = new LiveCatalog(file, identity, engine, []);
  const reload = () => catalog.start();

  list('OVER', 'LIVE', 'NEXT');
  await reload();
  catalog.settled(catalog.marketNumber('venue_a', 'OVER')!);
  list('OVER', 'LIVE');
  await reload();
  t.deepEqual(catalog.watchedMarkets('venue_a').sort(), ['LIVE', 'NEXT', 'OVER']);
  t.false(catalog.awaitsQuote('venue_a', 'OVER'));
  list('LIVE');
  await reload();
  t.deepEqual(catalog.watchedMarkets('venue_a').sort(), ['LIVE', 'NEXT']);
});

/** What the records keep of catalogs, from changes and from whole catalogs. */
import test from 'ava';
import { CatalogFold } from '../../../../engine/records/projection/catalog-fold.ts';
import { openRecords } from '../../../../engine/records/store/database.ts';
import { changeOf } from '../../../../engine/rules/catalog-change.ts';
import type { Catalog, CatalogInstrument } from '../../../../engine/rules/catalog-entries.ts';
import { createRandomSource } from '../../../model/random-source.ts';
import { CATALOG, NOON_MS } from '../../fixtures.ts';
import { tempDir } from '../../shard/engine-process.ts';

const [sample] = CATALOG.instruments;

test('K60, Y3, Y92: changes of catalogs lead to the same records as whole catalogs', (t) => {
  const random = createRandomSource(3);
  const [whole, byChange] = [0, 1].map(() => {
    const { database } = openRecords(tempDir(t));
    return { database, fold: new CatalogFold(database) };
  });
  let catalog: Catalog = { games: [], instruments: [], marketNames: [], instrumentIds: [] };
  let instruments: CatalogInstrument[] = [];
  for (let step = 0; step < 150; step++) {
    instruments = instruments.filter(() => !random.oneIn(10));
    instruments = instruments.map((entry) => {
      if (!random.oneIn(6)) return entry;
      const slug = random.oneIn(3) ? null : `game-${random.int(0, 4)}`;
      const startsAt = new Date(NOON_MS + random.int(0, 9) * 3_600_000).toISOString();
      return { ...entry, label: `label ${step}`, gameSlug: slug, startsAt };
    });
    for (let count = random.int(0, 2); count > 0; count--) {
      const number = random.int(0, 60);
      const id = `ins_${String(number).padStart(12, '0')}`;
      if (instruments.some((entry) => entry.id === id)) continue;
      const venueMarketId = `M${random.int(0, 20)}`;
      const listings = [{ ...sample!.listings[0]!, venueMarketId }];
      instruments.push({ ...sample!, id, slug: id, gameSlug: 'game-1', listings });
    }
    const slugs = [...new Set(instruments.flatMap(({ gameSlug }) => gameSlug ?? []))];
    const id = (slug: string) => `game_${slug}${step > 100 && slug === 'game-2' ? 'X' : ''}`;
    const now: Catalog = {
      games: slugs.map((slug) => ({ ...CATALOG.games[0]!, slug, id: id(slug) })),
      instruments,
      marketNames: [
        ...new Set([
          ...catalog.marketNames,
          ...instruments.map(({ listings }) => `venue_a/${listings[0]!.venueMarketId}`),
        ]),
      ],
      instrumentIds: [...new Set([...catalog.instrumentIds, ...instruments.map((one) => one.id)])],
    };
    const change = changeOf(catalog, now);
    catalog = now;
    if (change === null) continue;
    if (random.oneIn(4)) {
      const market = random.int(0, now.marketNames.length - 1);
      const result = { kind: 'market_resolved', atMs: NOON_MS, market, outcome: 'yes' } as const;
      for (const { fold } of [whole!, byChange!]) fold.resolve({ ...result, source: 'operator' });
    }
    t.is(byChange!.fold.change(change), whole!.fold.learn(now), `${step}`);
    for (const table of ['instruments', 'markets']) {
      const [expected, rows] = [whole!, byChange!].map(({ database }) => {
        return database.prepare(`SELECT * FROM ${table} ORDER BY 1`).all();
      });
      t.deepEqual(rows, expected, `${table} ${step}`);
    }
  }
  for (const { database } of [whole!, byChange!]) database.close();
});

import test from 'ava';
import { CatalogView } from '../../../api/catalog/catalog-view.ts';
import { MarketBus } from '../../../api/catalog/market-bus.ts';
import { followHeldMarkets } from '../../../api/market-data/held-markets.ts';
import { marketNumbers } from '../../../feeds/catalog/market-numbers.ts';
import type { HeldMarkets } from '../../../feeds/catalog/watched-markets.ts';
import { WatchedMarkets } from '../../../feeds/catalog/watched-markets.ts';
import { CATALOG, NOON_MS } from '../../engine/fixtures.ts';
import { until } from '../../feeds/until.ts';

/** The answer of a shard in which these markets are held. */
const answer = (...markets: number[]) => {
  const bits = markets.reduce((sum, market) => sum | (1 << market), 0);
  return JSON.stringify({ held: Buffer.from([bits]).toString('base64') });
};

test('W70: the feeds are told what is held, with its other listings, and what may be over', async (t) => {
  const bus = new MarketBus();
  const catalog = structuredClone(CATALOG);
  catalog.marketNames.push('venue_a/OLD');
  const view = new CatalogView(() => catalog);
  view.follow(bus);
  let answers: (string | null)[] = [answer(0), answer(1)];
  const told: HeldMarkets[] = [];
  const end = followHeldMarkets(
    {
      engine: { held: async () => answers, nowMs: () => NOON_MS },
      view,
      marketNumber: marketNumbers(catalog),
      bus,
      feeds: { hold: (held) => void told.push(held) },
    },
    5,
  );
  t.teardown(end);
  await until(() => told.length === 1, 'what is held');
  t.deepEqual(told[0], { markets: [0, 1, 2], maybeOver: [] });

  bus.publish({ kind: 'game', atMs: NOON_MS, source: 0, game: 'awy-hom', status: 'final' });
  await until(() => told.length === 2, 'the end of the game');
  t.deepEqual(told[1]?.maybeOver, [0, 1, 2]);

  answers = [null, answer(3)];
  await until(() => told.length === 3, 'another answer');
  t.deepEqual(told[2], { markets: [0, 3], maybeOver: [0, 3] }, 'no catalog lists the last');

  const watched = new WatchedMarkets({ ...catalog, byVenue: {}, games: [], settled: [] });
  watched.hold({ markets: [0, 2], maybeOver: [2] });
  t.deepEqual([...watched.held('venue_a')], [['T1', false]]);
  t.deepEqual([...watched.held('venue_b')], [['B2', true]]);
  t.is(watched.held('venue_c').size, 0);
});

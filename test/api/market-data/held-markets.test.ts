import test from 'ava';
import { CatalogView } from '../../../api/catalog/catalog-view.ts';
import { MarketBus } from '../../../api/catalog/market-bus.ts';
import { followHeldMarkets } from '../../../api/market-data/held-markets.ts';
import { marketNumbers } from '../../../feeds/catalog/market-numbers.ts';
import type { HeldMarkets } from '../../../feeds/catalog/watched-markets.ts';
import { WatchedMarkets } from '../../../feeds/catalog/watched-markets.ts';
import { ToldResults } from '../../../feeds/ingest/told-results.ts';
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
  const over = new Set<number>();
  const end = followHeldMarkets(
    {
      engine: { held: async () => answers, nowMs: () => NOON_MS },
      view,
      marketNumber: marketNumbers(catalog),
      isOver: (market) => over.has(market),
      bus,
      feeds: { hold: (held) => void told.push(held) },
    },
    5,
  );
  t.teardown(end);
  await until(() => told.length === 1, 'what is held');
  t.deepEqual(told[0], { markets: [0, 1, 2], unheld: [], maybeOver: [] });

  bus.publish({ kind: 'game', atMs: NOON_MS, source: 0, game: 'awy-hom', status: 'final' });
  await until(() => told.length === 2, 'the end of the game');
  t.deepEqual(told[1]?.maybeOver, [0, 1, 2]);

  answers = [null, answer(3)];
  await until(() => told.length === 3, 'another answer');
  const [markets, unheld] = [
    [0, 3],
    [1, 2],
  ];
  const all = [...markets, ...unheld];
  t.deepEqual(told[2], { markets, unheld, maybeOver: all }, 'no catalog lists the last');

  const none = { byVenue: {}, games: [], settled: [] };
  const watched = new WatchedMarkets({ ...catalog, named: 0, ...none }, new ToldResults());
  watched.hold({ markets: [0, 2], unheld: [1], maybeOver: [1, 2] });
  t.deepEqual([...watched.held('venue_a')], [['T1', false]]);
  t.deepEqual([...watched.held('venue_b')], [['B2', true]]);
  t.is(watched.held('venue_c').size, 0);
  t.deepEqual([...watched.unheld('venue_a')], [['T2', true]]);
  t.is(watched.unheld('venue_b').size, 0);
});

test('W91: the feeds are told which markets without a holder have started, until they are over', async (t) => {
  const bus = new MarketBus();
  const view = new CatalogView(() => CATALOG);
  view.follow(bus);
  const told: HeldMarkets[] = [];
  const over = new Set<number>();
  const startMs = Date.parse(CATALOG.games[0]!.startsAt);
  let nowMs = startMs - 1;
  const end = followHeldMarkets(
    {
      engine: { held: async () => [answer(0)], nowMs: () => nowMs },
      view,
      marketNumber: marketNumbers(CATALOG),
      isOver: (market) => over.has(market),
      bus,
      feeds: { hold: (held) => void told.push(held) },
    },
    5,
  );
  t.teardown(end);
  await until(() => told.length === 1, 'what is held');
  t.deepEqual(told[0], { markets: [0], unheld: [], maybeOver: [] });
  nowMs = startMs;
  await until(() => told.length === 2, 'the start');
  t.deepEqual(told[1], { markets: [0], unheld: [1, 2], maybeOver: [] });
  over.add(1);
  await until(() => told.length === 3, 'a result');
  t.deepEqual(told[2]?.unheld, [2]);
});

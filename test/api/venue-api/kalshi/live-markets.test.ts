import test from 'ava';
import { MarketBus } from '../../../../api/catalog/market-bus.ts';
import { LiveMarkets } from '../../../../api/venue-api/kalshi/live-markets.ts';
import { CATALOG, NOON_MS } from '../../../engine/fixtures.ts';

test('K63: what a venue has told of a market is forgotten once no list has it', (t) => {
  const bus = new MarketBus();
  const live = new LiveMarkets({} as never);
  const listed = new Set([0, 1]);
  const tickerOf = (market: number) => (listed.has(market) ? `T${market}` : null);
  const end = live.follow(bus, tickerOf, () => {});
  const trade = (market: number) => {
    const on = { atMs: NOON_MS, source: 0, market } as const;
    bus.publish({ kind: 'trade', ...on, yesPriceCents: 40, contracts: 3, side: 'yes' });
  };
  for (const market of [0, 1, 2]) trade(market);
  t.deepEqual(
    [0, 1, 2].map((market) => live.told(market).contracts),
    [3, 3, 0],
  );
  listed.delete(0);
  bus.publish({ kind: 'catalog', catalog: CATALOG });
  t.deepEqual(
    [0, 1].map((market) => live.told(market).contracts),
    [0, 3],
  );
  end();
  bus.publish({ kind: 'catalog', catalog: CATALOG });
  trade(1);
  t.is(live.told(1).contracts, 3, 'it follows no more');
});

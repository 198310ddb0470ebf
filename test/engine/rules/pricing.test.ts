import test from 'ava';
import type { Catalog } from '../../../engine/rules/messages.ts';
import { FILL_MODELS, type Venue } from '../../../engine/rules/units.ts';
import {
  AWAY,
  catalog,
  createScene,
  HOME,
  MAX_AGE_MS,
  type Scene,
  WIN,
  WIN_B,
  WIN_C,
} from '../../model/scenario.ts';

const best = { routing: 'best' } as const;
/** What a market buy of one contract is told: its price, or why not. */
const probe = (scene: Scene, order = {}) => {
  const placed = scene.buy(1, order);
  return placed.code ?? placed.body.fillPriceCents;
};
const fill = (scene: Scene, order = {}) => {
  const { body } = scene.buy(1, order);
  return [body.fillPriceCents, body.fillVenue];
};

test('T13: fresh up to the bound, heartbeats included', (t) => {
  const scene = createScene();
  scene.quote(WIN, 41, 43);
  scene.nowMs += MAX_AGE_MS;
  t.is(probe(scene), 43);
  scene.nowMs += 1;
  t.is(probe(scene), 'no_liquidity');
  scene.tick({ kind: 'heard', source: 1 });
  t.is(probe(scene), 'no_liquidity', 'another connection');
  scene.tick({ kind: 'heard', source: 0 });
  t.is(probe(scene), 43);
  scene.nowMs += MAX_AGE_MS;
  t.is(probe(scene), 43);
});

test('T14: none after a loss until a fresh quote', (t) => {
  const scene = createScene();
  scene.quote(WIN, 41, 43);
  scene.tick({ kind: 'down', source: 1 });
  t.is(probe(scene), 43);
  scene.tick({ kind: 'down', source: 0 });
  t.is(probe(scene), 'no_liquidity');
  scene.tick({ kind: 'heard', source: 0 });
  t.is(probe(scene), 'no_liquidity');
  scene.quote(WIN, 41, 44);
  t.is(probe(scene), 44);
});

test('T15: a crossed or locked book is none while it lasts', (t) => {
  const scene = createScene();
  for (const [bid, ask, crossed] of [
    [44, 43, false],
    [43, 43, false],
    [42, 43, true],
  ] as const) {
    scene.quote(WIN, bid, ask, crossed);
    t.is(probe(scene), 'no_liquidity');
  }
  scene.quote(WIN, 42, 43);
  t.is(probe(scene), 43);
});

test('T16, no_liquidity: an empty side has no price, the other one has', (t) => {
  const scene = createScene();
  scene.quote(WIN, 41, 0);
  t.is(probe(scene), 'no_liquidity');
  t.is(probe(scene, { side: 'no' }), 59);
  scene.quote(WIN, 0, 43);
  t.is(probe(scene), 43);
  t.is(probe(scene, { side: 'no' }), 'no_liquidity');
});

test('T12, market_not_open: paused and closed last, also over a loss', (t) => {
  const scene = createScene();
  scene.quote(WIN, 41, 43);
  for (const status of ['paused', 'closed'] as const) {
    scene.tick({ kind: 'status', source: 0, market: WIN, status });
    scene.tick({ kind: 'down', source: 0 });
    scene.quote(WIN, 41, 43);
    t.is(probe(scene), 'market_not_open');
  }
  scene.tick({ kind: 'status', source: 0, market: WIN, status: 'open' });
  t.is(probe(scene), 43);
});

test('T46: fills when the market opens or is heard again', (t) => {
  const scene = createScene();
  scene.quote(WIN, 41, 43);
  scene.limitBuy(40, 1);
  scene.tick({ kind: 'status', source: 0, market: WIN, status: 'paused' });
  scene.quote(WIN, 37, 39);
  t.is(scene.account().restingOrders, 1);
  scene.tick({ kind: 'status', source: 0, market: WIN, status: 'open' });
  t.is(scene.account().restingOrders, 0);

  scene.nowMs += MAX_AGE_MS + 1;
  t.is(scene.limitBuy(45, 1).body.status, 'resting', 'the quote is stale');
  scene.tick({ kind: 'heard', source: 0 });
  t.is(scene.account().restingOrders, 0);
  t.is(scene.account().openPositions, 2);
});

test('T80: a better exact price, through both polarities', (t) => {
  const scene = createScene();
  scene.quote(WIN, 41, 45);
  scene.quote(WIN_B, 56, 58);
  // HOME is the no of venue_b: its ask there is 100 - 56 = 44, its bid 100 - 58 = 42.
  t.deepEqual(fill(scene, best), [44, 'venue_b']);
  t.deepEqual(fill(scene), [45, 'venue_a'], 'only when asked for');
  // AWAY yes is venue_b's yes at 58; venue_a asks 100 - 41 = 59.
  t.deepEqual(fill(scene, { ...best, instrumentId: AWAY }), [58, 'venue_b']);
  const trade = scene.buy(1).body.trade as Record<string, string>;
  const sold = scene.sell(trade.tradeId!, best).body;
  t.deepEqual([sold.fillPriceCents, sold.fillVenue], [42, 'venue_b']);
  t.is((sold.trade as Record<string, unknown>).fillVenue, 'venue_a', 'where it was bought');

  scene.quote(WIN_B, 55, 57);
  t.deepEqual(fill(scene, best), [45, 'venue_a'], 'the same price is not better');
});

test('T80: at venue_b or venue_c, never at venue_c_intl', (t) => {
  for (const fillModel of FILL_MODELS) {
    for (const venue of ['venue_b', 'venue_c', 'venue_c_intl'] as const) {
      const scene = createScene({ fillModel });
      scene.engine.command({ kind: 'catalog', atMs: scene.nowMs, catalog: listedAt(venue) });
      scene.quote(WIN, 41, 45);
      const resting = scene.limitBuy(44, 1, best).body.order as Record<string, string>;
      scene.quote(catalog().marketNames.length, 42, 43);
      const isRouted = venue !== 'venue_c_intl';
      t.deepEqual(fill(scene, best), isRouted ? [43, venue] : [45, 'venue_a']);
      t.is(scene.order(resting.orderId!).status, isRouted ? 'executed' : 'resting');
      t.deepEqual(scene.engine.conservation(), []);
    }
  }
});

/** The scene's catalog, with one more market that HOME lists beside venue_a's: exact, at `venue`. */
function listedAt(venue: Venue): Catalog {
  const { instruments, marketNames, ...listed } = catalog();
  const exact = { venue, venueMarketId: 'MORE', polarity: 1, fungibility: 'exact' } as const;
  return {
    ...listed,
    instruments: instruments.map((one) => {
      const own = one.listings.filter((listing) => listing.venue === 'venue_a');
      return one.id === HOME ? { ...one, listings: [...own, { ...own[0]!, ...exact }] } : one;
    }),
    marketNames: [...marketNames, `${venue}/MORE`],
  };
}

test('T80: near listings and dead quotes are passed over', (t) => {
  const scene = createScene();
  scene.quote(WIN, 41, 45);
  scene.quote(WIN_C, 41, 42);
  t.deepEqual(fill(scene, best), [45, 'venue_a'], 'near');
  scene.quote(WIN_B, 56, 0);
  t.deepEqual(fill(scene, best), [45, 'venue_a'], 'one-sided');
  scene.quote(WIN_B, 56, 58, true);
  t.deepEqual(fill(scene, best), [45, 'venue_a'], 'crossed');
  scene.quote(WIN_B, 56, 58);
  scene.tick({ kind: 'status', source: 1, market: WIN_B, status: 'paused' });
  t.deepEqual(fill(scene, best), [45, 'venue_a'], 'paused');
  scene.tick({ kind: 'status', source: 1, market: WIN_B, status: 'open' });
  t.deepEqual(fill(scene, best), [44, 'venue_b']);
  scene.nowMs += MAX_AGE_MS + 1;
  scene.quote(WIN, 41, 45);
  t.deepEqual(fill(scene, best), [45, 'venue_a'], 'stale');
  scene.tick({ kind: 'heard', source: 1 });
  scene.quote(WIN, 0, 45);
  t.deepEqual(fill(scene, best), [45, 'venue_a'], 'no mid without both sides');
  scene.quote(WIN, 41, 0);
  t.is(scene.buy(1, best).code, 'no_liquidity', 'a venue_a price is needed all the same');
});

test('T80: the band is exact to half a cent', (t) => {
  const scene = createScene();
  scene.quote(WIN, 40, 45);
  // The mid is 42.5: 33 is 9.5 away and inside, 32 is 10.5 away and outside.
  scene.quote(WIN_B, 67, 69);
  t.deepEqual(fill(scene, best), [33, 'venue_b']);
  scene.quote(WIN_B, 68, 69);
  t.deepEqual(fill(scene, best), [45, 'venue_a']);
  scene.quote(WIN, 41, 43);
  t.deepEqual(fill(scene, best), [32, 'venue_b'], 'ten cents away is inside');
});

test('T85: resting orders watch all listed venues', (t) => {
  const scene = createScene();
  scene.quote(WIN, 41, 45);
  scene.limitBuy(43, 1, best);
  scene.limitBuy(43, 1);
  scene.quote(WIN_B, 57, 59);
  t.is(scene.account().restingOrders, 1);
  t.deepEqual(
    scene.engine.endings().map(({ status }) => status),
    ['executed'],
  );
  t.is(scene.account().openStakeDollars, 0.43);
});

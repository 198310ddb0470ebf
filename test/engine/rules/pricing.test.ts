import { FILL_MODELS, type Venue } from '../../../engine/base/units.ts';
import type { Catalog } from '../../../engine/rules/catalog-entries.ts';
import {
  AWAY,
  catalog,
  HOME,
  MAX_AGE_MS,
  type Scenario,
  scenarioTest,
  TOTAL,
  WIN,
  WIN_B,
  WIN_C,
} from '../../model/scenario.ts';

const best = { routing: 'best' } as const;
/** How a market buy of one contract is answered: its price, or why not. */
const probe = (scenario: Scenario, order = {}) => {
  const placed = scenario.buy(1, order);
  return placed.code ?? placed.body.fillPriceCents;
};
const fill = (scenario: Scenario, order = {}) => {
  const { body } = scenario.buy(1, order);
  return [body.fillPriceCents, body.fillVenue];
};

scenarioTest(
  'T13, T31, no_liquidity: fresh up to the bound, heartbeats included',
  (t, createScenario) => {
    const scenario = createScenario();
    scenario.quote(WIN, 41, 43);
    scenario.nowMs += MAX_AGE_MS;
    t.is(probe(scenario), 43);
    scenario.nowMs += 1;
    t.is(probe(scenario), 'no_liquidity');
    scenario.tick({ kind: 'heartbeat', source: 1 });
    t.is(probe(scenario), 'no_liquidity', 'another connection');
    scenario.tick({ kind: 'heartbeat', source: 0 });
    t.is(probe(scenario), 43);
    scenario.nowMs += MAX_AGE_MS;
    t.is(probe(scenario), 43);
  },
);

scenarioTest('T14: none after a loss until a fresh quote', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 41, 43);
  scenario.tick({ kind: 'down', source: 1 });
  t.is(probe(scenario), 43);
  scenario.tick({ kind: 'down', source: 0 });
  t.is(probe(scenario), 'no_liquidity');
  scenario.tick({ kind: 'heartbeat', source: 0 });
  t.is(probe(scenario), 'no_liquidity');
  scenario.quote(WIN, 41, 44);
  t.is(probe(scenario), 44);
});

scenarioTest('T15: a crossed or locked book is none while it lasts', (t, createScenario) => {
  const scenario = createScenario();
  for (const [bid, ask, crossed] of [
    [44, 43, false],
    [43, 43, false],
    [42, 43, true],
  ] as const) {
    scenario.quote(WIN, bid, ask, crossed);
    t.is(probe(scenario), 'no_liquidity');
  }
  scenario.quote(WIN, 42, 43);
  t.is(probe(scenario), 43);
});

scenarioTest(
  'T16, no_liquidity: an empty side has no price, the other one has',
  (t, createScenario) => {
    const scenario = createScenario();
    scenario.quote(WIN, 41, 0);
    t.is(probe(scenario), 'no_liquidity');
    t.is(probe(scenario, { side: 'no' }), 59);
    scenario.quote(WIN, 0, 43);
    t.is(probe(scenario), 43);
    t.is(probe(scenario, { side: 'no' }), 'no_liquidity');
  },
);

scenarioTest(
  'T12, market_not_open: paused and closed last, also over a loss',
  (t, createScenario) => {
    const scenario = createScenario();
    scenario.quote(WIN, 41, 43);
    for (const status of ['paused', 'closed'] as const) {
      scenario.tick({ kind: 'status', source: 0, market: WIN, status });
      scenario.tick({ kind: 'down', source: 0 });
      scenario.quote(WIN, 41, 43);
      t.is(probe(scenario), 'market_not_open');
    }
    scenario.tick({ kind: 'status', source: 0, market: WIN, status: 'open' });
    t.is(probe(scenario), 43);
  },
);

scenarioTest('T63: displayed levels without a live price fill nothing', (t, createScenario) => {
  const scenario = createScenario({ fillModel: 'book_depth' });
  const show = () => scenario.book(WIN, [[41, 100]], [[43, 100]]);
  show();
  t.is(probe(scenario), 43);
  scenario.nowMs += MAX_AGE_MS + 1;
  t.is(probe(scenario), 'no_liquidity', 'stale');
  t.is(scenario.limitBuy(50, 1).body.status, 'resting');
  show();
  t.is(scenario.account().restingOrders, 0);
  scenario.tick({ kind: 'down', source: 0 });
  t.is(probe(scenario), 'no_liquidity', 'its connection was lost');
  show();
  scenario.tick({ kind: 'status', source: 0, market: WIN, status: 'paused' });
  t.is(probe(scenario), 'market_not_open');
});

scenarioTest('T49: time passing alone fills nothing', (t, createScenario) => {
  for (const fillModel of FILL_MODELS) {
    const scenario = createScenario({ fillModel });
    scenario.quote(WIN, 41, 43);
    scenario.nowMs += MAX_AGE_MS + 1;
    scenario.limitBuy(45, 1);
    t.is(scenario.account().restingOrders, 1, 'the quote is stale');
    for (const passedMs of [1, 1000, 60_000, 86_400_000]) {
      scenario.nowMs += passedMs;
      scenario.tick({ kind: 'time' });
      t.like(scenario.account(), { restingOrders: 1, openPositions: 0 }, `${passedMs} ms`);
    }
    scenario.tick({ kind: 'heartbeat', source: 0 });
    t.is(scenario.account().restingOrders, 0, 'a heartbeat fills it');
  }
});

scenarioTest('T46, T17: fills when the market opens, and after a silence', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 41, 43);
  scenario.limitBuy(40, 1);
  scenario.tick({ kind: 'status', source: 0, market: WIN, status: 'paused' });
  scenario.quote(WIN, 37, 39);
  t.is(scenario.account().restingOrders, 1);
  scenario.tick({ kind: 'status', source: 0, market: WIN, status: 'open' });
  t.is(scenario.account().restingOrders, 0);

  scenario.nowMs += MAX_AGE_MS + 1;
  t.is(scenario.limitBuy(45, 1).body.status, 'resting', 'the quote is stale');
  scenario.tick({ kind: 'heartbeat', source: 0 });
  t.is(scenario.account().restingOrders, 0);
  t.is(scenario.account().openPositions, 2);
});

scenarioTest('T17: any frame of a connection revives all its quotes', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 41, 43);
  scenario.nowMs += MAX_AGE_MS + 1;
  t.is(scenario.limitBuy(45, 1).body.status, 'resting', 'the quote is stale');
  scenario.quote(TOTAL, 20, 24);
  t.is(scenario.account().restingOrders, 0, 'the first quote of another market');
});

scenarioTest('T80: a better exact price, through both polarities', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 41, 45);
  scenario.quote(WIN_B, 56, 58);
  // HOME is the no of venue_b: its ask there is 100 - 56 = 44, its bid 100 - 58 = 42.
  t.deepEqual(fill(scenario, best), [44, 'venue_b']);
  t.deepEqual(fill(scenario), [45, 'venue_a'], 'only when asked for');
  // AWAY yes is venue_b's yes at 58; venue_a asks 100 - 41 = 59.
  t.deepEqual(fill(scenario, { ...best, instrumentId: AWAY }), [58, 'venue_b']);
  const trade = scenario.buy(1).body.trade as Record<string, string>;
  const sold = scenario.sell(trade.tradeId!, best).body;
  t.deepEqual([sold.fillPriceCents, sold.fillVenue], [42, 'venue_b']);
  t.is((sold.trade as Record<string, unknown>).fillVenue, 'venue_a', 'where it was bought');

  scenario.quote(WIN_B, 55, 57);
  t.deepEqual(fill(scenario, best), [45, 'venue_a'], 'the same price is not better');
});

scenarioTest('T80: at venue_b or venue_c, never at venue_c_intl', (t, createScenario) => {
  for (const fillModel of FILL_MODELS) {
    for (const venue of ['venue_b', 'venue_c', 'venue_c_intl'] as const) {
      const scenario = createScenario({ fillModel });
      scenario.engine.command({ kind: 'catalog', atMs: scenario.nowMs, catalog: listedAt(venue) });
      scenario.quote(WIN, 41, 45);
      const resting = scenario.limitBuy(44, 1, best).body.order as Record<string, string>;
      scenario.quote(catalog().marketNames.length, 42, 43);
      const isRouted = venue !== 'venue_c_intl';
      t.deepEqual(fill(scenario, best), isRouted ? [43, venue] : [45, 'venue_a']);
      t.is(scenario.order(resting.orderId!).status, isRouted ? 'executed' : 'resting');
      t.deepEqual(scenario.engine.conservation(), []);
    }
  }
});

/** The scenario's catalog, with one more market that HOME lists beside venue_a's: exact, at `venue`. */
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

scenarioTest('T80, T83: near listings and dead quotes are passed over', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 41, 45);
  scenario.quote(WIN_C, 41, 42);
  t.deepEqual(fill(scenario, best), [45, 'venue_a'], 'near');
  scenario.quote(WIN_B, 56, 0);
  t.deepEqual(fill(scenario, best), [45, 'venue_a'], 'one-sided');
  scenario.quote(WIN_B, 56, 58, true);
  t.deepEqual(fill(scenario, best), [45, 'venue_a'], 'crossed');
  scenario.quote(WIN_B, 56, 58);
  scenario.tick({ kind: 'status', source: 1, market: WIN_B, status: 'paused' });
  t.deepEqual(fill(scenario, best), [45, 'venue_a'], 'paused');
  scenario.tick({ kind: 'status', source: 1, market: WIN_B, status: 'open' });
  t.deepEqual(fill(scenario, best), [44, 'venue_b']);
  scenario.nowMs += MAX_AGE_MS + 1;
  scenario.quote(WIN, 41, 45);
  t.deepEqual(fill(scenario, best), [45, 'venue_a'], 'stale');
  scenario.tick({ kind: 'heartbeat', source: 1 });
  scenario.quote(WIN, 0, 45);
  t.deepEqual(fill(scenario, best), [45, 'venue_a'], 'no mid without both sides');
  scenario.quote(WIN, 41, 0);
  t.is(scenario.buy(1, best).code, 'no_liquidity', 'a venue_a price is needed all the same');
});

scenarioTest('T80: the band is exact to half a cent', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 40, 45);
  // The mid is 42.5: 33 is 9.5 away and inside, 32 is 10.5 away and outside.
  scenario.quote(WIN_B, 67, 69);
  t.deepEqual(fill(scenario, best), [33, 'venue_b']);
  scenario.quote(WIN_B, 68, 69);
  t.deepEqual(fill(scenario, best), [45, 'venue_a']);
  scenario.quote(WIN, 41, 43);
  t.deepEqual(fill(scenario, best), [32, 'venue_b'], 'ten cents away is inside');
});

scenarioTest(
  'T80, T82: with several venues the best ask wins, and the earlier of equals',
  (t, createScenario) => {
    for (const fillModel of FILL_MODELS) {
      const scenario = createScenario({ fillModel });
      const { engine, nowMs } = scenario;
      engine.command({ kind: 'catalog', atMs: nowMs, catalog: withExactVenueC() });
      scenario.quote(WIN, 41, 45);
      const no = { ...best, side: 'no' } as const;
      // Asks of HOME's yes: 43 at venue_b and 44 at venue_c; of its no: 57 and 58.
      scenario.quote(WIN_B, 57, 58);
      scenario.quote(WIN_C, 42, 44);
      t.deepEqual(fill(scenario, best), [43, 'venue_b']);
      t.deepEqual(fill(scenario, no), [58, 'venue_b'], 'the first of two equal ones');
      scenario.quote(WIN_C, 43, 44);
      t.deepEqual(fill(scenario, no), [57, 'venue_c']);
      scenario.quote(WIN_B, 56, 57);
      scenario.quote(WIN_C, 42, 43);
      t.deepEqual(fill(scenario, best), [43, 'venue_c']);
      t.deepEqual(fill(scenario, no), [57, 'venue_b']);
      scenario.quote(WIN_C, 41, 44);
      t.deepEqual(fill(scenario, best), [44, 'venue_b'], 'the first of two equal ones');
      t.deepEqual(fill(scenario, no), [57, 'venue_b'], 'the later one is dearer');
      t.deepEqual(engine.conservation(), []);
    }
  },
);

/** The scenario's catalog, where venue_c's market of HOME is exact too. */
function withExactVenueC(): Catalog {
  const { instruments, ...rest } = catalog();
  const exact = { fungibility: 'exact' } as const;
  return {
    ...rest,
    instruments: instruments.map((one) => ({
      ...one,
      listings: one.listings.map((listing) => ({ ...listing, ...exact })),
    })),
  };
}

scenarioTest('T80: an ask half a cent beyond the band is not taken', (t, createScenario) => {
  for (const fillModel of FILL_MODELS) {
    const scenario = createScenario({ fillModel });
    // The mid is 55.5, and the band ends at 65.5, far below venue_a's ask.
    scenario.quote(WIN, 40, 71);
    scenario.quote(WIN_B, 34, 36);
    t.deepEqual(fill(scenario, best), [71, 'venue_a'], '66 is 10.5 away');
    scenario.quote(WIN_B, 35, 36);
    t.deepEqual(fill(scenario, best), [65, 'venue_b'], '65 is 9.5 away');
  }
});

scenarioTest('T46: an order at one cent fills when the ask is one cent', (t, createScenario) => {
  const scenario = createScenario();
  scenario.limitBuy(1, 5);
  scenario.limitBuy(1, 5, { side: 'no' });
  scenario.quote(WIN, 0, 1);
  t.is(scenario.account().restingOrders, 1);
  scenario.quote(WIN, 99, 0);
  t.is(scenario.account().restingOrders, 0);
  t.is(scenario.account().openStakeDollars, 0.1);
});

scenarioTest('T85: resting orders watch all listed venues', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 41, 45);
  scenario.limitBuy(43, 1, best);
  scenario.limitBuy(43, 1);
  scenario.quote(WIN_B, 57, 59);
  t.is(scenario.account().restingOrders, 1);
  t.deepEqual(
    scenario.engine.endings().map(({ status }) => status),
    ['executed'],
  );
  t.is(scenario.account().openStakeDollars, 0.43);
});

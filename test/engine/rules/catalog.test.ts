import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import test from 'ava';
import { marketNamed } from '../../../engine/rules/catalog.ts';
import { changeOf } from '../../../engine/rules/catalog-change.ts';
import type { Catalog } from '../../../engine/rules/catalog-entries.ts';
import type { Command, PlaceOrder, Reply } from '../../../engine/rules/messages.ts';
import {
  catalog,
  HOME,
  AWAY as OTHER,
  OVER,
  scenarioTest,
  TOTAL,
  WIN,
  WIN_B,
} from '../../model/scenario.ts';
import {
  AWAY,
  HOME as AWAY_NO,
  CATALOG,
  NOON_MS,
  placeOrder,
  quoteTick,
  ROUTED,
  uuidOf,
} from '../fixtures.ts';
import { messagesThrough } from '../format/frames.ts';
import { createMemoryEngine } from '../memory-engine.ts';

/** `ROUTED` trades on T3 from now on, where it traded on T2. */
const MOVED: Catalog = {
  ...CATALOG,
  marketNames: [...CATALOG.marketNames, 'venue_a/T3'],
  instruments: CATALOG.instruments.map((entry) =>
    entry.id !== ROUTED
      ? entry
      : {
          ...entry,
          listings: entry.listings.map((listing) =>
            listing.venue === 'venue_a' ? { ...listing, venueMarketId: 'T3' } : listing,
          ),
        },
  ),
};
const [T1, T2, T3] = [0, 1, 3];

function engineWith(catalog: Catalog, settledAtOnce?: number) {
  const config = { quoteMaxAgeMs: 15_000, routingBandCents: 10 };
  const engine = createMemoryEngine(config, settledAtOnce);
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog });
  return engine;
}

const bid = (limitPriceCents: number) =>
  placeOrder({ instrumentId: ROUTED, routing: 'best', limitPriceCents });
const statusOf = (reply: Reply) => JSON.parse(reply.ok ? reply.body : '{}').status;

test('T86, T127: an instrument that moved does not take its orders along', (t) => {
  const engine = engineWith(CATALOG);
  engine.tick(quoteTick({ market: T2, yesBidCents: 70, yesAskCents: 73 }));
  t.is(statusOf(engine.command(bid(50))), 'resting');
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: MOVED });
  engine.tick(quoteTick({ market: T3, yesBidCents: 70, yesAskCents: 73 }));
  const later = bid(60);
  t.is(statusOf(engine.command(later)), 'resting');
  t.deepEqual(engine.conservation(), []);

  // The old market comes down to both limits: only its own order fills.
  engine.tick(quoteTick({ market: T2, yesBidCents: 40, yesAskCents: 43 }));
  const page = { limit: 9, before: null, organizationSlug: null, account: uuidOf(1) };
  const orders = engine.query({ kind: 'orders', atMs: NOON_MS, status: 'resting', ...page });
  const resting = JSON.parse(orders.ok ? orders.body : '').orders;
  t.deepEqual(
    resting.map(({ orderId }: { orderId: string }) => orderId),
    [later.orderId],
  );
  engine.tick({
    kind: 'result',
    atMs: NOON_MS,
    source: 0,
    market: T3,
    outcome: 'yes',
    yesPayoutCents: 100,
    noPayoutCents: 0,
  });
  t.is(engine.state().orders.live, 0, 'the new market`s result ends the order there');
  t.deepEqual(engine.conservation(), []);
  engine.crash();
  t.deepEqual(engine.conservation(), []);
});

test('T123, PAPERBOOK_CATALOG: a live status holds until a catalog says more', (t) => {
  const engine = engineWith(CATALOG);
  engine.tick(quoteTick());
  const gameStatus = () => {
    const quote = engine.query({ kind: 'instrument_quote', atMs: NOON_MS, instrumentId: AWAY });
    return JSON.parse(quote.ok ? quote.body : '{}').gameStatus;
  };
  engine.tick({ kind: 'game', atMs: NOON_MS, source: 0, game: 'awy-hom', status: 'inprogress' });
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: MOVED });
  t.is(gameStatus(), 'inprogress', 'the new catalog says of the game what the old one said');
  const games = MOVED.games.map((game) => ({ ...game, status: 'postponed' as const }));
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: { ...MOVED, games } });
  t.is(gameStatus(), 'postponed');
});

const without = (id: string): Catalog => {
  const listed = catalog();
  return { ...listed, instruments: listed.instruments.filter((entry) => entry.id !== id) };
};

scenarioTest(
  'T122, instrument_dropped: a catalog that drops an instrument cancels its buys',
  (t, createScenario) => {
    const scenario = createScenario({ fillModel: 'book_depth' });
    const send = (sent: Catalog) =>
      scenario.engine.command({ kind: 'catalog', atMs: scenario.nowMs, catalog: sent }).ok;
    scenario.book(WIN, [[41, 500]], [[43, 10]]);
    scenario.quote(TOTAL, 20, 24);
    const idOf = ({ body }: { body: Record<string, unknown> }) =>
      (body.order as { orderId: string }).orderId;
    const part = idOf(scenario.limitBuy(43, 25));
    const byTicker = idOf(scenario.limitBuy(40, 10, { ticker: 'WIN', instrumentId: null }));
    const routed = idOf(
      scenario.limitBuy(39, 10, { routing: 'best', expiresAtMs: scenario.nowMs + 9000 }),
    );
    const other = idOf(scenario.limitBuy(20, 10, { ticker: 'TOTAL', instrumentId: null }));
    const held = scenario.buy(5, { side: 'no' }).body.trade as { tradeId: string };
    const limit = { timeInForce: 'gtc', limitPriceCents: 90 } as const;
    const sell = idOf(scenario.sell(held.tradeId, limit));

    t.true(send(without(HOME)));
    for (const orderId of [part, byTicker, routed]) {
      const ended = { status: 'canceled', cancelReason: 'instrument_dropped', holdDollars: 0 };
      t.like(scenario.order(orderId), ended);
    }
    t.like(scenario.order(part), { filledContracts: 10, fillPriceCents: 43 });
    t.is(scenario.order(other).status, 'resting', 'another instrument`s');
    t.is(scenario.order(sell).status, 'resting', 'positions stay, and so do sells');
    t.like(scenario.account(), { heldDollars: 2, openPositions: 2, restingOrders: 2 });
    t.deepEqual(scenario.engine.conservation(), []);

    const after = scenario.engine.digest();
    t.true(send(without(HOME)), 'every start sends the catalog again');
    t.true(send(catalog()), 'what comes back was canceled all the same');
    t.deepEqual(scenario.engine.digest(), after);
  },
);

test('T122, instrument_dropped: buys end first placed first, whatever rows they take', (t) => {
  const engine = engineWith(CATALOG);
  const bids = [bid(20), bid(21), bid(22)];
  const ids = bids.map(({ orderId }) => orderId);
  for (const placed of bids.slice(0, 2)) t.is(statusOf(engine.command(placed)), 'resting');
  const [{ account }] = bids as [PlaceOrder];
  const cancel = { kind: 'cancel', atMs: NOON_MS, account, counting: null } as const;
  t.true(engine.command({ ...cancel, orderId: ids[0]! }).ok);
  // It takes the row of the one that was canceled.
  t.is(statusOf(engine.command(bids[2]!)), 'resting');
  const instruments = CATALOG.instruments.filter(({ id }) => id !== ROUTED);
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: { ...CATALOG, instruments } });
  t.deepEqual(
    engine.endings().map(({ orderId, reason }) => [orderId, reason]),
    [
      [ids[0], 'canceled_by_owner'],
      [ids[1], 'instrument_dropped'],
      [ids[2], 'instrument_dropped'],
    ],
  );
});

/** The scenario's catalog with other instruments. */
const withInstruments = (instruments: Catalog['instruments']): Catalog => ({
  ...catalog(),
  instruments,
});

scenarioTest('T6, T120: a ticker belongs to what lists it now', (t, createScenario) => {
  const scenario = createScenario();
  const send = (sent: Catalog) =>
    scenario.engine.command({ kind: 'catalog', atMs: scenario.nowMs, catalog: sent });
  const boughtBy = (ticker: string) => {
    const { code, body } = scenario.buy(1, { ticker, instrumentId: null });
    const trade = body.trade as Record<string, unknown> | undefined;
    return code ?? [trade!.instrumentId, trade!.instrumentSide];
  };
  scenario.quote(WIN, 41, 43);
  scenario.quote(TOTAL, 20, 24);
  const { instruments } = catalog();
  const by = (id: string) => instruments.find((one) => one.id === id)!;
  const as = (id: string, listedLike: string) => ({ ...by(id), listings: by(listedLike).listings });
  t.deepEqual(boughtBy('WIN'), [HOME, 'yes'], 'polarity 1 comes first');

  send(withInstruments([by(OTHER)]));
  t.deepEqual(boughtBy('WIN'), [OTHER, 'no'], 'what polarity 1 listed is dropped');
  t.is(boughtBy('TOTAL'), 'no_tradable_listing', 'nothing lists it now');
  send(withInstruments([by(OTHER), as(OVER, HOME), by(HOME)]));
  t.deepEqual(boughtBy('WIN'), [OVER, 'yes'], 'the first in the catalog of two with polarity 1');
  send(withInstruments([as(OVER, OTHER), by(OTHER)]));
  t.deepEqual(boughtBy('WIN'), [OVER, 'no'], 'and of two with polarity -1');
  t.deepEqual(scenario.engine.conservation(), []);
});

scenarioTest('T85, T120: a venue that a catalog adds fills what rests', (t, createScenario) => {
  const scenario = createScenario();
  const send = (sent: Catalog) =>
    scenario.engine.command({ kind: 'catalog', atMs: scenario.nowMs, catalog: sent });
  const { instruments } = catalog();
  const alone = instruments.map((one) => ({
    ...one,
    listings: one.listings.filter(({ venue }) => venue === 'venue_a'),
  }));
  send(withInstruments(alone));
  scenario.quote(WIN, 41, 45);
  const bought = scenario.limitBuy(43, 1, { routing: 'best' }).body.order as { orderId: string };
  scenario.quote(WIN_B, 57, 59);
  t.is(scenario.order(bought.orderId).status, 'resting', 'venue_b is not listed yet');
  send(catalog());
  scenario.quote(WIN_B, 57, 58);
  t.like(scenario.order(bought.orderId), { status: 'executed', fillPriceCents: 43 });
});

scenarioTest('T18, C7: without opensAt a market is open from 1970 on', (t, createScenario) => {
  const scenario = createScenario({ startMs: 0 });
  scenario.quote(WIN, 41, 43);
  t.is(scenario.buy(1).body.fillPriceCents, 43);
});

test('T129: a market closes at the earliest closing time of the instruments that list it', (t) => {
  const [early, late, dropped] = ['T13:00', 'T14:00', 'T12:30'].map(
    (time) => `2026-11-21${time}Z`,
  ) as [string, string, string];
  const closing = (times: Record<string, string | null>): Catalog => ({
    ...CATALOG,
    instruments: CATALOG.instruments
      .filter(({ id }) => id in times)
      .map((entry) => ({ ...entry, ...(times[entry.id] && { closesAt: times[entry.id]! }) })),
  });
  const engine = engineWith(closing({ [AWAY]: late, [AWAY_NO]: early, [ROUTED]: dropped }));
  const closes = (market: number) => engine.state().markets[market]!.closesAtMs;
  t.is(closes(T1), Date.parse(early));
  t.is(closes(T2), Date.parse(dropped));

  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: closing({ [AWAY]: late }) });
  t.is(closes(T1), Date.parse(late), 'what is listed counts, and what was dropped does not');
  t.is(closes(T2), Date.parse(dropped), 'except for a market that nothing lists any more');

  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: closing({ [AWAY]: null }) });
  t.is(closes(T1), Number.POSITIVE_INFINITY, 'a catalog without a time takes it away');
});

test('K59: markets with a result give their ladders to later markets, once no order waits there', (t) => {
  const engine = engineWith(CATALOG);
  const state = engine.state();
  const books = () => state.booksByKey.size + state.freeBooks.length;
  t.is(books(), 0, 'no order has waited anywhere');
  let catalog = CATALOG;
  for (let round = 0; round < 20; round++) {
    engine.tick(quoteTick({ market: T2, yesBidCents: 70, yesAskCents: 73 }));
    const market = catalog.marketNames.indexOf(round === 0 ? 'venue_a/T2' : `venue_a/R${round}`);
    engine.tick(quoteTick({ market, yesBidCents: 70, yesAskCents: 73 }));
    t.is(statusOf(engine.command(bid(50))), 'resting');
    t.is(statusOf(engine.command({ ...bid(50), routing: 'venue_a' })), 'resting');
    const pays = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
    engine.tick({ kind: 'result', atMs: NOON_MS, source: 0, market, ...pays });
    const name = `R${round + 1}`;
    catalog = {
      ...catalog,
      marketNames: [...catalog.marketNames, `venue_a/${name}`],
      instruments: catalog.instruments.map((entry) =>
        entry.id !== ROUTED
          ? entry
          : {
              ...entry,
              listings: entry.listings.map((listing) =>
                listing.venue === 'venue_a' ? { ...listing, venueMarketId: name } : listing,
              ),
            },
      ),
    };
    engine.command({ kind: 'catalog', atMs: NOON_MS, catalog });
    t.deepEqual(engine.conservation(), []);
  }
  t.is(books(), 2, 'one is plain, and one is routed');
  engine.crash();
  t.deepEqual(engine.conservation(), []);
});

test('K59, T121: what is dropped after its result is described by the log, also after a crash', (t) => {
  const engine = engineWith(CATALOG);
  engine.tick(quoteTick());
  const placed = placeOrder();
  t.is(statusOf(engine.command(placed)), 'executed');
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: relabelled('its last label') });
  const pays = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
  engine.tick({ kind: 'result', atMs: NOON_MS, source: 0, market: T1, ...pays });
  const others = CATALOG.instruments.filter(({ id }) => id !== AWAY);
  const without = { ...CATALOG, instruments: others };
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: without });
  const shown = () => {
    const quote = engine.query({ kind: 'instrument_quote', instrumentId: AWAY, atMs: NOON_MS });
    const { label, venues, omitted } = JSON.parse(quote.ok ? quote.body : '{}');
    const order = engine.command(placeOrder());
    return { label, venues, omitted, refused: order.ok ? null : order.code };
  };
  const isPast = () => engine.state().instruments[0]!.isPast;
  const expected = shown();
  t.like(expected, { label: 'its last label', venues: [], refused: 'market_resolved' });
  t.is(expected.omitted.length, 1);
  t.true(isPast());
  t.is(engine.state().instruments[0]!.entry, null);
  t.deepEqual(engine.conservation(), []);
  for (let round = 0; round < 2; round++) {
    engine.crash();
    t.true(isPast());
    t.deepEqual(shown(), expected);
    engine.checkpoint();
  }
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  t.false(isPast(), 'a catalog lists it again');
  t.is(shown().label, CATALOG.instruments[0]!.label);
  t.is(shown().refused, 'market_resolved');
});

test('K59, A84: what is dropped after its result trades where it did, and nowhere else', (t) => {
  for (const [id, market, home] of [
    [ROUTED, T2, ['T2', 1]],
    [AWAY_NO, T1, ['T1', -1]],
  ] as const) {
    const engine = engineWith(CATALOG);
    engine.tick(quoteTick());
    const pays = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
    engine.tick({ kind: 'result', atMs: NOON_MS, source: 0, market, ...pays });
    const instruments = CATALOG.instruments.filter((one) => one.id !== id);
    engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: { ...CATALOG, instruments } });
    const past = engine.state().instruments[CATALOG.instrumentIds.indexOf(id)]!;
    t.true(past.isPast);
    t.deepEqual([past.home!.market.ticker, past.home!.polarity], [...home]);
    const reply = engine.query({ kind: 'book', instrumentId: id, atMs: NOON_MS });
    const book = { instrumentId: id, venue: 'venue_a', yesBids: [], yesAsks: [] };
    t.deepEqual(JSON.parse(reply.ok ? reply.body : ''), book, 'not the live price of T1');
  }
});

test('K59, T129: what is dropped after its result keeps its game, its venue and its closing, also after a crash', (t) => {
  // It trades on two markets of venue_a, so it has no home market. Venue_b tells no result.
  const entry = CATALOG.instruments.find(({ id }) => id === ROUTED)!;
  const other = { ...entry.listings[0]!, venueMarketId: 'T1' };
  const both = {
    ...entry,
    listings: [...entry.listings, other],
    closesAt: new Date(NOON_MS - 1).toISOString(),
  };
  const engine = engineWith({ ...CATALOG, instruments: [both] });
  const pays = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
  for (const market of [T1, T2]) {
    engine.tick({ kind: 'result', atMs: NOON_MS, source: 0, market, ...pays });
  }
  const [game] = CATALOG.games;
  const isFinal = { ...game!, status: 'final' } as const;
  engine.command({
    kind: 'catalog',
    atMs: NOON_MS,
    catalog: { ...CATALOG, games: [isFinal], instruments: [] },
  });
  const nothing: Catalog = { ...CATALOG, games: [], instruments: [] };
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: nothing });
  const shown = () => {
    const named = { instrumentId: ROUTED, atMs: NOON_MS };
    const quote = engine.query({ kind: 'instrument_quote', ...named });
    const book = engine.query({ kind: 'book', ...named });
    const { matchup, gameStatus, omitted } = JSON.parse(quote.ok ? quote.body : '{}');
    return { matchup, gameStatus, omitted, venue: JSON.parse(book.ok ? book.body : '{}').venue };
  };
  for (let round = 0; round < 3; round++) {
    t.true(engine.state().instruments[2]!.isPast);
    t.deepEqual(shown(), {
      matchup: 'Away at Home',
      gameStatus: 'final',
      omitted: [
        { venue: 'venue_a', note: 'market resolved' },
        { venue: 'venue_a', note: 'market resolved' },
        { venue: 'venue_b', note: 'market closed' },
      ],
      venue: 'venue_a',
    });
    if (round === 1) engine.checkpoint();
    engine.crash();
    engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: nothing });
  }
});

test('K59, T18: what is dropped after its result before it opens still says when it opens, also after a crash', (t) => {
  const opensAt = new Date(NOON_MS + 1000).toISOString();
  const later = CATALOG.instruments.map((entry) => ({ ...entry, opensAt }));
  const engine = engineWith({ ...CATALOG, instruments: later });
  const pays = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
  engine.tick({ kind: 'result', atMs: NOON_MS, source: 0, market: T1, ...pays });
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: { ...CATALOG, instruments: [] } });
  for (let round = 0; round < 2; round++) {
    const quote = engine.query({ kind: 'instrument_quote', instrumentId: AWAY, atMs: NOON_MS });
    const { omitted } = JSON.parse(quote.ok ? quote.body : '{}');
    t.deepEqual(omitted, [{ venue: 'venue_a', note: `opens at ${opensAt}` }]);
    engine.checkpoint();
    engine.crash();
  }
});

test('K59: what is dropped with an open trade, or without a result, keeps its description', (t) => {
  const engine = engineWith(CATALOG);
  engine.tick(quoteTick());
  t.is(statusOf(engine.command(placeOrder())), 'executed');
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: { ...CATALOG, instruments: [] } });
  t.deepEqual(
    engine.state().instruments.map(({ isPast }) => isPast),
    [false, false, false, false],
  );
});

test('K59: what no market of venue_a lists has no result, and keeps its description', (t) => {
  const entry = CATALOG.instruments.find(({ id }) => id === ROUTED)!;
  const listings = entry.listings.filter(({ venue }) => venue !== 'venue_a');
  t.true(listings.length > 0);
  const engine = engineWith({ ...CATALOG, instruments: [{ ...entry, listings }] });
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: { ...CATALOG, instruments: [] } });
  t.false(engine.state().instruments[CATALOG.instrumentIds.indexOf(ROUTED)]!.isPast);
});

test('K59, T129: what is listed again after its result closes its markets by its new time alone', (t) => {
  const entry = CATALOG.instruments.find(({ id }) => id === ROUTED)!;
  const closing = (ms: number) => ({ ...entry, closesAt: new Date(ms).toISOString() });
  const engine = engineWith({ ...CATALOG, instruments: [closing(NOON_MS - 1)] });
  const list = (instruments: Catalog['instruments']) =>
    engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: { ...CATALOG, instruments } });
  const pays = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
  engine.tick({ kind: 'result', atMs: NOON_MS, source: 0, market: T2, ...pays });
  list([]);
  t.true(engine.state().instruments[CATALOG.instrumentIds.indexOf(ROUTED)]!.isPast);
  const others = entry.listings.filter(({ venue }) => venue === 'venue_b');
  // T1 has no result, so that its description stays.
  const listings = [{ ...entry.listings[0]!, venueMarketId: 'T1' }, ...others];
  list([{ ...closing(NOON_MS + 1000), listings }]);
  list([]);
  const market = CATALOG.marketNames.indexOf(`venue_b/${others[0]!.venueMarketId}`);
  t.is(engine.state().markets[market]!.closesAtMs, NOON_MS + 1000);
});

test('K61: a market that is over and in no list keeps its result alone, in columns', (t) => {
  const engine = engineWith(CATALOG);
  const pays = { outcome: 'scalar', yesPayoutCents: 64, noPayoutCents: 36 } as const;
  const said = () => {
    engine.tick(quoteTick());
    for (const side of ['yes', 'no'] as const) {
      const on = { atMs: NOON_MS, source: 0, market: T1 };
      engine.tick({ kind: 'trade', ...on, yesPriceCents: 41, contracts: 3, side });
      engine.tick({ kind: 'status', ...on, status: 'paused' });
    }
  };
  said();
  engine.tick({ kind: 'result', atMs: NOON_MS, source: 0, market: T1, ...pays });
  const before = { ...engine.state().markets[T1]! };
  t.false(before.isPast, 'it is in a list');
  t.not(before.quote, null);
  const others = CATALOG.instruments.filter(({ id }) => id !== AWAY && id !== AWAY_NO);
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: { ...CATALOG, instruments: others } });

  const { venue, ticker, outcome, payouts, resolvedAtMs, settlement } = before;
  const kept = { venue, ticker, outcome, payouts, resolvedAtMs, settlement, corrections: 0 };
  const forgotten = { quote: null, lastTrade: null, status: 'open', book: null, isPast: true };
  const market = () => engine.state().markets[T1]!;
  const isKept = (what: string) => {
    t.like(market(), { ...kept, ...forgotten }, what);
    t.is(marketNamed(engine.state(), 'venue_a/T1'), market(), what);
    t.is(engine.state().marketsByName.has('venue_a/T1'), false, what);
    t.deepEqual(engine.conservation(), [], what);
  };
  isKept('at once');
  said();
  isKept('whatever its venue says');
  t.throws(() => Object.assign(market(), { status: 'paused' }), { instanceOf: TypeError });
  engine.checkpoint();
  engine.crash();
  isKept('after a start from a checkpoint');

  const correction = {
    correction: 1,
    outcome: 'no',
    yesPayoutCents: 0,
    noPayoutCents: 100,
  } as const;
  const settled = engine.command({ kind: 'settle', atMs: NOON_MS, market: T1, ...correction });
  t.true(settled.ok);
  Object.assign(kept, { outcome: 'no', payouts: null, corrections: 1 });
  isKept('after a correction');
  engine.crash();
  isKept('after a start from the log');

  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  t.like(market(), { ...kept, isPast: false }, 'a catalog lists it again');
  t.is(engine.state().marketsByName.get('venue_a/T1'), market());
  const ids = engine.state().instruments.map(({ id }) => id);
  t.deepEqual(ids, CATALOG.instrumentIds);
  t.deepEqual(engine.conservation(), []);
});

test('K61: a market that no instrument lists any more is kept while somebody holds it', (t) => {
  const engine = engineWith(CATALOG, 1);
  engine.tick(quoteTick({ market: T2 }));
  for (const account of [uuidOf(1), uuidOf(2)]) {
    const order = placeOrder({ account, instrumentId: ROUTED, idempotencyKey: account });
    t.is(statusOf(engine.command(order)), 'executed');
  }
  const pays = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
  engine.tick({ kind: 'result', atMs: NOON_MS, source: 0, market: T2, ...pays });
  const isPastAfter = (catalog: Catalog) => {
    engine.command({ kind: 'catalog', atMs: NOON_MS, catalog });
    return engine.state().markets[T2]!.isPast;
  };
  t.is(engine.state().positions.live, 1, 'one of two is settled');
  t.false(isPastAfter(MOVED));
  engine.settleSlice();
  t.is(engine.state().positions.live, 0);
  t.true(isPastAfter({ ...MOVED, instrumentIds: [...MOVED.instrumentIds, 'ins_9'] }));
});

test('K61: what stays of catalogs that are gone keeps nothing of the messages that had them', (t) => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const engine = engineWith(CATALOG);
  const [game] = CATALOG.games;
  /** Each market and game is in some catalogs after another, and then in none. */
  const take = (from: number, end: number) => {
    for (let at = from; at < end; at++) {
      const games = Array.from({ length: 20 }, (_, older) => {
        return { ...game!, id: `game_${at - older}`, slug: `a-game-of-the-day-${at - older}` };
      });
      const { catalog } = engine.state();
      const marketNames = [...catalog.marketNames, `venue_a/a-market-${at}`];
      const change = changeOf(catalog, { ...catalog, games, marketNames })!;
      const sent = messagesThrough([{ kind: 'catalog', atMs: NOON_MS, change }]);
      engine.command(sent[0] as Command);
    }
    collect();
    return getHeapStatistics().used_heap_size;
  };
  const before = take(0, 100);
  const games = 400;
  const bytes = (take(100, 100 + games) - before) / games;
  t.true(bytes < 2500, `${Math.round(bytes)} bytes a game`);
  t.true(engine.state().listedGames.has('a-game-of-the-day-150'));
  t.is(engine.state().catalog.marketNames.at(-1), `venue_a/a-market-${99 + games}`);
});

test('K62: a shard takes what a catalog changes, and only the change of the one that it has', (t) => {
  const engine = engineWith(CATALOG);
  const [first, ...others] = CATALOG.instruments;
  const next: Catalog = {
    ...CATALOG,
    instruments: [...others, { ...first!, label: 'another' }],
    marketNames: [...CATALOG.marketNames, 'venue_a/T9'],
    instrumentIds: [...CATALOG.instrumentIds, 'ins_9'],
  };
  const change = changeOf(CATALOG, next)!;
  const before = engine.state().instrumentsById.get(others[0]!.id)!.listings;
  engine.command({ kind: 'catalog', atMs: NOON_MS, change });
  t.deepEqual(engine.state().catalog, next);
  const kept = engine.state().instrumentsById.get(others[0]!.id)!.listings;
  t.is(kept, before, 'an instrument that stays is not described again');
  t.throws(() => engine.command({ kind: 'catalog', atMs: NOON_MS, change }), {
    message: /a change is of another catalog/,
  });
  engine.crash();
  t.deepEqual(engine.state().catalog, next);
});

const relabelled = (label: string): Catalog => ({
  ...CATALOG,
  instruments: CATALOG.instruments.map((entry) =>
    entry.id === AWAY ? { ...entry, label } : entry,
  ),
});

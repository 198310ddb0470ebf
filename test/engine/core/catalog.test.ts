import test from 'ava';
import type { Catalog, Reply } from '../../../engine/core/messages.ts';
import { AWAY, CATALOG, NOON_MS, placeOrder, quoteTick, ROUTED, uuidOf } from '../fixtures.ts';
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
const [T2, T3] = [1, 3];

function engineWith(catalog: Catalog) {
  const engine = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10 });
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog });
  return engine;
}

const bid = (limitPriceCents: number) =>
  placeOrder({ type: 'limit', instrumentId: ROUTED, routing: 'best', limitPriceCents });
const statusOf = (reply: Reply) => JSON.parse(reply.ok ? reply.body : '{}').status;

test('CONTRACT.md section 5, Routing best: an instrument that moved leaves its orders behind', (t) => {
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

test('CONTRACT.md section 8, PAPERBOOK_CATALOG: a live status holds until a catalog says more', (t) => {
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

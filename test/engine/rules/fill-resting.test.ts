/** The order in which one quote fills what it reaches, calculated again from the orders alone. */
import test from 'ava';
import fc from 'fast-check';
import { FILL_MODELS, type FillModelName } from '../../../engine/base/units.ts';
import type { PlaceOrder } from '../../../engine/rules/messages.ts';
import { shareOf } from '../../model/seeds.ts';
import { AWAY, CATALOG, HOME, NOON_MS, placeOrder, quoteTick, uuidOf } from '../fixtures.ts';
import { createMemoryEngine } from '../memory-engine.ts';

const ASK_CENTS = { yes: 52, no: 50 };
/** More contracts than all orders of a run want. */
const DEEP = 1_000_000;

const bids: fc.Arbitrary<PlaceOrder[]> = fc.array(
  fc
    .record({
      account: fc.constantFrom(uuidOf(1), uuidOf(2)),
      // Both are of one market, and each has a book for its orders with routing best.
      instrumentId: fc.constantFrom(AWAY, HOME),
      side: fc.constantFrom('yes' as const, 'no' as const),
      limitPriceCents: fc.integer({ min: 46, max: 58 }),
      routing: fc.constantFrom('venue_a' as const, 'best' as const),
    })
    .map((bid) => placeOrder(bid)),
  { minLength: 2, maxLength: 40 },
);

function filledBy(fillModel: FillModelName, orders: PlaceOrder[]): string[] {
  const engine = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10, fillModel });
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  for (const order of orders) engine.command(order);
  const bid = { yesBidCents: 100 - ASK_CENTS.no, yesBidContracts: DEEP };
  const ask = { yesAskCents: ASK_CENTS.yes, yesAskContracts: DEEP };
  engine.tick(quoteTick({ ...bid, ...ask }));
  return engine.endings().map(({ orderId }) => orderId);
}

/** Yes of `HOME` is no of its market. */
const marketSideOf = ({ instrumentId, side }: PlaceOrder) =>
  (instrumentId === HOME) === (side === 'yes') ? 'no' : 'yes';

/** Array.sort is stable: what is placed first stays first where nothing else decides. */
function expected(fillModel: FillModelName, orders: PlaceOrder[]): string[] {
  const isReached = (order: PlaceOrder) => order.limitPriceCents! >= ASK_CENTS[marketSideOf(order)];
  const bookOf = ({ routing }: PlaceOrder) =>
    fillModel === 'top_of_book' && routing === 'best' ? 1 : 0;
  const sideOf = (order: PlaceOrder) => (marketSideOf(order) === 'yes' ? 0 : 1);
  return orders
    .filter(isReached)
    .sort(
      (a, b) =>
        bookOf(a) - bookOf(b) || sideOf(a) - sideOf(b) || b.limitPriceCents! - a.limitPriceCents!,
    )
    .map(({ orderId }) => orderId);
}

for (const fillModel of FILL_MODELS) {
  test(`T8, T47, T48, T66: a quote fills by price, then by time, ${fillModel}`, (t) => {
    fc.assert(
      fc.property(bids, (orders) => {
        t.deepEqual(filledBy(fillModel, orders), expected(fillModel, orders));
      }),
      { numRuns: shareOf(100) },
    );
  });
}

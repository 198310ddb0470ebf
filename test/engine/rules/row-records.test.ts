/** The record of a trade that a position's row becomes, and what an order's row says in its flags. */
import test from 'ava';
import type { OrderPlaced } from '../../../engine/rules/events.ts';
import { type Flags, flagsOf, hasLimit, routingOf } from '../../../engine/rules/flags.ts';
import { closedTradeOf } from '../../../engine/rules/row-records.ts';
import { AWAY, CATALOG, NOON_MS, placeOrder, quoteTick } from '../fixtures.ts';
import { createMemoryEngine } from '../memory-engine.ts';

/** Ten contracts at 40, of which four were sold at 38. */
function partlySold() {
  const engine = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10 });
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  const venueData = { kind: 'switches', venueData: true, selfReset: false } as const;
  engine.command({ ...venueData, atMs: NOON_MS });
  engine.tick(quoteTick({ yesBidCents: 38, yesAskCents: 40 }));
  engine.command(placeOrder({ instrumentId: AWAY, contracts: 10 }));
  const state = engine.state();
  const [position] = [...state.positionsOfMarket.of(0)];
  const col = state.positions.change(position!);
  col.contracts.add(position!, -4);
  col.costCents.add(position!, -160);
  col.soldContracts.set(position!, 4);
  col.soldCostCents.set(position!, 160);
  col.soldCents.set(position!, 152);
  return { state, position: position! };
}

test('S8: the record of a trade counts what was sold before its end', (t) => {
  const { state, position } = partlySold();
  t.like(closedTradeOf(state, position, NOON_MS + 5, 600, 'yes'), {
    contracts: 10,
    costCents: 400,
    proceedsCents: 752,
    entryPriceCents: 40,
    openedAtMs: NOON_MS,
    closedAtMs: NOON_MS + 5,
  });
});

test('S8: the record of a trade says whether it was sold, settled or voided', (t) => {
  const { state, position } = partlySold();
  const ended = (outcome: 'yes' | 'no' | 'void' | 'scalar' | null) => {
    const { status, closeReason, ...record } = closedTradeOf(state, position, NOON_MS, 0, outcome);
    t.is(record.outcome, outcome);
    return [status, closeReason];
  };
  t.deepEqual(ended(null), ['closed', 'sold']);
  t.deepEqual(ended('yes'), ['settled', 'settled']);
  t.deepEqual(ended('no'), ['settled', 'settled']);
  t.deepEqual(ended('scalar'), ['settled', 'settled']);
  t.deepEqual(ended('void'), ['void', 'voided']);
});

test('T80, T20: the flags of an order say its routing and whether it has a limit', (t) => {
  const placed = (routing: 'venue_a' | 'best', limitPriceCents: number | null): Flags => {
    const terms = placeOrder({ routing, limitPriceCents });
    const placed = { side: 'yes', instrumentSide: 'yes', terms };
    return flagsOf(placed as unknown as OrderPlaced);
  };
  t.is(routingOf(placed('best', null)), 'best');
  t.is(routingOf(placed('venue_a', 40)), 'venue_a');
  t.true(hasLimit(placed('venue_a', 40)));
  t.false(hasLimit(placed('best', null)));
});

import test from 'ava';
import fc from 'fast-check';
import { bookDepth, takeLevels } from '../../../engine/rules/book-depth.ts';
import { topOfBook, type Want } from '../../../engine/rules/fill-model.ts';
import { observe } from '../../../engine/rules/observe.ts';
import { askOf, priceBook } from '../../../engine/rules/pricing.ts';
import { accountRow, CATALOG, NOON_MS, quoteTick } from '../fixtures.ts';
import { createMemoryEngine } from '../memory-engine.ts';

const level = (fromCents: number, toCents: number) =>
  fc.tuple(fc.integer({ min: fromCents, max: toCents }), fc.integer({ min: 1, max: 300 }));
const levels = (fromCents: number, toCents: number, sign: 1 | -1) =>
  fc
    .uniqueArray(level(fromCents, toCents), { selector: ([cents]) => cents, maxLength: 6 })
    .map((list) => list.sort(([a], [b]) => sign * (a - b)));
const book = fc.record({ yesBids: levels(1, 49, -1), yesAsks: levels(50, 99, 1) });
const want: fc.Arbitrary<Want> = fc.record({
  account: fc.integer({ min: 0, max: 2 }).map(accountRow),
  side: fc.constantFrom('yes', 'no'),
  upToCents: fc.integer({ min: 1, max: 99 }),
  contracts: fc.integer({ min: 1, max: 1000 }),
});

for (const model of [topOfBook, bookDepth]) {
  test(`engine/rules/fill-model.ts: what every fill model promises, ${model.name}`, (t) => {
    const played = fc.property(book, fc.array(want, { maxLength: 8 }), (depth, wants) => {
      const config = { quoteMaxAgeMs: 15_000, routingBandCents: 10, fillModel: model.name };
      const engine = createMemoryEngine(config);
      engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
      const [yesBidCents, yesBidContracts] = depth.yesBids[0] ?? [0, 0];
      const [yesAskCents, yesAskContracts] = depth.yesAsks[0] ?? [0, 0];
      const top = { yesBidCents, yesBidContracts, yesAskCents, yesAskContracts };
      const state = engine.state();
      observe(state, quoteTick({ ...top, depth }), []);
      const asked = { market: state.markets[0]!, routed: null };
      const price = priceBook(state, asked, NOON_MS);
      for (const one of wants) {
        const before = JSON.stringify(state.markets[0]!.quote);
        const fill = model.fill(state, asked, price, one, NOON_MS);
        t.is(JSON.stringify(state.markets[0]!.quote), before, 'it changes nothing');
        if (fill === null) continue;
        t.true(fill.contracts > 0 && fill.contracts <= one.contracts, 'no more than wanted');
        t.true(fill.askCents >= askOf(price, one.side)!.priceCents, 'no better than the top');
        t.true(fill.askCents <= one.upToCents, 'nothing above the limit');
        if (fill.taken !== null) takeLevels(fill.taken);
      }
    });
    t.notThrows(() => fc.assert(played, { numRuns: 200 }));
  });
}

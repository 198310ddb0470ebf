import test from 'ava';
import fc from 'fast-check';
import { FILL_MODELS, type FillModelName } from '../../../engine/base/units.ts';
import { FactBuffer } from '../../../engine/format/facts.ts';
import { JsonWriter } from '../../../engine/format/json-writer.ts';
import { applyTick } from '../../../engine/rules/apply-tick.ts';
import type { FillModel, Want } from '../../../engine/rules/fill-model.ts';
import type { Depth, Tick } from '../../../engine/rules/messages.ts';
import { askOf, priceBook } from '../../../engine/rules/pricing.ts';
import { execute } from '../../../engine/shard/core/requests.ts';
import { shareOf } from '../../model/seeds.ts';
import { accountRow, CATALOG, NOON_MS, placeOrder, quoteTick } from '../fixtures.ts';
import { createMemoryEngine } from '../memory-engine.ts';

const level = (fromCents: number, toCents: number) =>
  fc.tuple(fc.integer({ min: fromCents, max: toCents }), fc.integer({ min: 1, max: 300 }));
const levels = (fromCents: number, toCents: number, sign: 1 | -1) =>
  fc
    .uniqueArray(level(fromCents, toCents), { selector: ([cents]) => cents, maxLength: 6 })
    .map((list) => list.sort(([a], [b]) => sign * (a - b)));
const book = fc.record({ yesBids: levels(1, 49, -1), yesAsks: levels(50, 99, 1) });
const want: fc.Arbitrary<Want> = fc.record({
  taker: fc.integer({ min: 0, max: 2 }).map(accountRow),
  side: fc.constantFrom('yes', 'no'),
  upToCents: fc.integer({ min: 1, max: 99 }),
  contracts: fc.integer({ min: 1, max: 1000 }),
  model: fc.constantFrom(...FILL_MODELS),
});

/** A shard's model, and a market whose quote it has seen. */
function modelOf(fillModel: FillModelName, depth: Depth) {
  const config = { quoteMaxAgeMs: 15_000, routingBandCents: 10, fillModel };
  const engine = createMemoryEngine(config);
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  const state = engine.state();
  const [yesBidCents, yesBidContracts] = depth.yesBids[0] ?? [0, 0];
  const [yesAskCents, yesAskContracts] = depth.yesAsks[0] ?? [0, 0];
  const top = { yesBidCents, yesBidContracts, yesAskCents, yesAskContracts };
  applyTick(state, quoteTick({ ...top, depth }), new FactBuffer());
  const asked = { market: state.markets[0]!, routed: null };
  const price = priceBook(state, asked, NOON_MS);
  const ask = (one: Want) => state.fillModel.orderArrives(state, asked, price, one, NOON_MS);
  return { state, model: state.fillModel, price, ask };
}

for (const name of FILL_MODELS) {
  test(`engine/rules/fill-model.ts: what every fill model promises, ${name}`, (t) => {
    const played = fc.property(book, fc.array(want, { maxLength: 8 }), (depth, wants) => {
      const { model, price, ask } = modelOf(name, depth);
      t.is(model.name, name);
      for (const one of wants) {
        const fill = ask(one);
        t.deepEqual(ask(one), fill, 'asking changes nothing');
        if (fill === null) continue;
        t.true(fill.contracts > 0 && fill.contracts <= one.contracts, 'no more than wanted');
        t.true(fill.askCents >= askOf(price, one.side)!.priceCents, 'no better than the top');
        t.true(fill.askCents <= one.upToCents, 'nothing above the limit');
        if (fill.consumption !== null) model.consume(fill.consumption, NOON_MS);
        const next = ask(one);
        if (model.sharesSizes)
          t.true((next?.askCents ?? 100) >= fill.askCents, 'the best go first');
        else t.deepEqual(next, fill, 'a fill leaves as much for the next');
      }
    });
    t.notThrows(() => fc.assert(played, { numRuns: shareOf(200) }));
  });
}

test('T65, T74: each shard has a model of its own, which forgets with it what was consumed', (t) => {
  const depth: Depth = { yesBids: [], yesAsks: [[50, 10]] };
  const of = { taker: accountRow(0), side: 'yes', upToCents: 99 } as const;
  const one: Want = { ...of, contracts: 10, model: 'book_depth' };
  const first = modelOf('book_depth', depth);
  first.model.consume(first.ask(one)!.consumption!, NOON_MS);
  t.is(first.ask(one), null, 'all of it is consumed');
  t.is(modelOf('book_depth', depth).ask(one)?.contracts, 10);
});

test('T65: no more of a level is consumed than it shows', (t) => {
  const { model, ask } = modelOf('book_depth', { yesBids: [], yesAsks: [[50, 10]] });
  const { consumption } = ask({
    taker: accountRow(0),
    side: 'yes',
    upToCents: 99,
    contracts: 10,
    model: 'book_depth',
  })!;
  t.throws(() => model.consume({ ...consumption!, contracts: 11 }, NOON_MS), {
    message: 'invariant: a fill consumed more than is displayed',
  });
});

test('engine/rules/fill-model.ts: a model sees quotes, orders and what they consume', (t) => {
  const scenario = modelOf('book_depth', { yesBids: [], yesAsks: [[50, 10]] });
  const { state, model } = scenario;
  const seen: string[] = [];
  const recorder: FillModel = {
    ...{ name: model.name, sharesSizes: model.sharesSizes, queues: model.queues },
    followBooks: (markets) => model.followBooks(markets),
    noLiquidity: (name) => model.noLiquidity(name),
    quoteSeen(tick) {
      seen.push(`quote ${tick.yesAskCents}`);
      model.quoteSeen(tick);
    },
    orderArrives(...asked) {
      seen.push(`order of ${asked[3].contracts}`);
      return model.orderArrives(...asked);
    },
    modelOf: () => model.name,
    modelOfPlaced: () => model.name,
    displayed: (market) => model.displayed(market),
    consume(consumption, nowMs) {
      seen.push(`consumed ${consumption.contracts}`);
      return model.consume(consumption, nowMs);
    },
    forget: () => {},
    timeWasSet: () => model.timeWasSet(),
  };
  Object.assign(state, { fillModel: recorder });
  const play = (tick: Tick) => {
    applyTick(state, tick, new FactBuffer());
    return seen.splice(0);
  };
  const limit = { limitPriceCents: 51, timeInForce: 'gtc', contracts: 15 } as const;
  execute(state, placeOrder(limit), new FactBuffer(), new JsonWriter());
  t.deepEqual(seen.splice(0), ['order of 15', 'consumed 10'], 'an order arrives and rests');
  const ask = { yesBidCents: 0, yesBidContracts: 0, yesAskCents: 51, yesAskContracts: 3 };
  t.deepEqual(play(quoteTick(ask)), ['quote 51', 'order of 5', 'consumed 3']);
});

test('T60: a fill model that nobody knows is refused, not taken for another', (t) => {
  for (const fillModel of ['top', 'constructor', '']) {
    const config = { quoteMaxAgeMs: 15_000, routingBandCents: 10, fillModel: fillModel as never };
    t.throws(() => createMemoryEngine(config), {
      message: `fillModel must be one of top_of_book, book_depth, queue, not ${fillModel}`,
    });
  }
});

/** What an order keeps of its account's realism, and which model it has. */
import test from 'ava';
import { type Liquidity, NO_ROW, PLAIN } from '../../../engine/base/units.ts';
import { remainingOf } from '../../../engine/rules/partial-fills.ts';
import { placedUnder } from '../../../engine/rules/placed-under.ts';
import { PRESETS, type Realism } from '../../../engine/rules/realism.ts';
import { CATALOG, NOON_MS, placeOrder, quoteTick, uuidOf } from '../fixtures.ts';
import { createMemoryEngine } from '../memory-engine.ts';

test('T158: a drawn latency is within its range, even, and the same for one order', (t) => {
  const realism: Realism = { ...PRESETS.simple, latencyMs: { min: 100, max: 104 } };
  const drawn = Array.from({ length: 5000 }, (_, number) => {
    return placedUnder(realism, uuidOf(number)).latencyMs;
  });
  const counts = [100, 101, 102, 103, 104].map((ms) => drawn.filter((each) => each === ms).length);
  t.is(
    counts.reduce((sum, count) => sum + count),
    5000,
  );
  for (const count of counts) t.true(count > 850 && count < 1150, String(count));
  t.is(placedUnder(realism, uuidOf(7)).latencyMs, drawn[7]!);
  t.is(placedUnder(null, uuidOf(7)), PLAIN);
});

test('T159: only the whole preset realistic is realistic', (t) => {
  const of = (over: Partial<Realism>) => {
    return placedUnder({ ...PRESETS.realistic, ...over }, uuidOf(1)).realistic;
  };
  t.true(of({}));
  t.false(of({ model: 'book_depth' }));
  t.false(of({ latencyMs: { min: 150, max: 151 } }));
  t.false(of({ fees: 'none' }));
  t.false(of({ liquidity: 'account' }));
  t.false(placedUnder(PRESETS.simple, uuidOf(1)).realistic);
});

test('T158, T60: orders of one server have the models of their accounts', (t) => {
  const engine = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10 });
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  const switches = { kind: 'switches', atMs: NOON_MS, venueData: true, selfReset: false } as const;
  engine.command(switches);
  engine.tick(quoteTick({ market: 0, yesAskCents: 43, yesAskContracts: 10 }));
  engine.command({ ...switches, followsBooks: true });
  let placed = 0;
  const ask = (model: Realism['model'] | null, contracts: number) => {
    const realism = model === null ? null : { ...PRESETS.simple, model };
    placed++;
    const ids = { orderId: uuidOf(100 + placed), idempotencyKey: `key-${placed}` };
    const reply = engine.command(placeOrder({ ...ids, contracts, realism }));
    return reply.ok ? JSON.parse(reply.body).trade.fillModel : reply.code;
  };
  t.is(ask(null, 100), 'top_of_book');
  t.is(ask('server', 100), 'top_of_book');
  t.is(ask('top_of_book', 100), 'top_of_book');
  t.is(ask('book_depth', 11), 'no_liquidity', 'the quote from before the choice counts');
  t.is(ask('book_depth', 6), 'book_depth');
  t.is(ask('book_depth', 5), 'no_liquidity', 'four are left');
  t.is(ask('queue', 4), 'book_depth', 'nobody tells its levels');
  t.is(ask(null, 100), 'top_of_book');
});

test('T164: under liquidity market two accounts do not take the same contracts', (t) => {
  const config = { quoteMaxAgeMs: 15_000, routingBandCents: 10, fillModel: 'book_depth' } as const;
  const engine = createMemoryEngine(config);
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  const show = (yesAskContracts: number) => {
    engine.tick(quoteTick({ market: 0, yesAskCents: 43, yesAskContracts }));
  };
  let placed = 0;
  const ask = (account: number, contracts: number, liquidity: Liquidity = 'market') => {
    placed++;
    const ids = { orderId: uuidOf(100 + placed), idempotencyKey: `key-${placed}` };
    const realism = { ...PRESETS.simple, liquidity };
    const of = { account: uuidOf(account), contracts, realism };
    const reply = engine.command(placeOrder({ ...ids, ...of }));
    return reply.ok ? 'filled' : reply.code;
  };
  show(100);
  t.is(ask(1, 60), 'filled');
  t.is(ask(2, 41), 'no_liquidity', 'forty are left');
  t.is(ask(2, 40), 'filled');
  t.is(ask(3, 1), 'no_liquidity');
  t.is(ask(1, 100, 'account'), 'filled', 'another choice takes its own');
  t.is(ask(2, 100, 'account'), 'filled');
  show(100);
  t.is(ask(3, 1), 'no_liquidity', 'the same size again is no new size');
  show(30);
  t.is(ask(3, 30), 'filled');
});

test('T164, T152: one print fills the resting orders of such accounts once', (t) => {
  const config = { quoteMaxAgeMs: 15_000, routingBandCents: 10, fillModel: 'queue' } as const;
  const engine = createMemoryEngine(config);
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  engine.tick(quoteTick({ market: 0 }));
  const on = { atMs: NOON_MS, source: 0, market: 0 };
  engine.tick({ kind: 'levels', ...on, levels: { yes: [], no: [] }, repeats: false });
  const filled = (first: number, liquidity: Liquidity) => {
    for (const account of [first, first + 1]) {
      const ids = { orderId: uuidOf(200 + account), idempotencyKey: `key-${account}` };
      const realism = { ...PRESETS.simple, liquidity };
      const of = { account: uuidOf(account), contracts: 10, limitPriceCents: 3, realism };
      engine.command(placeOrder({ ...ids, ...of }));
    }
    const print = { kind: 'print', ...on, side: 'yes', price: 300, decrease: 0 } as const;
    engine.tick({ ...print, contracts: 1200 });
    const state = engine.state();
    return [first, first + 1].map((account) => {
      const row = state.orderIds.find(uuidOf(200 + account));
      return row === NO_ROW ? 10 : 10 - remainingOf(state, row);
    });
  };
  t.deepEqual(filled(1, 'account'), [10, 10]);
  t.deepEqual(filled(3, 'market'), [10, 2]);
});

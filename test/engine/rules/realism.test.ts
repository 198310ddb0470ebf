/** What an order keeps of its account's realism, and which model it has. */
import test from 'ava';
import { PLAIN } from '../../../engine/base/units.ts';
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

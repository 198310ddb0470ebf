/** What an order keeps of its account's realism, and which model it has. */
import test from 'ava';
import { type Liquidity, NO_ROW, PLAIN } from '../../../engine/base/units.ts';
import { liquidityMemory, MarketLiquidity } from '../../../engine/memory/market-liquidity.ts';
import type { PlaceOrder, Tick } from '../../../engine/rules/messages.ts';
import { remainingOf } from '../../../engine/rules/partial-fills.ts';
import { placedUnder } from '../../../engine/rules/placed-under.ts';
import { PRESETS, type Realism } from '../../../engine/rules/realism.ts';
import type { CoreConfig } from '../../../engine/rules/reference-data.ts';
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

const DEPTH = { quoteMaxAgeMs: 15_000, routingBandCents: 10, fillModel: 'book_depth' } as const;

/** Two shards of one server; `ask` places an order in one of them. */
function twoShards(config: CoreConfig = DEPTH) {
  const memory = liquidityMemory(2);
  const shards = [0, 1].map((shard) => {
    return createMemoryEngine(config, undefined, new MarketLiquidity(memory, shard));
  });
  for (const shard of shards) {
    shard.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
    shard.command({ kind: 'switches', atMs: NOON_MS, venueData: true, selfReset: false });
  }
  let placed = 0;
  const order = (contracts: number, over: Partial<PlaceOrder> = {}) => {
    placed++;
    const ids = { orderId: uuidOf(100 + placed), idempotencyKey: `key-${placed}` };
    const realism: Realism = { ...PRESETS.simple, liquidity: 'market' };
    return placeOrder({ ...ids, account: uuidOf(placed % 9), contracts, realism, ...over });
  };
  return {
    shards,
    order,
    tick: (tick: Tick) => {
      for (const shard of shards) shard.tick(tick);
    },
    ask(shard: 0 | 1, contracts: number, over: Partial<PlaceOrder> = {}) {
      const reply = shards[shard]!.command(order(contracts, over));
      return reply.ok ? JSON.parse(reply.body).status : reply.code;
    },
  };
}

const FORTY = { market: 0, yesAskCents: 43, yesAskContracts: 100 } as const;

test('T230, T231: accounts in two shards do not take the same contracts', (t) => {
  const { shards, ask, order, tick } = twoShards();
  tick(quoteTick(FORTY));
  t.is(ask(0, 60), 'executed');
  t.is(ask(1, 41), 'no_liquidity', 'forty are left');
  const preview = { kind: 'preview', atMs: NOON_MS, order: order(40) } as const;
  const previewed = shards[1]!.query({ ...preview, organizationSlug: null } as never);
  t.is(JSON.parse((previewed as { body: string }).body).would, 'execute');
  t.is(ask(1, 40), 'executed', 'a preview has taken nothing');
  t.is(ask(0, 1), 'no_liquidity');
  for (const shard of shards) t.deepEqual(shard.conservation(), []);
});

test('T232: also a shard that is late sees that a level went away and came back', (t) => {
  const { shards, ask } = twoShards();
  shards[0]!.tick(quoteTick(FORTY));
  t.is(ask(0, 100), 'executed');
  for (const over of [{}, { yesAskCents: 44, atMs: NOON_MS + 10 }, { atMs: NOON_MS + 20 }]) {
    shards[1]!.tick(quoteTick({ ...FORTY, ...over }));
  }
  t.is(ask(1, 100), 'executed');
});

test('T231: an order that another shard was faster than is decided again', (t) => {
  const { shards, ask, tick } = twoShards();
  tick(quoteTick(FORTY));
  const { fillModel } = shards[0]!.state();
  const consume = fillModel.consume.bind(fillModel);
  let tries = 0;
  Object.assign(fillModel, {
    consume(...of: Parameters<typeof consume>) {
      // Between its decision and its taking, the other shard takes.
      if (++tries === 1) t.is(ask(1, 60), 'executed');
      return consume(...of);
    },
  });
  t.is(ask(0, 100), 'no_liquidity');
  t.is(tries, 1);
  const limit = { limitPriceCents: 43, timeInForce: 'ioc' } as const;
  t.is(ask(0, 100, limit), 'executed');
  const [row] = [...shards[0]!.state().taken.all()];
  t.like(row, { market: 0, side: 'yes', askCents: 43, contracts: 40, shown: 100 });
});

test('T231, T160: orders that meet the book later, or rest, share sizes over shards, too', (t) => {
  const { shards, ask, tick } = twoShards();
  tick(quoteTick({ ...FORTY, yesAskContracts: 5 }));
  const late: Realism = { ...PRESETS.simple, liquidity: 'market', latencyMs: { min: 9, max: 9 } };
  t.is(ask(0, 80, { realism: late }), 'resting');
  t.is(ask(1, 50, { limitPriceCents: 42, timeInForce: 'gtc' }), 'resting');
  tick(quoteTick({ ...FORTY, yesAskCents: 42, atMs: NOON_MS + 5 }));
  tick({ kind: 'time', atMs: NOON_MS + 20 });
  const fills = shards.map((shard) => {
    return [...shard.state().taken.all()].map(({ contracts }) => contracts);
  });
  t.deepEqual(fills, [[], [50]], 'eighty are not left');
  t.is(shards[0]!.endings().at(-1)?.reason, 'no_liquidity');
});

test('T234: a print fills resting orders of two shards once', (t) => {
  const { shards, ask, tick } = twoShards({ ...DEPTH, fillModel: 'queue' });
  tick(quoteTick({ market: 0 }));
  const on = { atMs: NOON_MS, source: 0, market: 0 };
  tick({ kind: 'levels', ...on, levels: { yes: [], no: [] }, repeats: false });
  const limit = { limitPriceCents: 3, timeInForce: 'gtc' } as const;
  for (const shard of [0, 1] as const) t.is(ask(shard, 10, limit), 'resting');
  const print = { kind: 'print', ...on, side: 'yes', price: 300, decrease: 0 } as const;
  tick({ ...print, contracts: 1200 });
  const left = shards.map((shard) => {
    const state = shard.state();
    return [...state.orders.rows()].map((row) => remainingOf(state, row));
  });
  t.deepEqual(left, [[], [8]]);
});

test('T233: the facts of a display lead to what is taken of it, after a start, too', (t) => {
  const { shards, ask, tick } = twoShards();
  tick(quoteTick(FORTY));
  ask(0, 60);
  ask(1, 15);
  for (const shard of shards) shard.crash();
  const facts = shards.map((shard) => [...shard.state().taken.all()]);
  const memory = liquidityMemory(2);
  const later = facts.map((kept, shard) => {
    const liquidity = new MarketLiquidity(memory, shard);
    const engine = createMemoryEngine(DEPTH, undefined, liquidity);
    engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
    liquidity.rejoin(kept);
    return engine;
  });
  const ofLater = (contracts: number, nth: number) => {
    const ids = { orderId: uuidOf(300 + nth), idempotencyKey: `later-${nth}` };
    const realism: Realism = { ...PRESETS.simple, liquidity: 'market' };
    const reply = later[nth % 2]!.command(placeOrder({ ...ids, contracts, realism }));
    return reply.ok ? 'executed' : reply.code;
  };
  for (const engine of later) engine.tick(quoteTick({ ...FORTY, atMs: NOON_MS + 60_000 }));
  t.is(ofLater(26, 0), 'no_liquidity', 'the same size is the same display: 25 are left');
  t.is(ofLater(25, 1), 'executed');
  const other = { ...FORTY, yesAskContracts: 99, atMs: NOON_MS + 60_001 };
  for (const engine of later) engine.tick(quoteTick(other));
  t.is(ofLater(99, 2), 'executed', 'another size is a new one');
});

import test from 'ava';
import { BLANK_ORDER, type PlaceOrder, type Reply } from '../../../engine/rules/messages.ts';
import type { PreviewReply } from '../../../engine/shard/core/views/preview.ts';
import {
  ALICE,
  BOB,
  HOME,
  OVER,
  type Scenario,
  scenarioTest,
  WIN,
  WIN_B,
} from '../../model/scenario.ts';
import { CATALOG, NOON_MS, placeOrder, quoteTick, uuidOf } from '../fixtures.ts';
import { createMemoryEngine } from '../memory-engine.ts';

const KEY = '019ca8d0-0000-7000-8000-0000000000ee';

function orderOf(scenario: Scenario, over: Partial<PlaceOrder>): PlaceOrder {
  return {
    ...BLANK_ORDER,
    atMs: scenario.nowMs,
    account: ALICE,
    orderId: KEY,
    idempotencyKey: '',
    instrumentId: HOME,
    side: 'yes',
    contracts: 10,
    ...over,
  };
}

function preview(scenario: Scenario, over: Partial<PlaceOrder> = {}): PreviewReply {
  const order = orderOf(scenario, over);
  return scenario.ask({ kind: 'preview', order }).body as unknown as PreviewReply;
}

const ASKED = { instrumentId: null, side: null, contracts: null } as const;
const limit = (limitPriceCents: number) => ({ limitPriceCents, timeInForce: 'gtc' }) as const;

scenarioTest('T133: a preview says what placing would do', (t, create) => {
  const scenario = create();
  scenario.quote(WIN, 40, 43);
  const fill = { priceCents: 43, contracts: 10, venue: 'venue_a' as const };
  const of = { ticker: 'WIN', quoteAgeMs: 0, venueData: true, latencyMs: null };
  const none = { code: null, fill: null, costCents: 0, holdCents: 0, feeCents: null, ...of };
  t.deepEqual(preview(scenario), { ...none, would: 'execute', fill, costCents: 430 });
  t.deepEqual(preview(scenario, limit(41)), { ...none, would: 'rest', holdCents: 410 });
  const ioc = { ...limit(41), timeInForce: 'ioc' as const };
  t.deepEqual(preview(scenario, ioc), { ...none, would: 'cancel' });
  const capped = { boundPriceCents: 42 };
  t.deepEqual(preview(scenario, capped), { ...none, would: 'refuse', code: 'price_moved' });
  const { trade } = scenario.buy(10).body as { trade: { tradeId: string } };
  const sell = { ...ASKED, action: 'sell', tradeId: trade.tradeId } as const;
  const sold = { priceCents: 40, contracts: 10, venue: 'venue_a' as const };
  t.deepEqual(preview(scenario, sell), { ...none, would: 'execute', fill: sold });
  t.deepEqual(preview(scenario, { ...sell, ...limit(90) }), { ...none, would: 'rest' });
});

scenarioTest('T133, T198: what closes holds nothing, whether it trades or rests', (t, create) => {
  const scenario = create({ fillModel: 'book_depth' });
  scenario.book(WIN, [[40, 4]], [[43, 50]]);
  scenario.buy(10);
  const order = { side: 'no', netting: 'net', contracts: 15, ...limit(60) } as const;
  // Four of ten close at 60, six wait to close, and five to open.
  t.like(preview(scenario, order), { would: 'rest', holdCents: 300, costCents: 0 });
  t.like(scenario.limitBuy(60, 15, order).body, { status: 'resting' });
  t.is(scenario.account().heldDollars, 3);
});

scenarioTest('T133: a part that trades and a part that rests', (t, create) => {
  const scenario = create({ fillModel: 'book_depth' });
  scenario.book(WIN, [[40, 5]], [[43, 4]]);
  const shown = preview(scenario, limit(45));
  t.like(shown, { would: 'rest', costCents: 4 * 43, holdCents: 6 * 45 });
  t.deepEqual(shown.fill, { priceCents: 43, contracts: 4, venue: 'venue_a' });
  const ioc = { ...limit(45), timeInForce: 'ioc' } as const;
  t.like(preview(scenario, ioc), { would: 'execute', costCents: 4 * 43, holdCents: 0 });
  t.like(preview(scenario), { would: 'refuse', code: 'no_liquidity' });
});

scenarioTest('T133: the sell that it would replace is not what it does', (t, create) => {
  const scenario = create();
  scenario.quote(WIN, 40, 43);
  const { trade } = scenario.buy(10).body as { trade: { tradeId: string } };
  scenario.sell(trade.tradeId, limit(90));
  const sell = { ...ASKED, action: 'sell', tradeId: trade.tradeId } as const;
  const fill = { priceCents: 40, contracts: 10, venue: 'venue_a' as const };
  t.like(preview(scenario, sell), { would: 'execute', code: null, fill });
  t.like(preview(scenario, { ...sell, ...limit(90) }), { would: 'refuse', code: 'already_closed' });
});

scenarioTest('T133: why an order would be refused, of its time and its caller too', (t, create) => {
  const scenario = create();
  scenario.quote(WIN, 40, 43);
  scenario.nowMs += 5000;
  t.is(preview(scenario).quoteAgeMs, 5000);
  const code = (over: Partial<PlaceOrder>) => preview(scenario, over).code;
  t.is(code({ mayTrade: false }), 'trading_off');
  t.is(code({ mayOpen: false }), 'membership_required');
  t.is(code({ rejectIfLaterThanMs: scenario.nowMs - 1 }), 'too_late');
  t.is(code({ ...limit(41), expiresAtMs: scenario.nowMs }), 'invalid_request');
  t.is(code({ ...limit(41), expiresAtMs: scenario.nowMs + 1 }), null);
  t.is(code({ contracts: 1_000_000 }), 'insufficient_balance');
  t.like(preview(scenario, { instrumentId: OVER }), {
    code: 'no_liquidity',
    ticker: 'TOTAL',
    quoteAgeMs: null,
    latencyMs: null,
  });
  t.like(preview(scenario, { instrumentId: 'ins_ZZZZZZZZZZZZ' }), {
    code: 'instrument_not_found',
    ticker: null,
  });
  scenario.nowMs += 11_000;
  t.like(preview(scenario), { code: 'no_liquidity', quoteAgeMs: 16_000 });
  t.is(scenario.account() as unknown, null);
});

scenarioTest(
  'V10: while venue data is off a preview is the same at every price, and at none',
  (t, create) => {
    const scenario = create({ venueData: false });
    const orders: Partial<PlaceOrder>[] = [
      {},
      { boundPriceCents: 42 },
      { contracts: 9_000_000 },
      { contracts: 10_000_001 },
      limit(41),
      { ...limit(90), contracts: 111_112 },
      { ...limit(90), contracts: 111_111, timeInForce: 'fok' },
      { routing: 'best' },
      { mayOpen: false },
      { instrumentId: 'ins_ZZZZZZZZZZZZ' },
    ];
    const shown = () => orders.map((order) => preview(scenario, order));
    const first = shown();
    const of = { ticker: null, quoteAgeMs: null, venueData: false, latencyMs: null };
    const none = {
      would: null,
      code: null,
      fill: null,
      costCents: 0,
      holdCents: 0,
      feeCents: null,
      ...of,
    };
    t.deepEqual(first, [
      none,
      none,
      none,
      { ...none, code: 'insufficient_balance' },
      { ...none, holdCents: 410 },
      { ...none, code: 'insufficient_balance' },
      none,
      none,
      { ...none, code: 'membership_required' },
      { ...none, code: 'instrument_not_found' },
    ]);
    for (const [bid, ask] of [
      [1, 2],
      [40, 43],
      [97, 99],
    ] as const) {
      scenario.quote(WIN, bid, ask);
      t.deepEqual(shown(), first, `${bid} ${ask}`);
    }
    const { engine, nowMs: atMs } = scenario;
    scenario.limitBuy(41, 1);
    engine.command({ kind: 'adjust', atMs, account: ALICE, amountCents: 41 - 10_000_000 });
    t.is(scenario.account().balanceDollars, 0);
    const ioc = { ...limit(90), timeInForce: 'ioc' } as const;
    t.deepEqual(preview(scenario, ioc), none, 'it may trade nothing, so it needs nothing');
  },
);

scenarioTest('T133: routing shows the venue of the price', (t, create) => {
  const scenario = create();
  scenario.quote(WIN, 40, 43);
  scenario.quote(WIN_B, 58, 60);
  t.like(preview(scenario, { routing: 'best' }).fill, { priceCents: 42, venue: 'venue_b' });
});

test('T133: a preview leaves no order, no key, no count and no fact', (t) => {
  const engine = createMemoryEngine({
    quoteMaxAgeMs: 15_000,
    routingBandCents: 10,
    fillModel: 'book_depth',
  });
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  engine.command({ kind: 'switches', atMs: NOON_MS, venueData: true, selfReset: false });
  engine.tick(quoteTick());
  const counting = {
    keyId: BOB,
    keyLimits: { newPerMinute: 1, newPerDay: 1, closingPerMinute: 1 },
    accountLimits: { newPerMinute: 1, newPerDay: 1, closingPerMinute: 1 },
    elsewhere: null,
  };
  const order = placeOrder({ contracts: 100, counting });
  const ask = () => engine.query({ kind: 'preview', atMs: NOON_MS + 1, order }) as Reply;
  const shown = () => JSON.parse((ask() as Extract<Reply, { ok: true }>).body);
  const [records, digest] = [engine.records().length, engine.digest()];
  for (let n = 0; n < 3; n++) t.like(shown(), { would: 'execute', costCents: 4300 });
  t.is(engine.records().length, records);
  t.deepEqual(engine.digest(), digest);
  t.is(engine.state().nowMs, NOON_MS);
  t.true(engine.command(order).ok, 'its sizes, its key and its count are free');
  t.like(shown(), { would: 'refuse', code: 'rate_limited' });
  const later = { ...order, counting: null };
  const again = engine.query({ kind: 'preview', atMs: NOON_MS, order: later }) as { body: string };
  t.like(JSON.parse(again.body), { would: 'refuse', code: 'no_liquidity' });
  t.is(order.account, uuidOf(1));
});

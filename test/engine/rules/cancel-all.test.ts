import test from 'ava';
import { CANCEL_ALL_MAX } from '../../../engine/rules/decide.ts';
import type { CancelAll, Reply } from '../../../engine/rules/messages.ts';
import { ACCOUNT_LIMITS, KEY_LIMITS } from '../../../engine/rules/trade-limits.ts';
import { ALICE, AWAY, BOB, HOME, type Scenario, scenarioTest, WIN } from '../../model/scenario.ts';
import { CATALOG, NOON_MS, placeOrder, uuidOf } from '../fixtures.ts';
import { createMemoryEngine } from '../memory-engine.ts';

type Canceled = { code: string | null; canceled: string[]; count: number };

function read(reply: Reply): Canceled {
  if (!reply.ok) return { code: reply.code, canceled: [], count: 0 };
  return { code: null, ...(JSON.parse(reply.body) as Omit<Canceled, 'code'>) };
}

function cancelAll({ engine, nowMs }: Scenario, over: Partial<CancelAll> = {}): Canceled {
  const command = { kind: 'cancel_all', atMs: nowMs, account: ALICE, instrumentId: null } as const;
  return read(engine.command({ ...command, counting: null, ...over }));
}

const idOf = ({ body }: { body: Record<string, unknown> }) =>
  (body.order as { orderId: string }).orderId;

scenarioTest('T130: all resting orders end at once, the first placed first', (t, create) => {
  const scenario = create();
  scenario.quote(WIN, 40, 43);
  // By price, the second would come first.
  const placed = [
    scenario.limitBuy(10, 5),
    scenario.limitBuy(30, 5, { instrumentId: AWAY }),
    scenario.limitBuy(20, 5, { ticker: 'WIN' }),
  ].map(idOf);
  const bobs = scenario.limitBuy(10, 5, { account: BOB });
  const bought = scenario.buy(1).body.trade as { tradeId: string };
  const sell = scenario.sell(bought.tradeId, { timeInForce: 'gtc', limitPriceCents: 90 });
  const before = scenario.engine.endings().length;
  const answer = cancelAll(scenario);
  t.deepEqual(answer.canceled, [...placed, idOf(sell)]);
  t.is(answer.count, 4);
  const ended = scenario.engine.endings().slice(before);
  t.deepEqual(
    ended.map(({ orderId }) => orderId),
    answer.canceled,
  );
  t.like(scenario.account(), { restingOrders: 0, heldDollars: 0, openPositions: 1 });
  t.like(scenario.order(placed[0]!), { status: 'canceled', cancelReason: 'canceled_by_owner' });
  t.like(scenario.account(BOB), { restingOrders: 1 });
  t.is(scenario.cancel(idOf(bobs), BOB).code, null);
  t.deepEqual(cancelAll(scenario), { code: null, canceled: [], count: 0, mode: 'paper' } as never);
});

scenarioTest('T130: those on one instrument end, and no others', (t, create) => {
  const scenario = create();
  scenario.quote(WIN, 40, 43);
  const home = scenario.limitBuy(10, 5);
  const away = scenario.limitBuy(10, 5, { instrumentId: AWAY });
  t.deepEqual(cancelAll(scenario, { instrumentId: AWAY }).canceled, [idOf(away)]);
  t.like(scenario.order(idOf(home)), { status: 'resting' });
  const unknown = cancelAll(scenario, { instrumentId: 'ins_ZZZZZZZZZZZZ' });
  t.is(unknown.code, 'instrument_not_found');
  t.deepEqual(cancelAll(scenario, { instrumentId: HOME }).canceled, [idOf(home)]);
});

scenarioTest('T130: it counts as one cancel, also where nothing rests', (t, create) => {
  const scenario = create();
  const counting = {
    keyId: BOB,
    keyLimits: { ...KEY_LIMITS, closingPerMinute: 2 },
    accountLimits: ACCOUNT_LIMITS,
    elsewhere: null,
  };
  for (let n = 0; n < 3; n++) scenario.limitBuy(10, 5);
  t.is(cancelAll(scenario, { counting }).count, 3);
  t.is(cancelAll(scenario, { counting }).count, 0);
  t.is(cancelAll(scenario, { counting, instrumentId: 'ins_ZZZZZZZZZZZZ' }).code, 'rate_limited');
});

test('T131: one command ends a bounded number, the newest; the next ones the rest', (t) => {
  const engine = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10 });
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  const ids: string[] = [];
  for (let n = 0; n < CANCEL_ALL_MAX + 2; n++) {
    const order = placeOrder({ limitPriceCents: 1, timeInForce: 'gtc', contracts: 1 });
    t.true(engine.command(order).ok);
    ids.push(order.orderId);
  }
  const command = { kind: 'cancel_all', atMs: NOON_MS, account: uuidOf(1) } as const;
  const once = () => read(engine.command({ ...command, instrumentId: null, counting: null }));
  const records = engine.records().length;
  t.deepEqual(once().canceled, ids.slice(2));
  t.is(engine.records().length, records + 1, 'one record of the log');
  t.deepEqual(once().canceled, ids.slice(0, 2));
  t.deepEqual(engine.conservation(), []);
  engine.crash();
  t.is(once().count, 0);
});

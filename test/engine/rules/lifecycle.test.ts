import test from 'ava';
import { BOB, createScene, HOUR_MS, type Scene, WIN } from '../../model/scenario.ts';

type Row = Record<string, unknown>;
const tradeOf = (reading: { body: Row }) => reading.body.trade as Row;
const orderOf = (reading: { body: Row }) => reading.body.order as Row;
const idOfOrder = (reading: { body: Row }) => orderOf(reading).orderId as string;
const balance = (scene: Scene) => scene.account().balanceDollars;

test('T91, T93: the same key answers the stored order, or 409 for another', (t) => {
  const scene = createScene();
  scene.quote(WIN, 41, 43);
  const key = { idempotencyKey: 'mine' };
  const first = scene.limitBuy(40, 10, key);
  scene.nowMs += 5000;
  const second = scene.limitBuy(40, 10, { ...key, placedVia: 'web', placedPrivate: true });
  t.deepEqual(second.body, {
    ...first.body,
    replayed: true,
    originalCreatedAt: '2026-03-01T12:00:00.000Z',
  });
  t.is(scene.limitBuy(40, 11, key).code, 'idempotency_key_reused');
  t.is(scene.limitBuy(40, 10, { ...key, routing: 'best' }).code, 'idempotency_key_reused');
  t.is(
    scene.limitBuy(40, 10, { ...key, account: BOB }).body.replayed,
    false,
    'keys are the account’s',
  );

  scene.quote(WIN, 37, 38);
  const executed = scene.limitBuy(40, 10, key);
  t.is(executed.body.status, 'executed');
  t.is(tradeOf(executed).costDollars, 3.8);
  t.is(scene.account().openPositions, 1);
});

test('T94: a refused order does not use its key up', (t) => {
  const scene = createScene();
  const key = { idempotencyKey: 'mine' };
  t.is(scene.buy(1, key).code, 'no_liquidity');
  scene.quote(WIN, 41, 43);
  t.is(scene.buy(2, key).body.replayed, false);
});

test('T45: an order expires before anything else happens then', (t) => {
  const scene = createScene();
  scene.quote(WIN, 41, 43);
  const expiresAtMs = scene.nowMs + 1000;
  const resting = scene.limitBuy(40, 10, { expiresAtMs, idempotencyKey: 'mine' });
  scene.nowMs += 999;
  scene.tick({ kind: 'time' });
  t.is(scene.order(idOfOrder(resting)).status, 'resting');
  scene.nowMs += 1;
  scene.quote(WIN, 37, 38);
  const expired = scene.order(idOfOrder(resting));
  t.is(expired.status, 'expired');
  t.is(expired.cancelReason, 'expired');
  t.is(balance(scene), 100_000);
  const replayed = scene.limitBuy(40, 10, { expiresAtMs, idempotencyKey: 'mine' });
  t.is(replayed.body.status, 'canceled');
  t.is(replayed.body.replayed, true);
});

test('T44: an expiry of 365 days is the last one', (t) => {
  const scene = createScene();
  const expiresAtMs = scene.nowMs + 365 * 24 * HOUR_MS;
  t.is(scene.limitBuy(40, 10, { expiresAtMs }).body.status, 'resting');
});

test('T110: a cancel gives the hold back, once, to its owner', (t) => {
  const scene = createScene();
  scene.quote(WIN, 41, 43);
  const order = idOfOrder(scene.limitBuy(40, 10));
  t.is(scene.cancel(order, BOB).code, 'order_not_found');
  const canceled = scene.cancel(order);
  t.is(orderOf(canceled).status, 'canceled');
  t.is(orderOf(canceled).cancelReason, 'canceled_by_owner');
  t.is(balance(scene), 100_000);
  t.is(scene.cancel(order).code, 'already_closed');
});

test('PlaceOrder: engine time never goes back', (t) => {
  const scene = createScene();
  scene.quote(WIN, 41, 43);
  scene.nowMs += 1000;
  scene.tick({ kind: 'time' });
  const expiresAtMs = scene.nowMs;
  scene.nowMs -= 500;
  t.is(scene.limitBuy(40, 10, { expiresAtMs }).code, 'invalid_request');
  t.is(orderOf(scene.limitBuy(40, 10)).createdAt, '2026-03-01T12:00:00.500Z', "its caller's time");
});

test('V6, trading off: new orders are refused, known ones answered, cancels go through', (t) => {
  const scene = createScene();
  scene.quote(WIN, 41, 43);
  const off = { mayTrade: false };
  const mine = { idempotencyKey: 'mine' };
  const rests = scene.limitBuy(40, 10, mine);
  t.is(scene.buy(1, off).code, 'trading_off');
  t.is(scene.buy(1, { ...off, mayOpen: false }).code, 'trading_off', 'before the plan');
  t.is(
    scene.limitBuy(40, 10, { ...off, expiresAtMs: 1 }).code,
    'invalid_request',
    'after the body',
  );
  t.is(scene.limitBuy(40, 10, { ...mine, ...off }).body.replayed, true);
  t.is(scene.limitBuy(40, 11, { ...mine, ...off }).code, 'idempotency_key_reused');
  const bought = scene.buy(1);
  t.is(scene.sell(tradeOf(bought).tradeId as string, off).code, 'trading_off');
  t.is(orderOf(scene.cancel(idOfOrder(rests))).status, 'canceled');
});

test('A38, membership_required: to open, not to sell nor to hear again', (t) => {
  const scene = createScene();
  scene.quote(WIN, 41, 43);
  t.is(scene.buy(1, { mayOpen: false }).code, 'membership_required');
  const bought = scene.buy(1, { idempotencyKey: 'mine' });
  const again = scene.buy(1, { idempotencyKey: 'mine', mayOpen: false });
  t.is(again.body.replayed, true, 'a replay opens nothing');
  const { tradeId } = bought.body.trade as { tradeId: string };
  t.is(scene.sell(tradeId, { mayOpen: false }).body.status, 'executed');
});

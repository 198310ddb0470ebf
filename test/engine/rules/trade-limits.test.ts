import test from 'ava';
import type { PlaceOrder, Reply } from '../../../engine/rules/messages.ts';
import { ACCOUNT_LIMITS, KEY_LIMITS } from '../../../engine/rules/trade-limits.ts';
import { CATALOG, NOON_MS, placeOrder, quoteTick, uuidOf } from '../fixtures.ts';
import { createMemoryEngine } from '../memory-engine.ts';

const counting = (key: number) => ({
  keyId: uuidOf(900 + key),
  keyLimits: KEY_LIMITS,
  accountLimits: ACCOUNT_LIMITS,
  elsewhere: null,
});

function tradingEngine() {
  const engine = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10 });
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  engine.tick(quoteTick());
  return engine;
}

const buy = (key: number, over: Partial<PlaceOrder> = {}) => {
  return placeOrder({ contracts: 1, counting: counting(key), ...over });
};
const codeOf = (reply: Reply) => (reply.ok ? 'ok' : reply.code);

test('L1, hard trade limits: a key has ten new orders a minute', (t) => {
  const engine = tradingEngine();
  for (let n = 0; n < 10; n++) t.is(codeOf(engine.command(buy(1))), 'ok');
  const refused = engine.command(buy(1));
  t.like(refused, { ok: false, code: 'rate_limited', retryAfterSeconds: 60 });
  t.regex(refused.ok ? '' : refused.message, /key .* 10 new orders a minute/);
  t.is(codeOf(engine.command(buy(2))), 'ok', 'another key of the account');
  t.is(codeOf(engine.command(buy(1, { atMs: NOON_MS + 59_999 }))), 'rate_limited');
  t.is(
    codeOf(engine.command(buy(1, { atMs: NOON_MS + 60_000, boundPriceCents: 1 }))),
    'no_liquidity',
  );
});

test('L1, hard trade limits: an account has twenty over all its keys', (t) => {
  const engine = tradingEngine();
  for (let n = 0; n < 20; n++) t.is(codeOf(engine.command(buy(n % 2))), 'ok');
  const refused = engine.command(buy(3));
  t.regex(refused.ok ? '' : refused.message, /account .* 20 new orders a minute/);
  t.is(codeOf(engine.command(buy(3, { account: uuidOf(2) }))), 'ok', 'another account');
});

test('L4: the key`s limits are named before the account`s, the day before the minute', (t) => {
  const messageOf = (reply: Reply) => (reply.ok ? '' : reply.message);
  const both = tradingEngine();
  for (let n = 0; n < 20; n++) both.command(buy(n % 2));
  t.regex(messageOf(both.command(buy(1))), /key .* 10 new orders a minute/);
  const engine = tradingEngine();
  const minute = (n: number) => NOON_MS + Math.floor(n / 10) * 60_000;
  for (let n = 0; n < 50; n++) engine.command(buy(1, { atMs: minute(n) }));
  t.regex(messageOf(engine.command(buy(1, { atMs: minute(49) }))), /key .* 50 new orders a day/);
});

test('L1, hard trade limits: a key has fifty new orders a day', (t) => {
  const engine = tradingEngine();
  const minute = (n: number) => NOON_MS + Math.floor(n / 10) * 60_000;
  for (let n = 0; n < 50; n++) engine.command(buy(1, { atMs: minute(n) }));
  const refused = engine.command(buy(1, { atMs: NOON_MS + 3_600_000 }));
  t.like(refused, { code: 'rate_limited', retryAfterSeconds: 11 * 3600 });
  const tomorrow = NOON_MS + 12 * 3_600_000;
  engine.tick(quoteTick({ atMs: tomorrow }));
  t.is(codeOf(engine.command(buy(1, { atMs: tomorrow }))), 'ok');
});

test('L1, hard trade limits: an account has a hundred new orders a day', (t) => {
  const engine = tradingEngine();
  const minute = (n: number) => NOON_MS + Math.floor(n / 20) * 60_000;
  for (let n = 0; n < 100; n++) {
    t.is(
      codeOf(engine.command(buy(n % 3, { atMs: minute(n), boundPriceCents: 1 }))),
      'price_moved',
    );
    engine.tick(quoteTick({ atMs: minute(n + 1) }));
  }
  const refused = engine.command(buy(9, { atMs: NOON_MS + 3_600_000 }));
  t.regex(refused.ok ? '' : refused.message, /account .* 100 new orders a day/);
});

test('L3: refusals count and replays do not', (t) => {
  const engine = tradingEngine();
  const first = buy(1);
  t.is(codeOf(engine.command(first)), 'ok');
  for (let n = 0; n < 20; n++) t.is(codeOf(engine.command(first)), 'ok', 'a replay');
  for (let n = 0; n < 9; n++) {
    t.is(codeOf(engine.command(buy(1, { boundPriceCents: 1 }))), 'price_moved');
  }
  t.is(codeOf(engine.command(buy(1))), 'rate_limited');
  t.is(codeOf(engine.command(first)), 'ok', 'a replay is answered over the limit too');
});

test('L3: membership_required counts as a placement', (t) => {
  const engine = tradingEngine();
  for (let n = 0; n < 10; n++) {
    t.is(codeOf(engine.command(buy(1, { mayOpen: false }))), 'membership_required');
  }
  t.is(codeOf(engine.command(buy(1, { mayOpen: false }))), 'rate_limited');
  t.is(codeOf(engine.command(buy(1))), 'rate_limited');
});

test('T102, L3: another order under a used key counts, and stays 409', (t) => {
  const engine = tradingEngine();
  const first = buy(1);
  t.is(codeOf(engine.command(first)), 'ok');
  const other = { ...first, contracts: 2 };
  for (let n = 0; n < 9; n++) t.is(codeOf(engine.command(other)), 'idempotency_key_reused');
  t.is(codeOf(engine.command(buy(1))), 'rate_limited', 'ten have been counted');
  t.is(codeOf(engine.command(other)), 'idempotency_key_reused', 'over the limit too');
  t.is(engine.state().tradeCounts.use(uuidOf(901), NOON_MS).newInDay, 10, 'and not counted there');
});

test('L3, trading off: what it refuses is not counted', (t) => {
  const engine = tradingEngine();
  for (let n = 0; n < 30; n++) {
    t.is(codeOf(engine.command(buy(1, { mayTrade: false }))), 'trading_off');
  }
  for (let n = 0; n < 10; n++) t.is(codeOf(engine.command(buy(1))), 'ok');
  t.is(codeOf(engine.command(buy(1))), 'rate_limited');
  t.is(codeOf(engine.command(buy(1, { mayTrade: false }))), 'trading_off', 'before the limits');
});

test('L7: what the key did elsewhere counts in its window alone', (t) => {
  const used = { newInMinute: 9, newInDay: 49, closingInMinute: 19 };
  const codes = (agoMs: number, over: Partial<PlaceOrder> = {}) => {
    const engine = tradingEngine();
    const elsewhere = { ...used, atMs: NOON_MS - agoMs };
    return [1, 2].map(() => {
      return codeOf(engine.command(buy(1, { ...over, counting: { ...counting(1), elsewhere } })));
    });
  };
  t.deepEqual(codes(0), ['ok', 'rate_limited']);
  t.deepEqual(codes(1), ['ok', 'rate_limited'], 'the minute before, of the same day');
  t.deepEqual(codes(12 * 3_600_000 + 1), ['ok', 'ok'], 'the day before');
  const sell = { action: 'sell', tradeId: uuidOf(5), side: null, contracts: null } as const;
  t.deepEqual(codes(0, sell), ['trade_not_found', 'rate_limited']);
  t.deepEqual(codes(1, sell), ['trade_not_found', 'trade_not_found'], 'the minute before');

  const engine = tradingEngine();
  const many = { atMs: NOON_MS, newInMinute: 1000, newInDay: 1000, closingInMinute: 1000 };
  const wide = { newPerMinute: 9999, newPerDay: 9999, closingPerMinute: 9999 };
  const order = buy(1, { counting: { ...counting(1), keyLimits: wide, elsewhere: many } });
  t.is(codeOf(engine.command(order)), 'ok', 'the account`s limits are the account`s');
});

test('L2, hard trade limits: sells and cancels have a limit of their own', (t) => {
  const engine = tradingEngine();
  const cancel = { kind: 'cancel', atMs: NOON_MS, account: uuidOf(1) } as const;
  for (let n = 0; n < 20; n++) {
    const reply = engine.command({ ...cancel, orderId: uuidOf(n), counting: counting(1) });
    t.is(codeOf(reply), 'order_not_found');
  }
  const sell = buy(1, { action: 'sell', tradeId: uuidOf(5), side: null, contracts: null });
  t.is(codeOf(engine.command(sell)), 'rate_limited');
  t.is(codeOf(engine.command(buy(1))), 'ok', 'new orders are counted apart');
});

test('L2, L13: the answer to a cancel says what is left after it', (t) => {
  const engine = tradingEngine();
  const cancel = { kind: 'cancel', atMs: NOON_MS, account: uuidOf(1), orderId: uuidOf(1) } as const;
  const ask = () => engine.command({ ...cancel, counting: counting(1) });
  const key = { keyPerMinute: 20, keyLeftInMinute: 19, keyPerDay: 0, keyLeftInDay: 0 };
  const ofAccount = { accountPerMinute: 40, accountLeftInMinute: 39 };
  const perDay = { accountPerDay: 0, accountLeftInDay: 0 };
  const all = { atMs: NOON_MS, closing: true, ...key, ...ofAccount, ...perDay };
  t.deepEqual(ask().limits, all, 'they have no limit of a day');
  t.like(ask().limits, { closing: true, keyLeftInMinute: 18, accountLeftInMinute: 38 });
});

test('L10: hard trade limits hold over a restart, from a checkpoint and from the log', (t) => {
  for (const checkpointAfter of [0, 5, 10]) {
    const engine = tradingEngine();
    for (let n = 0; n < 10; n++) {
      if (n === checkpointAfter) engine.checkpoint();
      engine.command(buy(1));
    }
    if (checkpointAfter === 10) engine.checkpoint();
    engine.crash();
    t.is(codeOf(engine.command(buy(1))), 'rate_limited', `${checkpointAfter} in the checkpoint`);
    t.is(codeOf(engine.command(buy(2))), 'ok', 'another key of the account');
    t.deepEqual(engine.conservation(), []);
  }
});

test('L5: the first trade of a day drops what was counted on the day before, also over a restart', (t) => {
  const engine = tradingEngine();
  for (let key = 0; key < 4; key++) engine.command(buy(key, { account: uuidOf(key) }));
  t.is(engine.state().tradeCounts.table.live, 8, 'keys and accounts');
  engine.checkpoint();
  const atMs = NOON_MS + 12 * 3_600_000;
  engine.tick(quoteTick({ atMs }));
  engine.command(buy(1, { atMs }));
  t.is(engine.state().tradeCounts.table.live, 2);
  engine.checkpoint();
  engine.crash();
  t.is(engine.state().tradeCounts.table.live, 2);
  t.deepEqual(engine.conservation(), []);
});

test('L6: Retry-After runs to the end of the window, rounded up to a second', (t) => {
  const engine = tradingEngine();
  const atMs = NOON_MS + 500;
  for (let n = 0; n < 10; n++) t.is(codeOf(engine.command(buy(1, { atMs }))), 'ok');
  t.like(engine.command(buy(1, { atMs })), { code: 'rate_limited', retryAfterSeconds: 60 });
  const lateMs = NOON_MS + 59_001;
  t.like(engine.command(buy(1, { atMs: lateMs })), { retryAfterSeconds: 1 });
});

test('C6: a clock that is right keeps the counts, one that is set back begins again', (t) => {
  const engine = tradingEngine();
  for (let n = 0; n < 10; n++) t.is(codeOf(engine.command(buy(1))), 'ok');
  const setTo = (toMs: number) => engine.command({ kind: 'clock', atMs: NOON_MS, toMs });
  t.true(setTo(NOON_MS).ok);
  t.is(codeOf(engine.command(buy(1))), 'rate_limited');
  t.true(setTo(NOON_MS - 1).ok);
  t.is(codeOf(engine.command(buy(1, { atMs: NOON_MS - 1 }))), 'ok');
});

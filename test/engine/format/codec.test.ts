/** Whatever a shard is asked arrives as it was asked. */
import test from 'ava';
import { type Message, messagesCodec } from '../../../engine/format/codec.ts';
import { rowOf } from '../../../engine/format/hop-tuples.ts';
import type { CancelOrder, TradeCounting } from '../../../engine/rules/messages.ts';
import { NOON_MS, placeOrder, quoteTick, uuidOf } from '../fixtures.ts';

const COUNTING: TradeCounting = {
  keyId: uuidOf(9),
  keyLimits: { newPerMinute: 1, newPerDay: 2, closingPerMinute: 3 },
  accountLimits: { newPerMinute: 40, newPerDay: 50_000, closingPerMinute: 2 ** 40 },
  elsewhere: { atMs: NOON_MS, newInMinute: 4, newInDay: 5, closingInMinute: 6 },
};
const CANCEL: CancelOrder = {
  kind: 'cancel',
  atMs: NOON_MS,
  account: uuidOf(1),
  orderId: uuidOf(2),
  counting: COUNTING,
};

test('orders, cancels, queries and ticks arrive in order, every field of them', (t) => {
  const messages: Message[] = [
    placeOrder({
      type: 'limit',
      ticker: 'T-1',
      instrumentId: null,
      limitPriceCents: 41,
      timeInForce: 'ioc',
      expiresAtMs: NOON_MS + 1,
      routing: 'best',
      statedProbPct: 60,
      placedVia: 'cli',
      placedPrivate: false,
      mayOpen: false,
      mayTrade: false,
      counting: COUNTING,
    }),
    quoteTick(),
    CANCEL,
    placeOrder({ action: 'sell', tradeId: uuidOf(3), boundPriceCents: 30 }),
    { kind: 'portfolio', atMs: NOON_MS, account: uuidOf(1), organizationSlug: 'ü' },
    { ...CANCEL, counting: null },
    { ...CANCEL, counting: { ...COUNTING, elsewhere: null } },
    { kind: 'adjust', atMs: NOON_MS, account: uuidOf(1), amountCents: -5 },
    placeOrder(),
  ];
  t.deepEqual(messagesCodec.unpack(messagesCodec.pack(messages)), messages);
});

test('each flag of an order arrives as its own, and not as another', (t) => {
  const flags = ['placedPrivate', 'mayOpen', 'mayTrade'] as const;
  const none = { placedPrivate: false, mayOpen: false, mayTrade: false };
  const messages: Message[] = flags.map((flag) => placeOrder({ ...none, [flag]: true }));
  t.deepEqual(messagesCodec.unpack(messagesCodec.pack(messages)), messages);
});

test('an order and a cancel go as the values of their fields, in this order', (t) => {
  const limits = [COUNTING.keyLimits, COUNTING.accountLimits].flatMap((limit) => [
    limit.newPerMinute,
    limit.newPerDay,
    limit.closingPerMinute,
  ]);
  const counting = [COUNTING.keyId, ...limits, [NOON_MS, 4, 5, 6]];
  const ids = [NOON_MS, CANCEL.account, CANCEL.orderId];
  t.deepEqual([...rowOf(CANCEL)] as unknown[], ['cancel', ...ids, counting]);
  const order = placeOrder({
    orderId: CANCEL.orderId,
    idempotencyKey: 'k',
    type: 'limit',
    tradeId: uuidOf(3),
    limitPriceCents: 41,
    boundPriceCents: 42,
    expiresAtMs: 43,
    statedProbPct: 60,
    ticker: 'T-1',
    mayTrade: false,
    counting: COUNTING,
  });
  const what = ['k', 'buy', 'limit', order.instrumentId, 'T-1', 'yes', 10, uuidOf(3), 41, 42];
  const rest = ['gtc', 43, 'venue_a', 60, 'api', true, true, false, counting];
  t.deepEqual([...rowOf(order)] as unknown[], ['place', ...ids, ...what, ...rest]);
});

/** Whatever a shard is asked arrives as it was asked. */
import test from 'ava';
import { addExtension, Unpackr } from 'msgpackr';
import { ByteWriter } from '../../../engine/format/bytes.ts';
import {
  answerBytes,
  answerLimits,
  FrameDecoder,
  isAnswered,
  type Message,
  writeMessage,
  writeReply,
} from '../../../engine/format/codec.ts';
import { FRAME_HEADER_BYTES } from '../../../engine/format/frame.ts';
import type { TradeLimitsLeft } from '../../../engine/rules/limits-left.ts';
import type {
  CancelAll,
  CancelOrder,
  Reply,
  TradeCounting,
} from '../../../engine/rules/messages.ts';
import { CATALOG, NOON_MS, OTHER_TERMS, placeOrder, quoteTick, uuidOf } from '../fixtures.ts';
import { framesOf, messagesThrough, repliesThrough } from './frames.ts';

const COUNTING: TradeCounting = {
  keyId: uuidOf(9),
  keyLimits: { newPerMinute: 1, newPerDay: 2, closingPerMinute: 3 },
  accountLimits: { newPerMinute: 40, newPerDay: 50_000, closingPerMinute: 2 ** 40 },
  elsewhere: { atMs: NOON_MS, newInMinute: 4, newInDay: 5, closingInMinute: 6 },
};
const LEFT: TradeLimitsLeft = {
  ...{ atMs: NOON_MS, closing: false },
  ...{ keyPerMinute: 1, keyLeftInMinute: 2, keyPerDay: 3, keyLeftInDay: 4 },
  ...{ accountPerMinute: 5, accountLeftInMinute: 6, accountPerDay: 2 ** 40, accountLeftInDay: 8 },
};
const CANCEL: CancelOrder = {
  kind: 'cancel',
  atMs: NOON_MS,
  account: uuidOf(1),
  orderId: uuidOf(2),
  counting: COUNTING,
};

const CANCEL_ALL: CancelAll = {
  kind: 'cancel_all',
  atMs: NOON_MS,
  account: uuidOf(1),
  instrumentId: 'ins_ü',
  counting: COUNTING,
};

test('orders, cancels, queries and ticks arrive in order, every field of them', (t) => {
  const messages: Message[] = [
    placeOrder({
      ticker: 'T-1',
      instrumentId: null,
      ...OTHER_TERMS,
      mayOpen: false,
      mayTrade: false,
      rejectIfLaterThanMs: NOON_MS + 2,
      postOnly: true,
      orderGroupId: uuidOf(3),
      counting: COUNTING,
    }),
    quoteTick(),
    quoteTick({ unknown: true }),
    CANCEL,
    placeOrder({ action: 'sell', tradeId: uuidOf(3), boundPriceCents: 30 }),
    { kind: 'portfolio', atMs: NOON_MS, account: uuidOf(1), organizationSlug: 'ü' },
    { ...CANCEL, counting: null },
    { ...CANCEL_ALL, instrumentId: null },
    { ...CANCEL_ALL, counting: null },
    { ...CANCEL, counting: { ...COUNTING, elsewhere: null } },
    { kind: 'adjust', atMs: NOON_MS, account: uuidOf(1), amountCents: -5 },
    { ...quoteTick(), depth: { yesBids: [[40, 5]], yesAsks: [] } },
    { kind: 'trade', atMs: 1, source: 2, market: 3, yesPriceCents: 4, contracts: 5, side: 'no' },
    { kind: 'status', atMs: 1, source: 2, market: 3, status: 'paused' },
    ...(['add', 'cancel', 'traded'] as const).map((change): Message => {
      const on = { kind: 'level', atMs: 1, source: 2, market: 3, change, side: 'no' } as const;
      return { ...on, price: 4050, contracts: 5, size: 6, decrease: 7 };
    }),
    { kind: 'heartbeat', atMs: NOON_MS, source: 70_000 },
    { kind: 'time', atMs: NOON_MS },
    { kind: 'instrument_quote', atMs: NOON_MS, instrumentId: 'ins_ü' },
    { kind: 'book', atMs: NOON_MS, instrumentId: 'ins_ü' },
    { kind: 'preview', atMs: NOON_MS, order: placeOrder({ counting: COUNTING }) },
    { kind: 'catalog', atMs: NOON_MS, catalog: CATALOG },
    placeOrder({ contracts: 2 ** 40, idempotencyKey: '\ufffd' }),
    placeOrder(),
  ];
  t.deepEqual(messagesThrough(messages), messages);
});

test('each flag of an order arrives as its own, and not as another', (t) => {
  const flags = ['placedPrivate', 'mayOpen', 'mayTrade'] as const;
  const none = { placedPrivate: false, mayOpen: false, mayTrade: false };
  const messages: Message[] = flags.map((flag) => placeOrder({ ...none, [flag]: true }));
  t.deepEqual(messagesThrough(messages), messages);
});

test('answers arrive as their text, refusals with their reason, and what was not taken as such', (t) => {
  const replies: (Reply | null)[] = [
    { ok: true, body: '{"label":"Zürich – 東京 😀"}' },
    { ok: false, code: 'rate_limited', message: 'Over a hard trade limit.', retryAfterSeconds: 7 },
    null,
    { ok: false, code: 'order_not_found', message: 'No such order.' },
    { ok: true, body: '' },
    { ok: true, body: '{}', limits: LEFT },
    { ok: false, code: 'price_moved', message: 'Moved.', limits: LEFT },
    { ok: true, body: 'x'.repeat(100_000) },
  ];
  t.deepEqual(repliesThrough(replies), replies);
});

test('an answer is read as bytes, too, and a refusal is none', (t) => {
  const writer = new ByteWriter();
  writer.begin();
  const text = '{"name":"ü"}';
  writeReply(writer, { ok: true, body: text });
  writeReply(writer, { ok: true, body: text, limits: LEFT });
  writeReply(writer, { ok: false, code: 'price_moved', message: 'Moved.' });
  writeReply(writer, null);
  const frames = framesOf(writer.copy());
  t.deepEqual(frames.map(isAnswered), [true, true, false, false]);
  const [bare, limited] = frames;
  for (const frame of [bare!, limited!]) t.is(Buffer.from(answerBytes(frame)).toString(), text);
  t.is(answerLimits(bare!), null);
  t.deepEqual(answerLimits(limited!), LEFT);
});

test('what goes between the threads is a stream of msgpack values', (t) => {
  const seen: number[] = [];
  for (const type of [0, 1]) {
    addExtension({ type, unpack: (bytes: Uint8Array) => seen.push(type, bytes.length) } as never);
  }
  const writer = new ByteWriter();
  writer.begin();
  writeMessage(writer, { kind: 'adjust', atMs: NOON_MS, account: uuidOf(1), amountCents: -5 });
  const rare = writer.length;
  writeReply(writer, { ok: true, body: 'text' });
  new Unpackr().unpackMultiple(writer.copy());
  t.deepEqual(seen, [0, rare - FRAME_HEADER_BYTES, 1, 4]);
});

test('a message with other bytes than its layout is a fault, and not another message', (t) => {
  const writer = new ByteWriter();
  writer.begin();
  writeMessage(writer, quoteTick());
  const [frame] = framesOf(writer.copy());
  const decoder = new FrameDecoder();
  const cut = { ...frame!, end: frame!.end - 1 };
  t.throws(() => decoder.message(cut), { message: /more is read than was written/ });
  t.throws(() => decoder.message({ ...frame!, type: 99 }), { message: /no message/ });
  t.throws(() => decoder.reply({ ...frame!, type: 99 }), { message: /no reply/ });
});

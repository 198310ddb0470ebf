import test from 'ava';
import type { Order, OrderPlacement, OrderPreview, Trade } from '../../../api/client/generated.js';
import {
  eventSentence,
  instrumentOf,
  type ShownEvent,
  toastOf,
} from '../../../api/web/state/event-words.ts';
import { clock } from '../../../api/web/state/format.ts';
import {
  placedWords,
  previewedCents,
  previewWords,
  refusedWords,
} from '../../../api/web/state/order-words.ts';
import type { OrderBody } from '../../../api/web/state/ticket.ts';
import { REJECTIONS } from '../../../engine/rules/rejections.ts';

const INSTRUMENT = 'ins_TJW94P85W2AJ';
const AT = '2026-11-24T12:00:00.000Z';
const BUY: OrderBody = {
  ...{ action: 'buy', type: 'market', instrumentId: INSTRUMENT, side: 'yes', count: 10 },
};
const LIMIT: OrderBody = { ...BUY, type: 'limit', limitPriceCents: 40, timeInForce: 'gtc' };
const SELL: OrderBody = { action: 'sell', type: 'market', tradeId: 'a-trade' };

const previewOf = (change: Partial<OrderPreview>): OrderPreview => ({
  would: 'execute',
  fills: [{ priceCents: 46, contracts: 10, venue: 'venue_a' }],
  costDollars: 4.6,
  holdDollars: 0,
  feeDollars: 0.18,
  quoteAgeMs: 41,
  latencyMs: null,
  mode: 'paper',
  ...change,
});
const linesOf = (order: OrderBody, preview: OrderPreview, costDollars: number | null = null) =>
  Object.fromEntries(
    previewWords(order, preview, { costDollars }).lines.map(({ name, value }) => [name, value]),
  );

const TRADE = {
  ...{ tradeId: 'a-trade', instrumentId: INSTRUMENT, instrumentSide: 'yes', contracts: 10 },
  ...{ costDollars: 4.6, entryCents: 46, status: 'open', pnlDollars: null, closeReason: null },
} as Trade;
const ORDER = {
  ...{ orderId: 'an-order', action: 'buy', instrumentId: INSTRUMENT, instrumentSide: 'yes' },
  ...{ contracts: 10, filledContracts: 0, remainingContracts: 10, limitCents: 40 },
  ...{ holdDollars: 4, expiresAt: null, pendingUntil: null },
  ...{ cancelReason: null, fillPriceCents: null },
} as Order;
const placedOf = (change: Partial<OrderPlacement>): OrderPlacement => ({
  ...{ status: 'executed', action: 'buy', type: 'market', idempotencyKey: 'a-key' },
  ...{ replayed: false, originalCreatedAt: null, order: null, trade: TRADE },
  ...{ fillVenue: 'venue_a', mode: 'paper', venueData: true, fillPriceCents: 46 },
  ...change,
});

test('A75: a preview shows fills, cost, payout and profit, the fee and the age of the quote', (t) => {
  t.deepEqual(previewWords(BUY, previewOf({})), {
    sentence: 'Would fill now.',
    kind: 'goes',
    lines: [
      { name: 'Fills at Venue A', value: '10 at 46¢' },
      { name: 'Cost', value: '$4.60' },
      { name: 'Payout if yes wins', value: '$10.00' },
      { name: 'Profit then', value: '+$5.40' },
      { name: 'Venue fee, if you chose to pay it', value: '$0.18' },
      { name: 'Age of the quote', value: '41 ms' },
    ],
  });
});

test('A75: of an order that would rest in part, what fills, what it holds, and what all of it pays', (t) => {
  const preview = previewOf({
    ...{ would: 'rest', costDollars: 1.6, holdDollars: 2.4, quoteAgeMs: null },
    fills: [{ priceCents: 40, contracts: 4, venue: 'venue_b' }],
  });
  const words = previewWords(LIMIT, preview);
  t.is(words.sentence, 'Would fill 4 of 10 now. The rest would wait for its price.');
  t.like(linesOf(LIMIT, preview), {
    'Fills at Venue B': '4 at 40¢',
    Cost: '$1.60',
    'Held while it rests': '$2.40',
    'Payout if all of it fills and yes wins': '$10.00',
    'Profit then': '+$6.00',
    'Age of the quote': 'no quote',
  });
  const ioc = previewOf({ fills: preview.fills, costDollars: 1.6 });
  t.is(
    previewWords({ ...LIMIT, timeInForce: 'ioc' }, ioc).sentence,
    'Would fill 4 of 10 now and cancel the rest.',
  );
  t.is(linesOf({ ...LIMIT, timeInForce: 'ioc' }, ioc)['Payout if yes wins'], '$4.00');
  const resting = previewOf({ would: 'rest', fills: [], costDollars: 0, holdDollars: 4 });
  t.is(previewWords(LIMIT, resting).sentence, 'Would rest until its price is reached.');
  const none = previewOf({ would: 'cancel', fills: [], costDollars: 0 });
  const fok = previewWords({ ...LIMIT, timeInForce: 'fok' }, none);
  t.is(fok.sentence, 'Would not fill now, and so be canceled (fok).');
});

test('A75: a sell shows what it brings and its profit or loss against the cost', (t) => {
  const preview = previewOf({ costDollars: 0 });
  t.like(linesOf(SELL, preview, 4.5), { Proceeds: '$4.60', 'Profit or loss': '+$0.10' });
  t.is(linesOf(SELL, preview)['Profit or loss'], undefined);
});

test('V10: while venue data is off no price and no cost is shown, and none is made up', (t) => {
  const hidden = (holdDollars: number) =>
    previewOf({
      ...{ would: null, fills: null, costDollars: null, holdDollars },
      ...{ feeDollars: null, quoteAgeMs: null },
    });
  const payout = { 'Payout if all of it fills and yes wins': '$10.00' };
  t.deepEqual(linesOf(BUY, hidden(0)), payout);
  t.deepEqual(linesOf(LIMIT, hidden(4)), { 'Held while it rests': '$4.00', ...payout });
  t.deepEqual(linesOf(SELL, hidden(0), 4.5), {});
  t.is(previewedCents(BUY, hidden(0)), null);
  const { sentence, kind } = previewWords(BUY, hidden(0));
  t.is(kind, 'waits');
  t.is(sentence, 'While venue data is off, prices and the preview are hidden.');
  const refused = previewWords(BUY, { ...hidden(0), code: 'membership_required' });
  t.like(refused, { kind: 'refused', sentence: refusedWords('membership_required'), lines: [] });
});

test('A119: the age of the quote counts on from the answer', (t) => {
  const ageOf = (sinceMs: number) => {
    const { lines } = previewWords(BUY, previewOf({ quoteAgeMs: 162 }), { sinceMs });
    return lines.at(-1)!.value;
  };
  t.is(ageOf(0), '162 ms');
  t.is(ageOf(30_000), '30 s');
  t.is(
    previewWords(BUY, previewOf({ quoteAgeMs: null }), { sinceMs: 30_000 }).lines.at(-1)!.value,
    'no quote',
  );
});

test('A121: the previewed price is the worst one of its fills', (t) => {
  const fillsAt = (...prices: number[]) =>
    previewOf({
      fills: prices.map((priceCents) => ({ priceCents, contracts: 5, venue: 'venue_a' })),
    });
  t.is(previewedCents(BUY, fillsAt(57, 58)), 58);
  t.is(previewedCents(SELL, fillsAt(57, 56)), 56);
  t.is(previewedCents(BUY, fillsAt()), null);
});

test('T100: every code of a refusal has its sentence', (t) => {
  const cannotCome = [
    ...['idempotency_key_reused', 'too_late', 'order_not_found', 'account_not_found'],
    // The page sends neither groups nor `postOnly`.
    ...['order_group_not_found', 'order_groups_full', 'order_group_limit', 'would_take'],
  ];
  const codes = Object.keys(REJECTIONS) as (keyof typeof REJECTIONS)[];
  for (const code of codes) {
    if (cannotCome.includes(code) || code === 'reset_not_available') continue;
    t.regex(refusedWords(code), /^[A-Z].*\.$/, code);
    t.notRegex(refusedWords(code), /refused \(/, code);
  }
  t.is(refusedWords('internal_error'), 'It would be refused (internal_error).');
  const words = previewWords(BUY, previewOf({ would: 'refuse', code: 'trading_off', fills: [] }));
  t.deepEqual(words, {
    sentence: 'Trading is switched off by the operator of this server.',
    kind: 'refused',
    lines: [],
  });
});

test('A36: what came of an order, in words', (t) => {
  t.is(placedWords(placedOf({})), 'Bought 10 contracts of yes at 46¢ for $4.60.');
  t.is(
    placedWords(placedOf({ fillVenue: 'venue_b' })),
    'Bought 10 contracts of yes at 46¢ (Venue B) for $4.60.',
  );
  const { fillPriceCents, ...unpriced } = placedOf({ venueData: false });
  t.is(placedWords(unpriced), 'Bought 10 contracts of yes for $4.60.');
  const sold = { ...TRADE, status: 'closed', pnlDollars: -0.1 } as Trade;
  t.is(
    placedWords(placedOf({ action: 'sell', trade: sold, fillPriceCents: 45 })),
    'Sold 10 contracts of yes at 45¢, −$0.10.',
  );
  const part = { ...ORDER, filledContracts: 4, cancelReason: 'ioc_not_filled' } as Order;
  const bought = { ...TRADE, contracts: 4, costDollars: 1.6 };
  t.is(
    placedWords(placedOf({ type: 'limit', order: part, trade: bought, fillPriceCents: 40 })),
    'Bought 4 contracts of yes at 40¢ for $1.60. The other 6 were canceled.',
  );
});

test('T26: what rests says at what, until when and what it holds; what is canceled, why', (t) => {
  const rests = { status: 'resting', type: 'limit', order: ORDER, trade: null } as const;
  t.is(
    placedWords(placedOf(rests)),
    'Rests: buy 10 contracts of yes at 40¢ or better, and holds $4.00.',
  );
  const part = { ...ORDER, filledContracts: 4, remainingContracts: 6, holdDollars: 2.4 };
  t.is(
    placedWords(placedOf({ ...rests, order: { ...part, expiresAt: AT } })),
    `4 filled. Rests: buy 6 contracts of yes at 40¢ or better until ${clock.full(AT)}, and holds $2.40.`,
  );
  const canceled = (change: Partial<Order>) =>
    placedWords(placedOf({ ...rests, status: 'canceled', order: { ...ORDER, ...change } }));
  t.is(
    canceled({ cancelReason: 'fok_not_filled' }),
    'Canceled: there was no price for all of it at once. Nothing was spent.',
  );
  t.is(
    canceled({ cancelReason: 'canceled_by_owner', filledContracts: 4 }),
    '4 filled, the rest canceled: by its owner.',
  );
});

test('T91: a replay says when it was placed, and that nothing new was', (t) => {
  const words = placedWords(placedOf({ replayed: true, originalCreatedAt: AT }));
  t.is(
    words,
    `Placed before, at ${clock.seconds(AT)}; nothing new was placed. ` +
      'Bought 10 contracts of yes at 46¢ for $4.60.',
  );
});

test('J22: every event of the account has its sentence, and its market', (t) => {
  const of = { instrumentLabel: 'Otters to beat Herons' };
  const order = { ...ORDER, ...of, fillPriceCents: 39, cancelReason: 'expired' } as Order;
  const trade = { ...TRADE, ...of, pnlDollars: 0.5, exitCents: 51 } as Trade;
  const what = 'uy 10 yes of Otters to beat Herons at 40¢ or less';
  const cases: [ShownEvent['type'], string][] = [
    ['order_placed', `Order placed: B${what}.`],
    ['order_arrived', `Order has met the book and rests: B${what}.`],
    ['order_part_filled', `Order filled in part: 0 of 10 contracts: b${what}, filled at 39¢.`],
    ['order_filled', `Order filled: B${what}, filled at 39¢.`],
    ['order_canceled', `Order canceled, it expired: B${what}.`],
    ['order_expired', `Order expired: B${what}.`],
    ['trade_opened', 'Bought: 10 yes of Otters to beat Herons at 46¢, for $4.60.'],
    ['trade_closed', 'Sold (+$0.50 profit): 10 yes of Otters to beat Herons at 51¢.'],
  ];
  for (const [type, sentence] of cases) {
    const isOfTrade = type.startsWith('trade');
    const event = { eventId: '1', at: AT, type, ...(isOfTrade ? { trade } : { order }) };
    t.is(eventSentence(event as ShownEvent), sentence);
    t.is(instrumentOf(event as ShownEvent), INSTRUMENT);
  }
  const reset = { eventId: '1', at: AT, type: 'account_reset' } as const;
  t.is(eventSentence(reset), 'Account reset: A new run has begun with the start balance.');
  t.is(instrumentOf(reset), null);
});

test('U40: what costs too much is shown with its cost and the cash', (t) => {
  const tooDear = previewOf({ would: 'refuse', code: 'insufficient_balance', fills: [] });
  const known = { cashDollars: 3, priceCents: 46 };
  t.deepEqual(previewWords(BUY, tooDear, known).lines, [
    { name: 'Cost at 46¢', value: '$4.60' },
    { name: 'Your cash', value: '$3.00' },
  ]);
  t.deepEqual(previewWords(LIMIT, tooDear, known).lines[0], {
    name: 'Cost at 40¢',
    value: '$4.00',
  });
  t.deepEqual(previewWords(BUY, tooDear).lines, [], 'nothing that is not known');
  const closed = previewOf({ would: 'refuse', code: 'market_not_open', fills: [] });
  t.deepEqual(previewWords(BUY, closed, known).lines, []);
});

test('U43: a fill and a result are news in any view, once, and what the owner did is none', (t) => {
  const trade = { ...TRADE, instrumentLabel: 'Otters to beat Herons' };
  const opened = { eventId: '1', type: 'trade_opened', at: AT, trade } as ShownEvent;
  t.like(toastOf(opened), {
    ...{ id: '1', kind: 'info', href: `#/market/${INSTRUMENT}` },
    sentence: 'Bought: 10 yes of Otters to beat Herons at 46¢, for $4.60.',
  });
  const settled = { ...trade, status: 'settled', closeReason: 'settled', resolvedOutcome: 'yes' };
  const ended = (pnlDollars: number) =>
    ({
      eventId: '2',
      type: 'trade_settled',
      at: AT,
      trade: { ...settled, pnlDollars },
    }) as ShownEvent;
  t.like(toastOf(ended(5.4)), { kind: 'gain' });
  t.like(toastOf(ended(-4.6)), { kind: 'loss' });
  const canceled = (cancelReason: string) =>
    ({
      eventId: '3',
      type: 'order_canceled',
      at: AT,
      order: { ...ORDER, cancelReason },
    }) as ShownEvent;
  t.is(toastOf(canceled('canceled_by_owner')), null);
  t.like(toastOf(canceled('market_resolved')), { kind: 'info' });
  const filled = { eventId: '4', type: 'order_filled', at: AT, order: ORDER } as ShownEvent;
  t.is(toastOf(filled), null, 'its trade says it');
});

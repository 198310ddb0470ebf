import test from 'ava';
import { readOrderBody } from '../../../api/operations/order-request.ts';
import { OrderKeys } from '../../../api/web/state/order-keys.ts';
import {
  boundedBy,
  inUnit,
  isUnbounded,
  maxText,
  NEW_TICKET,
  type OrderBody,
  readTicket,
  type Ticket,
} from '../../../api/web/state/ticket.ts';

const INSTRUMENT = 'ins_TJW94P85W2AJ';
const TRADE = '01a20c56-1f4e-7143-b872-3d3fb73511a2';
const NOW_MS = Date.parse('2026-11-24T12:00:00.000Z');
const DAY_MS = 86_400_000;

const read = (change: Partial<Ticket>) =>
  readTicket({ ...NEW_TICKET, ...change }, INSTRUMENT, { nowMs: NOW_MS, priceCents: 43 });
/** What the field of a date and time has in it at a moment, in the zone of the machine. */
function localText(atMs: number): string {
  const at = new Date(atMs - new Date(atMs).getTimezoneOffset() * 60_000);
  return at.toISOString().slice(0, 16);
}

test('A30: a ticket makes the body of its kind of order, with no field of another', (t) => {
  const cases: [Partial<Ticket>, OrderBody][] = [
    [{}, { action: 'buy', type: 'market', instrumentId: INSTRUMENT, side: 'yes', count: 10 }],
    [
      // What is typed into fields that are not shown any more is of no order.
      { side: 'no', count: ' 5 ', bound: '60', probability: '55', limit: '40', tradeId: TRADE },
      {
        ...{ action: 'buy', type: 'market', instrumentId: INSTRUMENT, side: 'no', count: 5 },
        ...{ statedProbPct: 55, maxPriceCents: 60 },
      },
    ],
    [
      { type: 'limit', limit: '40', bound: '60', routing: 'best' },
      {
        ...{ action: 'buy', type: 'limit', instrumentId: INSTRUMENT, side: 'yes', count: 10 },
        ...{ limitPriceCents: 40, timeInForce: 'gtc', routing: 'best' },
      },
    ],
    [
      { action: 'sell', tradeId: TRADE, bound: '30', probability: '55', limit: '40' },
      { action: 'sell', type: 'market', tradeId: TRADE, minPriceCents: 30 },
    ],
    [
      { action: 'sell', tradeId: TRADE, type: 'limit', limit: '99', timeInForce: 'fok' },
      { action: 'sell', type: 'limit', tradeId: TRADE, limitPriceCents: 99, timeInForce: 'fok' },
    ],
  ];
  for (const [change, order] of cases) {
    t.deepEqual(read(change), { order, errors: {} });
    t.notThrows(() => readOrderBody({ ...order, idempotencyKey: 'a-key' }));
  }
});

test('A30: a whole number within its bounds, or a sentence beside its field and no order', (t) => {
  const price = 'Whole cents from 1 to 99.';
  const count = 'A whole number from 1 to 1,000,000,000.';
  const cases: [Partial<Ticket>, Record<string, string>][] = [
    [{ count: '' }, { count }],
    [{ count: '0' }, { count }],
    [{ count: '1.5' }, { count }],
    [{ count: '1e3' }, { count }],
    [{ count: '1000000001' }, { count }],
    [{ bound: '0' }, { bound: price }],
    [{ bound: '100' }, { bound: price }],
    [{ type: 'limit' }, { limit: price }],
    [{ type: 'limit', limit: '42.5' }, { limit: price }],
    [{ probability: '100' }, { probability: 'Whole percent from 1 to 99.' }],
    [{ action: 'sell' }, { tradeId: 'Choose the position to sell.' }],
    [
      { count: '-1', probability: 'x', type: 'limit', limit: '0' },
      { count, probability: 'Whole percent from 1 to 99.', limit: price },
    ],
  ];
  for (const [change, errors] of cases) t.deepEqual(read(change), { order: null, errors });
  t.is(read({ count: '1000000000' }).order?.count, 1_000_000_000);
  t.is(read({ bound: '99' }).order?.maxPriceCents, 99);
});

test('T44: an expiry belongs to a gtc order, ahead of the server’s time and within 365 days', (t) => {
  const limit = { type: 'limit', limit: '40' } as const;
  const expires = (atMs: number) => read({ ...limit, expires: localText(atMs) });
  t.is(expires(NOW_MS + 60_000).order?.expiresAt, '2026-11-24T12:01:00.000Z');
  t.deepEqual(expires(NOW_MS).errors, { expires: 'It must be in the future.' });
  t.is(expires(NOW_MS + 365 * DAY_MS).errors.expires, undefined);
  t.deepEqual(expires(NOW_MS + 365 * DAY_MS + 60_000).errors, {
    expires: 'At most 365 days ahead.',
  });
  const past = { ...limit, expires: localText(NOW_MS - DAY_MS) };
  const ioc = read({ ...past, timeInForce: 'ioc' });
  t.deepEqual([ioc.errors, ioc.order?.expiresAt], [{}, undefined]);
  t.deepEqual(read({ ...past, type: 'market' }).errors, {});
});

test('T96: the same order has the same key until it is placed, and then another one', (t) => {
  let made = 0;
  const keys = new OrderKeys(() => `key-${++made}`);
  const order = read({}).order!;
  const other = read({ count: '11' }).order!;
  const first = keys.keyOf(order, '');
  t.is(keys.keyOf(read({}).order!, ''), first, 'sent again after a lost answer');
  t.not(keys.keyOf(other, ''), first);
  t.not(keys.keyOf(order, 'org'), first, 'keys belong to an account');
  t.is(keys.keyOf(order, ''), first, 'also once another one was typed in between');
  keys.placed(order, '');
  const second = keys.keyOf(order, '');
  t.not(second, first, 'meant again');
  t.is(keys.keyOf(order, ''), second);
});

test('A121: the price shown bounds a market order without a bound of its own, and no other', (t) => {
  const market = read({}).order!;
  t.true(isUnbounded(market));
  t.is(boundedBy(market, 57).maxPriceCents, 57);
  t.is(boundedBy(market, null), market);
  const sale = read({ action: 'sell', tradeId: TRADE }).order!;
  t.deepEqual(boundedBy(sale, 41), { ...sale, minPriceCents: 41 });
  for (const change of [{ bound: '60' }, { type: 'limit', limit: '40' }] as const) {
    const order = read(change).order!;
    t.false(isUnbounded(order));
    t.is(boundedBy(order, 57), order);
  }
  t.notThrows(() => readOrderBody({ ...boundedBy(market, 57), idempotencyKey: 'a-key' }));
});

test('U39: dollars buy whole contracts at the limit, or at the live price', (t) => {
  const dollars = { ...NEW_TICKET, unit: 'dollars', count: '25' } as const;
  t.is(read(dollars).order?.count, 58, '25 dollars at 43 cents');
  t.is(read({ ...dollars, type: 'limit', limit: '50' }).order?.count, 50);
  t.is(read({ ...dollars, count: '$1,000.50' }).order?.count, 2326);
  t.regex(read({ ...dollars, count: '0.42' }).errors.count!, /One contract costs 43¢/);
  for (const count of ['', 'ten', '-5', '0', '1.234']) {
    t.regex(read({ ...dollars, count }).errors.count!, /An amount in dollars/, count);
  }
  const blind = readTicket(dollars, INSTRUMENT, { nowMs: NOW_MS, priceCents: null });
  t.regex(blind.errors.count!, /There is no price now/);
});

test('U39: Max is all that the cash buys, and an amount stays the same in the other unit', (t) => {
  t.is(maxText(NEW_TICKET, 100, 43), '232');
  t.is(maxText({ ...NEW_TICKET, unit: 'dollars' }, 100, 43), '99.76');
  t.is(maxText({ ...NEW_TICKET, type: 'limit', limit: '50' }, 100, 43), '200');
  t.is(maxText(NEW_TICKET, 0.42, 43), null);
  t.is(maxText(NEW_TICKET, null, 43), null);
  t.is(maxText(NEW_TICKET, 100, null), null);
  const inDollars = inUnit({ ...NEW_TICKET, count: '10' }, 'dollars', 43);
  t.is(inDollars.count, '4.3');
  t.is(inUnit(inDollars, 'contracts', 43).count, '10');
  t.is(inUnit({ ...NEW_TICKET, count: 'x' }, 'dollars', 43).count, '');
});

import test from 'ava';
import { ApiError } from '../../../api/base/errors.ts';
import { placeOrderOf, readOrderBody } from '../../../api/operations/order-request.ts';
import { BLANK_ORDER } from '../../../engine/rules/messages.ts';

const INSTRUMENT_ID = 'ins_0000000000A1';
const TRADE_ID = '0195d3a0-0000-7000-8000-00000000000a';
const KEY = { idempotencyKey: 'k-1' };
const BUYING = { ...KEY, instrumentId: INSTRUMENT_ID, side: 'yes', count: 10 };
const MARKET_BUY = { action: 'buy', type: 'market', ...BUYING };
const LIMIT_BUY = { action: 'buy', type: 'limit', ...BUYING, limitPriceCents: 41 };
const MARKET_SELL = { action: 'sell', type: 'market', ...KEY, tradeId: TRADE_ID };
const LIMIT_SELL = { action: 'sell', type: 'limit', ...KEY, tradeId: TRADE_ID, limitPriceCents: 9 };

const CONTEXT = {
  atMs: 1_000,
  account: TRADE_ID,
  orderId: TRADE_ID,
  placedVia: 'api',
  placedPrivate: false,
  connection: 7,
  mayOpen: true,
  mayTrade: true,
  realism: null,
  counting: null,
} as const;

function place(body: object) {
  return placeOrderOf(readOrderBody(body), CONTEXT);
}

function without(body: object, field: string): object {
  return Object.fromEntries(Object.entries(body).filter(([name]) => name !== field));
}

const fieldless = { ...BLANK_ORDER, ...CONTEXT, idempotencyKey: 'k-1' };

test('A30: the four kinds of order', (t) => {
  const bought = { action: 'buy', instrumentId: INSTRUMENT_ID, side: 'yes', contracts: 10 };
  t.deepEqual(place(MARKET_BUY) as object, { ...fieldless, ...bought });
  t.deepEqual(place(LIMIT_BUY) as object, {
    ...fieldless,
    ...bought,
    limitPriceCents: 41,
    timeInForce: 'gtc',
  });
  const sold = { action: 'sell', tradeId: TRADE_ID };
  t.deepEqual(place(MARKET_SELL) as object, { ...fieldless, ...sold });
  t.deepEqual(place(LIMIT_SELL) as object, {
    ...fieldless,
    ...sold,
    limitPriceCents: 9,
    timeInForce: 'gtc',
  });
});

test('A30, the order body`s open names: what each of them becomes', (t) => {
  t.like(place({ ...without(MARKET_BUY, 'idempotencyKey'), clientOrderId: '~own!' }), {
    idempotencyKey: '~own!',
  });
  t.like(place({ ...without(MARKET_BUY, 'instrumentId'), ticker: 'T-1' }), {
    instrumentId: null,
    ticker: 'T-1',
  });
  t.like(place({ ...MARKET_BUY, maxPriceCents: 60 }), { boundPriceCents: 60 });
  t.like(place({ ...MARKET_SELL, minPriceCents: 40 }), { boundPriceCents: 40 });
  t.like(place({ ...MARKET_BUY, statedProbPct: 55 }), { statedProbPct: 55 });
  t.like(place({ ...MARKET_BUY, routing: 'best' }), { routing: 'best' });
  t.like(place({ ...MARKET_SELL, routing: 'venue_a' }), { routing: 'venue_a' });
  t.like(place({ ...MARKET_SELL, tradeId: TRADE_ID.toUpperCase() }), { tradeId: TRADE_ID });
  const expiresAt = '2026-11-21T06:00:00+01:00';
  t.like(place({ ...LIMIT_BUY, expiresAt }), { expiresAtMs: Date.parse('2026-11-21T05:00:00Z') });
  for (const body of [MARKET_BUY, LIMIT_BUY, MARKET_SELL, LIMIT_SELL]) {
    const rejectIfLaterThanMs = Date.parse('2026-11-21T05:00:00Z');
    t.like(place({ ...body, rejectIfLaterThan: expiresAt }), { rejectIfLaterThanMs });
  }
});

test('T21, A33: long and short names of a time in force mean the same', (t) => {
  const names = {
    gtc: 'gtc',
    good_till_canceled: 'gtc',
    ioc: 'ioc',
    immediate_or_cancel: 'ioc',
    fok: 'fok',
    fill_or_kill: 'fok',
  };
  for (const [timeInForce, short] of Object.entries(names)) {
    t.like(place({ ...LIMIT_BUY, timeInForce }), { timeInForce: short });
    t.like(place({ ...LIMIT_SELL, timeInForce }), { timeInForce: short });
  }
});

const REFUSALS: [body: object, message: string][] = [
  [without(MARKET_BUY, 'action'), 'action is required'],
  [without(MARKET_BUY, 'type'), 'type is required'],
  [{ ...MARKET_BUY, action: 'hold' }, 'action must be one of buy, sell'],
  [{ ...MARKET_BUY, type: 'stop' }, 'type must be one of market, limit'],
  [{ ...MARKET_BUY, side: 'YES' }, 'side must be one of yes, no'],
  [without(MARKET_BUY, 'side'), 'side is required for a market buy'],
  [without(MARKET_BUY, 'count'), 'count is required for a market buy'],
  [without(LIMIT_BUY, 'limitPriceCents'), 'limitPriceCents is required for a limit buy'],
  [without(MARKET_SELL, 'tradeId'), 'tradeId is required for a market sell'],
  [without(LIMIT_SELL, 'limitPriceCents'), 'limitPriceCents is required for a limit sell'],
  [{ ...MARKET_BUY, count: 0 }, 'count must be at least 1'],
  [{ ...MARKET_BUY, count: 1_000_000_001 }, 'count must be at most 1000000000'],
  [{ ...MARKET_BUY, count: 1.5 }, 'count must be an integer'],
  [{ ...MARKET_BUY, count: '10' }, 'count must be an integer'],
  [{ ...MARKET_BUY, count: null }, 'count must be an integer'],
  [{ ...LIMIT_BUY, limitPriceCents: 0 }, 'limitPriceCents must be at least 1'],
  [{ ...LIMIT_BUY, limitPriceCents: 100 }, 'limitPriceCents must be at most 99'],
  [{ ...MARKET_BUY, maxPriceCents: 100 }, 'maxPriceCents must be at most 99'],
  [{ ...MARKET_SELL, minPriceCents: 0 }, 'minPriceCents must be at least 1'],
  [{ ...MARKET_BUY, statedProbPct: 0 }, 'statedProbPct must be at least 1'],
  [{ ...MARKET_BUY, statedProbPct: 100 }, 'statedProbPct must be at most 99'],
  [{ ...MARKET_BUY, routing: 'venue_b' }, 'routing must be one of venue_a, best'],
  [
    { ...MARKET_BUY, execution: 'live' },
    'execution must be one of paper, venue_a, venue_c_intl, venue_c',
  ],
  [
    { ...LIMIT_BUY, timeInForce: 'day' },
    'timeInForce must be one of gtc, ioc, fok, good_till_canceled, immediate_or_cancel, fill_or_kill',
  ],
  [{ ...MARKET_BUY, instrumentId: 'ins_000000000IL1' }, instrumentIdMessage()],
  [{ ...MARKET_BUY, instrumentId: 'ins_0000000000A' }, instrumentIdMessage()],
  [{ ...MARKET_BUY, instrumentId: 'ins_0000000000a1' }, instrumentIdMessage()],
  [{ ...MARKET_SELL, tradeId: 'nonsense' }, 'tradeId must be a uuid'],
  [{ ...MARKET_SELL, tradeId: `urn:uuid:${TRADE_ID}` }, 'tradeId must be a uuid'],
  [without(MARKET_BUY, 'idempotencyKey'), exactlyOne('idempotencyKey', 'clientOrderId')],
  [{ ...MARKET_BUY, clientOrderId: 'k-1' }, exactlyOne('idempotencyKey', 'clientOrderId')],
  [without(MARKET_BUY, 'instrumentId'), exactlyOne('instrumentId', 'ticker')],
  [{ ...MARKET_BUY, ticker: 'T-1' }, exactlyOne('instrumentId', 'ticker')],
  [
    { ...MARKET_BUY, idempotencyKey: '' },
    'idempotencyKey must be 1 to 128 visible ASCII characters',
  ],
  [
    { ...MARKET_BUY, idempotencyKey: 'x'.repeat(129) },
    'idempotencyKey must be 1 to 128 visible ASCII characters',
  ],
  [
    { ...MARKET_BUY, idempotencyKey: 'a b' },
    'idempotencyKey must be 1 to 128 visible ASCII characters',
  ],
  [{ ...LIMIT_BUY, expiresAt: 'tomorrow' }, 'expiresAt must be a date-time with a zone'],
  [{ ...LIMIT_BUY, expiresAt: '2026-11-21T05:00:00' }, 'expiresAt must be a date-time with a zone'],
  [{ ...LIMIT_BUY, expiresAt: '2026-11-21' }, 'expiresAt must be a date-time with a zone'],
  [
    { ...LIMIT_BUY, expiresAt: '2026-02-30T05:00:00Z' },
    'expiresAt must be a date-time with a zone',
  ],
  [
    { ...LIMIT_BUY, expiresAt: '2016-12-31T23:59:60Z' },
    'expiresAt must be a date-time with a zone',
  ],
  [{ ...LIMIT_BUY, expiresAt: 1_795_000_000_000 }, 'expiresAt must be a string'],
  [
    { ...LIMIT_BUY, timeInForce: 'ioc', expiresAt: '2026-11-21T05:00:00Z' },
    'expiresAt belongs to a gtc order only',
  ],
];

function instrumentIdMessage(): string {
  return 'instrumentId must be ins_ and 12 characters of 0-9A-HJKMNP-TV-Z';
}

function exactlyOne(first: string, second: string): string {
  return `exactly one of ${first} and ${second} must be sent`;
}

test('A15, A31, A32: what is wrong is named by its field', (t) => {
  for (const [body, message] of REFUSALS) {
    t.throws(() => readOrderBody(body), { instanceOf: ApiError, message }, JSON.stringify(body));
  }
});

test('A4, expiry: a date-time as GET /games takes it, seconds or not', (t) => {
  const at = '2026-11-21T05:00:00';
  const short = ['2026-11-21T05:00Z', '2026-11-21T07:00+02:00', '2026-11-21T00:00-05:00'];
  const small = '2026-11-21t05:00:00z';
  for (const zoned of [`${at}Z`, `${at}.5Z`, `${at}+00:00`, `${at}-00:00`, small, ...short]) {
    const expiresAtMs = Date.UTC(2026, 10, 21, 5) + (zoned.includes('.5') ? 500 : 0);
    t.like(place({ ...LIMIT_BUY, expiresAt: zoned }), { expiresAtMs });
  }
  for (const bad of [`${at}+0200`, `${at}+02`, '2026-11-21 05:00:00Z']) {
    const message = 'expiresAt must be a date-time with a zone';
    t.throws(() => place({ ...LIMIT_BUY, expiresAt: bad }), { message }, bad);
  }
});

test('A31: a field that does not belong to the action and type is 400', (t) => {
  const values = {
    instrumentId: INSTRUMENT_ID,
    ticker: 'T-1',
    side: 'yes',
    count: 1,
    statedProbPct: 50,
    tradeId: TRADE_ID,
    limitPriceCents: 50,
    timeInForce: 'gtc',
    expiresAt: '2026-11-21T05:00:00Z',
    maxPriceCents: 50,
    minPriceCents: 50,
  };
  const buyFields = ['instrumentId', 'ticker', 'side', 'count', 'statedProbPct'];
  const limitFields = ['limitPriceCents', 'timeInForce', 'expiresAt'];
  const kinds: [name: string, body: object, allowed: string[]][] = [
    ['a market buy', MARKET_BUY, [...buyFields, 'maxPriceCents']],
    ['a limit buy', LIMIT_BUY, [...buyFields, ...limitFields]],
    ['a market sell', MARKET_SELL, ['tradeId', 'minPriceCents']],
    ['a limit sell', LIMIT_SELL, ['tradeId', ...limitFields]],
  ];
  for (const [name, body, allowed] of kinds) {
    for (const [field, value] of Object.entries(values)) {
      // A ticker beside an instrumentId is another rule's.
      if (field === 'ticker' && allowed.includes('ticker')) continue;
      const read = () => readOrderBody({ ...body, [field]: value });
      if (allowed.includes(field)) t.notThrows(read, `${field} of ${name}`);
      else t.throws(read, { message: `${field} does not belong to ${name}` });
    }
  }
});

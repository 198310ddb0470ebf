/**
 * Lines placed by hand on the day of the recording, each with its expected outcome. The prices are
 * read off the quotes file: bids down, asks up, no asks 100 minus yes bids.
 */
import type { Day } from './day.ts';
import type { Body } from './order-body.ts';
import type { OrderLine } from './outcome.ts';

/** `expected`: `executed 48`, `resting`, `canceled REASON`, `expired`, `replayed`, or the code. */
export type HandLine = { line: OrderLine; expected: string; why: string };

const ATH = 'aec-mlb-ath-cws-2026-07-12';
const MIL = 'aec-mlb-mil-pit-2026-07-12';
const BOS = 'aec-mlb-bos-nym-2026-07-12';
const KC = 'aec-mlb-kc-bal-2026-07-12';

const buy = (ticker: string, side: 'yes' | 'no', count: number, fields: Body = {}): Body => {
  const type = fields.limitPriceCents === undefined ? 'market' : 'limit';
  return { action: 'buy', type, ticker, side, count, ...fields };
};
const sell = (sellOf: string, fields: Body = {}): Body => {
  const type = fields.limitPriceCents === undefined ? 'market' : 'limit';
  return { action: 'sell', type, sellOf, ...fields };
};

/** Lines of the accounts `hand` and `limit`, sorted by time. */
export function handOrders(day: Day): HandLine[] {
  const idOf = (market: string, polarity: 1 | -1) =>
    day.instruments.find((found) => found.market === market && found.polarity === polarity)!.id;
  const lines = [
    ...firstPolls(idOf),
    ...restingOrders(),
    ...lastPrices(),
    ...settled(),
    ...balance(),
  ];
  return lines.sort((a, b) => Date.parse(a.line.at) - Date.parse(b.line.at));
}

type Step = [time: string, key: string, order: Body | 'cancel', expected: string, why: string];

function linesOf(account: string, steps: readonly Step[]): HandLine[] {
  return steps.map(([time, key, order, expected, why]) => {
    const at = `2026-07-12T${time}Z`;
    const step =
      order === 'cancel' ? { cancel: key } : { order: { idempotencyKey: key, ...order } };
    return { line: { at, account, ...step }, expected, why };
  });
}

function firstPolls(idOf: (market: string, polarity: 1 | -1) => string): HandLine[] {
  const home = { action: 'buy', type: 'market', instrumentId: idOf(ATH, -1), count: 10 };
  const homeYes = { ...home, side: 'yes' };
  const homeNo = { ...home, side: 'no' };
  return linesOf('hand', [
    ['04:00:50', 'before', buy(ATH, 'yes', 10), 'no_liquidity', 'no quote yet'],
    [
      '04:00:50',
      'waiting',
      buy(ATH, 'yes', 10, { limitPriceCents: 48 }),
      'executed 48',
      'fills on the first quote',
    ],
    ['04:00:51', 'at-once', buy(ATH, 'yes', 10), 'executed 48', 'frames come before orders'],
    ['04:01:06', 'edge', homeYes, 'executed 53', '15 s old is fresh; home yes = no ask = 100 - 47'],
    ['04:01:06', 'home-no', homeNo, 'executed 48', 'home no is the market yes'],
    ['04:01:06.001', 'stale', homeYes, 'no_liquidity', '15.001 s old is not fresh'],
    [
      '04:01:10',
      'ioc',
      buy(ATH, 'yes', 1, { limitPriceCents: 99, timeInForce: 'ioc' }),
      'canceled ioc_not_filled',
      'no live price',
    ],
    [
      '04:01:10',
      'fok',
      buy(ATH, 'yes', 1, { limitPriceCents: 99, timeInForce: 'fok' }),
      'canceled fok_not_filled',
      'no live price',
    ],
    [
      '04:01:10',
      'revived',
      buy(MIL, 'yes', 10, { limitPriceCents: 60 }),
      'executed 48',
      "the connection sends a frame before this market's new quote of 47",
    ],
    ['04:02:54', 'capped', buy(ATH, 'yes', 10, { maxPriceCents: 47 }), 'price_moved', 'ask 48'],
    [
      '04:02:54',
      'capped',
      buy(ATH, 'yes', 10, { maxPriceCents: 48 }),
      'executed 48',
      'a refused order leaves its key',
    ],
    [
      '04:02:54',
      'capped',
      buy(ATH, 'yes', 10, { maxPriceCents: 48 }),
      'replayed',
      'the same order again',
    ],
    [
      '04:02:54',
      'capped',
      buy(ATH, 'yes', 11, { maxPriceCents: 48 }),
      'idempotency_key_reused',
      'another order',
    ],
    [
      '04:02:54',
      'filled-ioc',
      buy(ATH, 'no', 10, { limitPriceCents: 53, timeInForce: 'immediate_or_cancel' }),
      'executed 53',
      'at the limit',
    ],
    [
      '04:02:54',
      'filled-fok',
      buy(ATH, 'no', 10, { limitPriceCents: 60, timeInForce: 'fill_or_kill' }),
      'executed 53',
      'better than the limit',
    ],
    [
      '04:02:54',
      'missed-ioc',
      buy(ATH, 'no', 10, { limitPriceCents: 52, timeInForce: 'ioc' }),
      'canceled ioc_not_filled',
      'ask 53',
    ],
    [
      '04:02:54',
      'missed-fok',
      buy(ATH, 'no', 10, { limitPriceCents: 52, timeInForce: 'fok' }),
      'canceled fok_not_filled',
      'ask 53',
    ],
    ['04:02:54', 'capped', 'cancel', 'order_not_found', 'a market order is no order'],
    [
      '04:02:54',
      'filled-fok',
      buy(ATH, 'no', 10, { limitPriceCents: 60, timeInForce: 'fok' }),
      'replayed',
      'the short name means the same',
    ],
    [
      '04:02:54',
      'filled-fok',
      buy(ATH, 'no', 10, { limitPriceCents: 60, timeInForce: 'ioc' }),
      'idempotency_key_reused',
      'another time in force',
    ],
    [
      '04:02:54',
      'filled-fok',
      buy(ATH, 'no', 10, { limitPriceCents: 60 }),
      'idempotency_key_reused',
      'gtc',
    ],
    ['04:02:54', 'waiting', 'cancel', 'already_closed', 'it has filled'],
    [
      '04:03:00',
      'dear',
      sell('filled-ioc', { limitPriceCents: 99 }),
      'canceled canceled_by_owner',
      'canceled below',
    ],
    ['04:03:01', 'dear', 'cancel', 'done', 'and the position stays'],
  ]);
}

function restingOrders(): HandLine[] {
  const mil = (limitPriceCents: number, fields: Body = {}) =>
    buy(MIL, 'yes', 100, { limitPriceCents, ...fields });
  const at16h40 = { expiresAt: '2026-07-12T16:40:57Z' };
  const justAfter = { expiresAt: '2026-07-12T18:40:57.001+02:00' };
  return linesOf('hand', [
    ['16:16:25', 'rest-41', mil(41), 'executed 41', 'ask 41 at 16:22:33'],
    ['16:16:25', 'rest-40', mil(40), 'executed 36', 'from 41 to 36 at 16:38:55'],
    ['16:16:25', 'rest-01', mil(1), 'executed 1', 'ask 1 in the evening'],
    ['16:16:25', 'given-up', mil(22), 'canceled canceled_by_owner', 'canceled below'],
    ['16:16:25', 'too-short', mil(22, at16h40), 'expired', 'over when ask 22 comes'],
    ['16:16:25', 'long-enough', mil(22, justAfter), 'executed 22', 'ends a millisecond later'],
    [
      '16:16:25',
      'long-enough',
      mil(22, { expiresAt: '2026-07-12T16:40:57.001Z' }),
      'replayed',
      'the same instant, and gtc',
    ],
    ['16:16:25', 'long-enough', mil(22, at16h40), 'idempotency_key_reused', 'another end'],
    ['16:16:25', 'long-enough', mil(22), 'idempotency_key_reused', 'no end'],
    [
      '16:16:25',
      'bad-end',
      mil(22, { expiresAt: '2026-07-12T16:16:25Z' }),
      'invalid_request',
      'not in the future',
    ],
    [
      '16:16:25',
      'bad-far',
      mil(22, { expiresAt: '2027-07-12T16:16:25.001Z' }),
      'invalid_request',
      '365 days and 1 ms',
    ],
    ['16:16:26', 'given-up', 'cancel', 'done', ''],
    ['16:16:26', 'given-up', 'cancel', 'already_closed', 'a second time'],
    ['16:16:26', 'unheard', 'cancel', 'order_not_found', ''],
    ['16:16:26', 'too-early', sell('rest-41'), 'trade_not_found', 'nothing was bought yet'],
    ['16:22:33', 'floor', sell('rest-41', { minPriceCents: 41 }), 'price_moved', 'bid 40.5 is 40'],
    [
      '16:22:34',
      'sell-45',
      sell('rest-41', { limitPriceCents: 45 }),
      'executed 45',
      'bid 45 at 16:30:45',
    ],
    [
      '16:22:35',
      'second',
      sell('rest-41', { limitPriceCents: 99 }),
      'already_closed',
      'one resting sell',
    ],
    ['16:30:45', 'too-late', sell('rest-41'), 'already_closed', 'sold by sell-45'],
    [
      '16:38:55',
      'brief',
      sell('rest-40', { limitPriceCents: 99, expiresAt: '2026-07-12T16:38:56Z' }),
      'expired',
      'makes room for the next',
    ],
    [
      '16:38:56',
      'sell-90',
      sell('rest-40', { limitPriceCents: 90 }),
      'canceled position_closed',
      'the market sell wins',
    ],
    ['16:38:57', 'sold', sell('rest-40', { minPriceCents: 35 }), 'executed 35', 'bid 35'],
  ]);
}

function lastPrices(): HandLine[] {
  return linesOf('hand', [
    ['17:56:31', 'penny', buy(MIL, 'yes', 5), 'executed 1', 'ask 1; bid 0.5 is no price'],
    ['17:56:31', 'no-bid', sell('penny'), 'no_liquidity', 'no bid'],
    ['17:56:31', 'no-no', buy(MIL, 'no', 5), 'no_liquidity', 'the no ask is 100 minus no bid'],
    [
      '17:56:32',
      'no-99',
      buy(MIL, 'no', 5, { limitPriceCents: 99 }),
      'canceled market_resolved',
      'never offered again',
    ],
    [
      '17:56:33',
      'sell-50',
      sell('penny', { limitPriceCents: 50 }),
      'canceled market_resolved',
      'never bid again',
    ],
    ['20:15:31', 'no-ask', buy(BOS, 'yes', 5), 'no_liquidity', 'bid 99, no ask'],
    ['20:15:31', 'hopeless', buy(BOS, 'no', 100), 'executed 1', 'the no ask is 100 - 99'],
  ]);
}

function settled(): HandLine[] {
  return linesOf('hand', [
    [
      '19:29:25.999',
      'not-yet',
      buy(MIL, 'yes', 5, { limitPriceCents: 1 }),
      'canceled market_resolved',
      'stale, so it rests',
    ],
    ['19:29:26', 'over', buy(MIL, 'yes', 5), 'market_resolved', 'the result comes first'],
    ['19:29:26', 'over', buy(MIL, 'yes', 5, { limitPriceCents: 1 }), 'market_resolved', ''],
    ['19:29:26', 'gone', sell('penny'), 'already_closed', 'settled'],
  ]);
}

/** KC asks 40 at 19:30:33: 250,000 contracts are the whole balance. */
function balance(): HandLine[] {
  const all = { limitPriceCents: 40 };
  return linesOf('limit', [
    ['19:30:33', 'one-more', buy(KC, 'yes', 250_001), 'insufficient_balance', '40 cents too many'],
    [
      '19:30:33',
      'held',
      buy(KC, 'yes', 250_000, { limitPriceCents: 39 }),
      'canceled canceled_by_owner',
      'holds 97,500',
    ],
    ['19:30:33', 'all', buy(KC, 'yes', 6250), 'executed 40', '2,500 are left'],
    ['19:30:33', 'none', buy(KC, 'yes', 1), 'insufficient_balance', 'not a cent is left'],
    ['19:30:33', 'none', buy(KC, 'yes', 1, { limitPriceCents: 1 }), 'insufficient_balance', ''],
    [
      '19:30:33',
      'big-ioc',
      buy(KC, 'yes', 1_000_000_000, { limitPriceCents: 1, timeInForce: 'ioc' }),
      'canceled ioc_not_filled',
      'needs no money',
    ],
    ['19:30:33', 'held', 'cancel', 'done', ''],
    ['19:30:33', 'rest', buy(KC, 'yes', 243_750, all), 'executed 40', 'what was held is spent'],
    ['19:30:33', 'sold', sell('all'), 'executed 39', 'bid 39.5 is 39'],
  ]);
}

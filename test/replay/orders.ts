/**
 * A day's worth of orders, drawn at random from a seed: some fill, some wait, some never can, and
 * some are refused. Their outcomes are not known here; oracle.ts computes them.
 */
import type { Day, Quote } from './day.ts';
import { type Body, stating } from './order-body.ts';
import type { OrderLine } from './outcome.ts';

const ACCOUNTS = ['alice', 'bob', 'carol', 'dave', 'erin', 'frank'];
const EXPIRY_TOO_FAR_MS = 366 * 24 * 60 * 60 * 1000;
const NOBODYS_TRADE = '01890000-0000-7000-8000-000000000000';

type Random = { below(limit: number): number; of<T>(choices: readonly T[]): T };

/** Mulberry32: the same seed gives the same orders everywhere. */
function randomOf(seed: number): Random {
  let state = seed;
  const below = (limit: number) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
  return { below, of: (choices) => choices[below(choices.length)]! };
}

type Draw = {
  random: Random;
  day: Day;
  polls: readonly number[];
  atMs: number;
  /** Lines of the same account so far, to sell, cancel and repeat. */
  earlier: readonly OrderLine[];
  key: string;
};

/** `count` lines sorted by time, of a handful of accounts. */
export function randomOrders(day: Day, seed: number, count: number): OrderLine[] {
  const random = randomOf(seed);
  const polls = [...new Set(day.quotes.map(({ atMs }) => atMs))];
  const times = Array.from({ length: count }, () => timeNear(random, random.of(polls)));
  const lines: OrderLine[] = [];
  for (const [index, atMs] of times.sort((a, b) => a - b).entries()) {
    const account = random.of(ACCOUNTS);
    const earlier = lines.filter((line) => line.account === account);
    const draw = { random, day, polls, atMs, earlier, key: `k${index}` };
    lines.push({ at: isoOf(atMs), account, ...stepOf(draw) });
  }
  return lines;
}

/** At a poll, within its freshness, on the edge of it, past it, and between two polls. */
function timeNear(random: Random, pollMs: number): number {
  const within = random.below(15_000);
  return pollMs + random.of([0, 0, within, within, within, 15_000, 15_001, 60_000]);
}

function stepOf(draw: Draw): Pick<OrderLine, 'order' | 'cancel'> {
  const { random } = draw;
  const roll = random.below(100);
  if (roll < 26) return { order: marketBuy(draw) };
  if (roll < 60) return { order: limitBuy(draw) };
  if (roll < 80) return { order: sell(draw) };
  if (roll < 87) return { cancel: mayRest(draw) };
  if (roll < 93) return { order: repeated(draw) };
  const order = random.of([marketBuy, limitBuy])(draw);
  if (roll < 96) return { order: invalid(random, order) };
  return { order: unknown(random, order) };
}

function marketBuy(draw: Draw): Body {
  const { random } = draw;
  const { subject, yesAsk } = bought(draw);
  const order: Body = { action: 'buy', type: 'market', ...keyField(draw), ...subject };
  if (random.below(3) === 0) order.maxPriceCents = near(random, yesAsk, 2);
  if (random.below(4) === 0) Object.assign(order, stating(1 + random.below(99)));
  if (random.below(5) === 0) order.routing = 'best';
  if (random.below(6) === 0) order.execution = 'paper';
  return order;
}

function limitBuy(draw: Draw): Body {
  const { random } = draw;
  const { subject, yesAsk } = bought(draw);
  const timing = timingOf(draw);
  const limitPriceCents = near(random, yesAsk - random.of([2, 2, 12]), 4);
  return {
    action: 'buy',
    type: 'limit',
    ...keyField(draw),
    ...subject,
    limitPriceCents,
    ...timing,
  };
}

function sell(draw: Draw): Body {
  const { random } = draw;
  const sellOf = keyIn(draw);
  const order: Body = { action: 'sell', ...keyField(draw), sellOf };
  if (random.below(2) === 0) {
    const floor = random.below(3) === 0 ? { minPriceCents: 1 + random.below(99) } : {};
    return { ...order, type: 'market', ...floor };
  }
  return { ...order, type: 'limit', limitPriceCents: 1 + random.below(99), ...timingOf(draw) };
}

/** A key used before: for the same order, in the same words or others, or for another order. */
function repeated(draw: Draw): Body {
  const { random, earlier } = draw;
  const placed = earlier.filter(({ order }) => order !== undefined);
  if (placed.length === 0) return marketBuy(draw);
  const { order } = random.of(placed);
  const idempotencyKey = (order!.idempotencyKey ?? order!.clientOrderId) as string;
  const changes: Body[] = [
    {},
    { routing: 'venue_a', execution: 'paper' },
    { clientOrderId: idempotencyKey, idempotencyKey: undefined },
    { timeInForce: 'gtc' },
    { timeInForce: 'good_till_canceled' },
    { timeInForce: 'fok' },
    { expiresAt: order!.expiresAt ?? isoOf(draw.atMs + 60_000) },
    { routing: 'best' },
    stating(50),
    { side: 'yes' },
    { count: 7 },
    { limitPriceCents: 50 },
    { maxPriceCents: 99 },
    { minPriceCents: 1 },
    { ...marketBuy(draw), clientOrderId: undefined, idempotencyKey },
  ];
  return withoutUndefined({ ...order!, ...random.of(changes) });
}

function invalid(random: Random, order: Body): Body {
  const damages: Body[] = [
    { count: 0 },
    { count: 1.5 },
    { count: '10' },
    { side: 'maybe' },
    { side: undefined },
    { limitPriceCents: 100 },
    { limitPrice: 50 },
    { minPriceCents: 50 },
    { type: 'stop' },
    { tradeId: NOBODYS_TRADE },
    { idempotencyKey: 'two words' },
    { idempotencyKey: 'a', clientOrderId: 'b' },
    { instrumentId: 'ins_lowercase0000' },
    { expiresAt: '2026-07-13T00:00:00' },
  ];
  return withoutUndefined({ ...order, ...random.of(damages) });
}

/** Well-formed, but of nothing that there is. */
function unknown(random: Random, order: Body): Body {
  const { idempotencyKey, clientOrderId } = order;
  const key = withoutUndefined({ idempotencyKey, clientOrderId });
  if (random.below(4) === 0) {
    return { ...key, action: 'sell', type: 'market', tradeId: NOBODYS_TRADE };
  }
  const byTicker = order.ticker !== undefined;
  return { ...order, ...(byTicker ? { ticker: 'nothing' } : { instrumentId: 'ins_000000000000' }) };
}

/** A side of a market, named in one of the possible ways, near the ask of its yes. */
function bought({ random, day, atMs }: Draw): { subject: Body; yesAsk: number } {
  const { id, market, polarity } = random.of(day.instruments);
  const side = random.of(['yes', 'no'] as const);
  const byTicker = random.below(3) === 0;
  const marketSide = byTicker || polarity === 1 ? side : side === 'yes' ? 'no' : 'yes';
  const quote = lastQuote(day, market, atMs);
  const yesAsk = marketSide === 'yes' ? (quote?.yesAsk ?? 99) : 100 - (quote?.yesBid ?? 1);
  const count = Math.ceil(10 ** (random.below(480) / 100));
  const name = byTicker ? { ticker: market } : { instrumentId: id };
  return { subject: { ...name, side, count }, yesAsk };
}

function lastQuote(day: Day, market: string, atMs: number): Quote | undefined {
  return day.quotes.findLast((quote) => quote.market === market && quote.atMs <= atMs);
}

function timingOf({ random, polls, atMs }: Draw): Body {
  const timeInForce = random.of([
    undefined,
    'gtc',
    'gtc',
    'good_till_canceled',
    'ioc',
    'immediate_or_cancel',
    'fok',
    'fill_or_kill',
  ]);
  const mayExpire = timeInForce === undefined || timeInForce.startsWith('g');
  const expires = mayExpire && random.below(3) === 0;
  const laterPoll = polls.findLast((pollMs) => pollMs <= atMs + random.below(7_200_000)) ?? atMs;
  const expiresAtMs = random.of([
    laterPoll,
    laterPoll + 1,
    laterPoll + 1,
    atMs + 1,
    atMs + random.below(10_000_000),
    random.of([atMs - 1, atMs, atMs + EXPIRY_TOO_FAR_MS]),
  ]);
  return withoutUndefined({
    timeInForce,
    expiresAt: expires ? isoOf(expiresAtMs) : undefined,
  });
}

function keyField({ random, key }: Draw): Body {
  return random.below(5) === 0 ? { clientOrderId: key } : { idempotencyKey: key };
}

/** A key the account has used; mostly of a buy. */
function keyIn({ random, earlier }: Draw): string {
  const orders = earlier.flatMap(({ order }) => (order === undefined ? [] : [order]));
  const buys = orders.filter(({ action }) => action === 'buy');
  const order = random.of(random.below(10) === 0 ? orders : buys);
  return ((order?.idempotencyKey ?? order?.clientOrderId) as string | undefined) ?? 'never-placed';
}

/** Mostly the key of a limit order that may still rest. */
function mayRest(draw: Draw): string {
  const { random, earlier } = draw;
  if (random.below(4) === 0) return random.of(['never-placed', keyIn(draw)]);
  const resting = earlier.filter(({ order }) => order?.type === 'limit').slice(-8);
  const order = resting.length === 0 ? undefined : random.of(resting).order;
  return ((order?.idempotencyKey ?? order?.clientOrderId) as string | undefined) ?? 'never-placed';
}

function near(random: Random, cents: number, by: number): number {
  return Math.min(99, Math.max(1, cents - by + random.below(2 * by + 1)));
}

function withoutUndefined(body: Body): Body {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
}

function isoOf(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** More orders and positions of one account than a page of its lists holds. */
export function manyOrders(day: Day, count: number): OrderLine[] {
  const { id } = day.instruments[0]!;
  const at = isoOf(day.quotes[0]!.atMs + 5000);
  return Array.from({ length: count }, (_, index) => {
    const subject = { action: 'buy', instrumentId: id, side: 'yes', count: 1 };
    const market = { ...subject, type: 'market', idempotencyKey: `m${index}` };
    const limit = { ...subject, type: 'limit', idempotencyKey: `l${index}`, limitPriceCents: 1 };
    return [market, limit].map((order) => ({ at, account: 'many', order }));
  }).flat();
}

/** The order body as the oracle reads it: a second copy of rules A30, A31 (api/RULES.md). */

export type Body = Record<string, unknown>;
type Check = (value: unknown) => boolean;

const oneOf = (...values: unknown[]): Check => {
  return (value) => values.includes(value);
};
const whole = (from: number, to: number): Check => {
  return (value) => Number.isInteger(value) && (value as number) >= from && (value as number) <= to;
};
const matches = (pattern: RegExp): Check => {
  return (value) => typeof value === 'string' && pattern.test(value);
};
const dateTime: Check = (value) =>
  matches(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/)(value) &&
  !Number.isNaN(Date.parse(value as string));

const KEY = matches(/^[!-~]{1,128}$/);
const CENTS = whole(1, 99);

const VALUES: Record<string, Check> = {
  action: oneOf('buy', 'sell'),
  type: oneOf('market', 'limit'),
  idempotencyKey: KEY,
  clientOrderId: KEY,
  instrumentId: matches(/^ins_[0-9A-HJKMNP-TV-Z]{12}$/),
  ticker: matches(/^.{1,256}$/su),
  side: oneOf('yes', 'no'),
  count: whole(1, 1_000_000_000),
  tradeId: matches(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i),
  sellOf: KEY,
  limitPriceCents: CENTS,
  timeInForce: oneOf(
    'gtc',
    'ioc',
    'fok',
    'good_till_canceled',
    'immediate_or_cancel',
    'fill_or_kill',
  ),
  expiresAt: dateTime,
  maxPriceCents: CENTS,
  minPriceCents: CENTS,
  routing: oneOf('best', 'venue_a'),
  statedProbPct: CENTS,
  rejectIfLaterThan: dateTime,
  execution: oneOf('paper'),
};

const EVERY = [
  'action',
  'type',
  'idempotencyKey',
  'clientOrderId',
  'routing',
  'execution',
  'rejectIfLaterThan',
];
const BUY = ['instrumentId', 'ticker', 'side', 'count', 'statedProbPct'];
const LIMIT = ['limitPriceCents', 'timeInForce', 'expiresAt'];
const FIELDS: Record<string, string[]> = {
  'buy market': [...EVERY, ...BUY, 'maxPriceCents'],
  'buy limit': [...EVERY, ...BUY, ...LIMIT],
  'sell market': [...EVERY, 'tradeId', 'sellOf', 'minPriceCents'],
  'sell limit': [...EVERY, 'tradeId', 'sellOf', ...LIMIT],
};

/** Whether the body is an order at all. That `expiresAt` lies ahead is not looked at. */
export function wellFormed(body: Body): boolean {
  const fields = FIELDS[`${body.action} ${body.type}`];
  if (fields === undefined) return false;
  const fits = ([name, value]: [string, unknown]) => fields.includes(name) && VALUES[name]!(value);
  if (!Object.entries(body).every(fits)) return false;
  const count = (...names: string[]) => names.filter((name) => body[name] !== undefined).length;
  if (count('idempotencyKey', 'clientOrderId') !== 1) return false;
  if (body.type === 'limit' && count('limitPriceCents') !== 1) return false;
  if (count('expiresAt') === 1 && timeInForceOf(body) !== 'gtc') return false;
  if (body.action === 'sell') return count('tradeId', 'sellOf') === 1;
  return count('instrumentId', 'ticker') === 1 && count('side', 'count') === 2;
}

export function keyOf(body: Body): string {
  return (body.idempotencyKey ?? body.clientOrderId) as string;
}

const SHORT: Record<string, 'gtc' | 'ioc' | 'fok'> = {
  gtc: 'gtc',
  ioc: 'ioc',
  fok: 'fok',
  good_till_canceled: 'gtc',
  immediate_or_cancel: 'ioc',
  fill_or_kill: 'fok',
};

/** Null for a market order; a limit order that names none is gtc. */
export function timeInForceOf(body: Body): 'gtc' | 'ioc' | 'fok' | null {
  return body.type === 'market' ? null : SHORT[(body.timeInForce as string) ?? 'gtc']!;
}

/** The probability that a buy states, in percent. */
export function statedPctOf(body: Body): number | null {
  return (body.statedProbPct as number | undefined) ?? null;
}

/** The field of a buy that states a probability. */
export const stating = (percent: number): Body => ({ statedProbPct: percent });

/** Fields of a body that answers show, of the order and of the trade that it opens. */
export function shownTermsOf(body: Body) {
  return { statedProbPct: statedPctOf(body) };
}

/** Equal for bodies that ask for the same order. */
export function canonical(body: Body): string {
  const { idempotencyKey: _, clientOrderId: __, ...asked } = body;
  const meant: Body = {
    routing: 'venue_a',
    execution: 'paper',
    ...asked,
    timeInForce: timeInForceOf(body),
    expiresAt: body.expiresAt === undefined ? null : Date.parse(body.expiresAt as string),
  };
  return JSON.stringify(Object.entries(meant).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * An order as it is typed, and its body, or the problem beside each field. Rules A30 to A33, A121,
 * U39, U40 (api/RULES.md), T21 to T23, T44 (engine/RULES.md).
 */
import type { OrderFields } from '../../client/client.js';
import type { OrderRequest, OrderType, Side } from '../../client/generated.js';
import type { AccountId } from './account-id.ts';

export type TimeInForce = 'gtc' | 'ioc' | 'fok';
export type Routing = NonNullable<OrderRequest['routing']>;
/** Typed values are kept as text. */
export type Ticket = {
  action: OrderRequest['action'];
  /** Of a buy. */
  side: Side;
  /** For a sell: the position; empty: none is chosen. */
  tradeId: string;
  type: OrderType;
  /** What `count` is in. */
  unit: 'contracts' | 'dollars';
  count: string;
  limit: string;
  timeInForce: TimeInForce;
  /** Local time, as its field has it: `2026-11-24T19:05`; empty: it rests until it is canceled. */
  expires: string;
  /** The highest price of a market buy, the lowest one of a market sell. */
  bound: string;
  probability: string;
  routing: Routing;
  account: AccountId;
};
export type TicketField = 'tradeId' | 'count' | 'limit' | 'expires' | 'bound' | 'probability';
export type TicketErrors = Partial<Record<TicketField, string>>;
/** Without its key, which is added at the placing. */
export type OrderBody = Omit<OrderFields, 'idempotencyKey' | 'clientOrderId'>;
/** `order` is null if something is wrong. */
export type ReadTicket = { order: OrderBody | null; errors: TicketErrors };

export const NEW_TICKET: Ticket = {
  action: 'buy',
  side: 'yes',
  tradeId: '',
  type: 'market',
  unit: 'contracts',
  count: '10',
  limit: '',
  timeInForce: 'gtc',
  expires: '',
  bound: '',
  probability: '',
  routing: 'venue_a',
  account: null,
};

const COUNT_MAX = 1_000_000_000;
const EXPIRES_WITHIN_DAYS = 365;
const DAY_MS = 86_400_000;
const WHOLE = /^\d+$/;

type Read = {
  /** The server's time, which decides whether an expiry is ahead. */
  nowMs: number;
  /** The live price of the side, by which dollars are contracts; null: there is none. */
  priceCents: number | null;
};

export function readTicket(
  ticket: Ticket,
  instrumentId: string,
  { nowMs, priceCents }: Read,
): ReadTicket {
  const errors: TicketErrors = {};
  const read = <Value>(field: TicketField, value: Value | Wrong): Value | undefined => {
    if (!(value instanceof Wrong)) return value;
    errors[field] = value.sentence;
    return undefined;
  };
  const { action, type, side, routing } = ticket;
  const order = given({
    action,
    type,
    ...(action === 'buy'
      ? {
          instrumentId,
          side,
          count: read('count', countOf(ticket, priceCents)),
          statedProbPct: read('probability', percentOf(ticket.probability)),
        }
      : { tradeId: read('tradeId', positionOf(ticket.tradeId)) }),
    ...(type === 'limit'
      ? {
          limitPriceCents: read('limit', priceOf(ticket.limit)),
          timeInForce: ticket.timeInForce,
          expiresAt: read('expires', expiryOf(ticket, nowMs)),
        }
      : { [boundName(action)]: read('bound', optionalPriceOf(ticket.bound)) }),
    routing: routing === 'best' ? routing : undefined,
  });
  return { order: Object.keys(errors).length === 0 ? (order as OrderBody) : null, errors };
}

/**
 * A market order gets a bound, so that it trades at the shown price or better. Any other order, and
 * one with its own bound, stays unchanged. Rule A121 (api/RULES.md).
 */
export function boundedBy(order: OrderBody, shownCents: number | null): OrderBody {
  if (shownCents === null || !isUnbounded(order)) return order;
  return { ...order, [boundName(order.action)]: shownCents };
}

/** Whether it would trade at any price. */
export function isUnbounded(order: OrderBody): boolean {
  return order.type === 'market' && order[boundName(order.action)] === undefined;
}

/** Whether the field has a value: an empty field is not wrong yet. */
export function isTyped(ticket: Ticket, field: TicketField): boolean {
  return ticket[field] !== '';
}

class Wrong {
  readonly sentence: string;

  constructor(sentence: string) {
    this.sentence = sentence;
  }
}

function boundName(action: Ticket['action']): 'maxPriceCents' | 'minPriceCents' {
  return action === 'buy' ? 'maxPriceCents' : 'minPriceCents';
}

function countOf(ticket: Ticket, priceCents: number | null): number | Wrong {
  const { count: text, unit } = ticket;
  if (unit === 'contracts') {
    return wholeOf(text, 1, COUNT_MAX) ?? new Wrong('A whole number from 1 to 1,000,000,000.');
  }
  const amountCents = centsOfText(text);
  if (amountCents === null) return new Wrong('An amount in dollars, such as 25 or 12.50.');
  const eachCents = priceOfEach(ticket, priceCents);
  if (eachCents === null) return new Wrong('There is no price now: enter contracts, or a limit.');
  const count = contractsFor(amountCents, eachCents);
  if (count > 0) return count;
  return new Wrong(`One contract costs ${eachCents}¢.`);
}

/** The price by which an amount is contracts: the limit of a limit order, else the live price. */
export function priceOfEach(
  { type, limit }: Pick<Ticket, 'type' | 'limit'>,
  priceCents: number | null,
): number | null {
  return type === 'limit' ? wholeOf(limit, 1, 99) : priceCents;
}

/** As many whole contracts as an amount buys. */
export function contractsFor(amountCents: number, eachCents: number): number {
  return Math.min(COUNT_MAX, Math.floor(amountCents / eachCents));
}

/** Amounts of a button each, in the ticket's unit. */
export const QUICK_SIZES: Readonly<Record<Ticket['unit'], readonly number[]>> = {
  contracts: [10, 50, 100, 500],
  dollars: [10, 50, 100, 500],
};

/** All that the cash buys at the price, as its field has it; null: nothing, or no price is known. */
export function maxText(
  ticket: Ticket,
  cashDollars: number | null,
  priceCents: number | null,
): string | null {
  const eachCents = priceOfEach(ticket, priceCents);
  if (cashDollars === null || eachCents === null) return null;
  const cashCents = Math.round(cashDollars * 100);
  const count = contractsFor(cashCents, eachCents);
  if (count < 1) return null;
  return ticket.unit === 'contracts' ? String(count) : String((count * eachCents) / 100);
}

/** The same amount in the other unit, as far as a price is known. */
export function inUnit(ticket: Ticket, unit: Ticket['unit'], priceCents: number | null): Ticket {
  if (unit === ticket.unit) return ticket;
  const read = countOf(ticket, priceCents);
  const eachCents = priceOfEach(ticket, priceCents);
  if (typeof read !== 'number') return { ...ticket, unit, count: '' };
  if (unit === 'contracts') return { ...ticket, unit, count: String(read) };
  const count = eachCents === null ? '' : String((read * eachCents) / 100);
  return { ...ticket, unit, count };
}

/** Whole cents; null: it is no amount above zero. */
function centsOfText(text: string): number | null {
  const found = /^\$?\s*(\d{1,9}(?:,\d{3})*)(?:\.(\d{1,2}))?$/.exec(text.trim());
  if (found === null) return null;
  const [, dollars, cents = ''] = found;
  const all = Number(dollars!.replaceAll(',', '')) * 100 + Number(cents.padEnd(2, '0'));
  return all > 0 ? all : null;
}

function priceOf(text: string): number | Wrong {
  return wholeOf(text, 1, 99) ?? new Wrong('Whole cents from 1 to 99.');
}

function optionalPriceOf(text: string): number | Wrong | undefined {
  return text.trim() === '' ? undefined : priceOf(text);
}

function percentOf(text: string): number | Wrong | undefined {
  if (text.trim() === '') return undefined;
  return wholeOf(text, 1, 99) ?? new Wrong('Whole percent from 1 to 99.');
}

function positionOf(tradeId: string): string | Wrong {
  return tradeId === '' ? new Wrong('Choose the position to sell.') : tradeId;
}

/** As the API takes it; only an order that rests has it. */
function expiryOf({ timeInForce, expires }: Ticket, nowMs: number): string | Wrong | undefined {
  if (timeInForce !== 'gtc' || expires === '') return undefined;
  const atMs = Date.parse(expires);
  if (Number.isNaN(atMs)) return new Wrong('A whole date and time.');
  if (atMs <= nowMs) return new Wrong('It must be in the future.');
  if (atMs > nowMs + EXPIRES_WITHIN_DAYS * DAY_MS) {
    return new Wrong(`At most ${EXPIRES_WITHIN_DAYS} days ahead.`);
  }
  return new Date(atMs).toISOString();
}

function wholeOf(text: string, min: number, max: number): number | null {
  const trimmed = text.trim();
  const value = Number(trimmed);
  return WHOLE.test(trimmed) && value >= min && value <= max ? value : null;
}

/** Without undefined fields. */
function given<Values extends object>(values: Values): Partial<Values> {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Partial<Values>;
}

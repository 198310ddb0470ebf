/**
 * The answers that one trader got. Every answer that shows an order or a trade is held against the
 * newest one before it: acknowledged state may only change in ways that the rules allow.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Json } from './client.ts';

/** A placement as it was sent, and the newest answer to it. */
export type Placement = { body: Json; answer: Json };

const ENDS_OF_ORDERS: Record<string, readonly (string | null)[]> = {
  executed: [null],
  canceled: ['canceled_by_owner', 'market_resolved', 'position_closed'],
  expired: ['expired'],
};
const MOVING_ORDER_FIELDS = [
  'status',
  'filledContracts',
  'remainingContracts',
  'holdDollars',
  'cancelReason',
  'tradeId',
  'fillPriceCents',
  'executedAt',
  'canceledAt',
  'updatedAt',
];
/** A trade grows and shrinks in parts. Rules T70 to T73 (engine/RULES.md). */
const MOVING_TRADE_FIELDS = [
  'contracts',
  'costDollars',
  'entryCents',
  'feesDollars',
  'status',
  'closedAt',
  'closeReason',
  'pnlDollars',
  'resolvedOutcome',
  'exitCents',
];

export class Memory {
  /** Acknowledged placements, by idempotency key. */
  readonly placements = new Map<string, Placement>();
  /** Placements without an answer, by idempotency key: each may have happened or not. */
  readonly unanswered = new Map<string, Json>();
  readonly orders = new Map<string, Json>();
  readonly trades = new Map<string, Json>();
  readonly resting = new Set<string>();
  readonly open = new Set<string>();
  readonly cancelsSent = new Set<string>();
  /** Trades that a sell was sent for. */
  readonly sellsSent = new Set<string>();
  /** Trades of orders that have traded whole: they grow no more. */
  readonly #whole = new Set<string>();
  readonly #breach: (what: string) => void;

  constructor(breach: (what: string) => void) {
    this.#breach = breach;
  }

  willPlace(body: Json): void {
    this.unanswered.set(body.idempotencyKey, body);
    if (body.action === 'sell') this.sellsSent.add(body.tradeId);
  }

  /** Nothing is stored under the key of a refused order. Rule T94 (engine/RULES.md). */
  wasRefused(body: Json): void {
    if (!this.placements.has(body.idempotencyKey)) this.unanswered.delete(body.idempotencyKey);
  }

  sawPlacement(body: Json, answer: Json): void {
    const { idempotencyKey } = body;
    const known = this.placements.get(idempotencyKey);
    const mayBeNew = known === undefined;
    const mayBeReplay = known !== undefined || this.unanswered.has(idempotencyKey);
    const expected = answer.replayed ? mayBeReplay : mayBeNew;
    this.#check(expected, `${idempotencyKey} is placed twice or replays nothing`, answer);
    this.#check(answer.idempotencyKey === idempotencyKey, 'another key is answered', answer);
    this.#check(answer.type === body.type && answer.action === body.action, 'another order', body);
    if (known !== undefined) this.#checkReplay(known.answer, answer);
    this.placements.set(idempotencyKey, { body, answer });
    this.unanswered.delete(idempotencyKey);
    if (answer.order !== null) this.sawOrder(answer.order);
    if (answer.trade === null) return;
    this.sawTrade(answer.trade);
    this.#whole.add(answer.trade.tradeId);
  }

  sawOrder(order: Json): void {
    const known = this.orders.get(order.orderId);
    if (known !== undefined) this.#checkOrder(known, order);
    this.orders.set(order.orderId, order);
    if (order.status === 'resting') this.resting.add(order.orderId);
    else this.resting.delete(order.orderId);
    if (order.status !== 'executed' || order.fillPriceCents === undefined) return;
    const gain = order.limitCents - order.fillPriceCents;
    this.#check(order.action === 'buy' ? gain >= 0 : gain <= 0, 'filled past its limit', order);
  }

  sawTrade(trade: Json): void {
    const known = this.trades.get(trade.tradeId);
    if (known !== undefined) this.#checkTrade(known, trade);
    this.trades.set(trade.tradeId, trade);
    if (trade.status === 'open') this.open.add(trade.tradeId);
    else this.open.delete(trade.tradeId);
  }

  #checkReplay(before: Json, after: Json): void {
    const sameOrder = before.order?.orderId === after.order?.orderId;
    this.#check(sameOrder, 'a replay shows another order', { before, after });
    const moved = before.status !== after.status && before.status !== 'resting';
    this.#check(!moved, 'a replay shows another end', { before, after });
    if (before.trade !== null) {
      const sameTrade = before.trade.tradeId === after.trade?.tradeId;
      this.#check(sameTrade, 'a replay shows another trade', { before, after });
    }
    if (before.originalCreatedAt !== null) {
      const sameTime = before.originalCreatedAt === after.originalCreatedAt;
      this.#check(sameTime, 'a replay shows another time', { before, after });
    }
  }

  #checkOrder(before: Json, after: Json): void {
    if (before.status !== 'resting') {
      this.#check(isDeepStrictEqual(before, after), 'a finished order changed', { before, after });
      return;
    }
    const same = isDeepStrictEqual(
      without(before, MOVING_ORDER_FIELDS),
      without(after, MOVING_ORDER_FIELDS),
    );
    this.#check(same, 'an order became another', { before, after });
    const filled = after.filledContracts - before.filledContracts;
    this.#check(filled >= 0, 'a part of an order became untraded', { before, after });
    if (after.status === 'resting') return;
    const { status, cancelReason } = after;
    const known = ENDS_OF_ORDERS[status]?.includes(cancelReason) === true;
    const asked = this.cancelsSent.has(after.orderId);
    const wanted =
      (cancelReason !== 'canceled_by_owner' || asked) &&
      (cancelReason !== 'position_closed' ||
        after.action === 'sell' ||
        this.sellsSent.has(after.tradeId)) &&
      (status !== 'expired' || after.expiresAt !== null);
    this.#check(known && wanted, 'a resting order ended otherwise', { before, after });
  }

  #checkTrade(before: Json, after: Json): void {
    if (before.status !== 'open') {
      this.#check(isDeepStrictEqual(before, after), 'a closed trade changed', { before, after });
      return;
    }
    const same = isDeepStrictEqual(
      without(before, MOVING_TRADE_FIELDS),
      without(after, MOVING_TRADE_FIELDS),
    );
    this.#check(same, 'a trade became another', { before, after });
    const grown = after.contracts - before.contracts;
    const mayMove =
      this.sellsSent.has(after.tradeId) || (grown > 0 && !this.#whole.has(after.tradeId));
    this.#check(grown === 0 || mayMove, 'a trade changed by no order', { before, after });
    const wanted = after.status !== 'closed' || this.sellsSent.has(after.tradeId);
    this.#check(wanted, 'a trade was sold by nobody', { before, after });
  }

  #check(holds: boolean, what: string, shown: unknown): void {
    if (!holds) this.#breach(`${what}: ${JSON.stringify(shown)}`);
  }
}

function without(value: Json, fields: readonly string[]): Json {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !fields.includes(name)));
}

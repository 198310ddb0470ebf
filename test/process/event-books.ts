/**
 * The books of an account, kept from the events of its orders and trades alone: prices times
 * contracts, in cents. It uses no sum of the server. Rules J22 (api/RULES.md), M20 to M27
 * (engine/RULES.md).
 */
import type { Json } from './client.ts';

export const START_CENTS = 10_000_000;

export class EventBooks {
  readonly resting = new Map<string, Json>();
  readonly open = new Map<string, Json>();
  /** By id: the state of each order and trade, or how it ended. */
  readonly orders = new Map<string, Json>();
  readonly trades = new Map<string, Json>();
  /** By type. */
  readonly counts = new Map<string, number>();
  readonly faults: string[] = [];
  realizedCents = 0;

  take({ type, order, trade }: Json): void {
    this.counts.set(type, (this.counts.get(type) ?? 0) + 1);
    if (order !== undefined) this.#order(type, order);
    else this.#trade(type, trade);
  }

  /** The holds of resting buys, at their limits. */
  get heldCents(): number {
    const buys = [...this.resting.values()].filter(({ action }) => action === 'buy');
    return sumOf(buys, ({ limitCents, contracts }) => limitCents * contracts);
  }

  get stakeCents(): number {
    return sumOf(this.open.values(), costOf);
  }

  /** The spendable cash. */
  get balanceCents(): number {
    return START_CENTS + this.realizedCents - this.stakeCents - this.heldCents;
  }

  #order(type: string, order: Json): void {
    const { orderId } = order;
    const isFirst = type === 'order_placed';
    if (isFirst === this.orders.has(orderId)) this.faults.push(`${type} of order ${orderId}`);
    if (!isFirst && !this.resting.has(orderId))
      this.faults.push(`${type} after its end: ${orderId}`);
    this.orders.set(orderId, order);
    if (order.status === 'resting') this.resting.set(orderId, order);
    else this.resting.delete(orderId);
  }

  #trade(type: string, trade: Json): void {
    const { tradeId } = trade;
    const isFirst = type === 'trade_opened';
    if (isFirst === this.trades.has(tradeId)) this.faults.push(`${type} of trade ${tradeId}`);
    this.trades.set(tradeId, trade);
    if (isFirst) {
      this.open.set(tradeId, trade);
      return;
    }
    if (!this.open.delete(tradeId)) this.faults.push(`${type} after its end: ${tradeId}`);
    this.realizedCents += pnlOf(trade);
  }
}

export const costOf = ({ entryCents, contracts }: Json): number => entryCents * contracts;
export const pnlOf = (trade: Json): number => trade.exitCents * trade.contracts - costOf(trade);

function sumOf(rows: Iterable<Json>, of: (row: Json) => number): number {
  let sum = 0;
  for (const row of rows) sum += of(row);
  return sum;
}

/**
 * The facts of the current batch, as the bytes of its record, and their entries for the index. Each
 * is written directly from the event and the rows that it has changed (fact-writers.ts). Rules D2,
 * D3 (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import type { OrderRow } from '../base/units.ts';
import type {
  ClosedTrade,
  Event,
  OrderFilled,
  OrderPartFilled,
  PairClosed,
} from '../rules/events.ts';
import type { FactSink } from '../rules/fact-sink.ts';
import { saleOf } from '../rules/net-orders.ts';
import type { ShardState } from '../rules/state.ts';
import { ByteWriter } from './bytes.ts';
import { FACT_WRITERS as WRITE, type Write } from './fact-writers.ts';

/** Whether it names markets and instruments by their numbers. Of an event or a fact. */
export function isOfCatalog<One extends { kind: string }>(
  one: One,
): one is Extract<One, { kind: 'catalog_replaced' | 'catalog_changed' }> {
  return one.kind === 'catalog_replaced' || one.kind === 'catalog_changed';
}

export class FactBuffer implements FactSink {
  readonly #to = new ByteWriter();
  /** The position that the record will have in the log. */
  record = 0;
  /** The number of the first fact. */
  firstNumber = 1;
  /** Whether a catalog or a change of it is among them. Later facts cannot be read without it. */
  hasCatalog = false;
  #count = 0;

  /** Starts a record at this position, whose first fact has this number. */
  begin(record: number, firstNumber: number): void {
    invariant(firstNumber >= 1, 'facts are numbered from 1');
    this.#to.begin();
    this.record = record;
    this.firstNumber = firstNumber;
    this.#count = 0;
    this.hasCatalog = false;
  }

  /** Facts so far. */
  get count(): number {
    return this.#count;
  }

  /** The offset of the next fact, and so the bytes so far. */
  get offset(): number {
    return this.#to.length;
  }

  /** The facts from an offset on; valid until `begin`. */
  payload(from = 0): Uint8Array {
    return this.#to.view(from, this.#to.length);
  }

  add(state: ShardState, event: Event): void {
    switch (event.kind) {
      case 'order_placed':
        state.records.noteKey(event.account, event.idempotencyKey, this.record, this.offset);
        return WRITE.order_placed(this.#next(), state, event);
      case 'order_amended':
        state.records.noteKey(event.account, event.idempotencyKey, this.record, this.offset);
        return WRITE.order_amended(this.#next(), state, event);
      case 'order_filled':
        this.#noteOrder(state, event.order);
        WRITE.order_filled(this.#next(), state, event);
        return this.#trade(state, event);
      case 'order_part_filled':
        WRITE.order_part_filled(this.#next(), state, event);
        return this.#trade(state, event);
      case 'pair_closed':
        WRITE.pair_closed(this.#next(), state, event);
        return this.#trade(state, event);
      case 'order_ended':
        this.#noteOrder(state, event.order);
        return WRITE.order_ended(this.#next(), state, event);
      case 'position_settled':
        this.#noteTrade(state, event.outcome === 'void' ? 'void' : 'settled');
        return WRITE.trade_settled(this.#next(), state, event);
      case 'position_reset':
        this.#noteTrade(state, 'reset');
        return WRITE.trade_closed(this.#next(), state, event);
      case 'trade_corrected':
        state.records.noteCorrection(event.account, event.trade, this.record, this.offset);
        return WRITE.trade_corrected(this.#next(), state, event);
      case 'trade_counted':
        return WRITE.trade_counted(this.#next(), state, event);
      case 'fill_noted':
        return WRITE.fill_noted(this.#next(), state, event);
      case 'fill_nets':
      case 'order_queued':
      case 'queue_met':
      case 'liquidity_taken':
      case 'book_missed':
      case 'order_arrived':
      case 'order_cancel_accepted':
      case 'order_group_made':
      case 'order_group_changed':
      case 'order_group_removed':
      case 'account_opened':
      case 'account_reset':
      case 'privacy_changed':
      case 'trade_marked':
      case 'cash_adjusted':
      case 'market_resolved':
      case 'market_valued':
      case 'market_corrected':
      case 'game_changed':
      case 'catalog_replaced':
      case 'catalog_changed':
      case 'clock_set':
        this.hasCatalog ||= isOfCatalog(event);
        return (WRITE[event.kind] as Write<Event>)(this.#next(), state, event);
      default:
        event satisfies never;
    }
  }

  #next(): ByteWriter {
    this.#count++;
    return this.#to;
  }

  /** The fact of a fill's effect on its trade. */
  #trade(state: ShardState, event: OrderFilled | OrderPartFilled | PairClosed): void {
    const { trade } = state.applied;
    invariant(trade !== null, 'a fill has changed no trade');
    switch (trade) {
      case 'opened':
        invariant(event.kind !== 'pair_closed', 'a pair that closes opens a trade');
        return WRITE.trade_opened(this.#next(), state, event);
      case 'grown':
        invariant(event.kind !== 'pair_closed', 'a pair that closes adds to a trade');
        return WRITE.trade_grown(this.#next(), state, event);
      case 'reduced':
        return WRITE.trade_reduced(this.#next(), state, saleOf(state.applied, event));
      case 'closed':
        this.#noteTrade(state, 'closed');
        return WRITE.trade_closed(this.#next(), state, event);
      default:
        trade satisfies never;
    }
  }

  /**
   * A market order that met the book at once is a fill, not an order: it has no index entry. One that
   * nets is an order, since it may have several fills.
   */
  #noteOrder({ orders: { col }, applied, records }: ShardState, order: OrderRow): void {
    const isFill = !applied.hadLatency && applied.netting === null;
    if (isFill && col.limitPriceCents.get(order) === 0) return;
    const { account, status } = applied;
    records.noteOrder(account, status, col.id, order, this.record, this.offset);
  }

  #noteTrade(state: ShardState, status: ClosedTrade['status']): void {
    const { positions, applied, records } = state;
    const { account, position } = applied;
    records.noteTrade(account, status, positions.col.id, position, this.record, this.offset);
  }
}

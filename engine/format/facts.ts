/**
 * The facts of the batch at hand, as the bytes of its record: each is written straight from the
 * event and from the rows that it has changed. What stands in the log is what this file writes;
 * fact-layouts.ts reads it. Rules D2, D3 (engine/RULES.md).
 */
import type {
  Event,
  OrderEnded,
  OrderFilled,
  OrderPartFilled,
  OrderPlaced,
  PositionSettled,
} from '../rules/events.ts';
import { CANCEL_REASONS } from '../rules/events.ts';
import type { FactSink } from '../rules/fact-sink.ts';
import { instrumentSideOf, isPlacedPrivate, sideOf } from '../rules/flags.ts';
import { invariant } from '../rules/invariant.ts';
import type { MarketOutcome } from '../rules/messages.ts';
import { viaCode } from '../rules/row-records.ts';
import type { ShardState } from '../rules/state.ts';
import type { EpochMs, OrderRow, PositionRow, Side } from '../rules/units.ts';
import { GAME_STATUSES, NO_ROW } from '../rules/units.ts';
import { ByteWriter } from './bytes.ts';
import { ENDINGS, KIND, OUTCOMES, TIMES_IN_FORCE } from './fact-layouts.ts';

export class FactBuffer implements FactSink {
  readonly #to = new ByteWriter();
  /** The position that the record will have in the log. */
  record = 0;
  /** The number of the first fact. */
  firstNumber = 1;
  /** Whether a catalog is among them, by which later facts are read. */
  hasCatalog = false;
  #count = 0;

  /** Starts the record at that position, whose first fact has that number. */
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

  /** The facts from an offset on; good until `begin`. */
  payload(from = 0): Uint8Array {
    return this.#to.view(from, this.#to.length);
  }

  add(state: ShardState, event: Event): void {
    switch (event.kind) {
      case 'order_placed':
        return this.#orderPlaced(state, event);
      case 'order_filled':
        this.#orderFilled(state, event);
        return this.#trade(state, event);
      case 'order_part_filled':
        this.#orderPartFilled(state, event);
        return this.#trade(state, event);
      case 'order_ended':
        return this.#orderEnded(state, event);
      case 'position_settled':
        return this.#tradeSettled(state, event);
      default:
        return this.#rare(state, event);
    }
  }

  #begin(kind: number, atMs: EpochMs): ByteWriter {
    this.#count++;
    this.#to.u8(kind);
    this.#to.u48(atMs);
    return this.#to;
  }

  #orderPlaced(state: ShardState, event: OrderPlaced): void {
    state.records.noteKey(event.account, event.idempotencyKey, this.record, this.offset);
    const to = this.#begin(KIND.order_placed, event.atMs);
    to.uuidAt(state.accounts.col.id, event.account);
    to.uuidAt(state.orders.col.id, event.order);
    to.word(event.idempotencyKey);
    to.u32(event.market);
    to.u32(event.instrument);
    to.u32(event.contracts);
    to.u8(event.action === 'buy' ? 0 : 1);
    to.u8(sideCode(event.side));
    to.u8(sideCode(event.instrumentSide));
    to.u8(event.byTicker ? 1 : 0);
    to.u8(event.routing === 'venue_a' ? 0 : 1);
    to.u8(viaCode(event.placedVia));
    to.u8(event.placedPrivate ? 1 : 0);
    to.u8(event.rests ? 1 : 0);
    const { timeInForce, expiresAtMs, position } = event;
    to.u8(timeInForce === null ? 0 : 1);
    if (timeInForce !== null) to.u8(TIMES_IN_FORCE.indexOf(timeInForce));
    to.u8(event.limitPriceCents ?? 0);
    to.u8(event.boundPriceCents ?? 0);
    to.u8(event.statedProbPct ?? 0);
    to.u8(expiresAtMs === null ? 0 : 1);
    if (expiresAtMs !== null) to.u48(expiresAtMs);
    this.#tradeOrNone(state, position ?? NO_ROW);
  }

  #orderFilled(state: ShardState, event: OrderFilled): void {
    const { effects } = state;
    this.#noteOrder(state, event.order);
    const to = this.#begin(KIND.order_filled, event.atMs);
    this.#fill(state, event);
    to.uuidAt(state.positions.col.id, effects.position);
    to.u8(effects.fillPriceCents);
    to.u8(effects.fillVenue!);
    this.#placed(state, event.order);
  }

  #orderPartFilled(state: ShardState, event: OrderPartFilled): void {
    this.#begin(KIND.order_part_filled, event.atMs);
    this.#fill(state, event);
    this.#to.uuidAt(state.positions.col.id, state.effects.position);
  }

  #orderEnded(state: ShardState, event: OrderEnded): void {
    const { effects } = state;
    this.#noteOrder(state, event.order);
    const to = this.#begin(KIND.order_ended, event.atMs);
    this.#ofOrder(state, event.order);
    to.u8(ENDINGS.indexOf(event.status));
    to.u8(CANCEL_REASONS.indexOf(event.reason));
    to.u8(effects.fillPriceCents);
    to.u8(effects.fillVenue === null ? 0 : 1);
    if (effects.fillVenue !== null) to.u8(effects.fillVenue);
    to.u32(effects.filledContracts);
    this.#tradeOrNone(state, effects.position);
    this.#placed(state, event.order);
  }

  /** What a fill has made of its trade. */
  #trade(state: ShardState, { atMs, order, priceCents, venue }: OrderFilled | OrderPartFilled) {
    const { effects } = state;
    invariant(effects.trade !== null, 'a fill has changed no trade');
    switch (effects.trade) {
      case 'opened':
        this.#begin(KIND.trade_opened, atMs);
        this.#ofTrade(state, effects.contracts);
        this.#to.uuidAt(state.orders.col.id, order);
        this.#to.u8(priceCents);
        return;
      case 'closed':
        this.#noteTrade(state, null);
        this.#begin(KIND.trade_closed, atMs);
        return this.#overTrade(state);
      case 'grown':
      case 'reduced': {
        const isSale = effects.trade === 'reduced';
        const to = this.#begin(isSale ? KIND.trade_reduced : KIND.trade_grown, atMs);
        to.uuidAt(state.accounts.col.id, effects.account);
        to.uuidAt(state.positions.col.id, effects.position);
        to.uuidAt(state.orders.col.id, order);
        to.u32(effects.contracts);
        to.u8(priceCents);
        to.u8(venue);
        if (isSale) to.u48(effects.costCents);
        return;
      }
      default:
        effects.trade satisfies never;
    }
  }

  #tradeSettled(state: ShardState, { atMs, outcome }: PositionSettled): void {
    this.#noteTrade(state, outcome);
    this.#begin(KIND.trade_settled, atMs);
    this.#overTrade(state);
    this.#to.u8(OUTCOMES.indexOf(outcome));
  }

  #rare(state: ShardState, event: Exclude<Event, { kind: OftenKind }>): void {
    const to = this.#begin(KIND[event.kind], event.atMs);
    switch (event.kind) {
      case 'trade_counted':
        to.uuid(event.account);
        to.uuid(event.keyId);
        return to.u8(event.closing ? 1 : 0);
      case 'account_opened':
        return to.uuidAt(state.accounts.col.id, event.account);
      case 'cash_adjusted':
        to.uuidAt(state.accounts.col.id, event.account);
        return to.f64(event.amountCents);
      case 'market_resolved':
        to.u32(event.market);
        return to.u8(OUTCOMES.indexOf(event.outcome));
      case 'market_valued':
        to.u32(event.market);
        to.u8(event.yesPayoutCents);
        return to.u8(event.noPayoutCents);
      case 'game_changed':
        to.text(event.game);
        return to.u8(GAME_STATUSES.indexOf(event.status));
      case 'catalog_replaced':
        this.hasCatalog = true;
        return to.text(JSON.stringify(event.catalog));
      case 'clock_set':
        return to.u48(event.fromMs);
      default:
        event satisfies never;
    }
  }

  /** A market order is a fill and no order. */
  #noteOrder({ orders: { col }, effects, records }: ShardState, order: OrderRow): void {
    if (col.limitPriceCents.get(order) === 0) return;
    const { account, status } = effects;
    records.noteOrder(account, status, col.id, order, this.record, this.offset);
  }

  #noteTrade({ positions, effects, records }: ShardState, outcome: MarketOutcome | null): void {
    const { account, position } = effects;
    records.noteTrade(account, outcome, positions.col.id, position, this.record, this.offset);
  }

  /** The row of an order that has ended keeps all but its account. */
  #ofOrder(state: ShardState, order: OrderRow): void {
    const { col } = state.orders;
    this.#to.uuidAt(state.accounts.col.id, state.effects.account);
    this.#to.uuidAt(col.id, order);
    this.#to.u32(col.market.get(order));
    this.#to.u32(col.instrument.get(order));
  }

  #fill(state: ShardState, { order, priceCents, venue }: OrderFilled | OrderPartFilled): void {
    this.#ofOrder(state, order);
    this.#to.u32(state.effects.contracts);
    this.#to.u8(priceCents);
    this.#to.u8(venue);
  }

  #placed({ orders: { col } }: ShardState, order: OrderRow): void {
    this.#to.u48(col.placedRecord.get(order));
    this.#to.u32(col.placedOffset.get(order));
  }

  #tradeOrNone(state: ShardState, position: PositionRow): void {
    if (position === NO_ROW) return this.#to.u8(0);
    this.#to.u8(1);
    this.#to.uuidAt(state.positions.col.id, position);
  }

  /** Of the position that has changed, which may be over; `contracts`: those of the fact. */
  #ofTrade(state: ShardState, contracts: number): void {
    const { col } = state.positions;
    const { account, position } = state.effects;
    const to = this.#to;
    const flags = col.flags.get(position);
    to.uuidAt(state.accounts.col.id, account);
    to.uuidAt(col.id, position);
    to.u32(col.market.get(position));
    to.u32(col.instrument.get(position));
    to.u32(contracts);
    to.u8(sideCode(sideOf(flags)));
    to.u8(sideCode(instrumentSideOf(flags)));
    to.u8(col.venue.get(position));
    to.u8(col.statedProbPct.get(position));
    to.u8(col.placedVia.get(position));
    to.u8(isPlacedPrivate(flags) ? 1 : 0);
  }

  /** Of all parts of a trade; the newest proceeds are not in its row. */
  #overTrade(state: ShardState): void {
    const { col } = state.positions;
    const { position, cents } = state.effects;
    this.#ofTrade(state, col.contracts.get(position) + col.soldContracts.get(position));
    this.#to.u48(col.costCents.get(position) + col.soldCostCents.get(position));
    this.#to.u8(col.entryPriceCents.get(position));
    this.#to.u48(cents + col.soldCents.get(position));
  }
}

type OftenKind =
  | 'order_placed'
  | 'order_filled'
  | 'order_part_filled'
  | 'order_ended'
  | 'position_settled';

function sideCode(side: Side): number {
  return side === 'yes' ? 0 : 1;
}

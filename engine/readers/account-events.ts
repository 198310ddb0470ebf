/**
 * The events of an account, its orders and trades, as its owner sees them, from the facts of the
 * log. Rules J21 to J24, J44, A241 (api/RULES.md).
 */

import {
  type AccountRow,
  type Cents,
  type Contracts,
  dollarsOf,
  type EpochMs,
  isoOf,
  type Uuid,
} from '../base/units.ts';
import { placementOf } from '../format/fact-events.ts';
import { JsonWriter } from '../format/json-writer.ts';
import { uuidTimeMs } from '../memory/uuid-words.ts';
import type {
  FillNetsFact,
  OrderAmendedFact,
  OrderArrivedFact,
  OrderEndedFact,
  OrderFilledFact,
  OrderPartFilledFact,
  OrderPlacedFact,
  TradeOpenedFact,
} from '../rules/facts.ts';
import { isShownOrder } from '../rules/flags.ts';
import { averagePrice } from '../rules/partial-fills.ts';
import { amendedOrder, closedTrade, outcomeOf } from '../shard/core/shard-records.ts';
import { writeEnded, writeStanding } from '../shard/core/views/order.ts';
import { type Naming, outcomeFor } from '../shard/core/views/subject.ts';
import { writeClosedTrade, writeOpenedTrade } from '../shard/core/views/trade.ts';
import type { AccountFact, AccountLog } from './account-log.ts';

export const EVENT_TYPES = [
  'order_placed',
  'order_amended',
  'order_arrived',
  'order_part_filled',
  'order_filled',
  'order_canceled',
  'order_expired',
  'trade_opened',
  'trade_closed',
  'trade_settled',
  'trade_corrected',
  'account_reset',
] as const;
type EventType = (typeof EVENT_TYPES)[number];

/** An event as JSON text: while venue data is shown, and while it is not. */
export type AccountEvent = { number: number; atMs: EpochMs; on: string; off: string };

/** An order that was placed and is not over. */
type OpenOrder = {
  placed: OrderPlacedFact;
  contracts: Contracts;
  cents: Cents;
  /** Null: it pays none. */
  feesCents: Cents | null;
  carryMicros: number;
  trade: Uuid | null;
  /** What of its rest closes the other side. */
  closes: Contracts;
  /** When it meets the book; null: it has. */
  arrivesAtMs: EpochMs | null;
  /** When its cancel does; null: it has none under way. Rule T162. */
  cancelsAtMs: EpochMs | null;
};

/** The events of one account, whose facts are taken in their order. It may begin with any fact. */
export class AccountEvents {
  readonly #log: Pick<AccountLog, 'names' | 'orderPlaced' | 'orderBefore'>;
  readonly #open = new Map<Uuid, OpenOrder>();

  constructor(log: Pick<AccountLog, 'names' | 'orderPlaced' | 'orderBefore'>) {
    this.#log = log;
  }

  /** Null: the fact is no event. A market order is only the event of its trade. */
  eventOf({ number, fact }: AccountFact): AccountEvent | null {
    switch (fact.kind) {
      case 'order_placed':
        return this.#placed(number, fact);
      case 'fill_nets': {
        addFill(this.#orderAt(number, fact.order), fact);
        return null;
      }
      case 'order_amended':
        return this.#amended(number, fact);
      case 'order_arrived':
        return this.#arrived(number, fact);
      case 'order_cancel_accepted': {
        const order = this.#open.get(fact.order);
        if (order !== undefined) order.cancelsAtMs = fact.cancelsAtMs;
        return null;
      }
      case 'order_part_filled':
        return this.#partFilled(number, fact);
      case 'order_filled':
      case 'order_ended':
        return this.#over(number, fact);
      case 'trade_opened':
        return this.#event(number, fact.atMs, fact.kind, 'trade', (to, naming) => {
          writeOpenedTrade(to, naming, fact.trade, holdingOf(fact));
        });
      case 'trade_closed':
      case 'trade_settled': {
        const trade = closedTrade(NO_ACCOUNT_ROW, fact);
        return this.#event(number, fact.atMs, fact.kind, 'trade', (to, naming) => {
          writeClosedTrade(to, naming, trade);
        });
      }
      case 'trade_corrected': {
        const { atMs, trade: tradeId, side, instrumentSide, cashCents } = fact;
        // In the terms of the instrument, as a trade shows its result.
        const [from, to] = [fact.from, fact.to].map((outcome) => {
          return outcomeFor(outcome, side, instrumentSide) ?? outcome;
        });
        const fields = JSON.stringify({ tradeId, from, to, cashDollars: dollarsOf(cashCents) });
        const text = `${headOf(number, atMs, fact.kind)},${fields.slice(1)}`;
        return { number, atMs, on: text, off: text };
      }
      case 'account_reset': {
        const { atMs, run } = fact;
        const text = `${headOf(number, atMs, fact.kind)},"run":${run}}`;
        return { number, atMs, on: text, off: text };
      }
      default:
        return null;
    }
  }

  #placed(number: number, fact: OrderPlacedFact): AccountEvent | null {
    if (!isShownOrder(placementOf(fact))) return null;
    const order = unfilled(fact);
    this.#open.set(fact.order, order);
    return this.#standing(number, fact.atMs, 'order_placed', order);
  }

  #partFilled(number: number, fact: OrderPartFilledFact): AccountEvent | null {
    const order = this.#orderAt(number, fact.order);
    addFill(order, fact);
    if (!isShownOrder(placementOf(order.placed))) return null;
    return this.#standing(number, fact.atMs, 'order_part_filled', order);
  }

  #amended(number: number, fact: OrderAmendedFact): AccountEvent {
    const order = this.#orderAt(number, fact.order);
    order.placed = amendedOrder(order.placed, fact);
    const { latencyMs } = order.placed;
    if (latencyMs > 0 && !fact.keepsPlace) order.arrivesAtMs = fact.atMs + latencyMs;
    return this.#standing(number, fact.atMs, 'order_amended', order);
  }

  /** Null: it does not rest, and its end is the next event. Rule A241. */
  #arrived(number: number, { atMs, order: id, rests }: OrderArrivedFact): AccountEvent | null {
    const order = this.#orderAt(number, id);
    order.arrivesAtMs = null;
    return rests ? this.#standing(number, atMs, 'order_arrived', order) : null;
  }

  /** Before a fact of it. */
  #orderAt(number: number, id: Uuid): OpenOrder {
    let order = this.#open.get(id);
    if (order === undefined) {
      const { placed, fills, arrivesAtMs, cancelsAtMs } = this.#log.orderBefore(id, number);
      order = { ...unfilled(placed), arrivesAtMs, cancelsAtMs };
      for (const fill of fills) addFill(order, fill);
      this.#open.set(id, order);
    }
    return order;
  }

  #standing(number: number, atMs: EpochMs, type: EventType, order: OpenOrder): AccountEvent {
    const { placed, contracts, cents, feesCents, carryMicros, trade } = order;
    // An amendment may have taken some of it.
    const closes = Math.min(order.closes, placed.contracts - contracts);
    const fillPriceCents = contracts === 0 ? null : averagePrice(placed.action, cents, contracts);
    const pendingUntilMs = order.arrivesAtMs ?? order.cancelsAtMs;
    const fees = { feesCents, carryMicros };
    // A netting order may have traded in many. Rule T197 (engine/RULES.md).
    const tradeId = placed.netting === null ? trade : null;
    const soFar = { filledContracts: contracts, fillPriceCents, tradeId, closes, ...fees };
    return this.#event(number, atMs, type, 'order', (to, naming) => {
      writeStanding(to, naming, placementOf(placed), { ...soFar, pendingUntilMs });
    });
  }

  #over(number: number, fact: OrderFilledFact | OrderEndedFact): AccountEvent | null {
    const placed = this.#open.get(fact.order)?.placed ?? this.#log.orderPlaced(fact.placed);
    this.#open.delete(fact.order);
    if (!isShownOrder(placementOf(placed))) return null;
    const outcome = outcomeOf(fact);
    return this.#event(number, fact.atMs, TYPE_OF_END[outcome.status], 'order', (to, naming) => {
      writeEnded(to, naming, placementOf(placed), outcome);
    });
  }

  #event(
    number: number,
    atMs: EpochMs,
    type: EventType,
    member: 'order' | 'trade',
    write: (to: JsonWriter, naming: Naming) => void,
  ): AccountEvent {
    const head = headOf(number, atMs, type);
    const text = (venueData: boolean) => {
      json.bytes.begin();
      write(json, { names: this.#log.names, switches: { venueData } });
      return `${head},"${member}":${json.bytes.view(0, json.bytes.length).toString()}}`;
    };
    return { number, atMs, on: text(true), off: text(false) };
  }
}

/** The first members of an event's object. */
function headOf(number: number, atMs: EpochMs, type: EventType): string {
  return `{"eventId":"${eventIdOf(number)}","type":"${type}","at":"${isoOf(atMs)}"`;
}

const json = new JsonWriter();
/** Trades on the wire do not show the row of their account. */
const NO_ACCOUNT_ROW = 0 as AccountRow;
const TYPE_OF_END = {
  executed: 'order_filled',
  canceled: 'order_canceled',
  expired: 'order_expired',
} as const;

const DIGITS = 16;
const EVENT_ID = /^\d{16}$/;

/** Ids of later events are greater, also as text. */
export function eventIdOf(number: number): string {
  return String(number).padStart(DIGITS, '0');
}

/** The number of a fact, or 0; null: the text is no event id. */
export function numberOfEvent(id: string): number | null {
  const number = EVENT_ID.test(id) ? Number(id) : null;
  return number !== null && Number.isSafeInteger(number) ? number : null;
}

function unfilled(placed: OrderPlacedFact): OpenOrder {
  const feesCents = placed.feeEachMicros === null ? null : 0;
  const arrivesAtMs = placed.latencyMs === 0 ? null : placed.atMs + placed.latencyMs;
  const waits = { arrivesAtMs, cancelsAtMs: null };
  return {
    placed,
    contracts: 0,
    cents: 0,
    feesCents,
    carryMicros: 0,
    trade: placed.trade,
    closes: placed.netting?.closes ?? 0,
    ...waits,
  };
}

function addFill(order: OpenOrder, fill: OrderPartFilledFact | FillNetsFact): void {
  if (fill.kind === 'fill_nets') {
    if (fill.trade !== null) order.closes = Math.max(0, order.closes - fill.contracts);
    return;
  }
  order.contracts += fill.contracts;
  order.cents += fill.cents;
  if (fill.feeCents !== null) order.feesCents = (order.feesCents ?? 0) + fill.feeCents;
  order.carryMicros = fill.carryMicros;
  order.trade = fill.trade;
}

function holdingOf(fact: TradeOpenedFact) {
  const { trade, cents, feeCents, priceCents } = fact;
  return {
    ...fact,
    costCents: cents,
    feesCents: feeCents,
    entryPriceCents: priceCents,
    parlay: null,
    openedAtMs: uuidTimeMs(trade),
  };
}

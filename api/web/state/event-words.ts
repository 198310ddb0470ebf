/**
 * The events of an account, in words. Rules J22, J44, A123,
 * U43 (api/RULES.md).
 */
import type { Order, Trade } from '../../client/generated.js';
import type { AccountEvent } from '../../client/stream-types.ts';
import { cents, counted, money, whole } from './format.ts';
import { CANCEL_WORDS } from './order-words.ts';
import { hrefOf } from './route-text.ts';
import { holdingWords, orderWords, outcomeOf, pnlWords } from './trade-words.ts';

type Correction = Extract<AccountEvent, { type: 'trade_corrected' }>;
/** An event as the page has it: a correction names its trade; null: it is none of the newest. */
export type ShownEvent =
  | Exclude<AccountEvent, { type: 'trade_corrected' }>
  | (Correction & { trade: Trade | null });

export type EventWords = {
  /** `Bought` */
  what: string;
  /** `10 yes of Otters to beat Herons at 43¢, for $4.30` */
  detail: string;
  /** For orders and trades that have ended. */
  pnlDollars: number | null;
};

export function eventWords(event: ShownEvent): EventWords {
  switch (event.type) {
    case 'order_placed':
      return plain('Order placed', orderWords(event.order));
    case 'order_amended':
      return plain('Order changed', orderWords(event.order));
    case 'order_arrived':
      return plain('Order has met the book and rests', orderWords(event.order));
    case 'order_part_filled': {
      const { filledContracts, contracts } = event.order;
      const filled = `${whole(filledContracts)} of ${counted(contracts, 'contract')}`;
      return plain('Order filled in part', `${filled}: ${filledWords(event.order)}`);
    }
    case 'order_filled':
      return plain('Order filled', filledWords(event.order));
    case 'order_canceled': {
      const { cancelReason } = event.order;
      const why = cancelReason === null ? '' : `, ${CANCEL_WORDS[cancelReason]}`;
      return plain(`Order canceled${why}`, orderWords(event.order));
    }
    case 'order_expired':
      return plain('Order expired', orderWords(event.order));
    case 'trade_opened': {
      const { costDollars } = event.trade;
      return plain('Bought', `${position(event.trade, 'entryCents')}, for ${money(costDollars)}`);
    }
    case 'trade_closed':
    case 'trade_settled':
      return ended(event.trade);
    case 'trade_corrected': {
      const { from, to, cashDollars, trade } = event;
      const moved =
        cashDollars === 0
          ? 'The balance stays'
          : `${money(Math.abs(cashDollars))} is ${cashDollars > 0 ? 'added to' : 'taken from'} the balance`;
      const of = trade === null ? 'The' : `${holdingWords(trade)}: the`;
      return plain('Result corrected', `${of} operator replaced ${from} by ${to}. ${moved}.`);
    }
    case 'account_reset':
      return plain('Account reset', 'A new run has begun with the start balance.');
    default:
      return event satisfies never;
  }
}

function ended(trade: Trade): EventWords {
  const { pnlDollars, closeReason } = trade;
  const detail = position(trade, 'exitCents');
  switch (closeReason) {
    case 'voided':
      return { what: 'Voided, its cost is paid back', detail, pnlDollars };
    case 'account_reset':
      return { what: 'Closed by the reset', detail, pnlDollars };
    case 'settled':
      return { what: outcomeOf(trade), detail, pnlDollars };
    case 'sold':
    case null:
      return { what: 'Sold', detail, pnlDollars };
    default:
      return closeReason satisfies never;
  }
}

function filledWords(order: Order): string {
  const { fillPriceCents } = order;
  const at = fillPriceCents == null ? '' : `, filled at ${cents(fillPriceCents)}`;
  return `${orderWords(order)}${at}`;
}

function position(trade: Trade, priced: 'entryCents' | 'exitCents'): string {
  // While venue data is off there is no price.
  const price = trade[priced] ?? null;
  return `${holdingWords(trade)}${price === null ? '' : ` at ${cents(price)}`}`;
}

function plain(what: string, detail: string): EventWords {
  return { what, detail: detail.charAt(0).toUpperCase() + detail.slice(1), pnlDollars: null };
}

/** All of it as one sentence. */
export function eventSentence(event: ShownEvent): string {
  const { what, detail, pnlDollars } = eventWords(event);
  const pnl = pnlDollars === null ? '' : ` (${pnlWords(pnlDollars)})`;
  return `${what}${pnl}: ${detail.replace(/\.$/, '')}.`;
}

/** Null: it is about no market. */
export function instrumentOf(event: ShownEvent): string | null {
  if ('trade' in event) return event.trade?.instrumentId ?? null;
  return 'order' in event ? event.order.instrumentId : null;
}

export type Toast = { id: string; kind: 'gain' | 'loss' | 'info'; sentence: string; href: string };

/**
 * A short word of an event in any view; null: another event says it, or the owner did it just now.
 * Rule U43.
 */
export function toastOf(event: ShownEvent): Toast | null {
  if (!isNews(event)) return null;
  const dollars =
    event.type === 'trade_corrected' ? event.cashDollars : eventWords(event).pnlDollars;
  const id = instrumentOf(event);
  return {
    id: event.eventId,
    kind: dollars === null || dollars === 0 ? 'info' : dollars > 0 ? 'gain' : 'loss',
    sentence: eventSentence(event),
    href: id === null ? hrefOf('portfolio') : hrefOf('market', id),
  };
}

function isNews(event: ShownEvent): boolean {
  switch (event.type) {
    case 'order_placed':
    case 'order_amended':
    case 'order_arrived':
    case 'account_reset':
    // The trade of the fill is an event of its own.
    case 'order_filled':
    case 'order_part_filled':
      return false;
    case 'order_canceled':
      return event.order.cancelReason !== 'canceled_by_owner';
    case 'order_expired':
    case 'trade_opened':
    case 'trade_closed':
    case 'trade_settled':
    case 'trade_corrected':
      return true;
    default:
      return event satisfies never;
  }
}

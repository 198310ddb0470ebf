/** Orders, trades and what happens to them, in words. */
import type { Order, Trade } from '../../client/generated.js';
import type { AccountEvent } from '../../client/stream-types.ts';
import { cents, counted, money, signedMoney } from './format.ts';

type Labeled = Pick<Trade, 'instrumentId' | 'instrumentLabel'>;
export type EventWords = {
  /** `Bought` */
  what: string;
  /** `10 yes of Otters to beat Herons at 43¢, for $4.30` */
  detail: string;
  /** Of what has ended. */
  pnlDollars: number | null;
};

const CANCEL_REASONS: Readonly<Record<NonNullable<Order['cancelReason']>, string>> = {
  canceled_by_owner: 'by its owner',
  ioc_not_filled: 'there was no price for it at once',
  fok_not_filled: 'there was no price for all of it at once',
  market_resolved: 'its market has a result',
  position_closed: 'its position was closed',
  account_reset: 'the account was reset',
  expired: 'its time was over',
  instrument_dropped: 'its market is listed no more',
  disconnected: 'the connection that placed it has ended',
};

export function labelOf({ instrumentLabel, instrumentId }: Labeled): string {
  return instrumentLabel ?? instrumentId ?? 'a market that is listed no more';
}

/** How a trade stands, in a word or two. */
export function outcomeOf({ status, resolvedOutcome, instrumentSide, boughtSide }: Trade): string {
  switch (status) {
    case 'open':
      return 'Open';
    case 'closed':
      return 'Sold';
    case 'void':
      return 'Void';
    case 'reset':
      return 'Reset';
    case 'settled':
      // The result is the venue market's, whose yes may be the instrument's no.
      if (resolvedOutcome === null) return 'Settled between';
      return resolvedOutcome === (boughtSide ?? instrumentSide) ? 'Won' : 'Lost';
    default:
      return status satisfies never;
  }
}

/** `Buy 10 yes of Otters to beat Herons at 43¢ or less` */
export function orderWords(order: Order): string {
  const { action, contracts, instrumentSide, limitCents } = order;
  const bound = action === 'buy' ? 'or less' : 'or more';
  const what = `${action} ${contracts} ${instrumentSide} of ${labelOf(order)}`;
  return `${what} at ${cents(limitCents)} ${bound}`;
}

export function eventWords(event: AccountEvent): EventWords {
  switch (event.type) {
    case 'order_placed':
      return plain('Order placed', orderWords(event.order));
    case 'order_part_filled': {
      const { filledContracts, contracts } = event.order;
      const filled = `${filledContracts} of ${counted(contracts, 'contract')}`;
      return plain('Order filled in part', `${filled}: ${orderWords(event.order)}`);
    }
    case 'order_filled':
      return plain('Order filled', orderWords(event.order));
    case 'order_canceled': {
      const { cancelReason } = event.order;
      const why = cancelReason === null ? '' : `, ${CANCEL_REASONS[cancelReason]}`;
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

function position(trade: Trade, priced: 'entryCents' | 'exitCents'): string {
  const { contracts, instrumentSide } = trade;
  const price = trade[priced] ?? null;
  const at = price === null ? '' : ` at ${cents(price)}`;
  return `${contracts} ${instrumentSide} of ${labelOf(trade)}${at}`;
}

function plain(what: string, detail: string): EventWords {
  return { what, detail: detail.charAt(0).toUpperCase() + detail.slice(1), pnlDollars: null };
}

/** `+$3.20 profit`, `−$3.20 loss`, `$0.00`: a sign and a word. */
export function pnlWords(dollars: number): string {
  const word = dollars > 0 ? ' profit' : dollars < 0 ? ' loss' : '';
  return signedMoney(dollars) + word;
}

/** An event of the account in words. Rule J22 (api/RULES.md). */
import type { Order, Trade } from '../../client/generated.js';
import type { AccountEvent } from '../../client/stream-types.ts';
import { cents, counted, money, signedMoney, whole } from './format.ts';
import { CANCEL_WORDS } from './order-words.ts';

export type EventWords = { instrumentId: string | null; sentence: string };

/** Null: it is about no market. */
export function eventWords(event: AccountEvent): EventWords | null {
  switch (event.type) {
    case 'account_reset':
      return null;
    case 'trade_opened':
    case 'trade_closed':
    case 'trade_settled':
      return {
        instrumentId: event.trade.instrumentId,
        sentence: `${tradeText(event.type, event.trade)}.`,
      };
    case 'order_placed':
    case 'order_part_filled':
    case 'order_filled':
    case 'order_canceled':
    case 'order_expired':
      return {
        instrumentId: event.order.instrumentId,
        sentence: `${orderText(event.type, event.order)}.`,
      };
    default:
      return event satisfies never;
  }
}

type TradeEvent = 'trade_opened' | 'trade_closed' | 'trade_settled';
type OrderEvent = Exclude<AccountEvent['type'], TradeEvent | 'account_reset'>;

function tradeText(type: TradeEvent, trade: Trade): string {
  const what = `${counted(trade.contracts, 'contract')} of ${trade.instrumentSide}`;
  const pnl = trade.pnlDollars === null ? '' : `: ${signedMoney(trade.pnlDollars)}`;
  switch (type) {
    case 'trade_opened':
      return `Bought ${what}${at(trade.entryCents)} for ${money(trade.costDollars)}`;
    case 'trade_closed':
      return `${trade.closeReason === 'account_reset' ? 'Closed by the reset' : 'Sold'} ${what}${at(trade.exitCents)}${pnl}`;
    case 'trade_settled':
      return `${trade.status === 'void' ? 'Voided' : 'Settled'} ${what}${pnl}`;
    default:
      return type satisfies never;
  }
}

function orderText(type: OrderEvent, order: Order): string {
  const { action, contracts, filledContracts, instrumentSide, limitCents, cancelReason } = order;
  const what = `Order to ${action} ${whole(contracts)} ${instrumentSide} at ${cents(limitCents)}`;
  switch (type) {
    case 'order_placed':
      return `${what} placed`;
    case 'order_part_filled':
      return `${what}: ${whole(filledContracts)} filled${at(order.fillPriceCents)}`;
    case 'order_filled':
      return `${what} filled${at(order.fillPriceCents)}`;
    case 'order_canceled':
      return `${what} canceled${cancelReason === null ? '' : `: ${CANCEL_WORDS[cancelReason]}`}`;
    case 'order_expired':
      return `${what} expired`;
    default:
      return type satisfies never;
  }
}

/** While venue data is off there is no price. */
function at(price: number | null | undefined): string {
  return price == null ? '' : ` at ${cents(price)}`;
}

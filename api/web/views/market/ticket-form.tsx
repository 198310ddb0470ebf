/** The order ticket: what one orders, what it would do, and what came of it. */
import { useRef, useState } from 'preact/hooks';
import type { Instrument, Position } from '../../../client/generated.js';
import type { AccountId } from '../../state/account-id.ts';
import { cents, counted, whole } from '../../state/format.ts';
import { forgetPlacing, placeOrder, placing } from '../../state/ordering.ts';
import { serverNowMs } from '../../state/server-time.ts';
import { portfolioOf } from '../../state/shown-account.ts';
import type { ShownQuote } from '../../state/shown-quote.ts';
import {
  isTyped,
  type OrderBody,
  readTicket,
  type Ticket,
  type TicketErrors,
  type TicketField,
} from '../../state/ticket.ts';
import { PlacedNotice } from './placed-notice.tsx';
import { PreviewBox } from './preview-box.tsx';
import { TicketFields } from './ticket-fields.tsx';

type Props = {
  instrument: Instrument;
  quote: ShownQuote | null;
  ticket: Ticket;
  onChange(ticket: Ticket): void;
};

export function TicketForm({ instrument, quote, ticket: typed, onChange }: Props) {
  const form = useRef<HTMLFormElement>(null);
  const [isSubmitted, setSubmitted] = useState(false);
  const [isHalfDate, setHalfDate] = useState(false);
  const positions = positionsIn(typed.account, instrument.id);
  const position = positions.find(({ tradeId }) => tradeId === typed.tradeId) ?? null;
  // One that is sold, or settled, is chosen no more.
  const ticket = position === null ? { ...typed, tradeId: '' } : typed;
  const { order, errors } = readTicket(ticket, instrument.id, serverNowMs());
  const { state } = placing.value;
  const submit = (event: Event) => {
    event.preventDefault();
    setSubmitted(true);
    const date = form.current!.querySelector<HTMLInputElement>('input[type="datetime-local"]');
    // A date without its time is no value yet, and would be no expiry.
    const isHalf = date?.validity.badInput ?? false;
    setHalfDate(isHalf);
    if (order === null || isHalf) return focusFirstError();
    void placeOrder(order, ticket.account);
  };
  const focusFirstError = () => {
    requestAnimationFrame(() => {
      form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus();
    });
  };
  const change = (next: Ticket) => {
    setSubmitted(false);
    setHalfDate(false);
    if (placing.value.state === 'refused') forgetPlacing();
    onChange(next);
  };
  return (
    <section id="ticket" class="ticket" aria-label="Order ticket" tabIndex={-1}>
      <h2>Order</h2>
      <form ref={form} class="ticket-form" noValidate onSubmit={submit}>
        <TicketFields
          ticket={ticket}
          errors={{
            ...shownErrors(ticket, errors, isSubmitted),
            ...(isHalfDate ? { expires: 'A whole date and time, or none.' } : {}),
          }}
          positions={positions}
          quote={quote}
          onChange={change}
        />
        <PreviewBox
          order={order}
          account={ticket.account}
          quote={quote}
          costDollars={position?.costDollars ?? null}
        />
        <button type="submit" class="button primary" disabled={state === 'sending'}>
          {state === 'sending' ? 'Placing…' : buttonText(ticket, order, position)}
        </button>
      </form>
      <PlacedNotice />
    </section>
  );
}

/** Of the market, in the account that the ticket is for. */
function positionsIn(account: AccountId, instrumentId: string): readonly Position[] {
  const { positions = [] } = portfolioOf(account) ?? {};
  return positions.filter((position) => position.instrumentId === instrumentId);
}

/** What is not typed yet is no error before one wants to place it. */
function shownErrors(ticket: Ticket, errors: TicketErrors, isSubmitted: boolean): TicketErrors {
  const shown = Object.entries(errors).filter(([field]) => {
    return isSubmitted || isTyped(ticket, field as TicketField);
  });
  return Object.fromEntries(shown);
}

function buttonText(
  { action, side, type }: Ticket,
  order: OrderBody | null,
  position: Position | null,
): string {
  const limitCents = order?.limitPriceCents;
  const atLimit = limitCents === undefined ? '' : `at ${cents(limitCents)}`;
  const how = type === 'market' ? 'at the market' : atLimit;
  if (action === 'buy') {
    const count = order?.count === undefined ? '' : ` ${whole(order.count)}`;
    return `Buy${count} ${side} ${how}`.trim();
  }
  const what =
    position === null
      ? 'a position'
      : `${counted(position.contracts, 'contract')} of ${position.instrumentSide}`;
  return `Sell ${what} ${how}`.trim();
}

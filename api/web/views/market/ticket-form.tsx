/** The order ticket: the order, its preview, and its outcome. Rules A121, U39, U82 (api/RULES.md). */
import { useId, useRef, useState } from 'preact/hooks';
import type { Instrument, Position } from '../../../client/generated.js';
import { SteadyButton } from '../../parts/steady-button.tsx';
import type { AccountId } from '../../state/account-id.ts';
import { cents, counted, money, whole } from '../../state/format.ts';
import { previewedCents } from '../../state/order-words.ts';
import { forgetPlacing, placeOrder, placing, previewOf } from '../../state/ordering.ts';
import { serverNowMs } from '../../state/server-time.ts';
import { portfolioOf } from '../../state/shown-account.ts';
import type { ShownQuote } from '../../state/shown-quote.ts';
import {
  isTyped,
  isUnbounded,
  type OrderBody,
  readTicket,
  type Ticket,
  type TicketErrors,
  type TicketField,
} from '../../state/ticket.ts';
import { fundsOf } from '../../state/totals.ts';
import { venueData } from '../../state/venue-data.ts';
import { PlacedNotice } from './placed-notice.tsx';
import { PreviewBox } from './preview-box.tsx';
import { priceNow, TicketFields } from './ticket-fields.tsx';

type Props = {
  instrument: Instrument;
  quote: ShownQuote | null;
  ticket: Ticket;
  /** On a phone, whether it is over the market. */
  isOpen: boolean;
  onChange(ticket: Ticket): void;
  onClose(): void;
};

export function TicketForm({ instrument, quote, ticket: typed, isOpen, onChange, onClose }: Props) {
  const form = useRef<HTMLFormElement>(null);
  const previewId = useId();
  const [isSubmitted, setSubmitted] = useState(false);
  const [isHalfDate, setHalfDate] = useState(false);
  const positions = positionsIn(typed.account, instrument.id);
  const position = positions.find(({ tradeId }) => tradeId === typed.tradeId) ?? null;
  // A position that is sold, or settled, is chosen no more.
  const ticket = position === null ? { ...typed, tradeId: '' } : typed;
  const priceCents = priceNow({ ticket, positions, quote });
  const { order, errors } = readTicket(ticket, instrument.id, {
    ...{ nowMs: serverNowMs(), priceCents },
  });
  const { state } = placing.value;
  const bound = boundOf(order, ticket.account, priceCents);
  const cashDollars = cashOf(ticket.account);
  const submit = (event: Event) => {
    event.preventDefault();
    setSubmitted(true);
    const date = form.current!.querySelector<HTMLInputElement>('input[type="datetime-local"]');
    // A date without its time is no value yet, and would be no expiry.
    const isHalf = date?.validity.badInput ?? false;
    setHalfDate(isHalf);
    if (order === null || isHalf || bound.state === 'none') return focusFirstError();
    void placeOrder(order, ticket.account, bound.state === 'shown' ? bound.cents : null);
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
    <section
      id="ticket"
      class={`ticket${isOpen ? ' is-open' : ''}`}
      aria-label="Order ticket"
      tabIndex={-1}
      onKeyDown={({ key }) => key === 'Escape' && isOpen && onClose()}
    >
      <div class="ticket-head">
        <h2>Order</h2>
        {cashDollars !== null && <span class="hint">Cash {money(cashDollars)}</span>}
        <button type="button" class="button quiet ticket-close" onClick={onClose}>
          Close
        </button>
      </div>
      <form ref={form} class="ticket-form" noValidate onSubmit={submit}>
        <TicketFields
          ticket={ticket}
          errors={shownErrors(ticket, withMore(errors, isHalfDate, bound), isSubmitted)}
          positions={positions}
          quote={quote}
          cashDollars={cashDollars}
          boundHint={hintOf(ticket, bound)}
          onChange={change}
        />
        <PreviewBox
          id={previewId}
          order={order}
          account={ticket.account}
          quote={quote}
          costDollars={position?.costDollars ?? null}
          cashDollars={cashDollars}
          priceCents={priceCents}
        />
        <SteadyButton
          type="submit"
          aria-describedby={previewId}
          class={`button primary${ticket.action === 'buy' ? ` is-${ticket.side}` : ''}`}
          isOff={state === 'sending' || bound.state === 'coming'}
        >
          {state === 'sending' ? 'Placing…' : buttonText(ticket, order, position, bound)}
        </SteadyButton>
      </form>
      <PlacedNotice />
    </section>
  );
}

/** The bounds of an order besides the typed values. */
type Bound =
  | { state: 'typed' }
  | { state: 'shown'; cents: number }
  /** Its preview is on its way. */
  | { state: 'coming' }
  /** No price is shown while venue data is off. */
  | { state: 'hidden' }
  | { state: 'none' };

const NO_PRICE_SHOWN = 'No live price is shown as a bound: enter a price.';

/** @param nowCents the live price, if the preview has none: it is refused, or did not arrive */
function boundOf(order: OrderBody | null, account: AccountId, nowCents: number | null): Bound {
  if (order === null || !isUnbounded(order)) return { state: 'typed' };
  if (venueData.value === false) return { state: 'hidden' };
  const now = previewOf(order, account);
  if (now.state === 'loading') return { state: 'coming' };
  const previewed = now.state === 'ready' ? previewedCents(order, now.value.preview) : null;
  const shownCents = previewed ?? nowCents;
  return shownCents === null ? { state: 'none' } : { state: 'shown', cents: shownCents };
}

function hintOf({ action }: Ticket, bound: Bound): string {
  const orBetter = action === 'buy' ? 'or less' : 'or more';
  if (bound.state === 'shown') return `Empty: ${cents(bound.cents)} ${orBetter}, as shown.`;
  if (bound.state === 'hidden') return 'Empty: the price of the moment, which is hidden.';
  return `Empty: the price shown, ${orBetter}.`;
}

/** Null: not known. Before the first trade it is what an account begins with. */
function cashOf(account: AccountId): number | null {
  const known = portfolioOf(account);
  return known === null ? null : fundsOf(known, []).cashDollars;
}

/** Of the market, in the account that the ticket is for. */
function positionsIn(account: AccountId, instrumentId: string): readonly Position[] {
  const { positions = [] } = portfolioOf(account) ?? {};
  return positions.filter((position) => position.instrumentId === instrumentId);
}

/** Values that the text of the fields alone does not show. */
function withMore(errors: TicketErrors, isHalfDate: boolean, bound: Bound): TicketErrors {
  return {
    ...errors,
    ...(isHalfDate ? { expires: 'Enter a full date and time, or leave both empty.' } : {}),
    ...(bound.state === 'none' ? { bound: NO_PRICE_SHOWN } : {}),
  };
}

/** An empty field is no error before the order is to be placed. */
function shownErrors(ticket: Ticket, errors: TicketErrors, isSubmitted: boolean): TicketErrors {
  const shown = Object.entries(errors).filter(([field]) => {
    return isSubmitted || isTyped(ticket, field as TicketField);
  });
  return Object.fromEntries(shown);
}

function limitText(order: OrderBody | null): string {
  const limitCents = order?.limitPriceCents;
  return limitCents === undefined ? '' : `at ${cents(limitCents)}`;
}

function marketText(action: Ticket['action'], order: OrderBody | null, bound: Bound): string {
  const typed = action === 'buy' ? order?.maxPriceCents : order?.minPriceCents;
  const boundCents = bound.state === 'shown' ? bound.cents : typed;
  if (boundCents === undefined) return 'at the market';
  return `at ${cents(boundCents)} ${action === 'buy' ? 'or less' : 'or more'}`;
}

function buttonText(
  { action, side, type }: Ticket,
  order: OrderBody | null,
  position: Position | null,
  bound: Bound,
): string {
  const how = type === 'market' ? marketText(action, order, bound) : limitText(order);
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

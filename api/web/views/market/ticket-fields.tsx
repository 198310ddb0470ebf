/**
 * The fields of the ticket: the side and the amount, and folded away what most orders go without.
 * Rules U39, U40, U82 (api/RULES.md).
 */
import { useState } from 'preact/hooks';
import type { Position } from '../../../client/generated.js';
import { Choice } from '../../parts/choice.tsx';
import { Field, SelectField, TextField } from '../../parts/field.tsx';
import { cents, counted, money } from '../../state/format.ts';
import { askOfSide } from '../../state/market-day.ts';
import { organizations } from '../../state/shown-account.ts';
import type { ShownQuote } from '../../state/shown-quote.ts';
import {
  inUnit,
  maxText,
  QUICK_SIZES,
  type Routing,
  type Ticket,
  type TicketErrors,
  type TimeInForce,
} from '../../state/ticket.ts';

type Props = {
  ticket: Ticket;
  errors: TicketErrors;
  /** Open ones on this market. */
  positions: readonly Position[];
  quote: ShownQuote | null;
  /** What can be spent; null: not known. */
  cashDollars: number | null;
  /** The meaning of an empty bound. */
  boundHint: string;
  onChange(ticket: Ticket): void;
};
type Deal = 'yes' | 'no' | 'sell';

const TIMES_IN_FORCE: readonly { value: TimeInForce; text: string }[] = [
  { value: 'gtc', text: 'Wait until it is canceled' },
  { value: 'ioc', text: 'Cancel what does not fill' },
  { value: 'fok', text: 'Fill all of it, or nothing' },
];
const ROUTINGS: readonly { value: Routing; text: string }[] = [
  { value: 'venue_a', text: 'Venue A' },
  { value: 'best', text: 'Best of all venues' },
];

export function TicketFields(props: Props) {
  const { ticket, positions, quote, onChange } = props;
  const set = (change: Partial<Ticket>) => onChange({ ...ticket, ...change });
  const deal: Deal = ticket.action === 'sell' ? 'sell' : ticket.side;
  const buy = (side: 'yes' | 'no') => {
    const price = quote === null ? null : askOfSide(side, quote);
    return `Buy ${side}${price === null ? '' : ` ${cents(price)}`}`;
  };
  return (
    <>
      <Choice<Deal>
        label="Side"
        isLabelShown={false}
        value={deal}
        options={[
          { value: 'yes', text: buy('yes'), kind: 'yes' },
          { value: 'no', text: buy('no'), kind: 'no' },
          { value: 'sell', text: 'Sell', disabled: deal !== 'sell' && positions.length === 0 },
        ]}
        onPick={(next) => set(dealt(ticket, next, positions))}
      />
      <Choice
        label="Type"
        isLabelShown={false}
        value={ticket.type}
        options={[
          { value: 'market', text: 'At the price now' },
          { value: 'limit', text: 'At my limit' },
        ]}
        onPick={(type) => {
          // The price now is a beginning.
          const price = type === 'limit' && ticket.limit === '' ? priceNow(props) : null;
          set({ type, ...(price === null ? {} : { limit: String(price) }) });
        }}
      />
      {ticket.type === 'limit' && (
        <TextField
          label="Limit, ¢"
          hint="Cents for a contract."
          inputMode="numeric"
          autocomplete="off"
          error={props.errors.limit}
          value={ticket.limit}
          onText={(limit) => set({ limit })}
        />
      )}
      {ticket.action === 'buy' ? (
        <Amount {...props} set={set} />
      ) : (
        <SellField {...props} set={set} />
      )}
      <MoreOptions {...props} set={set} />
    </>
  );
}

type Setting = Props & { set(change: Partial<Ticket>): void };

/** How much: in contracts or dollars, typed or by a button. Rules U39, U82. */
function Amount(props: Setting) {
  const { ticket, errors, cashDollars, onChange, set } = props;
  const priceCents = priceNow(props);
  const { unit } = ticket;
  const max = maxText(ticket, cashDollars, priceCents);
  const inDollars = unit === 'dollars';
  return (
    <div class={`amount${ticket.type === 'limit' ? '' : ' is-whole'}`}>
      <TextField
        label={inDollars ? 'Dollars' : 'Contracts'}
        inputMode={inDollars ? 'decimal' : 'numeric'}
        autocomplete="off"
        error={errors.count}
        value={ticket.count}
        onText={(count) => set({ count })}
      />
      <Choice<Ticket['unit']>
        label="Amount in"
        isLabelShown={false}
        value={unit}
        options={[
          { value: 'contracts', text: '#', spoken: 'contracts' },
          { value: 'dollars', text: '$', spoken: 'dollars' },
        ]}
        onPick={(next) => onChange(inUnit(ticket, next, priceCents))}
      />
      {/* biome-ignore lint/a11y/useSemanticElements: the legend of a fieldset would take a line */}
      <div class="quick" role="group" aria-label="Amounts">
        {QUICK_SIZES[unit].map((size) => (
          <button
            key={size}
            type="button"
            class="button"
            onClick={() => set({ count: String(size) })}
          >
            {inDollars ? `$${size}` : size}
          </button>
        ))}
        <button
          type="button"
          class="button"
          disabled={max === null}
          title="All that your cash buys at the price shown"
          onClick={() => max !== null && set({ count: max })}
        >
          Max
        </button>
      </div>
    </div>
  );
}

function SellField({ ticket, errors, positions, set }: Setting) {
  const known = positions.map((position) => ({
    value: position.tradeId,
    text: positionText(position),
  }));
  const isKnown = known.some(({ value }) => value === ticket.tradeId);
  return (
    <div class="is-whole">
      <SelectField
        label="Whole position"
        error={errors.tradeId}
        value={ticket.tradeId}
        options={isKnown ? known : [{ value: ticket.tradeId, text: 'Choose one' }, ...known]}
        onPick={(tradeId) => set({ tradeId })}
      />
    </div>
  );
}

/** What most orders go without. It is open where a value of it is wrong. Rule U40. */
function MoreOptions(props: Setting) {
  const { ticket, errors, set } = props;
  const [isOpen, setOpen] = useState(false);
  const isWrong = [errors.bound, errors.expires, errors.probability].some(
    (error) => error !== undefined,
  );
  return (
    <details
      class="more-options"
      open={isOpen || isWrong}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>More options</summary>
      <div class="ticket-form more-fields">
        {ticket.type === 'market' && (
          <TextField
            label={ticket.action === 'buy' ? 'Highest price, ¢' : 'Lowest price, ¢'}
            hint={props.boundHint}
            inputMode="numeric"
            autocomplete="off"
            error={errors.bound}
            value={ticket.bound}
            onText={(bound) => set({ bound })}
          />
        )}
        <SelectField<Routing>
          label="Venue"
          value={ticket.routing}
          options={ROUTINGS}
          onPick={(routing) => set({ routing })}
        />
        {ticket.type === 'limit' && (
          <SelectField<TimeInForce>
            label="If it does not fill now"
            value={ticket.timeInForce}
            options={TIMES_IN_FORCE}
            onPick={(timeInForce) => set({ timeInForce })}
          />
        )}
        {ticket.type === 'limit' && ticket.timeInForce === 'gtc' && (
          <div class="is-whole">
            <Expiry ticket={ticket} error={errors.expires} set={set} />
          </div>
        )}
        {ticket.action === 'buy' && (
          <div class="is-whole">
            <TextField
              label="Your probability, %"
              hint={`How likely ${ticket.side} is, in your view. It is scored and changes no fill.`}
              inputMode="numeric"
              autocomplete="off"
              error={errors.probability}
              value={ticket.probability}
              onText={(probability) => set({ probability })}
            />
          </div>
        )}
        <AccountField ticket={ticket} set={set} />
      </div>
    </details>
  );
}

type ExpiryProps = Pick<Setting, 'ticket' | 'set'> & { error: string | undefined };

function Expiry({ ticket, error, set }: ExpiryProps) {
  return (
    <Field label="Expires" hint="Empty: it rests until it is canceled." error={error}>
      {(control) => (
        <input
          {...control}
          type="datetime-local"
          value={ticket.expires}
          onInput={({ currentTarget }) => set({ expires: currentTarget.value })}
        />
      )}
    </Field>
  );
}

/** Where the caller belongs to an organization: whose account the order is for. */
function AccountField({ ticket, set }: Pick<Setting, 'ticket' | 'set'>) {
  const { value: known } = organizations;
  if (known.state !== 'ready' || known.value.length === 0) return null;
  return (
    <SelectField
      label="Account"
      value={ticket.account ?? ''}
      options={[
        { value: '', text: 'Your own' },
        ...known.value.map(({ id, name }) => ({ value: id, text: `Sandbox of ${name}` })),
      ]}
      // Positions are the account's.
      onPick={(id) => set({ account: id === '' ? null : id, tradeId: '', action: 'buy' })}
    />
  );
}

function dealt(ticket: Ticket, deal: Deal, positions: readonly Position[]): Partial<Ticket> {
  if (deal !== 'sell') return { action: 'buy', side: deal, bound: '' };
  const isKnown = positions.some(({ tradeId }) => tradeId === ticket.tradeId);
  const tradeId = isKnown ? ticket.tradeId : (positions[0]?.tradeId ?? '');
  return { action: 'sell', tradeId, bound: '' };
}

/** The live price of the ticket's side, which a limit order at it fills at; null: there is none. */
export function priceNow({
  ticket,
  positions,
  quote,
}: Pick<Props, 'ticket' | 'positions' | 'quote'>): number | null {
  const { action, tradeId } = ticket;
  const side =
    action === 'buy'
      ? ticket.side
      : positions.find((one) => one.tradeId === tradeId)?.instrumentSide;
  // Buying yes takes the ask of yes, and so does selling no.
  const yesCents =
    ((action === 'buy') === (side === 'yes') ? quote?.askCents : quote?.bidCents) ?? null;
  if (yesCents === null || side === undefined) return null;
  return side === 'yes' ? yesCents : 100 - yesCents;
}

function positionText({ contracts, instrumentSide, entryCents, costDollars }: Position): string {
  const at = entryCents === undefined ? '' : ` at ${cents(entryCents)}`;
  return `${counted(contracts, 'contract')} of ${instrumentSide}${at}, cost ${money(costDollars)}`;
}

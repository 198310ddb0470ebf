/** The fields of the ticket that belong to its kind of order. */
import type { Position } from '../../../client/generated.js';
import { Choice } from '../../parts/choice.tsx';
import { Field, SelectField, TextField } from '../../parts/field.tsx';
import { cents, counted, money } from '../../state/format.ts';
import { organizations } from '../../state/shown-account.ts';
import type { ShownQuote } from '../../state/shown-quote.ts';
import type { Routing, Ticket, TicketErrors, TimeInForce } from '../../state/ticket.ts';

type Props = {
  ticket: Ticket;
  errors: TicketErrors;
  /** Open ones on this market. */
  positions: readonly Position[];
  quote: ShownQuote | null;
  /** The meaning of an empty bound. */
  boundHint: string;
  onChange(ticket: Ticket): void;
};
type Deal = 'yes' | 'no' | 'sell';

const TIMES_IN_FORCE: readonly { value: TimeInForce; text: string }[] = [
  { value: 'gtc', text: 'Rests until canceled (gtc)' },
  { value: 'ioc', text: 'Fill now, cancel the rest (ioc)' },
  { value: 'fok', text: 'Fill all now, or nothing (fok)' },
];
const ROUTINGS: readonly { value: Routing; text: string }[] = [
  { value: 'venue_a', text: 'Venue A' },
  { value: 'best', text: 'Best of all venues' },
];

export function TicketFields(props: Props) {
  const { ticket, positions, onChange } = props;
  const set = (change: Partial<Ticket>) => onChange({ ...ticket, ...change });
  const deal: Deal = ticket.action === 'sell' ? 'sell' : ticket.side;
  return (
    <>
      <Choice<Deal>
        label="Side"
        value={deal}
        options={[
          { value: 'yes', text: 'Buy yes' },
          { value: 'no', text: 'Buy no' },
          { value: 'sell', text: 'Sell', disabled: deal !== 'sell' && positions.length === 0 },
        ]}
        onPick={(next) => set(dealt(ticket, next, positions))}
      />
      <Choice
        label="Type"
        value={ticket.type}
        options={[
          { value: 'market', text: 'Market' },
          { value: 'limit', text: 'Limit' },
        ]}
        onPick={(type) => {
          // The price now is a beginning.
          const price = type === 'limit' && ticket.limit === '' ? priceNow(props) : null;
          set({ type, ...(price === null ? {} : { limit: String(price) }) });
        }}
      />
      {ticket.action === 'buy' ? (
        <BuyFields {...props} set={set} />
      ) : (
        <SellField {...props} set={set} />
      )}
      {ticket.type === 'limit' ? (
        <LimitFields {...props} set={set} />
      ) : (
        <TextField
          label={ticket.action === 'buy' ? 'Highest price, ¢' : 'Lowest price, ¢'}
          hint={props.boundHint}
          inputMode="numeric"
          autocomplete="off"
          error={props.errors.bound}
          value={ticket.bound}
          onText={(bound) => set({ bound })}
        />
      )}
      <SelectField<Routing>
        label="Price from"
        value={ticket.routing}
        options={ROUTINGS}
        onPick={(routing) => set({ routing })}
      />
      <AccountField ticket={ticket} set={set} />
    </>
  );
}

type Setting = Props & { set(change: Partial<Ticket>): void };

function BuyFields({ ticket, errors, set }: Setting) {
  return (
    <>
      <TextField
        label="Contracts"
        inputMode="numeric"
        autocomplete="off"
        error={errors.count}
        value={ticket.count}
        onText={(count) => set({ count })}
      />
      <TextField
        label="Your probability, %"
        hint={`Your probability of ${ticket.side}, in percent. It is scored and changes no fill.`}
        inputMode="numeric"
        autocomplete="off"
        error={errors.probability}
        value={ticket.probability}
        onText={(probability) => set({ probability })}
      />
    </>
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

function LimitFields({ ticket, errors, set }: Setting) {
  return (
    <>
      <TextField
        label="Limit, ¢"
        hint="Cents per contract of the side."
        inputMode="numeric"
        autocomplete="off"
        error={errors.limit}
        value={ticket.limit}
        onText={(limit) => set({ limit })}
      />
      <SelectField<TimeInForce>
        label="Time in force"
        value={ticket.timeInForce}
        options={TIMES_IN_FORCE}
        onPick={(timeInForce) => set({ timeInForce })}
      />
      {ticket.timeInForce === 'gtc' && (
        <div class="is-whole">
          <Expiry ticket={ticket} error={errors.expires} set={set} />
        </div>
      )}
    </>
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

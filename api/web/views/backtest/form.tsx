/**
 * The form of a backtest. Once it was sent, each problem is beside its field. Rule U51
 * (api/RULES.md).
 */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Field, SelectField, TextField } from '../../parts/field.tsx';
import { SteadyButton } from '../../parts/steady-button.tsx';
import { backtest, form, runBacktest } from '../../state/backtest.ts';
import {
  type BacktestErrors,
  type BacktestField,
  type BacktestForm,
  bodyOf,
} from '../../state/backtest-form.ts';

type Part = {
  values: BacktestForm;
  errors: BacktestErrors;
  set<Name extends BacktestField>(name: Name, value: BacktestForm[Name]): void;
};

export function BacktestFormPart() {
  const [wasSent, setSent] = useState(false);
  const [refusals, setRefusals] = useState(0);
  const element = useRef<HTMLFormElement>(null);
  const read = bodyOf(form.value);
  const errors = wasSent && 'errors' in read ? read.errors : {};
  // What is wrong is seen with the focus on it.
  useLayoutEffect(() => {
    if (refusals > 0) element.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus();
  }, [refusals]);
  const send = (event: Event) => {
    event.preventDefault();
    setSent(true);
    if ('body' in read) void runBacktest(read.body);
    else setRefusals(refusals + 1);
  };
  const part: Part = {
    values: form.value,
    errors,
    set: (name, value) => {
      form.value = { ...form.value, [name]: value };
    },
  };
  return (
    <form ref={element} class="form backtest-form" noValidate onSubmit={send}>
      <Markets {...part} />
      <Rule {...part} />
      <Stakes {...part} />
      <SteadyButton type="submit" class="button primary" isOff={backtest.value.state === 'running'}>
        Run the backtest
      </SteadyButton>
    </form>
  );
}

type TextName = Exclude<BacktestField, 'side' | 'stakeIn' | 'fees' | 'fillModel'>;
type TextProps = Part & { name: TextName; label: string; hint?: string };

function Text({ values, errors, set, name, label, hint }: TextProps) {
  return (
    <TextField
      label={label}
      hint={hint}
      value={values[name]}
      error={errors[name]}
      onText={(text) => set(name, text)}
    />
  );
}

function Markets(part: Part) {
  const { values, errors, set } = part;
  return (
    <fieldset class="backtest-fields">
      <legend>Markets</legend>
      <Text
        {...part}
        name="league"
        label="League"
        hint="As in the catalog, such as mlb. Empty: all."
      />
      <TextField
        label="Games that start from"
        type="datetime-local"
        value={values.from}
        error={errors.from}
        onText={(text) => set('from', text)}
      />
      <TextField
        label="Games that start before"
        type="datetime-local"
        hint="In your time zone."
        value={values.to}
        error={errors.to}
        onText={(text) => set('to', text)}
      />
      <Field
        label="Instruments"
        hint="Their ids, ins_…, one a line. Empty: all that match."
        error={errors.instrumentIds}
      >
        {(control) => (
          <textarea
            {...control}
            rows={2}
            spellcheck={false}
            value={values.instrumentIds}
            onInput={({ currentTarget }) => set('instrumentIds', currentTarget.value)}
          />
        )}
      </Field>
    </fieldset>
  );
}

const SIDES = [
  { value: 'favorite', text: 'The favorite: the side that costs more' },
  { value: 'underdog', text: 'The underdog: the side that costs less' },
  { value: 'home', text: 'The home team' },
  { value: 'away', text: 'The away team' },
  { value: 'yes', text: 'Yes' },
  { value: 'no', text: 'No' },
] as const;

function Rule(part: Part) {
  const { values, set } = part;
  return (
    <fieldset class="backtest-fields">
      <legend>Rule</legend>
      <SelectField
        label="Buy"
        value={values.side}
        options={SIDES}
        onPick={(side) => set('side', side)}
      />
      <Text
        {...part}
        name="entryMinutesBeforeStart"
        label="Look, minutes before the start"
        hint="Below 0: after the start."
      />
      <Text
        {...part}
        name="exitMinutesBeforeStart"
        label="Sell, minutes before the start"
        hint="Empty: held to the result."
      />
      <Text {...part} name="minPriceCents" label="Lowest price, ¢" hint="Empty: 1¢." />
      <Text {...part} name="maxPriceCents" label="Highest price, ¢" hint="Empty: 99¢." />
      <Text
        {...part}
        name="takeProfitCents"
        label="Take a profit at, ¢"
        hint="Sells when the bid is there or above. Empty: never."
      />
      <Text
        {...part}
        name="stopLossCents"
        label="Stop a loss at, ¢"
        hint="Sells when the bid is there or below. Empty: never."
      />
    </fieldset>
  );
}

const STAKES = [
  { value: 'dollars', text: 'Dollars' },
  { value: 'contracts', text: 'Contracts' },
] as const;
const FEES = [
  { value: 'none', text: 'None' },
  { value: 'venue_a', text: 'The taker fee of venue_a' },
] as const;
const FILL_MODELS = [
  { value: '', text: 'As this server fills orders' },
  { value: 'top_of_book', text: 'All at the best price' },
  { value: 'book_depth', text: 'By the size displayed' },
  { value: 'queue', text: 'In the venue’s queue' },
] as const;

/** Rule T156 (engine/RULES.md). */
const NO_QUEUES =
  'The history has no queues, and nothing here waits: this fills by the size displayed, or at the best price where no size was recorded.';
const NO_LATENCY = 'Without latency: at the price that is there at the look.';

function Stakes(part: Part) {
  const { values, set } = part;
  return (
    <fieldset class="backtest-fields">
      <legend>Money</legend>
      <SelectField
        label="Stake in"
        value={values.stakeIn}
        options={STAKES}
        onPick={(stakeIn) => set('stakeIn', stakeIn)}
      />
      <Text
        {...part}
        name="stake"
        label={values.stakeIn === 'dollars' ? 'Stake a market, $' : 'Stake a market, contracts'}
        {...(values.stakeIn === 'dollars' ? { hint: 'Buys whole contracts.' } : {})}
      />
      <Text {...part} name="startBalanceDollars" label="Start balance, $" hint="Empty: $100,000." />
      <SelectField
        label="Fees"
        value={values.fees}
        options={FEES}
        onPick={(fees) => set('fees', fees)}
      />
      <SelectField
        label="Fills"
        hint={values.fillModel === 'queue' ? NO_QUEUES : NO_LATENCY}
        value={values.fillModel}
        options={FILL_MODELS}
        onPick={(fillModel) => set('fillModel', fillModel)}
      />
    </fieldset>
  );
}

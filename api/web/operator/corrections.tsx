/** Results that a venue does not give, and corrections of cash. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Confirm } from '../parts/confirm.tsx';
import { SelectField, TextField } from '../parts/field.tsx';
import { Notice } from '../parts/notice.tsx';
import { ViewHead } from '../parts/view-head.tsx';
import { Picker } from './picker.tsx';
import { adjust, findMarkets, findUsers, settle } from './state.ts';
import { nameOf } from './users.tsx';
import {
  adjustmentPlan,
  adjustmentWords,
  correctionPlan,
  dollarsOf,
  isWorth,
  settlementPlan,
  settlementWords,
} from './words.ts';

export function CorrectionsView() {
  return (
    <>
      <ViewHead title="Results and cash" />
      <SettleForm />
      <AdjustForm />
    </>
  );
}

type Outcome = 'yes' | 'no' | 'void' | 'worth';
const OUTCOMES: readonly { value: Outcome; text: string }[] = [
  { value: 'yes', text: 'yes' },
  { value: 'no', text: 'no' },
  { value: 'void', text: 'void: costs are paid back' },
  { value: 'worth', text: 'another value of yes' },
];

type Purpose = 'settle' | 'correct';
const PURPOSES: readonly { value: Purpose; text: string }[] = [
  { value: 'settle', text: 'settle: the market has no result yet' },
  { value: 'correct', text: 'correct: replace the present result' },
];

function SettleForm() {
  const [market, setMarket] = useState('');
  const [outcome, setOutcome] = useState<Outcome>('yes');
  const [worth, setWorth] = useState('');
  const [isCorrection, setIsCorrection] = useState(false);
  const isWrong = outcome === 'worth' && worth !== '' && !isWorth(worth.trim());
  const result = outcome === 'worth' ? worth.trim() : outcome;
  const name = market.trim();
  return (
    <Correction
      title="Settle a market"
      action={isCorrection ? 'Correct the result' : 'Settle the market'}
      isComplete={name !== '' && !isWrong}
      plan={() => (isCorrection ? correctionPlan : settlementPlan)(name, result)}
      run={async () => settlementWords(await settle(name, result, isCorrection))}
    >
      <Picker
        label="Market"
        maxLength={300}
        hint="Words of the game or the team, or its name: TICKER of venue_a, venue_b/NAME."
        value={market}
        onValue={setMarket}
        find={pickMarkets}
      />
      <SelectField<Purpose>
        label="What for"
        value={isCorrection ? 'correct' : 'settle'}
        options={PURPOSES}
        onPick={(purpose) => setIsCorrection(purpose === 'correct')}
      />
      <SelectField<Outcome> label="Result" value={outcome} options={OUTCOMES} onPick={setOutcome} />
      {outcome === 'worth' && (
        <TextField
          label="Worth of a yes contract, in dollars"
          required
          inputMode="decimal"
          hint="0 to 1 with at most four decimals: 0.645"
          error={isWrong ? 'Enter a value from 0 to 1 with at most four decimals.' : null}
          value={worth}
          onText={setWorth}
        />
      )}
    </Correction>
  );
}

async function pickMarkets(words: string) {
  const found = await findMarkets(words);
  return found.map(({ market, yesLabel, league, gameStatus }) => {
    const status = gameStatus === null ? '' : `, ${gameStatus}`;
    return { value: market, text: `Yes: ${yesLabel}`, detail: `${market}, ${league}${status}` };
  });
}

async function pickUsers(words: string) {
  const found = await findUsers(words);
  return found.map((user) => ({ value: user.id, text: nameOf(user), detail: user.id }));
}

function AdjustForm() {
  const [userId, setUserId] = useState('');
  const [text, setText] = useState('');
  const dollars = dollarsOf(text);
  const isWrong = text.trim() !== '' && dollars === undefined;
  const id = userId.trim();
  return (
    <Correction
      title="Adjust a balance"
      action="Adjust the balance"
      isComplete={id !== '' && dollars !== undefined}
      plan={() => adjustmentPlan(id, dollars!)}
      run={async () => adjustmentWords(await adjust(id, dollars!))}
    >
      <Picker
        label="User"
        maxLength={254}
        hint="A part of the address or the name, or the whole id."
        value={userId}
        onValue={setUserId}
        find={pickUsers}
      />
      <TextField
        label="Dollars"
        required
        inputMode="decimal"
        hint="Below zero takes dollars: -25.50"
        error={isWrong ? 'Enter dollars and whole cents, not 0.' : null}
        value={text}
        onText={setText}
      />
    </Correction>
  );
}

type Props = {
  title: string;
  action: string;
  isComplete: boolean;
  /** The effect, in sentences. */
  plan(): string;
  /** Does it, and returns the outcome. */
  run(): Promise<string>;
  children: ComponentChildren;
};

function Correction({ title, action, isComplete, plan, run, children }: Props) {
  const [asked, setAsked] = useState<string | null>(null);
  const [answer, setAnswer] = useState<string | null>(null);
  const submit = (event: Event) => {
    event.preventDefault();
    if (!isComplete) return;
    setAnswer(null);
    setAsked(plan());
  };
  return (
    <section class="panel" aria-label={title}>
      <h2>{title}</h2>
      <form class="form" onSubmit={submit}>
        {children}
        <button type="submit" class="button">
          {action}…
        </button>
      </form>
      <div role="status">{answer !== null && <Notice>{answer}</Notice>}</div>
      {asked !== null && (
        <Confirm
          title={`${title}?`}
          action={action}
          onConfirm={async () => setAnswer(await run())}
          onClose={() => setAsked(null)}
        >
          <p>{asked}</p>
        </Confirm>
      )}
    </section>
  );
}

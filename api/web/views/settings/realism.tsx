/** How real the fills of orders are from now on. */
import { useEffect, useState } from 'preact/hooks';
import type { Realism } from '../../../client/generated.js';
import { ExplainedChoice } from '../../parts/explained-choice.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { Loading, Skeleton } from '../../parts/loading.tsx';
import { Refusal } from '../../parts/notice.tsx';
import { SteadyButton } from '../../parts/steady-button.tsx';
import { changeRealism, forgetRealism, loadRealism, realism } from '../../state/realism.ts';
import {
  FEE_OPTIONS,
  formOf,
  LATENCY_HINT,
  LIQUIDITY_OPTIONS,
  MODEL_OPTIONS,
  OWN_WORDS,
  PRESET_WORDS,
  type PresetName,
  presetOf,
  type RealismErrors,
  type RealismForm,
  realismIn,
} from '../../state/realism-words.ts';

export function RealismSection() {
  useEffect(() => {
    void loadRealism();
    return forgetRealism;
  }, []);
  return (
    <section class="section">
      <h2>How real are my fills</h2>
      <p class="hint">
        A choice counts for the orders that you place from now on. Each order and trade keeps what
        it was placed under, and says so.
      </p>
      <Loading
        of={realism.value}
        skeleton={<Skeleton lines={8} of="your choice" />}
        again={() => void loadRealism()}
      >
        {(chosen) => <ChoiceForm chosen={chosen} />}
      </Loading>
    </section>
  );
}

type Sent = { state: 'no' | 'sending' | 'done' } | { state: 'refused'; error: unknown };
type Picked = PresetName | 'own';

function ChoiceForm({ chosen }: { chosen: Realism }) {
  const now: Picked = presetOf(chosen) ?? 'own';
  const [picked, setPicked] = useState<Picked>(now);
  const [form, setForm] = useState<RealismForm>(formOf(chosen));
  const [sent, setSent] = useState<Sent>({ state: 'no' });
  const read = realismIn(form);
  const errors = picked === 'own' && read.errors !== undefined ? read.errors : {};
  const pick = (next: Picked) => () => {
    setPicked(next);
    setSent({ state: 'no' });
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    const change = picked === 'own' ? read.realism : picked;
    if (change === undefined) return;
    setSent({ state: 'sending' });
    try {
      await changeRealism(change);
      setSent({ state: 'done' });
    } catch (error) {
      setSent({ state: 'refused', error });
    }
  };
  const isOff = sent.state === 'sending' || Object.keys(errors).length > 0;
  return (
    <form class="form narrow-form" onSubmit={(event) => void submit(event)}>
      <fieldset class="choices">
        <legend>Orders from now on</legend>
        {(['simple', 'realistic'] as const).map((name) => (
          <ExplainedChoice
            key={name}
            type="radio"
            name="realism"
            label={PRESET_WORDS[name].label}
            isOn={picked === name}
            onPick={pick(name)}
          >
            {PRESET_WORDS[name].words}
          </ExplainedChoice>
        ))}
        <ExplainedChoice
          type="radio"
          name="realism"
          label="My own choice"
          isOn={picked === 'own'}
          onPick={pick('own')}
        >
          {OWN_WORDS}
        </ExplainedChoice>
      </fieldset>
      {picked === 'own' && (
        <Parts
          form={form}
          errors={errors}
          change={(next) => {
            setForm({ ...form, ...next });
            setSent({ state: 'no' });
          }}
        />
      )}
      {sent.state === 'refused' && <Refusal error={sent.error} />}
      <p class="buttons">
        <SteadyButton type="submit" isOff={isOff}>
          Save the choice
        </SteadyButton>
        <span class="saved" role="status">
          {sent.state === 'done' && 'Saved'}
        </span>
      </p>
    </form>
  );
}

type PartsProps = {
  form: RealismForm;
  errors: RealismErrors;
  change(next: Partial<RealismForm>): void;
};

function Parts({ form, errors, change }: PartsProps) {
  return (
    <>
      <SelectField
        label="Fill model"
        options={MODEL_OPTIONS}
        value={form.model}
        hint={hintOf(MODEL_OPTIONS, form.model)}
        onPick={(model) => change({ model })}
      />
      <TextField
        label="Latency from, ms"
        inputMode="numeric"
        hint={LATENCY_HINT}
        value={form.fromMs}
        error={errors.fromMs}
        onText={(fromMs) => change({ fromMs })}
      />
      <TextField
        label="Latency to, ms"
        inputMode="numeric"
        hint="The same as above: always that long. Else each order draws its own."
        value={form.toMs}
        error={errors.toMs}
        onText={(toMs) => change({ toMs })}
      />
      <SelectField
        label="Fees"
        options={FEE_OPTIONS}
        value={form.fees}
        hint={hintOf(FEE_OPTIONS, form.fees)}
        onPick={(fees) => change({ fees })}
      />
      <SelectField
        label="A displayed size counts"
        options={LIQUIDITY_OPTIONS}
        value={form.liquidity}
        hint={hintOf(LIQUIDITY_OPTIONS, form.liquidity)}
        onPick={(liquidity) => change({ liquidity })}
      />
    </>
  );
}

function hintOf<Value>(options: readonly { value: Value; hint: string }[], value: Value) {
  return options.find((one) => one.value === value)?.hint;
}

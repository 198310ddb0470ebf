/** A new key: its purpose, its scopes, and its lifetime. */
import { useState } from 'preact/hooks';
import type { Scope } from '../../../client/generated.js';
import { Dialog } from '../../parts/dialog.tsx';
import { ExplainedChoice } from '../../parts/explained-choice.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { Refusal } from '../../parts/notice.tsx';
import { useSending } from '../../parts/sending.ts';
import { SteadyButton } from '../../parts/steady-button.tsx';
import { fieldFault } from '../../state/field-fault.ts';
import { counted } from '../../state/format.ts';
import { createKey } from '../../state/keys.ts';
import { KEY_SCOPES } from '../../state/settings-words.ts';
import { TokenShown } from './token-shown.tsx';

const LABEL_MAX = 64;
const LIFETIMES_DAYS = ['7', '30', '90', '365'] as const;
type Lifetime = '' | (typeof LIFETIMES_DAYS)[number];
const WITHOUT_TRADING: readonly Scope[] = ['records:read', 'portfolio:read', 'markets:read'];

/** @param canTrade whether the operator lets keys trade now */
export function CreateKeyDialog({ canTrade, onClose }: { canTrade: boolean; onClose(): void }) {
  const [token, setToken] = useState<string | null>(null);
  return (
    <Dialog title={token === null ? 'Create a key' : 'Your new key'} onClose={onClose}>
      {token === null ? (
        <KeyForm canTrade={canTrade} onToken={setToken} />
      ) : (
        <TokenShown token={token} />
      )}
    </Dialog>
  );
}

type FormProps = { canTrade: boolean; onToken(token: string): void };

function KeyForm({ canTrade, onToken }: FormProps) {
  const [label, setLabel] = useState('');
  const [scopes, setScopes] = useState(WITHOUT_TRADING);
  const [days, setDays] = useState<Lifetime>('');
  const { isSent, error, send } = useSending(async () => {
    const lifetime = days === '' ? {} : { expiresInDays: Number(days) };
    onToken(await createKey({ label, scopes: [...scopes], ...lifetime }));
  });
  const fault = fieldFault(error, 'label', 'The label');
  return (
    <form class="form" onSubmit={send}>
      <TextField
        label="Label"
        name="label"
        autocomplete="off"
        hint="The purpose of the key."
        maxLength={LABEL_MAX}
        value={label}
        error={fault}
        onText={setLabel}
      />
      <ScopeChoices picked={scopes} canTrade={canTrade} onPick={setScopes} />
      <SelectField<Lifetime>
        label="Works for"
        value={days}
        options={[
          { value: '', text: 'Never' },
          ...LIFETIMES_DAYS.map((value) => ({ value, text: counted(Number(value), 'day') })),
        ]}
        onPick={setDays}
      />
      {error !== null && fault === null && <Refusal error={error} />}
      <p class="buttons">
        <SteadyButton type="submit" class="button primary" isOff={isSent || scopes.length === 0}>
          Create the key
        </SteadyButton>
      </p>
    </form>
  );
}

type ChoicesProps = {
  picked: readonly Scope[];
  canTrade: boolean;
  onPick(scopes: readonly Scope[]): void;
};

function ScopeChoices({ picked, canTrade, onPick }: ChoicesProps) {
  const toggle = (scope: Scope) => {
    onPick(picked.includes(scope) ? picked.filter((one) => one !== scope) : [...picked, scope]);
  };
  return (
    <fieldset class="choices">
      <legend>It may</legend>
      {KEY_SCOPES.map(({ scope, words }) => {
        const isOff = scope === 'trade:write' && !canTrade;
        return (
          <ExplainedChoice
            key={scope}
            type="checkbox"
            name="scope"
            label={words}
            isOn={picked.includes(scope)}
            disabled={isOff}
            onPick={() => toggle(scope)}
          >
            <code>{scope}</code>
            {isOff && '. The operator of this server lets no key trade now.'}
          </ExplainedChoice>
        );
      })}
    </fieldset>
  );
}

/** A new key in place of another, which works for a while so that programs can change over. */
import { useState } from 'preact/hooks';
import type { KeyView } from '../../../client/generated.js';
import { Dialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/field.tsx';
import { Refusal } from '../../parts/notice.tsx';
import { useSending } from '../../parts/sending.ts';
import { SteadyButton } from '../../parts/steady-button.tsx';
import { rotateKey } from '../../state/keys.ts';
import { TokenShown } from './token-shown.tsx';

const GRACE_HOURS = 24;
const GRACE_HOURS_MAX = 168;

export function RotateKeyDialog({ of: key, onClose }: { of: KeyView; onClose(): void }) {
  const [token, setToken] = useState<string | null>(null);
  return (
    <Dialog title={token === null ? 'Rotate this key' : 'Your new key'} onClose={onClose}>
      {token === null ? <RotateForm of={key} onToken={setToken} /> : <TokenShown token={token} />}
    </Dialog>
  );
}

function RotateForm({ of: key, onToken }: { of: KeyView; onToken(token: string): void }) {
  const [hours, setHours] = useState(String(GRACE_HOURS));
  const { isSent, error, send } = useSending(async () => {
    onToken(await rotateKey(key.id, { graceHours: Number(hours) }));
  });
  return (
    <form class="form" onSubmit={send}>
      <p>
        You get a new key with the label and the scopes of “{key.label}”,{' '}
        <code>{key.tokenPrefix}…</code>.
      </p>
      <TextField
        label="Hours that the old key keeps working"
        type="number"
        name="graceHours"
        inputMode="numeric"
        required
        min={0}
        max={GRACE_HOURS_MAX}
        step={1}
        hint={`0 to ${GRACE_HOURS_MAX}. With 0 it ends at once.`}
        value={hours}
        onText={setHours}
      />
      {error !== null && <Refusal error={error} />}
      <p class="buttons">
        <SteadyButton type="submit" class="button primary" isOff={isSent}>
          Rotate it
        </SteadyButton>
      </p>
    </form>
  );
}

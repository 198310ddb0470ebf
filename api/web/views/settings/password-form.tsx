/** Another password. */
import { useState } from 'preact/hooks';
import { TextField } from '../../parts/field.tsx';
import { Refusal } from '../../parts/notice.tsx';
import { useSending } from '../../parts/sending.ts';
import { SteadyButton } from '../../parts/steady-button.tsx';
import { CallError } from '../../state/call-error.ts';
import { setPassword } from '../../state/sign-ins.ts';

const CHARACTERS_MIN = 8;
/** GoTrue's codes, by the field that they are about. */
const OF_CURRENT = ['current_password_invalid', 'current_password_required'];
const OF_NEXT = ['weak_password', 'same_password'];

/** @param email for password managers, which keep the password under it */
export function PasswordForm({ email }: { email: string | null }) {
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const [isDone, setDone] = useState(false);
  const { isSent, error, send } = useSending(async () => {
    setDone(false);
    await setPassword(current, next);
    setCurrent('');
    setNext('');
    setDone(true);
  });
  const ofCurrent = sentenceAbout(OF_CURRENT, error);
  const ofNext = sentenceAbout(OF_NEXT, error);
  return (
    <form class="form narrow-form" onSubmit={send}>
      <h3>Change the password</h3>
      <input type="text" autocomplete="username" value={email ?? ''} readOnly hidden />
      <TextField
        label="Current password"
        type="password"
        name="current-password"
        autocomplete="current-password"
        required
        value={current}
        error={ofCurrent}
        onText={setCurrent}
      />
      <TextField
        label="New password"
        type="password"
        name="new-password"
        autocomplete="new-password"
        required
        minLength={CHARACTERS_MIN}
        hint={`At least ${CHARACTERS_MIN} characters. A change ends all other sign-ins.`}
        value={next}
        error={ofNext}
        onText={setNext}
      />
      {error !== null && ofCurrent === null && ofNext === null && <Refusal error={error} />}
      <p class="buttons">
        <SteadyButton type="submit" isOff={isSent}>
          Change the password
        </SteadyButton>
        <span class="saved" role="status">
          {isDone && 'Changed. All other sign-ins have ended.'}
        </span>
      </p>
    </form>
  );
}

function sentenceAbout(codes: readonly string[], error: unknown): string | null {
  if (!(error instanceof CallError) || error.code === null) return null;
  return codes.includes(error.code) ? error.message : null;
}

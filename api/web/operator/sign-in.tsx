/** Asks for the admin token. */
import { useState } from 'preact/hooks';
import { TextField } from '../parts/field.tsx';
import { Notice, Refusal } from '../parts/notice.tsx';
import { SteadyButton } from '../parts/steady-button.tsx';
import { ViewHead } from '../parts/view-head.tsx';
import { enter, why } from './token.ts';

export function TokenView() {
  const [text, setText] = useState('');
  const [isKept, setKept] = useState(false);
  const [isSent, setSent] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const submit = async (event: Event) => {
    event.preventDefault();
    setSent(true);
    setError(null);
    try {
      await enter(text, isKept);
    } catch (refusal) {
      setError(refusal);
    } finally {
      setSent(false);
    }
  };
  return (
    <div class="sign-in">
      <ViewHead title="Operate this server" />
      {why.value !== null && (
        <Notice kind="warning">
          <p role="status">{why.value}</p>
        </Notice>
      )}
      <form class="form" onSubmit={submit}>
        <TextField
          label="Admin token"
          type="password"
          name="token"
          autocomplete="off"
          required
          hint="The file DATA_DIR/admin.token of this server contains it."
          value={text}
          onText={setText}
        />
        <label class="remember">
          <input
            type="checkbox"
            checked={isKept}
            onChange={({ currentTarget }) => setKept(currentTarget.checked)}
          />
          Keep the token in this tab after a reload
        </label>
        {error !== null && <Refusal error={error} />}
        <SteadyButton type="submit" class="button primary" isOff={isSent}>
          Go on
        </SteadyButton>
      </form>
    </div>
  );
}

/** Signing in and up; shown in place of any view while nobody is signed in. */
import { useState } from 'preact/hooks';
import { TextField } from '../parts/field.tsx';
import { Notice, Refusal } from '../parts/notice.tsx';
import { SteadyButton } from '../parts/steady-button.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { ViewHead } from '../parts/view-head.tsx';
import { session, signIn, signUp } from '../state/session.ts';

type Way = 'in' | 'up';
const WAYS = [
  { name: 'in', text: 'Sign in' },
  { name: 'up', text: 'Create an account' },
] as const;
const PASSWORD_CHARACTERS_MIN = 8;

export function SignInView() {
  const [way, setWay] = useState<Way>('in');
  const { value: now } = session;
  const why = now.state === 'out' ? now.why : null;
  return (
    <div class="sign-in">
      <ViewHead title="Trade prediction markets on paper" />
      <p>Live venue prices, paper dollars. Everyone begins with $100,000.00.</p>
      {why !== null && (
        <Notice kind="warning">
          <p role="status">{why}</p>
        </Notice>
      )}
      <Tabs<Way> label="Ways in" tabs={WAYS} open={way} onOpen={setWay}>
        <Credentials key={way} way={way} />
      </Tabs>
    </div>
  );
}

function Credentials({ way }: { way: Way }) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [error, setError] = useState<unknown>(null);
  const [isSent, setSent] = useState(false);
  const send = async (event: Event) => {
    event.preventDefault();
    setSent(true);
    setError(null);
    try {
      await (way === 'in' ? signIn(email, password) : signUp(email, password));
    } catch (refusal) {
      setError(refusal);
    } finally {
      setSent(false);
    }
  };
  return (
    <form class="form" onSubmit={send}>
      <TextField
        label="Email"
        type="email"
        name="email"
        autocomplete="username"
        required
        value={email}
        onText={setEmail}
      />
      <TextField
        label="Password"
        type="password"
        name="password"
        autocomplete={way === 'in' ? 'current-password' : 'new-password'}
        required
        minLength={way === 'in' ? undefined : PASSWORD_CHARACTERS_MIN}
        hint={way === 'in' ? undefined : `At least ${PASSWORD_CHARACTERS_MIN} characters.`}
        value={password}
        onText={setPassword}
      />
      {error !== null && <Refusal error={error} />}
      <SteadyButton type="submit" class="button primary" isOff={isSent}>
        {way === 'in' ? 'Sign in' : 'Create the account'}
      </SteadyButton>
    </form>
  );
}

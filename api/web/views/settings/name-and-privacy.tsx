/** The data that others see: the name, and whether the results are public. */
import { useEffect, useState } from 'preact/hooks';
import type { Me } from '../../../client/generated.js';
import { ExplainedChoice } from '../../parts/explained-choice.tsx';
import { TextField } from '../../parts/field.tsx';
import { Loading, Skeleton } from '../../parts/loading.tsx';
import { Refusal } from '../../parts/notice.tsx';
import { SteadyButton } from '../../parts/steady-button.tsx';
import { fieldFault } from '../../state/field-fault.ts';
import { changeProfile, forgetProfile, loadProfile, profile } from '../../state/profile.ts';
import { hrefOf } from '../../state/route-text.ts';
import { EARLIER_WORDS, PRIVATE_WORDS, PUBLIC_WORDS } from '../../state/settings-words.ts';

type User = Me['user'];

export function NameAndPrivacy() {
  useEffect(() => {
    void loadProfile();
    return forgetProfile;
  }, []);
  return (
    <section class="section">
      <h2>Name and privacy</h2>
      <Loading
        of={profile.value}
        skeleton={<Skeleton lines={8} of="your name and privacy" />}
        again={() => void loadProfile()}
      >
        {(user) => (
          <>
            <NameForm user={user} />
            <PrivacyForm user={user} />
          </>
        )}
      </Loading>
    </section>
  );
}

type Sent = { state: 'no' | 'sending' | 'done' } | { state: 'refused'; error: unknown };

/** Sends a change of the profile, and says how that went. */
function useChange() {
  const [sent, setSent] = useState<Sent>({ state: 'no' });
  const send = async (change: Parameters<typeof changeProfile>[0]) => {
    setSent({ state: 'sending' });
    try {
      await changeProfile(change);
      setSent({ state: 'done' });
    } catch (error) {
      setSent({ state: 'refused', error });
    }
  };
  return { sent, send, edit: () => setSent({ state: 'no' }) };
}

function NameForm({ user }: { user: User }) {
  const [name, setName] = useState(user.displayName ?? '');
  const { sent, send, edit } = useChange();
  const error = sent.state === 'refused' ? sent.error : null;
  const fault = fieldFault(error, 'displayName', 'The name');
  const submit = (event: Event) => {
    event.preventDefault();
    void send({ displayName: name === '' ? null : name });
  };
  return (
    <form class="form narrow-form" onSubmit={submit}>
      <TextField
        label="Display name"
        name="displayName"
        autocomplete="nickname"
        hint="2 to 64 characters, shown on boards. Empty: no name."
        value={name}
        error={fault}
        onText={(text) => {
          setName(text);
          edit();
        }}
      />
      {error !== null && fault === null && <Refusal error={error} />}
      <Save isOff={name === (user.displayName ?? '')} sent={sent} what="the name" />
    </form>
  );
}

function PrivacyForm({ user }: { user: User }) {
  const [isPrivate, setPrivate] = useState(user.private ?? true);
  const [showsEarlier, setShowsEarlier] = useState(user.showEarlierTrades);
  const { sent, send, edit } = useChange();
  const submit = (event: Event) => {
    event.preventDefault();
    void send({ private: isPrivate, showEarlierTrades: showsEarlier });
  };
  const isSame = isPrivate === user.private && showsEarlier === user.showEarlierTrades;
  const pick = (next: boolean) => () => {
    setPrivate(next);
    edit();
  };
  return (
    <form class="form narrow-form" onSubmit={submit}>
      <fieldset class="choices">
        <legend>Who sees your results</legend>
        <ExplainedChoice
          type="radio"
          name="privacy"
          label="Private"
          isOn={isPrivate}
          onPick={pick(true)}
        >
          {PRIVATE_WORDS}
        </ExplainedChoice>
        <ExplainedChoice
          type="radio"
          name="privacy"
          label="Public"
          isOn={!isPrivate}
          onPick={pick(false)}
        >
          {PUBLIC_WORDS}
        </ExplainedChoice>
        {!isPrivate && (
          <ExplainedChoice
            type="checkbox"
            name="earlier"
            label="Also show earlier trades"
            isOn={showsEarlier}
            onPick={() => {
              setShowsEarlier(!showsEarlier);
              edit();
            }}
          >
            {EARLIER_WORDS}
          </ExplainedChoice>
        )}
      </fieldset>
      {sent.state === 'refused' && <Refusal error={sent.error} />}
      <p class="hint">
        <a href={hrefOf('trader', user.id)}>Your page as others see it</a>
      </p>
      <Save isOff={isSame} sent={sent} what="privacy" />
    </form>
  );
}

function Save({ isOff, sent, what }: { isOff: boolean; sent: Sent; what: string }) {
  return (
    <p class="buttons">
      <SteadyButton type="submit" isOff={isOff || sent.state === 'sending'}>
        Save {what}
      </SteadyButton>
      <span class="saved" role="status">
        {sent.state === 'done' && 'Saved'}
      </span>
    </p>
  );
}

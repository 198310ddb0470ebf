/** The outcome of a check of a signed record or receipt. Read aloud when it appears. */
import { claimsOf, type SignedThing, verdictOf } from '../state/check-words.ts';
import type { Checked } from '../state/signed-check.ts';
import { Notice, Refusal } from './notice.tsx';

type Props = { of: Checked; what: SignedThing; keyId: string };

export function CheckOutcome(props: Props) {
  return (
    <div role="status">
      <Outcome {...props} />
    </div>
  );
}

function Outcome({ of: now, what, keyId }: Props) {
  if (now.state === 'none') return null;
  if (now.state === 'checking') return <p>Checking the signature.</p>;
  if (now.state === 'failed') return <Refusal error={now.error} />;
  const { isGenuine, sentence } = verdictOf(now.check, what);
  return (
    <Notice kind={isGenuine === null ? 'warning' : isGenuine ? 'info' : 'error'}>
      <p>
        <strong>{sentence}</strong>
      </p>
      <ul class="plain-list">
        {claimsOf(now.check, keyId, what).map(({ claim, holds }) => (
          <li key={claim}>
            <strong class={holds === null ? '' : holds ? 'is-gain' : 'is-loss'}>
              {holds === null ? 'Not checked' : holds ? 'Holds' : 'Fails'}
            </strong>{' '}
            {claim}
          </li>
        ))}
      </ul>
      {isGenuine === null && (
        <p>
          Download the {what} and the keys, and run{' '}
          <code>paperbook verify-{what} FILE --keys track-record-keys.json</code>.
        </p>
      )}
    </Notice>
  );
}

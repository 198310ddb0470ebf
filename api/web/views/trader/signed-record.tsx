/** The signed record of 90 days, and its check in the browser. */
import { useEffect } from 'preact/hooks';
import type { SignedTrackRecord, Trader } from '../../../client/generated.js';
import { Loading, Skeleton } from '../../parts/loading.tsx';
import { Notice, Refusal } from '../../parts/notice.tsx';
import { giveFile } from '../../state/download.ts';
import type { Checked, TraderState } from '../../state/trader.ts';
import { BySeries, RecordTable } from './record-table.tsx';
import { claimsOf, recordFileName, verdictOf } from './trader-words.ts';

export function SignedRecord({ of: { id }, state }: { of: Trader; state: TraderState }) {
  const load = () => void state.record.load(id);
  useEffect(load, [id]);
  return (
    <section class="section">
      <h2 id="signed">Signed record of 90 days</h2>
      <p class="hint">
        This server has signed these numbers by its key. Whoever gets the file can check that
        nothing in it was changed: here, or by <code>paperbook verify-record</code> without any
        server.
      </p>
      <Loading
        of={state.record.now.value}
        skeleton={<Skeleton lines={8} of="the signed record" />}
        again={load}
      >
        {(signed) => (
          <>
            <RecordTable record={signed.record} />
            <BySeries record={signed.record} />
            <Actions signed={signed} state={state} />
            <div role="status">
              <Outcome of={state.checked.value} signed={signed} />
            </div>
          </>
        )}
      </Loading>
    </section>
  );
}

function Actions({ signed, state }: { signed: SignedTrackRecord; state: TraderState }) {
  const save = () => {
    giveFile(recordFileName(signed), 'application/json', [`${JSON.stringify(signed)}\n`]);
  };
  return (
    <div class="buttons">
      <button
        type="button"
        class="button primary"
        disabled={state.checked.value.state === 'checking'}
        onClick={() => void state.verify(signed)}
      >
        Verify
      </button>
      <button type="button" class="button" onClick={save}>
        Download the record
      </button>
      <a href="v1/track-record/keys" download="track-record-keys.json">
        Download the server’s public keys
      </a>
    </div>
  );
}

function Outcome({ of: now, signed }: { of: Checked; signed: SignedTrackRecord }) {
  if (now.state === 'none') return null;
  if (now.state === 'checking') return <p>Checking the signature.</p>;
  if (now.state === 'failed') return <Refusal error={now.error} />;
  const { isGenuine, sentence } = verdictOf(now.check);
  return (
    <Notice kind={isGenuine === null ? 'warning' : isGenuine ? 'info' : 'error'}>
      <p>
        <strong>{sentence}</strong>
      </p>
      <ul class="plain-list">
        {claimsOf(now.check, signed.envelope.keyId).map(({ claim, holds }) => (
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
          Download the record and the keys, and run{' '}
          <code>paperbook verify-record FILE --keys track-record-keys.json</code>.
        </p>
      )}
    </Notice>
  );
}

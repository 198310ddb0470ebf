/** The signed record of 90 days, and its check in the browser. */
import { useEffect } from 'preact/hooks';
import type { Trader } from '../../../client/generated.js';
import { CheckOutcome } from '../../parts/check-outcome.tsx';
import { Loading, Skeleton } from '../../parts/loading.tsx';
import { SignedActions } from '../../parts/signed-actions.tsx';
import type { TraderState } from '../../state/trader.ts';
import { BySeries, RecordTable } from './record-table.tsx';
import { recordFileName } from './trader-words.ts';

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
            <SignedActions
              what="record"
              signed={signed}
              fileName={recordFileName(signed)}
              isChecking={state.check.now.value.state === 'checking'}
              onVerify={() => void state.check.verify(signed)}
            >
              <a href="v1/track-record/keys" download="track-record-keys.json">
                Download the server’s public keys
              </a>
            </SignedActions>
            <CheckOutcome of={state.check.now.value} what="record" keyId={signed.envelope.keyId} />
          </>
        )}
      </Loading>
    </section>
  );
}

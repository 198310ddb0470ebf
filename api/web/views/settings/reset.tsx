/** A new run: all positions closed, and the start balance again. */
import { useEffect, useState } from 'preact/hooks';
import type { Account, Portfolio } from '../../../client/generated.js';
import { Confirm } from '../../parts/confirm.tsx';
import { TextField } from '../../parts/field.tsx';
import { Skeleton } from '../../parts/loading.tsx';
import { Refusal } from '../../parts/notice.tsx';
import { When } from '../../parts/when.tsx';
import { portfolio, refreshPortfolio } from '../../state/account.ts';
import { call } from '../../state/calls.ts';
import { counted, money } from '../../state/format.ts';
import { report } from '../../state/problems.ts';
import { resetState } from '../../state/settings-words.ts';

const TYPED = 'reset';

export function Reset() {
  const [failure, setFailure] = useState<unknown>(null);
  const ask = () => {
    setFailure(null);
    refreshPortfolio().catch(setFailure);
  };
  useEffect(ask, []);
  const { value: known } = portfolio;
  return (
    <section class="section">
      <h2>Reset</h2>
      {known !== null && <Offer known={known} />}
      {known === null && failure !== null && <Refusal error={failure} again={ask} />}
      {known === null && failure === null && <Skeleton lines={3} of="your account" />}
    </section>
  );
}

function Offer({ known: { account, ...known } }: { known: Portfolio }) {
  const [isAsking, setAsking] = useState(false);
  const [isDone, setDone] = useState(false);
  const state = resetState(account);
  const reset = async () => {
    await call('resetAccount');
    setDone(true);
    await refreshPortfolio().catch(report);
  };
  return (
    <>
      <p>
        A reset begins a new run with {money(account?.startBalanceDollars ?? 100_000)}. It closes
        your positions at their bid and cancels your resting orders. Your trades stay, and your
        resets are counted on your public page.
      </p>
      {account !== null && <Runs of={account} />}
      <p class="buttons">
        <button
          type="button"
          class="button"
          disabled={!state.canReset}
          aria-describedby={state.canReset ? undefined : 'no-reset'}
          onClick={() => setAsking(true)}
        >
          Reset the account
        </button>
        <span class="saved" role="status">
          {isDone && `Run ${account?.run} has begun.`}
        </span>
      </p>
      {!state.canReset && (
        <p id="no-reset" class="hint">
          {state.why}
          {state.at !== null && (
            <>
              {' '}
              The next one is possible from <When iso={state.at} /> on.
            </>
          )}
        </p>
      )}
      {isAsking && <ResetDialog known={known} onReset={reset} onClose={() => setAsking(false)} />}
    </>
  );
}

function Runs({ of: { run, runStartedAt, resets, busts } }: { of: Account }) {
  return (
    <p class="hint">
      Run {run}, since <When iso={runStartedAt} />. {counted(resets, 'reset')},{' '}
      {counted(busts, 'bust')}.
    </p>
  );
}

type DialogProps = {
  known: Pick<Portfolio, 'positionsCount' | 'ordersCount'>;
  onReset(): Promise<void>;
  onClose(): void;
};

function ResetDialog({ known, onReset, onClose }: DialogProps) {
  const [typed, setTyped] = useState('');
  const { positionsCount, ordersCount } = known;
  return (
    <Confirm
      title="Reset the account"
      action="Reset the account"
      isReady={typed.trim().toLowerCase() === TYPED}
      onConfirm={onReset}
      onClose={onClose}
    >
      <p>
        {counted(positionsCount, 'position')} {positionsCount === 1 ? 'is' : 'are'} closed now, and{' '}
        {counted(ordersCount, 'resting order')} canceled. This cannot be taken back, and there is no
        other reset for 30 days.
      </p>
      <TextField
        label={`Type “${TYPED}” to go on`}
        autocomplete="off"
        value={typed}
        onText={setTyped}
      />
    </Confirm>
  );
}

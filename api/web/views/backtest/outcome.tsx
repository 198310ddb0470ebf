/** The outcome of the last backtest. */
import { useEffect, useRef } from 'preact/hooks';
import { Notice, Refusal } from '../../parts/notice.tsx';
import { useNow } from '../../parts/now.ts';
import {
  type BacktestRun,
  backtest,
  cancelBacktest,
  RUNS_WITHIN_MS,
} from '../../state/backtest.ts';
import { CallError } from '../../state/call-error.ts';
import { duration } from '../../state/format.ts';
import { isBacktest, retryText } from './backtest-words.ts';
import { Result } from './result.tsx';

export function Outcome() {
  const section = useRef<HTMLElement>(null);
  const isRunning = backtest.value.state === 'running';
  useEffect(() => {
    // On a narrow screen it is below the form.
    if (isRunning) section.current?.scrollIntoView({ block: 'nearest' });
  }, [isRunning]);
  return (
    <section ref={section} class="backtest-outcome" aria-label="Result">
      <div role="status">{sentenceOf(backtest.value)}</div>
      <Body run={backtest.value} />
    </section>
  );
}

/** The text that is read aloud when it appears. */
function sentenceOf(run: BacktestRun) {
  switch (run.state) {
    case 'running':
      return <p class="sr">The backtest is running.</p>;
    case 'canceled':
      return (
        <Notice kind="warning">
          <p>
            Canceled. The page waits for it no longer; the server may go on with it for up to{' '}
            {duration(RUNS_WITHIN_MS)}.
          </p>
        </Notice>
      );
    case 'done':
      return <p class="sr">The backtest is done.</p>;
    default:
      return null;
  }
}

function Body({ run }: { run: BacktestRun }) {
  switch (run.state) {
    case 'none':
      return (
        <p class="empty">
          The result appears here: the profit or loss, the net worth over time, and each trade.
          Choose the markets and a rule, and run it.
        </p>
      );
    case 'running':
      return <Running sinceMs={run.sinceMs} />;
    case 'failed':
      return <Failed error={run.error} />;
    case 'done':
      return isBacktest(run.answer) ? (
        <Result of={run.answer} />
      ) : (
        <OtherForm answer={run.answer} />
      );
    default:
      return null;
  }
}

function Running({ sinceMs }: { sinceMs: number }) {
  const nowMs = useNow(1000);
  const ranMs = Math.max(0, Math.floor((nowMs - sinceMs) / 1000) * 1000);
  return (
    <div class="backtest-running">
      <progress aria-label="The backtest is running" />
      <p>
        Running for {ranMs / 1000} s. The server takes {duration(RUNS_WITHIN_MS)} at most.
      </p>
      <button type="button" class="button" onClick={cancelBacktest}>
        Cancel
      </button>
    </div>
  );
}

function Failed({ error }: { error: unknown }) {
  const retry = error instanceof CallError ? retryText(error.retryAfterSeconds) : null;
  return (
    <>
      <Refusal error={error} />
      {retry !== null && <p>{retry}</p>}
    </>
  );
}

/** As it came, from a service that runs backtests in place of this server. */
function OtherForm({ answer }: { answer: unknown }) {
  return (
    <>
      <p>Another service runs the backtests of this server, and has answered in its own form:</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <pre class="backtest-json" tabIndex={0}>
        {JSON.stringify(answer, null, 2)}
      </pre>
    </>
  );
}

/** Backtests: a rule replayed on settled game winners, and its result. */
import { ViewHead } from '../../parts/view-head.tsx';
import { BacktestFormPart } from './form.tsx';
import { Outcome } from './outcome.tsx';

export function BacktestView() {
  return (
    <>
      <ViewHead title="Backtest" />
      <p>
        Replays a rule on game winners that have a result: it looks once at each market, buys at the
        ask where the rule says so, and sells or holds to the result. The server stores none of
        this.
      </p>
      <div class="backtest">
        <BacktestFormPart />
        <Outcome />
      </div>
    </>
  );
}

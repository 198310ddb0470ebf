/** Net worth over time. */
import { useEffect, useMemo } from 'preact/hooks';
import type { Equity } from '../../../client/generated.js';
import { Chart } from '../../parts/chart.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Empty } from '../../parts/notice.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { When } from '../../parts/when.tsx';
import type { AccountId } from '../../state/account-id.ts';
import { equityOf, followEquity, forgetEquity, loadEquity } from '../../state/equity.ts';
import { EQUITY_WINDOWS, type EquityWindow, equityCurve } from '../../state/equity-curve.ts';
import { clock, money } from '../../state/format.ts';
import { replace } from '../../state/route.ts';
import { hrefOf, type ViewProps } from '../../state/route-text.ts';

type Props = Pick<ViewProps, 'query'> & { account: AccountId; window: EquityWindow };

const HEIGHT_PX = 220;

export function EquitySection({ account, window, query }: Props) {
  useEffect(() => followEquity(account, window), [account, window]);
  useEffect(() => forgetEquity, [account]);
  return (
    <section class="equity">
      <h2>Net worth over time</h2>
      <Tabs<EquityWindow>
        label="Time shown"
        tabs={EQUITY_WINDOWS}
        open={window}
        onOpen={(name) => replace(hrefOf('portfolio', '', { ...query, window: name }))}
      >
        <Loading
          of={equityOf(account)}
          skeleton={<div class="equity-skeleton" role="status" aria-label="Loading the curve" />}
          again={() => void loadEquity(account, window)}
        >
          {(value) => <Curve equity={value} window={window} />}
        </Loading>
      </Tabs>
    </section>
  );
}

function Curve({ equity: of, window }: { equity: Equity; window: EquityWindow }) {
  const curve = useMemo(() => (of.points.length === 0 ? null : equityCurve(of, window)), [of]);
  if (curve === null) return <Empty>The curve begins with the first order.</Empty>;
  const { timesMs, lines, runs, summary } = curve;
  return (
    <>
      <Chart
        label="Net worth over time"
        summary={summary}
        heightPx={HEIGHT_PX}
        timesMs={timesMs}
        series={lines}
        valueText={money}
        timeText={(atMs) => clock.moment(new Date(atMs).toISOString(), Date.now())}
      />
      {runs.length > 0 && (
        <ul class="runs hint">
          {runs.map(({ run, at }) => (
            <li key={run}>
              Run {run} began <When iso={at} />
            </li>
          ))}
        </ul>
      )}
      {!of.venueData && <p class="hint">Venue data is off, so positions count at their cost.</p>}
    </>
  );
}

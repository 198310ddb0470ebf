/** The result of a backtest. */
import type { Backtest } from '../../../client/generated.js';
import { Chart } from '../../parts/chart.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { type Fact, Facts } from '../../parts/facts.tsx';
import { Money } from '../../parts/money.tsx';
import { Empty } from '../../parts/notice.tsx';
import { clock, money, signedPercent, whole } from '../../state/format.ts';
import { scoreText } from '../../state/score-text.ts';
import { coverageText, equityText, risingTimes, skippedRows } from './backtest-words.ts';
import { Trades } from './trades.tsx';

export function Result({ of: result }: { of: Backtest }) {
  const { trades, inputHash } = result;
  return (
    <>
      <h2>Summary</h2>
      <Facts facts={factsOf(result)} />
      <h2>Net worth</h2>
      <Equity of={result} />
      <h2>Trades</h2>
      {trades.length === 0 ? (
        <Empty>
          No trade: the reasons stand below. Other markets or wider limits may have some.
        </Empty>
      ) : (
        <Trades trades={trades} />
      )}
      <h2>Markets without a trade</h2>
      <Skipped of={result} />
      <h2>Coverage</h2>
      <p>{coverageText(result.coverage)}</p>
      <p class="backtest-hash">
        Input hash <code>{inputHash}</code> <CopyButton text={inputHash} of="the input hash" />
        <span class="hint">Equal hashes have equal results.</span>
      </p>
    </>
  );
}

function factsOf({ summary }: Backtest): Fact[] {
  const { markets, trades, won, lost, void: voided, soldEarly, roiPct, brier } = summary;
  const { pnlDollars, feesDollars, pnlAfterFeesDollars, maxDrawdownDollars } = summary;
  return [
    {
      name: 'Profit or loss after fees',
      value: <Money dollars={pnlAfterFeesDollars} signed />,
      note: (
        <>
          <Money dollars={pnlDollars} signed /> less fees of <Money dollars={feesDollars} />
        </>
      ),
    },
    {
      name: 'Return (ROI)',
      value: roiPct === null ? 'none' : signedPercent(roiPct),
      note: 'Profit or loss of the cost, before fees.',
    },
    { name: 'Max drawdown', value: money(maxDrawdownDollars), note: 'Of the net worth.' },
    {
      name: 'Trades',
      value: whole(trades),
      note: `In ${whole(markets)} markets: ${won} won, ${lost} lost, ${voided} void, ${soldEarly} sold early.`,
    },
    {
      name: 'Brier score of the prices',
      value: brier === null ? 'none' : scoreText('brier', brier),
      note: 'Over trades held to a result. A constant 50% scores 0.250; less is better.',
    },
  ];
}

function Equity({ of: result }: { of: Backtest }) {
  const { equity } = result;
  if (equity.length < 2) return <p>{equityText(result)}</p>;
  return (
    <Chart
      label="Net worth over time"
      summary={equityText(result)}
      timesMs={risingTimes(equity)}
      series={[
        {
          name: 'Net worth',
          color: 'accent',
          isStepped: true,
          values: equity.map(({ netWorthDollars }) => netWorthDollars),
        },
      ]}
      valueText={money}
      timeText={(atMs) => {
        const iso = new Date(atMs).toISOString();
        return `${clock.date(iso)}, ${clock.seconds(iso)}`;
      }}
    />
  );
}

function Skipped({ of: { skipped } }: { of: Backtest }) {
  const rows = skippedRows(skipped);
  if (rows.length === 0) return <p>None.</p>;
  return (
    <ul class="plain-list">
      {rows.map(({ reason, why, count }) => (
        <li key={reason}>
          {whole(count)}: {why}
        </li>
      ))}
    </ul>
  );
}

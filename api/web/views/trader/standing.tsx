/** A trader's numbers so far. */
import type { Trader } from '../../../client/generated.js';
import { type Fact, Facts } from '../../parts/facts.tsx';
import { Money } from '../../parts/money.tsx';
import { When } from '../../parts/when.tsx';
import { counted, signedPercent, whole } from '../../state/format.ts';
import { picksText } from './trader-words.ts';

export function Standing({ of: found }: { of: Trader }) {
  return (
    <section class="section">
      <h2>Record</h2>
      <Facts facts={[...numbersOf(found), ...countsOf(found)]} />
      <Resets of={found} />
    </section>
  );
}

function numbersOf({ numbersShown, pnlDollars, roiPct, netWorthDollars, rank }: Trader): Fact[] {
  const none = numbersShown ? 'none yet' : 'not shown';
  return [
    {
      name: 'Profit or loss',
      value: pnlDollars === null ? none : <Money dollars={pnlDollars} signed />,
      note: 'Over all ended trades.',
    },
    {
      name: 'Return (ROI)',
      value: roiPct === null ? none : signedPercent(roiPct),
      note: 'In percent of the cost of those trades.',
    },
    {
      name: 'Net worth',
      value: netWorthDollars === null ? none : <Money dollars={netWorthDollars} />,
      note: netWorthDollars === null && numbersShown ? 'Before the first trade.' : 'As of now.',
    },
    {
      name: 'Rank',
      value: rank === null ? none : whole(rank),
      note: 'All time, by profit or loss.',
    },
  ];
}

function countsOf(found: Trader): Fact[] {
  const { settledPicks, since, busts } = found;
  return [
    { name: 'Picks', value: whole(settledPicks), note: `${picksText(found)}.` },
    { name: 'Since', value: since === null ? 'not shown' : <When iso={since} as="date" /> },
    {
      name: 'Busts',
      value: whole(busts),
      note: 'Runs whose net worth fell below $1.00 without an open position.',
    },
  ];
}

function Resets({ of: { resets, resetHistory } }: { of: Trader }) {
  if (resets === 0) return <p>No reset: this is the first run.</p>;
  return (
    <>
      <p>{counted(resets, 'reset')}:</p>
      <ul class="plain-list">
        {resetHistory.map(({ at, run }) => (
          <li key={run}>
            <When iso={at} as="date" />; it began run {whole(run)}
          </li>
        ))}
      </ul>
    </>
  );
}

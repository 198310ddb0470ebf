/** The numbers of a signed record. */
import type { ComponentChildren } from 'preact';
import type { TrackRecord } from '../../../client/generated.js';
import { Money } from '../../parts/money.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import { signedMoney, signedPercent, whole } from '../../state/format.ts';
import {
  type Interval,
  intervalText,
  type Metric,
  scoreText,
  skillText,
} from '../../state/score-text.ts';

type Line = { name: string; value: ComponentChildren; interval: string };

const COLUMNS: readonly Column<Line>[] = [
  { head: 'What', isHead: true, cell: ({ name }) => name },
  {
    head: 'Value',
    isNumber: true,
    cell: ({ value, interval }) => (
      <>
        {value}
        <span class="second-line only-narrow">{interval}</span>
      </>
    ),
  },
  { head: 'Interval of 95%', isNumber: true, isWide: true, cell: ({ interval }) => interval },
];

export function RecordTable({ record }: { record: TrackRecord }) {
  return (
    <Table
      caption="Signed record"
      columns={COLUMNS}
      rows={[...resultsOf(record), ...scoresOf(record), ...termsOf(record)]}
      keyOf={({ name }) => name}
    />
  );
}

function plain(name: string, value: ComponentChildren): Line {
  return { name, value, interval: '' };
}

function resultsOf(record: TrackRecord): Line[] {
  const { from, to, settledPicks, won, lost, void: voided, games } = record;
  const { pnlDollars, pnlAfterFeesDollars, roiPct } = record;
  return [
    plain('From', <When iso={from} as="date" />),
    plain('To, as issued', <When iso={to} as="date" />),
    plain('Settled picks', whole(settledPicks)),
    plain('Won, lost, void', `${whole(won)}, ${whole(lost)}, ${whole(voided)}`),
    plain('Profit or loss', <Money dollars={pnlDollars} signed />),
    plain('Profit or loss after fees', <Money dollars={pnlAfterFeesDollars} signed />),
    plain('Return (ROI)', roiPct === null ? 'none' : signedPercent(roiPct)),
    plain('Games', whole(games)),
  ];
}

function scoresOf({ brier, logLoss, clvCents, skill, interval }: TrackRecord): Line[] {
  const score = (
    name: string,
    metric: Metric,
    value: number | null,
    of: Interval | null,
  ): Line => ({
    name,
    value: value === null ? 'none' : scoreText(metric, value),
    interval: of === null ? 'too few games' : intervalText(metric, of),
  });
  const perPick = interval.pnlAfterFeesDollars;
  return [
    score('Brier score', 'brier', brier, interval.brier),
    score('Log loss', 'log_loss', logLoss, interval.logLoss),
    score('Closing line value', 'clv', clvCents, interval.clvCents),
    {
      name: 'Profit or loss a pick, after fees',
      value: 'not in the record',
      interval:
        perPick === null
          ? 'too few games'
          : `${signedMoney(perPick.low)} to ${signedMoney(perPick.high)}`,
    },
    plain('Skill', skill === null ? 'none' : skillText(skill)),
  ];
}

const FILL_MODELS: Readonly<Record<TrackRecord['fillModel'], string>> = {
  top_of_book: 'at the best price displayed',
  book_depth: 'through the levels displayed',
  queue: 'through the levels displayed, then in the queue of the venue',
};

function termsOf({ feeTable, fillModel }: TrackRecord): Line[] {
  return [
    plain('Fee table', feeTable === null ? 'none' : `of ${feeTable}`),
    plain('Orders filled', FILL_MODELS[fillModel]),
  ];
}

type Series = NonNullable<TrackRecord['bySeries']>[number];

const SERIES_COLUMNS: readonly Column<Series>[] = [
  { head: 'Series', isHead: true, cell: ({ series }) => series },
  { head: 'Settled picks', isNumber: true, cell: ({ settledPicks }) => whole(settledPicks) },
  { head: 'P&L', isNumber: true, cell: ({ pnlDollars }) => <Money dollars={pnlDollars} signed /> },
];

/** Not there while venue data is off. */
export function BySeries({ record: { bySeries = [] } }: { record: TrackRecord }) {
  if (bySeries.length === 0) return null;
  return (
    <Table
      caption="By series of the venue"
      isCaptionShown
      columns={SERIES_COLUMNS}
      rows={bySeries}
      keyOf={({ series }) => series}
    />
  );
}

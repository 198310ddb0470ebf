/** A trader's 90 days as one record of numbers. Rules Y60 to Y62 (engine/RULES.md). */
import { invariant } from '../../base/invariant.ts';
import {
  type Cents,
  DAY_MS,
  dollarsOf,
  type EpochMs,
  type FillModelName,
  isoOf,
  type Uuid,
} from '../../base/units.ts';
import type { Fills } from '../boards/windows.ts';
import { METRIC_UNITS } from '../eval/eval-values.ts';
import { BRIER_UNITS, CLV_UNITS, type PickScores } from '../maths/eval-scores.ts';
import { roiPct } from '../maths/roi.ts';
import {
  type Interval,
  intervalOf,
  type Metric,
  meanOfGames,
  sumsByGame,
} from '../maths/statistics.ts';

export const TRACK_RECORD_DAYS = 90;

/** A settled pick of the window that the public can see. */
export type TrackPick = {
  result: 'won' | 'lost' | 'void';
  /** Equal names are one game. */
  game: number | string;
  /** Of the venue's tickers. */
  series: string;
  inSlate: boolean;
  costCents: Cents;
  pnlCents: Cents;
  pnlAfterFeesCents: Cents;
  scores: Pick<PickScores, 'brier' | 'logLoss' | 'clvCents' | 'skill'>;
};

export type TrackRecordInput = {
  traderId: Uuid;
  /** The end of the window, and when the record is made. */
  nowMs: EpochMs;
  picks: readonly TrackPick[];
  /** The picks that count. */
  fills: Fills;
  /** The day of the fee table; null: none was in use. */
  feeTable: string | null;
  fillModel: FillModelName;
  /** Whether the venue-data switch is on. If it is off, no series is named. */
  venueData: boolean;
};

export type TrackRecord = {
  version: 1;
  traderId: Uuid;
  days: typeof TRACK_RECORD_DAYS;
  from: string;
  to: string;
  issuedAt: string;
  settledPicks: number;
  won: number;
  lost: number;
  void: number;
  pnlDollars: number;
  pnlAfterFeesDollars: number;
  roiPct: number | null;
  games: number;
  brier: number | null;
  logLoss: number | null;
  clvCents: number | null;
  skill: number | null;
  interval: TrackInterval;
  feeTable: string | null;
  fillModel: FillModelName;
  /** Absent: all picks count. */
  fills?: 'realistic';
  bySeries?: { series: string; settledPicks: number; pnlDollars: number }[];
};

/** How intervals are made, and the intervals of the means; null: too few games. */
export type TrackInterval = {
  method: 'CR2';
  level: 0.95;
  clusteredBy: 'game';
  brier: Interval | null;
  logLoss: Interval | null;
  clvCents: Interval | null;
  pnlAfterFeesDollars: Interval | null;
};

export function trackRecordOf(input: TrackRecordInput): TrackRecord {
  const { traderId, nowMs, picks, fills, feeTable, fillModel, venueData } = input;
  const slate = picks.filter(({ inSlate }) => inSlate);
  const sum = (of: (pick: TrackPick) => Cents) =>
    picks.reduce((total, pick) => total + of(pick), 0);
  const count = (result: TrackPick['result']) =>
    picks.filter((pick) => pick.result === result).length;
  const pnlCents = sum(({ pnlCents }) => pnlCents);
  const costCents = sum(({ costCents }) => costCents);
  const brier = meanOf(slate, 'brier', ({ scores }) => unitsOf(scores.brier, BRIER_UNITS));
  const logLoss = meanOf(slate, 'log_loss', ({ scores }) => scores.logLoss);
  const clv = meanOf(slate, 'clv', ({ scores }) => unitsOf(scores.clvCents, CLV_UNITS));
  const pnl = meanOf(slate, 'pnl', ({ pnlAfterFeesCents }) => pnlAfterFeesCents);
  const skill = meanOf(slate, 'brier', ({ scores }) => unitsOf(scores.skill, BRIER_UNITS));
  return {
    version: 1,
    traderId,
    days: TRACK_RECORD_DAYS,
    from: isoOf(nowMs - TRACK_RECORD_DAYS * DAY_MS),
    to: isoOf(nowMs),
    issuedAt: isoOf(nowMs),
    settledPicks: picks.length,
    won: count('won'),
    lost: count('lost'),
    void: count('void'),
    pnlDollars: dollarsOf(pnlCents),
    pnlAfterFeesDollars: dollarsOf(sum(({ pnlAfterFeesCents }) => pnlAfterFeesCents)),
    roiPct: roiPct(pnlCents, costCents),
    games: pnl.games,
    brier: brier.mean,
    logLoss: logLoss.mean,
    clvCents: clv.mean,
    skill: skill.mean,
    interval: {
      method: 'CR2',
      level: 0.95,
      clusteredBy: 'game',
      brier: brier.interval,
      logLoss: logLoss.interval,
      clvCents: clv.interval,
      pnlAfterFeesDollars: pnl.interval,
    },
    feeTable,
    fillModel,
    ...(fills === 'realistic' ? { fills } : {}),
    ...(venueData ? { bySeries: seriesOf(picks) } : {}),
  };
}

/**
 * A score as a whole number, whose sums are exact. So a mean equals the one of `/eval` to the last
 * digit.
 */
function unitsOf(score: number | null, unit: number): number | null {
  return score === null ? null : Math.round(score * unit);
}

type Mean = { games: number; mean: number | null; interval: Interval | null };

/** Over the picks that have a value, which is in units of the metric. */
function meanOf(
  picks: readonly TrackPick[],
  metric: Metric,
  of: (pick: TrackPick) => number | null,
): Mean {
  const valued = picks.flatMap((pick) => {
    const value = of(pick);
    return value === null ? [] : [{ game: pick.game, value }];
  });
  const sums = sumsByGame(
    valued,
    ({ game }) => game,
    ({ value }) => value,
  );
  const estimate = meanOfGames(sums);
  if (estimate === null) return { games: 0, mean: null, interval: null };
  const unit = METRIC_UNITS[metric];
  const interval = intervalOf(metric, sums, estimate);
  return {
    games: estimate.games,
    mean: estimate.mean / unit,
    interval: interval && { low: interval.low / unit, high: interval.high / unit },
  };
}

/** The series of a venue's ticker: all before the first `-`. Rule Y68 (engine/RULES.md). */
export function seriesOfTicker(ticker: string): string {
  return ticker.split('-', 1)[0]!;
}

/** By name. */
function seriesOf(picks: readonly TrackPick[]): NonNullable<TrackRecord['bySeries']> {
  const bySeries = new Map<string, { settledPicks: number; pnlCents: Cents }>();
  for (const { series, pnlCents } of picks) {
    invariant(series !== '', 'a pick is of a series without a name');
    const known = bySeries.get(series) ?? { settledPicks: 0, pnlCents: 0 };
    known.settledPicks++;
    known.pnlCents += pnlCents;
    bySeries.set(series, known);
  }
  return [...bySeries]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([series, { settledPicks, pnlCents }]) => {
      return { series, settledPicks, pnlDollars: dollarsOf(pnlCents) };
    });
}

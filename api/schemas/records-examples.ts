/** Examples of traders' records, for the API description. Types and a test check them. */
import type { Static } from '@sinclair/typebox';
import { INSTRUMENT } from './examples.ts';
import type {
  EvalAnswer,
  LeaderboardAnswer,
  OwnEvalAnswer,
  PicksAnswer,
  TraderAnswer,
  VerdictAnswer,
} from './records.ts';

const TRADER_ID = '019aa4c0-5e00-7d10-b2f3-8c1e6a9d4f05';
const AT = '2026-11-21T05:00:00.000Z';
const OPENED_AT = '2026-11-20T17:58:10.211Z';
const PICK_ID = '019aa20d-2fd3-7a41-93c1-0b7de45a1c77';
const SHARED = { traderId: TRADER_ID, displayName: 'Momentum bot' };
const RESULTS = { settledPicks: 41, won: 24, lost: 16, void: 1, busts: 0 };

export const LEADERBOARD_EXAMPLE: Static<typeof LeaderboardAnswer> = {
  rows: [
    {
      ...{ rank: 1, ...SHARED, pnlDollars: 1204.5, roiPct: 8.03, netWorthDollars: 101_204.5 },
      ...{ ...RESULTS, resets: 0 },
    },
  ],
  ...{ nextCursor: null, window: '30d', kind: 'pnl', asOf: AT, mode: 'paper' },
};

export const TRADER_EXAMPLE: Static<typeof TraderAnswer> = {
  trader: {
    ...{ id: TRADER_ID, displayName: 'Momentum bot', private: false, numbersShown: true },
    ...{ since: '2026-09-01T09:30:00.000Z', pnlDollars: 1204.5, roiPct: 8.03 },
    ...{ netWorthDollars: 101_204.5, rank: 12, ...RESULTS },
    ...{ resets: 1, resetHistory: [{ at: '2026-10-02T12:00:00.000Z', run: 2 }] },
  },
  mode: 'paper',
};

export const PICKS_EXAMPLE: Static<typeof PicksAnswer> = {
  picks: [
    {
      ...{ pickId: PICK_ID, side: 'yes', result: 'won', stakeDollars: 4.3, pnlDollars: 5.7 },
      ...{ openedAt: OPENED_AT, closedAt: AT },
      ...{ instrumentId: INSTRUMENT.id, marketLabel: INSTRUMENT.label },
    },
  ],
  ...{ nextCursor: null, mode: 'paper' },
};

export const OWN_EVAL_EXAMPLE: Static<typeof OwnEvalAnswer> = {
  window: '90d',
  picks: [
    {
      ...{ tradeId: PICK_ID, userId: TRADER_ID, instrumentId: INSTRUMENT.id },
      ...{ gameId: INSTRUMENT.gameId, gameKey: null, inSlate: true, side: 'yes' },
      ...{ status: 'settled', createdAt: OPENED_AT, closedAt: AT },
      ...{ outcome: 1, outcomeSource: 'venue_result', forecastProb: 0.6 },
      ...{ forecastSource: 'stated', brier: 0.16, logLoss: 0.5108256237659907 },
      ...{ pnlDollars: 5.7, pnlAfterFeesDollars: 5.52, clvCents: 2.5 },
    },
  ],
  ...{ notes: [], mode: 'paper' },
};

export const EVAL_EXAMPLE: Static<typeof EvalAnswer> = {
  rows: [
    {
      ...{ rank: 1, ...SHARED, picks: 41, games: 38, value: 0.2213 },
      ...{ interval: { low: 0.1987, high: 0.2439 }, intervalNote: null },
      ...{ rankInterval: { best: 1, worst: 3 }, skill: 0.0121, tiedWithAbove: null },
    },
  ],
  ...{ nextCursor: null, window: '90d', metric: 'brier', asOf: AT, mode: 'paper' },
};

export const VERDICT_EXAMPLE: Static<typeof VerdictAnswer> = {
  verdict: 'not_yet',
  basis: 'clv',
  mean: 1.4,
  interval: { low: -0.3, high: 3.1 },
  games: 38,
  gamesNeeded: 67,
  simpleOnly: false,
  notes: [],
  mode: 'paper',
};

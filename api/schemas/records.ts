/** The records of traders: boards, traders, picks, evaluation. Rules Y71 to Y80 (api/RULES.md). */
import { Type } from '@sinclair/typebox';
import { BOARD_KINDS } from '../../engine/records/boards/leaderboard.ts';
import { FILLS } from '../../engine/records/boards/windows.ts';
import { METRICS } from '../../engine/records/maths/statistics.ts';
import { OUTCOME_SOURCES } from '../../engine/rules/events.ts';
import {
  AsOf,
  Count,
  Cursor,
  DateTime,
  Dollars,
  described,
  limitOf,
  Mode,
  NextCursor,
  nullable,
  oneOf,
  SideSchema,
  strict,
  Uuid,
  windowOf,
} from '../base/common-schemas.ts';

const window = (byDefault: string) => windowOf(byDefault, 'in which trades were over');
const WindowText = Type.String({ description: 'The requested window.' });
export const FillsSchema = oneOf(FILLS, {
  default: 'all',
  description: 'realistic: only trades placed under the preset `realistic`.',
});
const Rank = Type.Integer({ minimum: 1 });
const Name = nullable(Type.String(), { description: 'Null without a name.' });
const Percent = Type.Number({ description: 'Two decimals.' });

export const LeaderboardQuery = strict({
  window: window('30d'),
  fills: FillsSchema,
  kind: oneOf(BOARD_KINDS, { default: 'pnl', description: 'Measure to rank by, highest first.' }),
  limit: limitOf(100, 25),
  cursor: Type.Optional(Cursor),
});

export const TraderRef = Type.String({
  minLength: 2,
  description: 'A user id, or a display name: exactly, ignoring case.',
});

const Results = { settledPicks: Count, won: Count, lost: Count, void: Count };
const NetWorth = 'At present, with open trades at live bids; without a bid at cost.';

const LeaderboardRow = strict(
  {
    rank: Rank,
    traderId: Uuid,
    displayName: Name,
    pnlDollars: described(Dollars, 'Of all trades that ended in the window, in any way.'),
    roiPct: nullable(Percent, { description: '100 × P&L / cost of those trades.' }),
    netWorthDollars: described(Dollars, NetWorth),
    ...Results,
    resets: Count,
    busts: Count,
  },
  { title: 'LeaderboardRow' },
);

export const LeaderboardAnswer = strict(
  {
    rows: Type.Array(LeaderboardRow, { maxItems: 100 }),
    nextCursor: NextCursor,
    window: WindowText,
    kind: oneOf(BOARD_KINDS),
    asOf: AsOf,
    mode: Mode,
  },
  { title: 'Leaderboard' },
);

const Trader = strict(
  {
    id: Uuid,
    displayName: Name,
    private: Type.Boolean({ description: 'If true, only the id and the name are shown.' }),
    numbersShown: Type.Boolean({
      description: 'False if private, or while trades placed in private are hidden.',
    }),
    since: nullable(DateTime, { description: 'Time of the sign-up.' }),
    pnlDollars: nullable(Dollars, { description: 'Of all ended trades of all runs.' }),
    roiPct: nullable(Percent),
    netWorthDollars: nullable(Dollars, { description: `${NetWorth} Null before the first trade.` }),
    rank: nullable(Rank, { description: 'On the board of window `all`, kind `pnl`.' }),
    ...Results,
    resets: Count,
    resetHistory: Type.Array(strict({ at: DateTime, run: described(Count, 'The new run.') })),
    busts: Count,
  },
  { title: 'Trader' },
);

export const TraderAnswer = strict({ trader: Trader, mode: Mode }, { title: 'TraderAnswer' });

export const PicksQuery = strict({ limit: limitOf(100, 20), cursor: Type.Optional(Cursor) });

const Pick = strict(
  {
    pickId: Uuid,
    side: SideSchema,
    result: oneOf(['won', 'lost', 'void']),
    stakeDollars: nullable(Dollars),
    pnlDollars: Dollars,
    openedAt: DateTime,
    closedAt: DateTime,
    instrumentId: nullable(Type.String()),
    marketLabel: nullable(Type.String()),
    marketLabelReason: Type.Optional(oneOf(['no_service_label'])),
    placedPrivate: Type.Optional(
      Type.Boolean({ description: 'Only for the owner with portfolio:read.' }),
    ),
    shown: Type.Optional(
      Type.Boolean({ description: 'Whether the public sees it. For the owner alone.' }),
    ),
  },
  { title: 'Pick' },
);

export const PicksAnswer = strict(
  { picks: Type.Array(Pick, { maxItems: 100 }), nextCursor: NextCursor, mode: Mode },
  { title: 'PicksPage' },
);

export const OwnEvalQuery = strict({ window: window('90d'), fills: FillsSchema });

const Score = nullable(Type.Number());

const EvalPick = strict(
  {
    tradeId: Uuid,
    userId: Uuid,
    instrumentId: nullable(Type.String()),
    gameId: nullable(Type.String()),
    gameKey: Type.Null(),
    inSlate: Type.Boolean({
      description: 'The first pick on its instrument that was placed before the game.',
    }),
    side: SideSchema,
    status: oneOf(['settled', 'void']),
    createdAt: DateTime,
    closedAt: DateTime,
    outcome: nullable(Type.Integer({ minimum: 0, maximum: 1 })),
    outcomeSource: nullable(oneOf(OUTCOME_SOURCES)),
    forecastProb: nullable(Type.Number({ minimum: 0, maximum: 1 }), {
      description: 'Null for an entry price while the venue-data switch is off.',
    }),
    forecastSource: oneOf(['stated', 'entry_price']),
    brier: Score,
    logLoss: Score,
    pnlDollars: Dollars,
    pnlAfterFeesDollars: Dollars,
    clvCents: Score,
  },
  { title: 'EvalPick' },
);

export const OwnEvalAnswer = strict(
  {
    window: WindowText,
    picks: Type.Array(EvalPick),
    notes: Type.Array(Type.String()),
    mode: Mode,
  },
  { title: 'OwnEval' },
);

export const VerdictAnswer = strict(
  {
    verdict: oneOf(['edge', 'no_edge', 'not_yet'], {
      description: 'not_yet: too few games to say.',
    }),
    basis: oneOf(['pnl_after_fees', 'clv'], { description: 'The measure that decides.' }),
    mean: nullable(Type.Number(), {
      description: 'clv: cents a contract after fees. pnl_after_fees: dollars a pick.',
    }),
    interval: nullable(strict({ low: Type.Number(), high: Type.Number() }), {
      description: '95%, clustered by game; null: too few games.',
    }),
    games: Count,
    gamesNeeded: nullable(Count, {
      description: 'Further games for an answer in 80% of cases; null: the spread is not known.',
    }),
    simpleOnly: Type.Boolean({
      description: 'Whether the edge shows, and trades under realistic fills do not show it.',
    }),
    notes: Type.Array(Type.String()),
    mode: Mode,
  },
  { title: 'Verdict' },
);

export const EvalQuery = strict({
  window: window('90d'),
  fills: FillsSchema,
  metric: oneOf(METRICS, { default: 'brier', description: 'Score to average.' }),
  limit: limitOf(100, 25),
  cursor: Type.Optional(Cursor),
});

const EvalRow = strict(
  {
    rank: Rank,
    traderId: Uuid,
    displayName: Name,
    picks: Count,
    games: Count,
    value: described(Type.Number(), 'The mean over slate picks.'),
    interval: nullable(strict({ low: Type.Number(), high: Type.Number() }), {
      description: '95%, clustered by game.',
    }),
    intervalNote: nullable(Type.String(), { description: 'Reason for no interval.' }),
    rankInterval: nullable(strict({ best: Rank, worst: Rank })),
    skill: nullable(Type.Number(), {
      description: "The Brier score of the entry price less the trader's own.",
    }),
    tiedWithAbove: nullable(Type.Boolean()),
  },
  { title: 'EvalRow' },
);

export const EvalAnswer = strict(
  {
    rows: Type.Array(EvalRow, { maxItems: 100 }),
    nextCursor: NextCursor,
    window: WindowText,
    metric: oneOf(METRICS),
    asOf: AsOf,
    mode: Mode,
  },
  { title: 'EvalBoard' },
);

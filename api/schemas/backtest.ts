/** The request of a backtest, and its answer. Rules Z1 to Z13 (engine/RULES.md). */
import { type Static, Type } from '@sinclair/typebox';
import { RULE_SIDES, SKIP_REASONS, TRADE_RESULTS } from '../../engine/backtest/task.ts';
import { FILL_MODELS } from '../../engine/base/units.ts';
import {
  Contracts,
  Count,
  DateTime,
  Dollars,
  described,
  InstrumentId,
  Mode,
  nullable,
  oneOf,
  PriceCents,
  SideSchema,
  strict,
} from '../base/common-schemas.ts';

/** More are 400: a run is bounded. */
export const BACKTEST_MARKETS_MAX = 20_000;
const DOLLARS_MAX = 1_000_000_000;
const MINUTES_MAX = 60 * 24 * 30;

const Instant = (what: string) =>
  Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: `A date or date-time: ${what}.` }),
  );
const Minutes = (about: string) =>
  Type.Optional(
    Type.Integer({
      minimum: -MINUTES_MAX,
      maximum: MINUTES_MAX,
      description: `${about} Negative: after the start.`,
    }),
  );
const Level = (about: string) => Type.Optional(described(PriceCents, about));

export const BacktestBody = strict(
  {
    markets: strict(
      {
        league: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
        from: Instant('games that start at this time or later'),
        to: Instant('games that start before this time'),
        instrumentIds: Type.Optional(
          Type.Array(InstrumentId, { minItems: 1, maxItems: BACKTEST_MARKETS_MAX }),
        ),
      },
      { description: 'Game winners (`moneyline`) that match every given filter.' },
    ),
    rule: strict({
      side: oneOf(RULE_SIDES, {
        description:
          'home and away: that team wins. favorite: the side with the higher mid at entry.',
      }),
      minPriceCents: Level('The least entry price, inclusive.'),
      maxPriceCents: Level('The highest entry price, inclusive.'),
      entryMinutesBeforeStart: Minutes('Time of the one look for an entry; default 0.'),
      takeProfitCents: Level('Sells when the bid is at this level or above.'),
      stopLossCents: Level('Sells when the bid is at this level or below.'),
      exitMinutesBeforeStart: Minutes('Sells at this time, or at the next live bid.'),
    }),
    stake: strict(
      {
        contracts: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000 })),
        dollars: Type.Optional(Type.Number({ minimum: 0.01, maximum: DOLLARS_MAX })),
      },
      { description: 'Stake per market. Send exactly one of both. Dollars buy whole contracts.' },
    ),
    startBalanceDollars: Type.Optional(
      Type.Number({ minimum: 0.01, maximum: DOLLARS_MAX, description: 'Default 100000.' }),
    ),
    fees: Type.Optional(
      oneOf(['none', 'venue_a'], {
        description: 'Default none. venue_a: the taker fee of its dated fee table.',
      }),
    ),
    fillModel: Type.Optional(
      oneOf(FILL_MODELS, { description: "Default: the server's fill model." }),
    ),
  },
  { title: 'BacktestRequest' },
);
export type BacktestBody = Static<typeof BacktestBody>;

const BacktestTrade = strict(
  {
    instrumentId: Type.String(),
    label: Type.String(),
    side: SideSchema,
    contracts: Contracts,
    entryCents: Type.Optional(
      described(PriceCents, 'Present only while the venue-data switch is on.'),
    ),
    exitCents: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100,
        description: 'Present only while the venue-data switch is on.',
      }),
    ),
    openedAt: DateTime,
    closedAt: DateTime,
    result: oneOf(TRADE_RESULTS, { title: 'BacktestTradeResult' }),
    pnlDollars: Dollars,
    feesDollars: Dollars,
  },
  { title: 'BacktestTrade' },
);

export const BacktestAnswer = strict(
  {
    summary: strict({
      markets: Count,
      trades: Count,
      won: Count,
      lost: Count,
      void: Count,
      soldEarly: Count,
      pnlDollars: Dollars,
      feesDollars: Dollars,
      pnlAfterFeesDollars: Dollars,
      roiPct: nullable(Type.Number(), {
        description: 'P&L in percent of the cost; null without a trade.',
      }),
      maxDrawdownDollars: Dollars,
      brier: nullable(Type.Number(), {
        description: 'Brier score of entry prices, over trades held to a result; null without one.',
      }),
    }),
    equity: Type.Array(strict({ at: DateTime, netWorthDollars: Dollars }), {
      description: 'Positions count at their cost; fees are taken off.',
    }),
    trades: Type.Array(BacktestTrade, { description: 'Oldest opened first.' }),
    skipped: strict(
      Object.fromEntries(SKIP_REASONS.map((reason) => [reason, Type.Optional(Count)])),
      { description: 'Markets without a trade, by reason.' },
    ),
    coverage: strict({
      markets: described(Count, 'Settled ones.'),
      withQuotes: Count,
      gapSeconds: described(Count, 'Seconds without an expected price after the look.'),
    }),
    inputHash: Type.String({
      pattern: '^[0-9a-f]{64}$',
      description: 'SHA-256 of every input of the answer: equal hashes have equal answers.',
    }),
    mode: Mode,
  },
  { title: 'Backtest' },
);

export const BACKTEST_BODY_EXAMPLE: BacktestBody = {
  markets: { league: 'mlb', from: '2026-07-01', to: '2026-08-01' },
  rule: { side: 'favorite', minPriceCents: 55, maxPriceCents: 75, entryMinutesBeforeStart: 10 },
  stake: { dollars: 100 },
  fees: 'venue_a',
};

export const BACKTEST_EXAMPLE: Static<typeof BacktestAnswer> = {
  summary: {
    markets: 3,
    trades: 1,
    won: 1,
    lost: 0,
    void: 0,
    soldEarly: 0,
    pnlDollars: 66.4,
    feesDollars: 2.79,
    pnlAfterFeesDollars: 63.61,
    roiPct: 66.67,
    maxDrawdownDollars: 2.79,
    brier: 0.16,
  },
  equity: [
    { at: '2026-07-12T17:25:00.000Z', netWorthDollars: 100000 },
    { at: '2026-07-12T17:25:00.000Z', netWorthDollars: 99997.21 },
    { at: '2026-07-12T20:41:09.000Z', netWorthDollars: 100063.61 },
  ],
  trades: [
    {
      instrumentId: 'ins_0H1J2K3M4N5P',
      label: 'Herons to beat Otters',
      side: 'yes',
      contracts: 166,
      entryCents: 60,
      exitCents: 100,
      openedAt: '2026-07-12T17:25:00.000Z',
      closedAt: '2026-07-12T20:41:09.000Z',
      result: 'won',
      pnlDollars: 66.4,
      feesDollars: 2.79,
    },
  ],
  skipped: { not_settled: 1, out_of_band: 1 },
  coverage: { markets: 2, withQuotes: 2, gapSeconds: 12 },
  inputHash: '0f3a5c1e9b7d2468ace013579bdf02468ace13579bdf02468ace13579bdf0246',
  mode: 'paper',
};

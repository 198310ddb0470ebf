/** The task and the result of a backtest. Rules Z1 to Z12 (engine/RULES.md). */

import type { Cents, Contracts, EpochMs, FillModelName, PriceCents, Side } from '../base/units.ts';
import type { StoredRows } from '../history/questions.ts';
import type { FeeEntry } from '../rules/fees.ts';
import type { MarketResult } from '../rules/messages.ts';

export const RULE_SIDES = ['yes', 'no', 'home', 'away', 'favorite', 'underdog'] as const;
export type RuleSide = (typeof RULE_SIDES)[number];

/** When a rule buys and sells. Prices are inclusive, of the side held. */
export type BacktestRule = {
  side: RuleSide;
  minPriceCents: PriceCents;
  maxPriceCents: PriceCents;
  /** Negative: after the start. */
  entryMinutesBeforeStart: number;
  takeProfitCents: PriceCents | null;
  stopLossCents: PriceCents | null;
  exitMinutesBeforeStart: number | null;
};

export type Stake = { contracts: Contracts } | { cents: Cents };

export type BacktestTerms = {
  rule: BacktestRule;
  stake: Stake;
  startBalanceCents: Cents;
  fees: 'none' | 'venue_a';
  fillModel: FillModelName;
};

/** A game winner of the catalog, with the outcome of its market. */
export type BacktestMarket = {
  instrumentId: string;
  label: string;
  /** The polarity on the venue_a market; -1: its yes is the instrument's no. */
  polarity: 1 | -1;
  ticker: string;
  startsAtMs: EpochMs;
  opensAtMs: EpochMs | null;
  closesAtMs: EpochMs | null;
  /** The team that the instrument's yes means; null: neither, as for a draw. */
  team: 'home' | 'away' | null;
  /** Null: not settled. */
  result: MarketResult | null;
  /** Null: it is not settled, so the backtest skips it. */
  rows: StoredRows | null;
};

export type BacktestTask = {
  terms: BacktestTerms;
  /** In the order of the answer and, at one instant, of trading. */
  markets: readonly BacktestMarket[];
  feeTable: readonly FeeEntry[];
  /** The history's directory. */
  directory: string;
  nowMs: EpochMs;
};

/** Why a market was not traded. */
export const SKIP_REASONS = [
  'not_settled',
  'no_history',
  'no_price',
  'no_favorite',
  'out_of_band',
  'no_cash',
] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

export const TRADE_RESULTS = ['won', 'lost', 'void', 'sold'] as const;
export type TradeResult = (typeof TRADE_RESULTS)[number];

export type BacktestTrade = {
  instrumentId: string;
  label: string;
  side: Side;
  contracts: Contracts;
  entryCents: PriceCents;
  /** The average proceeds of a contract, rounded down. */
  exitCents: Cents;
  openedAtMs: EpochMs;
  closedAtMs: EpochMs;
  result: TradeResult;
  costCents: Cents;
  pnlCents: Cents;
  entryFeeCents: Cents;
  exitFeeCents: Cents;
};

/** The moment of a look, with the prices of the market's yes then. `NO_PRICE`: an empty side. */
export type Look = {
  atMs: EpochMs;
  yesBidCents: PriceCents;
  yesAskCents: PriceCents;
  yesBidContracts: Contracts;
  yesAskContracts: Contracts;
};

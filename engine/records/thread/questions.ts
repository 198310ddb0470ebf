/** The questions to the records and their answers. Rules Y20 to Y28 (engine/RULES.md). */

import type { Cents, EpochMs, MarketNumber, Uuid } from '../../base/units.ts';
import type { FeeEntry } from '../../rules/fees.ts';
import type { LeaderboardPage, LeaderboardQuestion } from '../boards/leaderboard.ts';
import type { Fills } from '../boards/windows.ts';
import type { EvalPage, EvalQuestion } from '../eval/eval-rows.ts';
import type { Counts, Pick, PicksQuestion } from '../projection/picks.ts';
import type { ScoredTrade, Seer } from '../projection/settled.ts';

export type TraderRecord = {
  /** Of trades that are over, over all runs. */
  pnlCents: Cents;
  costCents: Cents;
  /** Open trades at live bids, or at cost if bids may not be shown. */
  worthCents: Cents;
  /** Among all traders by P&L of all time; null: it is not on that board. */
  rank: number | null;
  /** Picks that the public sees. */
  counts: Counts;
  busts: number;
  resets: { atMs: EpochMs; run: number }[];
  /** Whether some trade was placed while private. */
  hasPrivateTrades: boolean;
};

export type ScoredQuestion = {
  trader: Uuid;
  seenBy: Seer;
  /** All when left out. */
  fills?: Fills;
  days: number | null;
  nowMs: EpochMs;
  fees: readonly FeeEntry[];
};

/** The questions by name, each with its answer. A null answer: there is no such account. */
export type Questions = {
  trader: {
    /** `bids`: live bids of `markets`, as `Bids` has them; null: they may not be shown. */
    question: {
      trader: Uuid;
      showsEarlier: boolean;
      markets: readonly MarketNumber[];
      bids: Uint8Array | null;
    };
    answer: TraderRecord | null;
  };
  /** Markets of the open trades, whose bids the record needs. */
  open_markets: { question: { trader: Uuid }; answer: MarketNumber[] };
  /** `picks` null: `after` is no pick of the trader. */
  picks: {
    question: PicksQuestion;
    answer: { picks: Pick[] | null; next: Uuid | null };
  };
  leaderboard: { question: LeaderboardQuestion; answer: LeaderboardPage };
  scored: { question: ScoredQuestion; answer: ScoredTrade[] };
  eval: { question: EvalQuestion; answer: EvalPage };
};
export type QuestionName = keyof Questions;
export type QuestionOf<Name extends QuestionName> = Questions[Name]['question'];
export type AnswerOf<Name extends QuestionName> = Questions[Name]['answer'];

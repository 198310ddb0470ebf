/**
 * The scores of one pick, and which picks are in an account's slate. Rules Y50 to Y54
 * (engine/RULES.md).
 */
import { invariant } from '../../base/invariant.ts';
import { type EpochMs, PAYOUT_CENTS, type PriceCents, type Side } from '../../base/units.ts';

/** The source of a pick's probability. */
export type ForecastSource = 'stated' | 'entry_price';

export type ScoredPick = {
  /** In the instrument's terms. */
  side: Side;
  /** The cost of one contract, rounded up to the cent. */
  entryCents: PriceCents;
  /** In percent, of the side held; null: none was stated. */
  statedPct: number | null;
  /** The outcome, in the instrument's terms; null: void, or a value between. */
  resolvedOutcome: Side | null;
  /**
   * The last live two-sided quote before the start, in the instrument's terms; null: there was
   * none.
   */
  closing: Quote | null;
};

export type PickScores = {
  /** 1: the side held happened, 0: it did not. */
  outcome: 0 | 1 | null;
  /** From 0 to 1, of the side held. */
  forecastProb: number;
  forecastSource: ForecastSource;
  /** (p - outcome)², 0 at best. */
  brier: number | null;
  /** -ln of the probability given to the outcome, 0 at best. */
  logLoss: number | null;
  clvCents: number | null;
  /** The Brier score of the entry price less the trader's own; null without a stated probability. */
  skill: number | null;
};

/** Rules Y50 to Y53 (engine/RULES.md). */
export function pickScores(pick: ScoredPick): PickScores {
  const { side, entryCents, statedPct, resolvedOutcome, closing } = pick;
  invariant(entryCents > 0 && entryCents < PAYOUT_CENTS, 'a pick was not bought at 1 to 99 cents');
  const outcome = resolvedOutcome === null ? null : resolvedOutcome === side ? 1 : 0;
  const forecastPct = statedPct ?? entryCents;
  invariant(forecastPct > 0 && forecastPct < 100, 'a forecast is not 1 to 99 percent');
  return {
    outcome,
    forecastProb: forecastPct / 100,
    forecastSource: statedPct === null ? 'entry_price' : 'stated',
    brier: outcome === null ? null : brierUnits(forecastPct, outcome) / BRIER_UNITS,
    logLoss: outcome === null ? null : logLossOf(forecastPct, outcome),
    clvCents: closing === null ? null : clvUnits(side, entryCents, midUnits(closing)) / CLV_UNITS,
    skill:
      outcome === null || statedPct === null
        ? null
        : skillUnits({ entryCents, statedPct, outcome }) / BRIER_UNITS,
  };
}

/**
 * Scores as whole numbers of a unit so small that none has a fraction. Their sums are exact, so
 * equal scores have equal means in any order of addition.
 */
export const BRIER_UNITS = 10_000;
export const CLV_UNITS = 2;

/** @param percent the forecast */
export function brierUnits(percent: number, outcome: 0 | 1): number {
  return (percent - 100 * outcome) ** 2;
}

export function skillUnits(pick: {
  entryCents: PriceCents;
  statedPct: number;
  outcome: 0 | 1;
}): number {
  const { entryCents, statedPct, outcome } = pick;
  return brierUnits(entryCents, outcome) - brierUnits(statedPct, outcome);
}

/** @param percent the forecast */
export function logLossOf(percent: number, outcome: 0 | 1): number {
  return -Math.log((outcome === 1 ? percent : 100 - percent) / 100);
}

type Quote = { yesBidCents: PriceCents; yesAskCents: PriceCents };

/** A quote's mid. */
export function midUnits({ yesBidCents, yesAskCents }: Quote): number {
  return yesBidCents + yesAskCents;
}

/** The closing mid of the side held less the price paid. */
export function clvUnits(side: Side, entryCents: PriceCents, mid: number): number {
  return (side === 'yes' ? mid : CLV_UNITS * PAYOUT_CENTS - mid) - CLV_UNITS * entryCents;
}

export type SlatePick = {
  /** A number or a name; equal ones are one instrument. */
  instrument: number | string;
  placedAtMs: EpochMs;
  /** By the catalog; null: it has no start. */
  startsAtMs: EpochMs | null;
  /** Whether a result paid all or nothing: not void, not a value between, not sold. */
  hasOutcome: boolean;
};

/**
 * Which picks of an account are in its slate: for each instrument the first pick with an outcome
 * that was placed before the start. Rule Y54 (engine/RULES.md).
 *
 * @param picks in the order of their opening
 */
export function slateOf(picks: readonly SlatePick[]): boolean[] {
  const taken = new Set<number | string>();
  return picks.map(({ instrument, placedAtMs, startsAtMs, hasOutcome }) => {
    const isEarly = startsAtMs !== null && placedAtMs < startsAtMs;
    if (!hasOutcome || !isEarly || taken.has(instrument)) return false;
    taken.add(instrument);
    return true;
  });
}

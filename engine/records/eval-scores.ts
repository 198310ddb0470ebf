/**
 * The scores of one pick, and which picks are in an account's slate. Rules Y50 to Y54
 * (engine/RULES.md).
 */
import { invariant } from '../rules/invariant.ts';
import { type EpochMs, PAYOUT_CENTS, type PriceCents, type Side } from '../rules/units.ts';

/** Where a pick's probability comes from. */
export type ForecastSource = 'stated' | 'entry_price';

export type ScoredPick = {
  /** In the instrument's terms. */
  side: Side;
  /** What one contract cost, rounded up to the cent. */
  entryCents: PriceCents;
  /** In percent, of the side held; null: none was stated. */
  statedProbPct: number | null;
  /** What happened, in the instrument's terms; null: void, or a value between. */
  resolvedOutcome: Side | null;
  /**
   * The last live two-sided quote before the start, in the instrument's terms; null: there was
   * none.
   */
  closing: { yesBidCents: PriceCents; yesAskCents: PriceCents } | null;
};

export type PickScores = {
  /** 1: the side held happened, 0: it did not. */
  outcome: 0 | 1 | null;
  /** From 0 to 1, of the side held. */
  forecastProb: number;
  forecastSource: ForecastSource;
  /** (p - outcome)², 0 at best. */
  brier: number | null;
  /** -ln of the probability given to what happened, 0 at best. */
  logLoss: number | null;
  clvCents: number | null;
  /** The Brier score of the entry price less the trader's own; null without a stated probability. */
  skill: number | null;
};

/** Rules Y50 to Y53 (engine/RULES.md). */
export function pickScores(pick: ScoredPick): PickScores {
  const { side, entryCents, statedProbPct, resolvedOutcome } = pick;
  invariant(entryCents > 0 && entryCents < PAYOUT_CENTS, 'a pick was not bought at 1 to 99 cents');
  const outcome = resolvedOutcome === null ? null : resolvedOutcome === side ? 1 : 0;
  const forecastPct = statedProbPct ?? entryCents;
  invariant(forecastPct > 0 && forecastPct < 100, 'a forecast is not 1 to 99 percent');
  const brier = outcome === null ? null : brierOf(forecastPct, outcome);
  return {
    outcome,
    forecastProb: forecastPct / 100,
    forecastSource: statedProbPct === null ? 'entry_price' : 'stated',
    brier,
    logLoss: outcome === null ? null : logLossOf(forecastPct, outcome),
    clvCents: clvCents(pick),
    skill:
      outcome === null || brier === null || statedProbPct === null
        ? null
        : brierOf(entryCents, outcome) - brier,
  };
}

function brierOf(percent: number, outcome: 0 | 1): number {
  // Whole numbers up to the one division: equal forecasts have equal scores.
  return (percent - 100 * outcome) ** 2 / 10_000;
}

function logLossOf(percent: number, outcome: 0 | 1): number {
  return -Math.log((outcome === 1 ? percent : 100 - percent) / 100);
}

/** The closing mid of the side held less the price paid, in cents; half cents are possible. */
function clvCents({ side, entryCents, closing }: ScoredPick): number | null {
  if (closing === null) return null;
  const midCents = (closing.yesBidCents + closing.yesAskCents) / 2;
  return (side === 'yes' ? midCents : PAYOUT_CENTS - midCents) - entryCents;
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
 * Which picks of an account are in its slate: of each instrument the first with an outcome that
 * was placed before the start. Rule Y54 (engine/RULES.md).
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

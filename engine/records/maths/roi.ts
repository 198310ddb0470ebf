/** The return on the cost of trades, the same on every page. Rule Y24 (engine/RULES.md). */
import { invariant } from '../../base/invariant.ts';
import type { Cents } from '../../base/units.ts';

/** 100 × P&L / cost in hundredths, halves away from 0; null: there was no cost. */
export function roiHundredths(pnlCents: Cents, costCents: Cents): number | null {
  if (costCents === 0) return null;
  invariant(costCents > 0, 'trades cost less than nothing');
  const hundredths = Math.round((10_000 * Math.abs(pnlCents)) / costCents);
  return pnlCents < 0 ? -hundredths || 0 : hundredths;
}

/** In percent, with two decimals. */
export function roiPct(pnlCents: Cents, costCents: Cents): number | null {
  const hundredths = roiHundredths(pnlCents, costCents);
  return hundredths === null ? null : hundredths / 100;
}

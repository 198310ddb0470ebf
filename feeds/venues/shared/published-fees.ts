/**
 * The fees that venues publish, as lines of a fee table. Rules F20, F28 (feeds/FORMATS.md). A line
 * states from when it is known to hold; earlier fees are not in it.
 */

import type { Venue } from '../../../engine/base/units.ts';
import type { FeeEntry, FeeSchedule } from '../../../engine/rules/fees.ts';

type Published = Omit<FeeEntry, 'venue'>;

/** Kalshi's fee schedule of 2026-07-07 (midnight in New York). */
const KALSHI: Published = {
  series: null,
  from: '2026-07-07T04:00:00.000Z',
  schedule: 'kalshi',
  taker: '0.07',
  maker: '0',
  multiplier: '1',
  exponent: 1,
};

/** The same schedule: where makers pay, a quarter of the taker's rate. */
export const KALSHI_MAKER = '0.0175';
const KALSHI_MAKER_SERIES = ['KXNFLGAME', 'KXMLBGAME', 'KXNCAAFGAME', 'KXATPMATCH'];

/** Fee Schedule of docs.polymarket.us: the coefficients of 2026-09-25 (midnight in New York). */
const POLYMARKET_US: Published = {
  series: null,
  from: '2026-09-25T04:00:00.000Z',
  schedule: 'polymarket_us',
  taker: '0.0695',
  maker: '-0.0125',
  multiplier: '1',
  exponent: 1,
};

/** sports_fees_v3, since July 2026. A market's own feeSchedule outranks it. */
const POLYMARKET: Published = {
  series: null,
  from: '2026-07-10T04:00:00.000Z',
  schedule: 'polymarket',
  taker: '0.05',
  maker: '0',
  multiplier: '1',
  exponent: 1,
};

const PUBLISHED: Record<FeeSchedule, readonly Published[]> = {
  kalshi: [
    KALSHI,
    ...KALSHI_MAKER_SERIES.map((series) => ({ ...KALSHI, series, maker: KALSHI_MAKER })),
  ],
  polymarket_us: [POLYMARKET_US],
  polymarket: [POLYMARKET],
};

/** The published lines for a venue whose markets are the markets of `schedule`. */
export function publishedFees(schedule: FeeSchedule, venue: Venue): FeeEntry[] {
  return PUBLISHED[schedule].map((line) => ({ venue, ...line }));
}

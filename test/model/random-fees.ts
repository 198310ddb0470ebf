/** Fee tables: lines of each schedule, of a series, a market and a venue, some of them not valid yet. */

import { isoOf } from '../../engine/base/units.ts';
import { FEE_SCHEDULES, type FeeEntry } from '../../engine/rules/fees.ts';
import type { SetFees } from '../../engine/rules/messages.ts';
import { DAY_MS, type RandomWorld } from './random-world.ts';

const VENUES = ['venue_a', 'venue_b', 'venue_c'] as const;
const RATES = ['0', '0.07', '0.0695', '0.05', '0.12345678', '0.5'];
const MAKER_RATES = ['0', '0.0175', '0.07', '0.5', '-0.0125', '-0.3', '-0.3'];
const SERIES = [null, null, null, 'A1', 'A2-0', 'A', 'B1'];

export function randomFees({ fees: random, nowMs }: RandomWorld): SetFees {
  const lines = Array.from({ length: random.int(0, 8) }, (): FeeEntry => {
    return {
      venue: random.pick([...VENUES]),
      series: random.pick(SERIES),
      from: isoOf(nowMs + random.int(-30, 3) * DAY_MS + random.int(0, 1000)),
      schedule: random.pick([...FEE_SCHEDULES]),
      taker: random.pick(RATES),
      maker: random.pick(MAKER_RATES),
      multiplier: random.pick(['1', '1', '0.5', '2', '1.25']),
      exponent: random.oneIn(5) ? 2 : 1,
    };
  });
  return { kind: 'fees', atMs: nowMs, lines };
}

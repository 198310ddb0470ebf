/**
 * Statuses and results as lines of a feed file hold them: in the words of the native protocol. Rule
 * F30 (feeds/FORMATS.md).
 */

import { priceText } from '../reading/decimal.ts';
import { fieldsOf, nameOf } from '../reading/frame.ts';
import type { StateTick } from '../reading/venue.ts';
import { statusOrResult } from '../venues/native/frames.ts';

/** Null where one of them cannot be read. */
export function readStates(list: readonly unknown[]): StateTick[] | null {
  const ticks: StateTick[] = [];
  for (const entry of list) {
    const fields = fieldsOf(entry);
    const market = nameOf(fields?.market);
    if (fields === null || market === null) return null;
    const tick = statusOrResult(market, fields);
    if (typeof tick === 'string') return null;
    ticks.push(tick);
  }
  return ticks;
}

/** As `readStates` reads it. */
export function writtenState(tick: StateTick): object {
  const { market } = tick;
  if (tick.kind === 'status') return { market, status: tick.status };
  const { outcome, yesValue } = tick;
  if (outcome !== 'scalar') return { market, status: 'resolved', result: outcome };
  return { market, status: 'resolved', settlementValue: priceText(yesValue!) };
}

/**
 * Statuses and results as lines of a feed file hold them: in the words of the native protocol. Rule
 * F30 (feeds/FORMATS.md).
 */

import { isoOf } from '../../engine/base/units.ts';
import { priceText } from '../reading/decimal.ts';
import { type Fields, fieldsOf, nameOf } from '../reading/frame.ts';
import { parseInstant } from '../reading/instant.ts';
import type { StateTick } from '../reading/venue.ts';
import { statusOrResult } from '../venues/native/frames.ts';

/** Null if one of them cannot be read. */
export function readStates(list: readonly unknown[]): StateTick[] | null {
  const ticks: StateTick[] = [];
  for (const entry of list) {
    const fields = fieldsOf(entry);
    const market = nameOf(fields?.market);
    if (fields === null || market === null) return null;
    const tick = closeOf(market, fields) ?? statusOrResult(market, fields);
    if (typeof tick === 'string') return null;
    ticks.push(tick);
  }
  return ticks;
}

/** Null: it is no closing time. */
function closeOf(market: string, { closesAt }: Fields): StateTick | null {
  const closesAtMs = parseInstant(closesAt);
  if (closesAt !== null && closesAtMs === null) return null;
  return { kind: 'closing', market, closesAtMs };
}

/** As `readStates` reads it. */
export function writtenState(tick: StateTick): object {
  const { market } = tick;
  if (tick.kind === 'status') return { market, status: tick.status };
  if (tick.kind === 'closing') {
    return { market, closesAt: tick.closesAtMs === null ? null : isoOf(tick.closesAtMs) };
  }
  const { outcome, yesValue } = tick;
  if (outcome !== 'scalar') return { market, status: 'resolved', result: outcome };
  return { market, status: 'resolved', settlementValue: priceText(yesValue!) };
}

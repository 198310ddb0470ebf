/** How often the page may ask again for data that no stream sends. Rule Q5 (api/RULES.md). */
import type { Usage } from '../../client/generated.js';

const FASTEST_MS = 1000;
/** Repeated requests may use half of the minute's requests. */
const SHARE = 0.5;
const MINUTE_MS = 60_000;

/** @param askers how many things are asked for at that pace */
export function paceMs(
  { enforced, minute }: Pick<Usage, 'enforced' | 'minute'>,
  askers: number,
): number {
  if (!enforced) return FASTEST_MS;
  return Math.max(FASTEST_MS, Math.ceil((MINUTE_MS * askers) / (minute.limit * SHARE)));
}

/** Date-times of frames and feed files. CONTRACT.md section 1, time. */
import type { EpochMs } from '../engine/core/units.ts';

const INSTANT = /^\d{4}-\d\d-(\d\d)T([01]\d|2[0-3]):\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** An RFC 3339 date-time with its zone; a fraction finer than milliseconds is cut off. */
export function parseInstant(value: unknown): EpochMs | null {
  const match = typeof value === 'string' ? INSTANT.exec(value) : null;
  if (match === null) return null;
  const text = match[0];
  const at = Date.parse(text);
  if (Number.isNaN(at)) return null;
  // Date.parse takes 30 February for 2 March.
  if (match[1]! > '28' && new Date(`${text.slice(0, 10)}T00:00:00Z`).getUTCDate() !== +match[1]!) {
    return null;
  }
  return at;
}

/** Reads date-times of frames and feed files from values of any kind. Rule A4 (api/RULES.md). */
import { type EpochMs, instantOf } from '../../engine/base/units.ts';

/** Null for a text that is no date-time with a zone. */
export function parseInstant(value: unknown): EpochMs | null {
  return typeof value === 'string' ? instantOf(value) : null;
}

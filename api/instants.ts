/** Moments in a query. Rules A4, A48, A79 (api/RULES.md). */
import { type EpochMs, instantOf } from '../engine/rules/units.ts';
import { invalidRequest } from './errors.ts';

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** A date (its UTC midnight) or a date-time with a zone; null: not given. Throws the 400. */
export function instantIn(name: string, text: string | undefined): EpochMs | null {
  if (text === undefined) return null;
  const atMs = instantOf(DATE.test(text) ? `${text}T00:00Z` : text);
  if (atMs === null) throw invalidRequest(`${name} must be a date or a date-time with a zone`);
  return atMs;
}

/** Moments and windows in a query or a body. Rules A4, A48, A79, A106, Y71 (api/RULES.md). */
import { type EpochMs, instantOf } from '../../engine/base/units.ts';
import { invalidRequest } from './errors.ts';

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** A date (its UTC midnight) or a date-time with a zone; null: not given. Throws the 400. */
export function instantIn(name: string, text: string | undefined): EpochMs | null {
  if (text === undefined) return null;
  const atMs = instantOf(DATE.test(text) ? `${text}T00:00Z` : text);
  if (atMs === null) throw invalidRequest(`${name} must be a date or a date-time with a zone`);
  return atMs;
}

/**
 * From when, and before when; null: not given. Throws the 400, also if `from` is after `to`. Rule
 * A106 (api/RULES.md).
 *
 * @param field the object that has both fields, with a dot
 */
export function windowIn(
  { from, to }: { from?: string | undefined; to?: string | undefined },
  field = '',
): { fromMs: EpochMs | null; toMs: EpochMs | null } {
  const fromMs = instantIn(`${field}from`, from);
  const toMs = instantIn(`${field}to`, to);
  if (fromMs !== null && toMs !== null && fromMs > toMs) {
    throw invalidRequest(`${field}from must not be after ${field}to`);
  }
  return { fromMs, toMs };
}

const DAYS_MAX = 3650;

/** The days of a window; null: all of time. Throws `invalid_request`. Rule Y71 (api/RULES.md). */
export function daysOf(window: string): number | null {
  if (window === 'all') return null;
  const days = Number(window.slice(0, -1));
  if (days >= 1 && days <= DAYS_MAX) return days;
  throw invalidRequest(`window must be all or 1d to ${DAYS_MAX}d`);
}

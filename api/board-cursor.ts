/**
 * Cursors of boards: the value and the trader behind whom the next page begins, and of which board.
 * Rules P3, P4, Y72 (api/RULES.md).
 */
import type { BoardPlace } from '../engine/records/leaderboard.ts';
import { isUuid } from '../engine/rules/ids.ts';
import { invalidRequest } from './errors.ts';

/** `board`: its name and window, without a dot. */
export function boardCursor(board: string, { value, trader }: BoardPlace): string {
  return Buffer.from(`${board};${value};${trader}`).toString('base64url');
}

/** Throws `invalid_request`, also for a cursor of another board. */
export function boardPlace(board: string, cursor: string | undefined): BoardPlace | null {
  if (cursor === undefined) return null;
  const [name, text = '', trader = ''] = Buffer.from(cursor, 'base64url')
    .toString('latin1')
    .split(';');
  const place = { value: Number(text), trader };
  const isPlace = name === board && Number.isFinite(place.value) && isUuid(trader);
  // Many texts decode to the same place. Only the canonical one is valid.
  if (!isPlace || boardCursor(board, place) !== cursor) throw invalidRequest('cursor is malformed');
  return place;
}

const DAYS_MAX = 3650;

/** The days of a window; null: all of time. Throws `invalid_request`. */
export function daysOf(window: string): number | null {
  if (window === 'all') return null;
  const days = Number(window.slice(0, -1));
  if (days >= 1 && days <= DAYS_MAX) return days;
  throw invalidRequest(`window must be all or 1d to ${DAYS_MAX}d`);
}

/** Pages of rows by their ids, which carry the time: the newest first. Rule O20 (api/RULES.md). */
import type { Uuid } from '../../engine/base/units.ts';

/** `next`: the next page begins after this id; null: no row follows. */
export type IdPage<T> = { rows: T[]; next: Uuid | null };

/** A page of `limit` rows; `read` returns up to so many. */
export function newestFirst<T extends { id: Uuid }>(
  limit: number,
  read: (max: number) => T[],
): IdPage<T> {
  const rows = read(limit + 1);
  if (rows.length <= limit) return { rows, next: null };
  rows.length = limit;
  return { rows, next: rows.at(-1)!.id };
}

/** Of rows with the oldest first, up to `max` before an id, the newest first. */
export function lastBefore<T extends { id: Uuid }>(
  rows: readonly T[],
  before: Uuid | null,
  max: number,
): T[] {
  const earlier = before === null ? rows : rows.filter(({ id }) => id < before);
  return earlier.slice(-max).reverse();
}

/**
 * Two kinds of pages. Lists sorted by start time and id have cursors that survive a catalog change.
 * Rows with time-ordered ids are listed newest first. Rules P1, P3, P4, O20 (api/RULES.md).
 */
import type { PlaceForm } from '../../engine/base/cursors.ts';
import { firstIndex } from '../../engine/base/sorted.ts';
import type { EpochMs, Uuid } from '../../engine/base/units.ts';
import { GameId, InstrumentId } from './common-schemas.ts';

/** The sort keys of such a list. */
export type SortKey = { startsAtMs: EpochMs; id: string };

/** `next`: its last row; null: no row follows it. */
export type Page<T> = { rows: T[]; next: T | null };

/** Earliest first; equal times are ordered by id. */
export function compareSortKeys(a: SortKey, b: SortKey): number {
  return a.startsAtMs - b.startsAtMs || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

/** The first `limit` rows after `after` that match. */
export function takePage<T extends SortKey>(
  sorted: readonly T[],
  after: SortKey | null,
  limit: number,
  matches: (row: T) => boolean,
): Page<T> {
  const rows: T[] = [];
  for (let i = after === null ? 0 : firstBehind(sorted, after); i < sorted.length; i++) {
    const row = sorted[i]!;
    if (!matches(row)) continue;
    if (rows.length === limit) return { rows, next: rows.at(-1)! };
    rows.push(row);
  }
  return { rows, next: null };
}

/**
 * `takePage` if another part must say which rows belong to the list: among these or, for null,
 * among all. It often suffices to ask about as many as are wanted.
 */
export async function takeAskedPage<T extends SortKey>(
  sorted: readonly T[],
  after: SortKey | null,
  limit: number,
  matches: (row: T) => boolean,
  ask: (rows: readonly T[] | null) => Promise<(row: T) => boolean>,
): Promise<Page<T>> {
  const { rows: few } = takePage(sorted, after, limit + 1, matches);
  const rows = few.filter(await ask(few));
  if (few.length <= limit) return { rows, next: null };
  if (rows.length > limit) {
    rows.length = limit;
    return { rows, next: rows.at(-1)! };
  }
  const keeps = await ask(null);
  return takePage(sorted, after, limit, (row) => matches(row) && keeps(row));
}

function firstBehind(sorted: readonly SortKey[], after: SortKey): number {
  return firstIndex(sorted, (key) => compareSortKeys(key, after) > 0);
}

/** The place of a row in a list whose ids have one form. */
export function sortKeyForm(id: RegExp): PlaceForm<SortKey> {
  return {
    write: (key) => `${key.startsAtMs}.${key.id}`,
    read: (text) => {
      const dot = text.indexOf('.');
      const key = { startsAtMs: Number(text.slice(0, dot)), id: text.slice(dot + 1) };
      return Number.isSafeInteger(key.startsAtMs) && id.test(key.id) ? key : null;
    },
  };
}

export const INSTRUMENT_PLACE = sortKeyForm(new RegExp(InstrumentId.pattern!));
export const GAME_PLACE = sortKeyForm(new RegExp(GameId.pattern!));

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

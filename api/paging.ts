/** Pages over lists sorted by start time and id, with cursors that survive a catalog change. */
import type { EpochMs } from '../engine/core/units.ts';
import { invalidRequest } from './errors.ts';

/** What such a list is sorted by. */
export type Place = { startsAtMs: EpochMs; id: string };

export type Page<T> = { rows: T[]; nextCursor: string | null };

/** Earliest first, ids settle ties. */
export function comparePlaces(a: Place, b: Place): number {
  return a.startsAtMs - b.startsAtMs || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

/** The first `limit` rows behind `after` that match. */
export function takePage<T extends Place>(
  sorted: readonly T[],
  after: Place | null,
  limit: number,
  matches: (row: T) => boolean,
): Page<T> {
  const rows: T[] = [];
  for (let i = after === null ? 0 : firstBehind(sorted, after); i < sorted.length; i++) {
    const row = sorted[i]!;
    if (!matches(row)) continue;
    if (rows.length === limit) return { rows, nextCursor: cursorOf(rows.at(-1)!) };
    rows.push(row);
  }
  return { rows, nextCursor: null };
}

function firstBehind(sorted: readonly Place[], after: Place): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (comparePlaces(sorted[middle]!, after) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function cursorOf({ startsAtMs, id }: Place): string {
  return Buffer.from(`${startsAtMs}.${id}`).toString('base64url');
}

/** The place inside a cursor whose id begins with `idPrefix`. Throws `invalid_request`. */
export function placeOfCursor(cursor: string | undefined, idPrefix: string): Place | null {
  if (cursor === undefined) return null;
  const match = /^(-?\d{1,16})\.(\w{1,64})$/.exec(
    Buffer.from(cursor, 'base64url').toString('latin1'),
  );
  const place = match === null ? null : { startsAtMs: Number(match[1]), id: match[2]! };
  if (place === null || !place.id.startsWith(idPrefix) || cursorOf(place) !== cursor) {
    throw invalidRequest('cursor is malformed');
  }
  return place;
}

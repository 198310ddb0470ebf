/**
 * Cursors: where the next page of a list begins, and of which query. Rules P1, P3, P8
 * (api/RULES.md).
 */
import { hash } from 'node:crypto';
import type { Uuid } from '../../engine/base/units.ts';
import { isUuid } from '../../engine/rules/ids.ts';
import { invalidRequest } from './errors.ts';

/** Written at the head of the cursors of a query, so that another query refuses them. */
export type QueryTag = string;

const TAG_CHARACTERS = 6;
/** What may differ from page to page. */
const OF_A_PAGE = ['cursor', 'limit'];

/** The tag of a query as it was read, whatever the order of its parameters. */
export function tagOf(list: string, query: object): QueryTag {
  const given = Object.entries(query).filter(
    ([name, value]) => value !== undefined && !OF_A_PAGE.includes(name),
  );
  given.sort(([a], [b]) => (a < b ? -1 : 1));
  return hash('sha256', JSON.stringify([list, given]), 'base64url').slice(0, TAG_CHARACTERS);
}

/** How the places of a list are written. */
export type PlaceForm<T> = {
  write(place: T): string;
  /** Null: the text is none. It may read what `write` writes in another way. */
  read(text: string): T | null;
};

/** The cursor that goes on at a place. */
export function cursorOf<T>(tag: QueryTag, place: T, { write }: PlaceForm<T>): string {
  return Buffer.from(tag + write(place), 'latin1').toString('base64url');
}

/** The same at the end of a page; null: there is no other page. */
export function nextCursorOf<T>(tag: QueryTag, next: T | null, form: PlaceForm<T>): string | null {
  return next === null ? null : cursorOf(tag, next, form);
}

/** The place in a cursor of that query; null: the first page. Throws the 400. */
export function placeOf<T>(
  tag: QueryTag,
  cursor: string | undefined,
  form: PlaceForm<T>,
): T | null {
  if (cursor === undefined) return null;
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const place = text.startsWith(tag) ? form.read(text.slice(tag.length)) : null;
  // Many texts decode to the same place. Only the canonical one is valid.
  if (place === null || cursorOf(tag, place, form) !== cursor) throw malformedCursor();
  return place;
}

/** Of lists that continue after a row. */
export const ROW_ID: PlaceForm<Uuid> = {
  write: (id) => id,
  read: (text) => (isUuid(text) && text === text.toLowerCase() ? text : null),
};

/** Of lists whose rows have a number or a time. */
export const WHOLE_NUMBER: PlaceForm<number> = {
  write: String,
  read: (text) => {
    const number = Number(text);
    return Number.isSafeInteger(number) && number >= 0 ? number : null;
  },
};

/** The refusal of a cursor that is none of this query. */
export function malformedCursor(): Error {
  return invalidRequest('cursor is malformed, or of another query');
}

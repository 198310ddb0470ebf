/**
 * Cursors: where the next page of a list begins, and of which query. The tag of the query is first,
 * then the place, each in one form. Rules P3, P8 (api/RULES.md).
 */
import { invariant } from './invariant.ts';
import { UUID_LENGTH, type Uuid } from './units.ts';

/** The tag that begins the cursors of a query, so that another query refuses them; in ASCII. */
export type QueryTag = string;

/** How the places of a list are written, in characters of one byte. */
export type PlaceForm<T> = {
  write(place: T): string;
  /** Null: the text is not a place. It may also read texts that `write` would write differently. */
  read(text: string): T | null;
};

/** The opaque cursor that continues at a place. */
export function cursorOf<T>(tag: QueryTag, place: T, { write }: PlaceForm<T>): string {
  return Buffer.from(tag + write(place), 'latin1').toString('base64url');
}

/** The same at the end of a page; null: there is no other page. */
export function nextCursorOf<T>(tag: QueryTag, next: T | null, form: PlaceForm<T>): string | null {
  return next === null ? null : cursorOf(tag, next, form);
}

/** The place in a cursor of that query; null: the cursor is malformed, or of another query. */
export function placeOfCursor<T>(tag: QueryTag, cursor: string, form: PlaceForm<T>): T | null {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const place = text.startsWith(tag) ? form.read(text.slice(tag.length)) : null;
  // Many texts decode to the same place. Only the canonical one is valid.
  return place !== null && cursorOf(tag, place, form) === cursor ? place : null;
}

const UUID_BYTES = 16;

/** For lists that continue after a row: the bytes of its id. */
export const ROW_ID: PlaceForm<Uuid> = {
  write: (id) => {
    invariant(id.length === UUID_LENGTH, 'a cursor is made of an id that is no uuid');
    return Buffer.from(id.replaceAll('-', ''), 'hex').toString('latin1');
  },
  read: (text) => {
    if (text.length !== UUID_BYTES) return null;
    const hex = Buffer.from(text, 'latin1').toString('hex');
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  },
};

/** For lists whose rows have a number or a time. */
export const WHOLE_NUMBER: PlaceForm<number> = {
  write: String,
  read: (text) => {
    const number = Number(text);
    return Number.isSafeInteger(number) && number >= 0 ? number : null;
  },
};

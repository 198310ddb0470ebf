/** Cursors of requests: the tag of a query, and the refusal of others. Rules P1, P3, P8 (RULES.md). */
import { hash } from 'node:crypto';
import { type PlaceForm, placeOfCursor, type QueryTag } from '../../engine/base/cursors.ts';
import { invalidRequest } from './errors.ts';

const TAG_CHARACTERS = 6;
/** Parameters that may differ from page to page. */
const OF_A_PAGE = ['cursor', 'limit'];

/** The tag of a query as it was read, whatever the order of its parameters. */
export function tagOf(list: string, query: object): QueryTag {
  const given = Object.entries(query).filter(
    ([name, value]) => value !== undefined && !OF_A_PAGE.includes(name),
  );
  given.sort(([a], [b]) => (a < b ? -1 : 1));
  return hash('sha256', JSON.stringify([list, given]), 'base64url').slice(0, TAG_CHARACTERS);
}

/** The place in a cursor of that query; null: the first page. Throws the 400. */
export function placeOf<T>(
  tag: QueryTag,
  cursor: string | undefined,
  form: PlaceForm<T>,
): T | null {
  if (cursor === undefined) return null;
  const place = placeOfCursor(tag, cursor, form);
  if (place === null) throw malformedCursor();
  return place;
}

/** The refusal of a cursor that does not belong to this query. */
export function malformedCursor(): Error {
  return invalidRequest('cursor is malformed, or of another query');
}

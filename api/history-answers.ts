/** Cursors of the history's lists, and its exports in pieces. Rules H8, H15, H16 (api/RULES.md). */
import { cursorText, type PagedHistory } from '../engine/history/cursor.ts';
import type { ExportQuestion, HistoryAnswer } from '../engine/history/questions.ts';
import { invalidRequest } from './errors.ts';
import { headerLines } from './header-lines.ts';
import type { EmbeddedHistory } from './history-source.ts';
import { StreamedBody } from './streamed-body.ts';

/** The place in a cursor of that list; null: the first page. Throws the 400. */
export function cursorPlace(list: PagedHistory, cursor: string | undefined): number | null {
  if (cursor === undefined) return null;
  const place = Number(Buffer.from(cursor, 'base64url').toString('latin1').slice(1));
  // Many texts decode to the same place. Only the canonical one is valid.
  const isPlace = Number.isSafeInteger(place) && place >= 0;
  if (!isPlace || cursorText(list, place) !== cursor) throw invalidRequest('cursor is malformed');
  return place;
}

const TYPES = { csv: 'text/csv; charset=utf-8', ndjson: 'application/x-ndjson' } as const;

/**
 * An export, whose first piece is there: what cannot be answered is refused. The next piece is
 * asked for once the caller has taken the one before.
 */
export async function exportOf(
  history: EmbeddedHistory,
  question: ExportQuestion,
): Promise<StreamedBody> {
  const { dataset, format } = question;
  let piece: HistoryAnswer | null = await history.ask(question);
  const headers = headerLines([
    ...['Content-Type', TYPES[format]],
    ...['Content-Disposition', `attachment; filename="${dataset}.${format}"`],
  ]);
  return new StreamedBody(headers, {
    async next() {
      const given = piece;
      if (given === null) return null;
      const { text, next } = given;
      piece = next === null ? null : await history.ask({ ...question, cursor: next });
      return text;
    },
    cancel() {
      piece = null;
    },
  });
}

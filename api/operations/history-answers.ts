/** Exports of the history in pieces. Rules H15, H16 (api/RULES.md). */
import type { ExportQuestion, HistoryAnswer } from '../../engine/history/questions.ts';
import type { Asker } from '../../engine/threads/fair-turns.ts';
import { headerLines } from '../http/header-lines.ts';
import { StreamedBody } from '../http/streamed-body.ts';
import type { EmbeddedHistory } from '../read-side/history-source.ts';

const TYPES = { csv: 'text/csv; charset=utf-8', ndjson: 'application/x-ndjson' } as const;

/**
 * An export, whose first piece exists; an unanswerable one was refused before. The next piece is
 * asked for once the caller has taken the one before.
 */
export async function exportOf(
  history: EmbeddedHistory,
  asker: Asker,
  question: ExportQuestion,
): Promise<StreamedBody> {
  const { dataset, format } = question;
  let piece: HistoryAnswer | null = await history.ask(asker, question);
  const headers = headerLines([
    ...['Content-Type', TYPES[format]],
    ...['Content-Disposition', `attachment; filename="${dataset}.${format}"`],
  ]);
  return new StreamedBody(headers, {
    async next() {
      const given = piece;
      if (given === null) return null;
      const { text, next } = given;
      piece = next === null ? null : await history.ask(asker, { ...question, cursor: next });
      return text;
    },
    cancel() {
      piece = null;
    },
  });
}

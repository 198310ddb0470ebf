/** The history of a server in a test: the real one, without a thread; opened by a question. */
import type { EmbeddedHistory } from '../../api/read-side/history-source.ts';
import { answerOf } from '../../engine/history/answers.ts';
import type { Recorder } from '../../engine/history/recorder.ts';
import { topsAt } from '../../engine/history/tops-at.ts';
import type { Catalog } from '../../engine/rules/catalog-entries.ts';
import { marketNumbers } from '../../feeds/catalog/market-numbers.ts';

export function embeddedHistory(recorder: () => Recorder, catalog: () => Catalog): EmbeddedHistory {
  return {
    kind: 'embedded',
    ask: async (_, question) => answerOf(recorder(), question),
    tops: async (_, question) => topsAt(recorder(), question),
    marketNumber: (venue, ticker) => marketNumbers(catalog())(venue, ticker),
  };
}

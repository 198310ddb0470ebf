import test from 'ava';
import { answerOf } from '../../../engine/history/answers.ts';
import type { TradesQuestion } from '../../../engine/history/questions.ts';
import type { TradeTick } from '../../../engine/rules/messages.ts';
import { after, record, take, temporary } from './support.ts';

const trade = (second: number, contracts: number): TradeTick => ({
  ...{ kind: 'trade', atMs: after(second * 1000), source: 0, market: 0 },
  ...{ yesPriceCents: 41, contracts, side: 'yes' },
});

test('A207: trades are listed newest first, and those of one moment are on one page', (t) => {
  const recorder = record(temporary(t));
  t.teardown(() => recorder.close());
  const seconds = [1, 2, 2, 2, 3, 4, 5, 5];
  take(recorder, ...seconds.map((second, at) => trade(second, at + 1)));
  const ask = (over: Partial<TradesQuestion>) => {
    const { text, next } = answerOf(recorder, {
      ...{ kind: 'trades', market: 0, polarity: 1, instrumentId: null, venue: 'venue_a' },
      ...{ fromMs: 0, toMs: Number.POSITIVE_INFINITY, nowMs: recorder.nowMs },
      ...{ limit: 2, cursor: null },
      ...over,
    });
    const rows = JSON.parse(text) as { contracts: number }[];
    return { contracts: rows.map((row) => row.contracts), next };
  };
  const pages: number[][] = [];
  let cursor: number | null = null;
  do {
    const page = ask({ cursor });
    pages.push(page.contracts);
    cursor = page.next;
  } while (cursor !== null);
  t.deepEqual(pages, [[8, 7], [6, 5], [4, 3, 2], [1]]);
  const window = { fromMs: after(2000), toMs: after(4000), limit: 100 };
  t.deepEqual(ask(window), { contracts: [5, 4, 3, 2], next: null });
});

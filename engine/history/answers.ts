/** Answers of a history as the texts that are sent. Rules H6 to H14 (api/RULES.md). */
import { nextCursorOf, type QueryTag, WHOLE_NUMBER } from '../base/cursors.ts';
import { type EpochMs, isoOf, NO_PRICE } from '../base/units.ts';
import { exportPiece } from './export.ts';
import { type Gap, gapsOf, lostFor } from './gaps.ts';
import { INTERVAL_MS, ROWS, TRADES } from './kinds.ts';
import type {
  AsOfQuestion,
  CandlesQuestion,
  ClosingQuestion,
  HistoryAnswer,
  NamedSeries,
  Question,
  QuotesQuestion,
  TradesQuestion,
} from './questions.ts';
import type { Recorder } from './recorder.ts';
import { candleView, rowView, tradeView } from './rows-text.ts';
import type { Series } from './series.ts';

/** A longer answer is given page by page. Rule H7 (api/RULES.md). */
const GAPS_MAX = 1000;

/** Answers a question at its own time. Throws `HistoryDamage`. */
export function answerOf(recorder: Recorder, question: Question): HistoryAnswer {
  recorder.advance(question.nowMs);
  switch (question.kind) {
    case 'quotes':
      return { text: quotesText(recorder, question), next: null };
    case 'candles':
      return { text: candlesText(recorder, question), next: null };
    case 'trades':
      return tradesText(recorder, question);
    case 'as_of':
      return { text: asOfText(recorder, question), next: null };
    case 'closing':
      return { text: closingText(recorder, question), next: null };
    case 'export':
      return exportPiece(recorder, question);
    default:
      return question satisfies never;
  }
}

/** `GET /history` */
function quotesText(recorder: Recorder, question: QuotesQuestion): string {
  const { market, nowMs } = question;
  const { texts, next, spanMs } = pageOf(recorder.store.series(ROWS, market), question);
  return (
    `{${seriesText(question)},"quotes":[${texts.join(',')}],` +
    `"gaps":${gapsText(recorder, question, spanMs)},${pageEnd(question.tag, next, nowMs)}}`
  );
}

type Page = {
  texts: string[];
  next: number | null;
  /** The part of the window that the page covers. */
  spanMs: { fromMs: EpochMs; toMs: EpochMs };
};

function pageOf(rows: Series | undefined, question: QuotesQuestion): Page {
  return question.order === 'asc' ? pageUp(rows, question) : pageDown(rows, question);
}

function pageUp(rows: Series | undefined, question: QuotesQuestion): Page {
  const { fromMs, toMs, limit, cursor, polarity } = question;
  const texts: string[] = [];
  let beginMs = fromMs;
  const parts = cursor === null ? rows?.forward(fromMs) : rows?.fromNumber(cursor);
  for (const { columns, from, end, first } of parts ?? []) {
    for (let at = from; at < end; at++) {
      const atMs = columns[0]![at]!;
      if (atMs >= toMs) return { texts, next: null, spanMs: { fromMs: beginMs, toMs } };
      if (texts.length === limit) {
        return { texts, next: first + at, spanMs: { fromMs: beginMs, toMs: atMs } };
      }
      if (texts.length === 0 && cursor !== null) beginMs = atMs;
      texts.push(JSON.stringify(rowView(columns, at, polarity)));
    }
  }
  return { texts, next: null, spanMs: { fromMs: beginMs, toMs } };
}

function pageDown(rows: Series | undefined, question: QuotesQuestion): Page {
  const { fromMs, toMs, limit, cursor, polarity } = question;
  const texts: string[] = [];
  let endMs = toMs;
  let lastMs = toMs;
  const parts = cursor === null ? rows?.backward(toMs) : rows?.beforeNumber(cursor + 1);
  for (const { columns, from, end, first } of parts ?? []) {
    for (let at = end - 1; at >= from; at--) {
      const atMs = columns[0]![at]!;
      if (atMs < fromMs) return { texts, next: null, spanMs: { fromMs, toMs: endMs } };
      if (texts.length === limit) {
        // The next page covers the time up to its first row, so a gap between the two belongs to
        // this page.
        const pageFromMs = Math.min(lastMs, atMs + 1);
        return { texts, next: first + at, spanMs: { fromMs: pageFromMs, toMs: endMs } };
      }
      if (texts.length === 0 && cursor !== null) endMs = atMs + 1;
      lastMs = atMs;
      texts.push(JSON.stringify(rowView(columns, at, polarity)));
    }
  }
  return { texts, next: null, spanMs: { fromMs, toMs: endMs } };
}

/** The gaps of the whole window, unless they are too many for every page of it. */
function gapsText({ store }: Recorder, window: NamedSeries, span: Page['spanMs']): string {
  const { market } = window;
  let gaps: Gap[] = [];
  for (const gap of gapsOf(store, market, window)) {
    gaps.push(gap);
    if (gaps.length <= GAPS_MAX) continue;
    gaps = [...gapsOf(store, market, span)];
    break;
  }
  return `[${gaps.map(gapText).join(',')}]`;
}

function gapText({ fromMs, toMs, reason }: Gap): string {
  return JSON.stringify({ from: isoOf(fromMs), to: toMs === null ? null : isoOf(toMs), reason });
}

/** `GET /history/candles` */
function candlesText(recorder: Recorder, question: CandlesQuestion): string {
  const { interval, limit, cursor, nowMs } = question;
  const texts: string[] = [];
  let next: number | null = null;
  const fromMs = Math.max(question.fromMs, cursor ?? 0);
  let beginMs: EpochMs | null = null;
  let endMs = fromMs;
  for (const candle of recorder.candles.read({ ...question, fromMs })) {
    if (texts.length === limit) {
      next = candle.startMs;
      break;
    }
    beginMs ??= candle.startMs;
    endMs = candle.startMs + INTERVAL_MS[interval];
    texts.push(JSON.stringify(candleView(candle, question)));
  }
  // The gaps of the listed candles, or of the window if it has no candles.
  const span = { fromMs: beginMs ?? fromMs, toMs: beginMs === null ? question.toMs : endMs };
  const gaps = [...gapsOf(recorder.store, question.market, span, lostFor(interval))];
  return (
    `{${seriesText(question)},"interval":"${interval}","candles":[${texts.join(',')}],` +
    `"gaps":[${gaps.map(gapText).join(',')}],${pageEnd(question.tag, next, nowMs)}}`
  );
}

/** `[trade, …]`, newest first. Rule A207 (api/RULES.md). */
function tradesText({ store }: Recorder, question: TradesQuestion): HistoryAnswer {
  const { market, fromMs, toMs, limit, cursor, polarity } = question;
  const trades = store.series(TRADES, market);
  const texts: string[] = [];
  const answer = (next: number | null) => ({ text: `[${texts.join(',')}]`, next });
  let lastMs = toMs;
  const parts = cursor === null ? trades?.backward(toMs) : trades?.beforeNumber(cursor + 1);
  for (const { columns, from, end, first } of parts ?? []) {
    for (let at = end - 1; at >= from; at--) {
      const atMs = columns[0]![at]!;
      if (atMs < fromMs) return answer(null);
      if (texts.length >= limit && atMs !== lastMs) return answer(first + at);
      lastMs = atMs;
      texts.push(JSON.stringify(tradeView(columns, at, polarity)));
    }
  }
  return answer(null);
}

/** `GET /history/as_of` */
function asOfText({ store }: Recorder, question: AsOfQuestion): string {
  const { instruments, venue, atMs } = question;
  const rows: string[] = [];
  const notFound = [...question.notFound];
  for (const { instrumentId, market, polarity } of instruments) {
    const row = store.series(ROWS, market)?.before(atMs + 1) ?? null;
    if (row === null) {
      notFound.push(instrumentId);
      continue;
    }
    const columns = row.map((value) => [value]);
    const { at: quotedAt, live, ...prices } = rowView(columns, 0, polarity);
    rows.push(JSON.stringify({ instrumentId, venue, ...prices, quotedAt, live }));
  }
  return (
    `{"rows":[${rows.join(',')}],"notFound":${JSON.stringify(notFound)},` +
    `"at":"${isoOf(atMs)}","mode":"paper"}`
  );
}

/** In the market's terms. */
function closingText({ store }: Recorder, { market, beforeMs }: ClosingQuestion): string {
  for (const { columns, from, end } of store.series(ROWS, market)?.backward(beforeMs) ?? []) {
    const [times, bids, asks] = columns;
    for (let at = end - 1; at >= from; at--) {
      const [yesBidCents, yesAskCents] = [bids![at]!, asks![at]!];
      if (yesBidCents === NO_PRICE || yesAskCents === NO_PRICE) continue;
      return JSON.stringify({ yesBidCents, yesAskCents, atMs: times![at]! });
    }
  }
  return 'null';
}

function seriesText({ instrumentId, venue }: NamedSeries): string {
  return `"instrumentId":${JSON.stringify(instrumentId)},"venue":"${venue}"`;
}

function pageEnd(tag: QueryTag, next: number | null, nowMs: EpochMs): string {
  const cursor = JSON.stringify(nextCursorOf(tag, next, WHOLE_NUMBER));
  return `"nextCursor":${cursor},"asOf":"${isoOf(nowMs)}","mode":"paper"`;
}

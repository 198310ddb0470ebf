/** Directories, ticks and questions for tests of the history. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ExecutionContext } from 'ava';
import { answerOf } from '../../../engine/history/answers.ts';
import type {
  AsOfQuestion,
  CandlesQuestion,
  ExportQuestion,
  QuotesQuestion,
} from '../../../engine/history/questions.ts';
import { Recorder, type RecorderConfig } from '../../../engine/history/recorder.ts';
import type { CandleView, RowView } from '../../../engine/history/rows-text.ts';
import { TickBatch, TickReader } from '../../../engine/history/tick-batch.ts';
import type { Tick } from '../../../engine/rules/messages.ts';
import { NOON_MS } from '../fixtures.ts';

export const BOUND_MS = 15_000;

export function temporary(t: ExecutionContext): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'paperbook-history-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  return directory;
}

export function record(directory: string, over: Partial<RecorderConfig> = {}): Recorder {
  return new Recorder({ directory, quoteMaxAgeMs: BOUND_MS, days: 0, ...over });
}

/** One for all: it has room for a large batch from the start. */
const batch = new TickBatch();

export function packed(ticks: readonly Tick[]): ArrayBuffer {
  for (const tick of ticks) batch.add(tick);
  return batch.take();
}

/** Copies of the ticks in a batch. */
export function ticksOf(batch: ArrayBuffer): Tick[] {
  const ticks: Tick[] = [];
  new TickReader().read(batch, (tick) => ticks.push({ ...tick }));
  return ticks;
}

export function take(recorder: Recorder, ...ticks: readonly Tick[]): void {
  recorder.takePacked(packed(ticks));
}

const SERIES = {
  market: 0,
  polarity: 1,
  instrumentId: null,
  venue: 'venue_a',
  fromMs: 0,
  toMs: Number.POSITIVE_INFINITY,
} as const;

type GapView = { from: string; to: string | null; reason: string };
type Paged<T> = T & { nextCursor: string | null };
type Asked<Q> = Partial<Omit<Q, 'kind'>>;

/** A question without a time is asked at the recorder's own time. */
export function asked(recorder: Recorder) {
  const ask = <T>(question: Parameters<typeof answerOf>[1]): T =>
    JSON.parse(answerOf(recorder, question).text);
  const now = () => ({ nowMs: recorder.nowMs });
  return {
    quotes: (over: Asked<QuotesQuestion> = {}) =>
      ask<Paged<{ quotes: RowView[]; gaps: GapView[] }>>({
        kind: 'quotes',
        ...{ ...SERIES, ...now(), order: 'asc', limit: 5000, cursor: null, tag: 'q' },
        ...over,
      }),
    candles: (over: Asked<CandlesQuestion> = {}) =>
      ask<Paged<{ candles: CandleView[]; gaps: GapView[] }>>({
        kind: 'candles',
        ...{ ...SERIES, ...now(), interval: '1m', limit: 1_000_000, cursor: null, tag: 'c' },
        ...over,
      }),
    asOf: (atMs: number, over: Asked<AsOfQuestion> = {}) =>
      ask<{ rows: (Omit<RowView, 'at'> & { quotedAt: string })[]; notFound: string[] }>({
        kind: 'as_of',
        ...now(),
        ...{ atMs, venue: 'venue_a', notFound: [] },
        instruments: [{ instrumentId: 'i', market: 0, polarity: 1 }],
        ...over,
      }),
    exported: (over: Asked<ExportQuestion> = {}): string => {
      const question: ExportQuestion = {
        kind: 'export',
        ...{ ...SERIES, ...now(), dataset: 'quotes', format: 'csv', interval: '1m', cursor: null },
        ...over,
      };
      let text = '';
      for (let cursor: number | null = question.cursor; ; ) {
        const piece = answerOf(recorder, { ...question, cursor });
        text += piece.text;
        if (piece.next === null) return text;
        cursor = piece.next;
      }
    },
  };
}

/** `12:00:15.000` of the day of the tests. */
export const clock = (iso: string | null) => iso?.slice(11, 23) ?? null;
export const after = (ms: number) => NOON_MS + ms;

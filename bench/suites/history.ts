/**
 * The history: bytes per quote, the time of its questions at any age, and the cost of recording for
 * a server's ticks and orders.
 */
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { DAY_MS, type EpochMs } from '../../engine/base/units.ts';
import { answerOf } from '../../engine/history/answers.ts';
import { INTERVAL_MS } from '../../engine/history/kinds.ts';
import type { NamedSeries } from '../../engine/history/questions.ts';
import { Recorder } from '../../engine/history/recorder.ts';
import { type CostSizes, costTable } from '../lib/history-cost.ts';
import { packedQuotes, QuoteWalk } from '../lib/quote-walk.ts';
import { count, type Figures, ms, type Report, type Suite, type Table } from '../lib/report.ts';
import { Latencies } from '../lib/stats.ts';
import { dropDir, tempDir } from '../lib/temp.ts';

export type HistorySizes = CostSizes & {
  /** Of one market with a quote a second. */
  days: number;
  questions: number;
};

const START_MS = Date.parse('2026-11-21T00:00:00.000Z');
const QUOTE_MAX_AGE_MS = 15_000;
const BATCH = 500;
const PAGE = 1000;

export const history: Suite<HistorySizes> = {
  name: 'history',
  about: 'bytes a quote, answers at any age, and what recording costs ticks and orders',
  full: {
    ...{ days: 30, questions: 2000 },
    ...{ frames: 200_000, orders: 40_000, markets: 500, rounds: 9 },
  },
  quick: {
    ...{ days: 3, questions: 300 },
    ...{ frames: 40_000, orders: 8000, markets: 500, rounds: 3 },
  },
  run,
};

async function run(sizes: HistorySizes, progress: (line: string) => void): Promise<Report> {
  const figures: Figures = {};
  progress('history: bytes');
  const bytes = bytesTable(sizes, figures);
  progress(`history: ${sizes.days} days of a quote a second`);
  const reading = readingTable(sizes, figures);
  progress('history: what recording costs');
  const cost = await costTable(sizes, figures);
  return { tables: [bytes, reading, cost], figures };
}

/** Records quotes of one market, so far apart. @returns when the last one was */
function record(directory: string, quotes: number, everyMs: number): EpochMs {
  const recorder = new Recorder({ directory, quoteMaxAgeMs: QUOTE_MAX_AGE_MS, days: 0 });
  const walk = new QuoteWalk(7, START_MS, everyMs);
  for (let left = quotes; left > 0; left -= BATCH) {
    recorder.takePacked(packedQuotes(walk, Math.min(BATCH, left)));
  }
  const { nowMs } = recorder;
  recorder.close();
  return nowMs;
}

function bytesTable({ days }: HistorySizes, figures: Figures): Table {
  const kinds = [
    { name: 'busy: eleven a second', everyMs: 90, quotes: days * 20_000 },
    { name: 'steady: one a second', everyMs: 1000, quotes: days * 20_000 },
    { name: 'quiet: one in ten minutes', everyMs: 600_000, quotes: days * 700 },
  ];
  const rows = kinds.map(({ name, everyMs, quotes }) => {
    const directory = tempDir();
    record(directory, quotes, everyMs);
    const each = sizeOf(directory) / quotes;
    dropDir(directory);
    figures[`${name}/bytes`] = { unit: 'bytes/quote', value: each };
    return [name, count(quotes), each.toFixed(2)];
  });
  return {
    title: 'history: bytes of the directory a quote',
    columns: ['market', 'quotes', 'bytes'],
    rows,
    notes: ['rows, marks of silence, candles of all intervals, and the journal together'],
  };
}

function sizeOf(directory: string): number {
  const names = readdirSync(directory);
  return names.reduce((sum, name) => sum + statSync(path.join(directory, name)).size, 0);
}

function readingTable({ days, questions }: HistorySizes, figures: Figures): Table {
  const directory = tempDir();
  const nowMs = record(directory, (days * DAY_MS) / 1000, 1000);
  const openedMs = performance.now();
  const recorder = new Recorder({ directory, quoteMaxAgeMs: QUOTE_MAX_AGE_MS, days: 0 });
  figures.start = { unit: 'ms', value: performance.now() - openedMs };
  const asked = questionsOf(nowMs, days);
  const rows = Object.entries(asked).map(([name, { times = questions, ask }]) => {
    const taken = new Latencies();
    for (let at = 0; at < times; at++) {
      const startedMs = performance.now();
      ask(recorder, at / times);
      taken.add(performance.now() - startedMs);
    }
    const { p50, p99, max } = taken.summary();
    figures[`${name}/p50`] = { unit: 'ms', value: p50 };
    figures[`${name}/p99`] = { unit: 'ms', value: p99 };
    return [name, ms(p50), ms(p99), ms(max)];
  });
  recorder.close();
  dropDir(directory);
  return {
    title: `history: milliseconds a question, ${days} days of a quote a second`,
    columns: ['question', 'p50', 'p99', 'max'],
    rows,
    notes: [`a start on ${days} days took ${ms(figures.start!.value as number)} ms`],
  };
}

type Asked = { times?: number; ask(recorder: Recorder, share: number): void };

/** `share`: how far through the history a question lies. */
function questionsOf(nowMs: EpochMs, days: number): Record<string, Asked> {
  const series: NamedSeries = {
    ...{ market: 0, polarity: 1, instrumentId: null, venue: 'venue_a' },
    ...{ fromMs: 0, toMs: Number.POSITIVE_INFINITY, nowMs },
  };
  const momentOf = (share: number) => Math.floor(START_MS + share * (nowMs - START_MS));
  const instruments = [{ instrumentId: 'i', market: 0, polarity: 1 as const }];
  return {
    'as of a moment': {
      ask: (recorder, share) => {
        const place = { venue: 'venue_a' as const, atMs: momentOf((share * 7919) % 1), nowMs };
        answerOf(recorder, { kind: 'as_of', ...place, instruments, notFound: [] });
      },
    },
    'a page of 500 rows': {
      ask: (recorder, share) => {
        const page = { order: 'asc' as const, limit: 500, cursor: null, tag: '' };
        const fromMs = momentOf((share * 7919) % 1);
        answerOf(recorder, { kind: 'quotes', ...series, ...page, fromMs });
      },
    },
    'a page of 1,000 candles of a minute': {
      ask: (recorder, share) => {
        const page = { interval: '1m' as const, limit: PAGE, cursor: null, tag: '' };
        const fromMs = momentOf((share * 7919) % 1);
        answerOf(recorder, { kind: 'candles', ...series, ...page, fromMs });
      },
    },
    [`${days} days of candles of a minute, as kept`]: {
      times: 20,
      ask: ({ candles }) => {
        let read = 0;
        for (const candle of candles.read({ ...series, interval: '1m' })) {
          read += candle.quotes;
        }
        if (read < (days * DAY_MS) / INTERVAL_MS['1m']) throw new Error('candles are missing');
      },
    },
    [`${days} days of candles of a day`]: {
      ask: (recorder) => {
        const page = { interval: '1d' as const, limit: PAGE, cursor: null, tag: '' };
        answerOf(recorder, { kind: 'candles', ...series, ...page });
      },
    },
  };
}

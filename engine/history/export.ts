/**
 * A series as CSV or NDJSON, a piece at a time. A slow reader asks for the next piece later, and
 * the history waits for nobody. Rules H15, H16 (api/RULES.md).
 */
import { invariant } from '../base/invariant.ts';
import { type Interval, ROWS, TRADES } from './kinds.ts';
import type { Dataset, ExportQuestion, HistoryAnswer } from './questions.ts';
import type { Columns } from './record-columns.ts';
import type { Recorder } from './recorder.ts';
import {
  type CandleView,
  candleView,
  type Polarity,
  type RowView,
  rowView,
  type TradeView,
  tradeView,
} from './rows-text.ts';

/** The size of a piece: about 100 KB. */
const RECORDS_MAX = 1000;

const OHLC = ['Open', 'High', 'Low', 'Close'];
export const CSV_COLUMNS: Readonly<Record<Dataset, readonly string[]>> = {
  quotes: ['at', 'yesBidCents', 'yesAskCents', 'yesBidContracts', 'yesAskContracts', 'live'],
  trades: ['at', 'yesPriceCents', 'contracts', 'side'],
  candles: [
    ...['start', 'end'],
    ...['bid', 'ask', 'mid'].flatMap((of) => OHLC.map((word) => of + word)),
    ...['tradeCount', 'tradeContracts', 'tradeOpen', 'tradeHigh', 'tradeLow', 'tradeClose'],
    ...['vwapCents', 'quotes', 'liveSeconds'],
  ],
};

type Cell = string | number | boolean | null;

export function exportPiece(recorder: Recorder, question: ExportQuestion): HistoryAnswer {
  const { dataset, format, cursor } = question;
  const isFirst = cursor === null && format === 'csv';
  const lines: string[] = isFirst ? [CSV_COLUMNS[dataset].join(',')] : [];
  const next =
    dataset === 'candles'
      ? addCandles(recorder, question, lines)
      : addRecords(recorder, question, lines);
  return { text: lines.map((line) => `${line}\n`).join(''), next };
}

/** @returns the number of the first record of the next piece */
function addRecords(
  { store }: Recorder,
  { dataset, format, market, polarity, fromMs, toMs, cursor }: ExportQuestion,
  lines: string[],
): number | null {
  invariant(dataset !== 'candles', 'candles are no records of their own');
  const series = store.series(dataset === 'quotes' ? ROWS : TRADES, market);
  const view = dataset === 'quotes' ? quoteCells : tradeCells;
  const parts = cursor === null ? series?.forward(fromMs) : series?.fromNumber(cursor);
  let added = 0;
  for (const { columns, from, end, first } of parts ?? []) {
    for (let at = from; at < end; at++) {
      if (columns[0]![at]! >= toMs) return null;
      if (added++ === RECORDS_MAX) return first + at;
      const { cells, object } = view(columns, at, polarity);
      lines.push(format === 'csv' ? cells.map(cellText).join(',') : JSON.stringify(object));
    }
  }
  return null;
}

type Viewed<T> = { cells: Cell[]; object: T };

function quoteCells(columns: Columns, at: number, polarity: Polarity): Viewed<RowView> {
  const object = rowView(columns, at, polarity);
  return { cells: Object.values(object), object };
}

function tradeCells(columns: Columns, at: number, polarity: Polarity): Viewed<TradeView> {
  const object = tradeView(columns, at, polarity);
  return { cells: Object.values(object), object };
}

/** @returns the start of the first candle of the next piece */
function addCandles(
  { candles }: Recorder,
  question: ExportQuestion & { interval: Interval },
  lines: string[],
): number | null {
  const fromMs = Math.max(question.fromMs, question.cursor ?? 0);
  let added = 0;
  for (const candle of candles.read({ ...question, fromMs })) {
    if (added++ === RECORDS_MAX) return candle.startMs;
    const view = candleView(candle, question);
    const isCsv = question.format === 'csv';
    lines.push(isCsv ? candleCells(view).map(cellText).join(',') : JSON.stringify(view));
  }
  return null;
}

function candleCells({ start, end, bid, ask, mid, trades, quotes, liveSeconds }: CandleView) {
  const prices = [bid, ask, mid].flatMap((ohlc) => [
    ...[ohlc?.open, ohlc?.high, ohlc?.low, ohlc?.close],
  ]);
  const traded = [trades?.count, trades?.contracts];
  const tradePrices = [trades?.open, trades?.high, trades?.low, trades?.close];
  const cells = [start, end, ...prices, ...traded, ...tradePrices, trades?.vwapCents];
  return [...cells.map((cell) => cell ?? null), quotes, liveSeconds];
}

/** No value has a comma, a quotation mark or a line end in it. */
function cellText(cell: Cell): string {
  return cell === null ? '' : String(cell);
}

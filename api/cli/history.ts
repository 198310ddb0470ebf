/** `paperbook history`: past prices. Rules H6 to H14, U13, U16 (api/RULES.md). */
import { type Command, Option } from 'commander';
import type {
  Candle,
  CandlesPage,
  HistoryAsOf,
  HistoryGap,
  HistoryPage,
  HistoryRow,
  Ohlc,
} from 'paperbook/client';
import { INTERVALS, type Interval } from '../../engine/history/kinds.ts';
import { answerOf, byKey, given } from './account-connection.ts';
import { addExportCommand } from './history-export.ts';
import { ofSeries, type SeriesFlags, seriesOf } from './history-series.ts';
import { ofPages, type PageFlags, pagesOf, sayMore } from './pages.ts';
import { type Column, show, showNamed, showRows, tableOf } from './table.ts';

type HistoryFlags = SeriesFlags &
  PageFlags & { interval?: Interval; order?: 'asc' | 'desc'; asOf?: string };

const ROWS_PAGE_MAX = 5000;
const CANDLES_PAGE_MAX = 1000;

const EXAMPLES = `
Examples:
  paperbook history ins_4K7Q0R2M9XTB --from 2026-11-21
  paperbook history --ticker KXEXAMPLE-26 --interval 5m
  paperbook history ins_4K7Q0R2M9XTB --as-of 2026-11-21T05:00:00Z
  paperbook history export ins_4K7Q0R2M9XTB day.parquet`;

export function addHistoryCommands(program: Command): void {
  const history = ofSeries(program.command('history <instrument>'))
    .description('show past prices: each change, candles, or one moment')
    .addOption(
      new Option(
        '--interval <length>',
        'show candles of this length instead of each change',
      ).choices(INTERVALS),
    )
    .addOption(
      new Option('--order <order>', 'order by time; default asc')
        .choices(['asc', 'desc'])
        .conflicts('interval'),
    )
    .addOption(
      new Option('--as-of <time>', 'show quotes as they were at this moment').conflicts([
        ...['ticker', 'from', 'to', 'interval', 'order', 'limit', 'cursor', 'all'],
      ]),
    )
    .addHelpText('after', EXAMPLES)
    .action(printHistory);
  ofPages(history, { limit: 'rows at most; default 500 changes or 200 candles' });
  addExportCommand(history);
}

async function printHistory(what: string, options: HistoryFlags): Promise<void> {
  if (options.asOf !== undefined) await printAsOf(what, options.asOf, options);
  else if (options.interval !== undefined) await printCandles(what, options.interval, options);
  else await printRows(what, options);
}

async function printRows(what: string, options: HistoryFlags): Promise<void> {
  const { server, client } = byKey(options);
  const series = { ...seriesOf(what, options), ...given({ order: options.order }) };
  // If there are many gaps, each page has its own. A gap that two pages share is in both.
  const gaps = new Map<string, HistoryGap>();
  const asked = pagesOf('quotes', options, ROWS_PAGE_MAX, async (query) => {
    const page: HistoryPage = await client.getHistory({ query: { ...series, ...query } });
    for (const gap of page.gaps) gaps.set(gap.from, gap);
    return page;
  });
  const page = await answerOf(server, asked);
  const sorted = [...gaps.values()].sort((a, b) => (a.from < b.from ? -1 : 1));
  const answer = { ...page, gaps: sorted };
  if (sorted.length === 0) showRows(options, answer, 'prices', page.quotes, ROW_COLUMNS);
  else {
    show(options, answer, () => {
      const rows = page.quotes.length === 0 ? '' : `${tableOf(page.quotes, ROW_COLUMNS)}\n`;
      return rows + tableOf(sorted, GAP_COLUMNS);
    });
  }
  sayMore(page, options);
}

const PRICE_COLUMNS: Column<Omit<HistoryRow, 'at'>>[] = [
  ['bid ¢', ({ yesBidCents }) => yesBidCents],
  ['ask ¢', ({ yesAskCents }) => yesAskCents],
  ['bid size', ({ yesBidContracts }) => yesBidContracts],
  ['ask size', ({ yesAskContracts }) => yesAskContracts],
  ['live', ({ live }) => (live ? 'yes' : 'no')],
];
const ROW_COLUMNS: Column<HistoryRow>[] = [['at', ({ at }) => at], ...PRICE_COLUMNS];

const GAP_COLUMNS: Column<HistoryGap>[] = [
  ['gap from', ({ from }) => from],
  ['to', ({ to }) => to],
  ['reason', ({ reason }) => reason],
];

async function printCandles(
  what: string,
  interval: Interval,
  options: HistoryFlags,
): Promise<void> {
  const { server, client } = byKey(options);
  const series = { ...seriesOf(what, options), interval };
  const asked = pagesOf('candles', options, CANDLES_PAGE_MAX, (query): Promise<CandlesPage> => {
    return client.getCandles({ query: { ...series, ...query } });
  });
  const page = await answerOf(server, asked);
  showRows(options, page, 'candles', page.candles, CANDLE_COLUMNS);
  sayMore(page, options);
}

const ohlcText = (of: Ohlc | null) =>
  of === null ? null : `${of.open}/${of.high}/${of.low}/${of.close}`;

/** Prices as open/high/low/close. */
const CANDLE_COLUMNS: Column<Candle>[] = [
  ['start', ({ start }) => start],
  ['bid o/h/l/c', ({ bid }) => ohlcText(bid)],
  ['ask o/h/l/c', ({ ask }) => ohlcText(ask)],
  ['traded', ({ trades }) => ohlcText(trades)],
  ['contracts', ({ trades }) => trades?.contracts ?? 0],
  ['live s', ({ liveSeconds }) => liveSeconds],
];

async function printAsOf(instrumentId: string, at: string, options: HistoryFlags): Promise<void> {
  const { server, client } = byKey(options);
  const query = { instrumentIds: [instrumentId], at, ...given({ venue: options.venue }) };
  const answer = await answerOf(server, client.getHistoryAsOf({ query }));
  const text = () => tableOf(answer.rows, AS_OF_COLUMNS);
  showNamed(options, answer, answer.rows, text, 'not found, or without a price by then');
}

const AS_OF_COLUMNS: Column<HistoryAsOf['rows'][number]>[] = [
  ['instrument', ({ instrumentId }) => instrumentId, 'apart'],
  ['venue', ({ venue }) => venue],
  ...PRICE_COLUMNS,
  ['since', ({ quotedAt }) => quotedAt],
];

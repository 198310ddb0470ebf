/** `paperbook history export`: a whole series into a file or a pipe. Rules H15, U16 (api/RULES.md). */
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { INTERVALS, type Interval } from '../../engine/history/kinds.ts';
import { DATASETS, type Dataset, EXPORT_FORMATS } from '../../engine/history/questions.ts';
import { type AccountConnection, answerOf, byKey, given } from './account-connection.ts';
import { ofSeries, type SeriesFlags, seriesOf } from './history-series.ts';
import { writeParquet } from './parquet-file.ts';
import { listOf, show } from './table.ts';
import { UsageError } from './usage.ts';
import { writeWhole } from './whole-file.ts';

const FORMATS = [...EXPORT_FORMATS, 'parquet'] as const;
type Format = (typeof FORMATS)[number];
type ExportFlags = SeriesFlags & { dataset: Dataset; interval?: Interval; format?: Format };

/** A server that sends nothing for so long while it is read does not answer. */
const SILENT_MS_MAX = 30_000;
const LINE_END = 10;

export function addExportCommand(history: Command): void {
  ofSeries(history.command('export <instrument> [file]'))
    .description('export a whole series as CSV, NDJSON or Parquet')
    .addOption(new Option('--dataset <name>', 'data to export').choices(DATASETS).default('quotes'))
    .addOption(
      new Option('--interval <length>', 'length of candles; default 1m').choices(INTERVALS),
    )
    .addOption(
      new Option('--format <name>', "format; default: the file's ending, else csv").choices(
        FORMATS,
      ),
    )
    .action(exportSeries);
}

async function exportSeries(what: string, file: string | undefined, options: ExportFlags) {
  const format = options.format ?? formatOf(file);
  const { dataset, interval } = options;
  if (interval !== undefined && dataset !== 'candles') {
    throw new UsageError('--interval belongs to --dataset candles');
  }
  const series = { ...seriesOf(what, options), dataset, ...given({ interval }) };
  const connection = byKey(options);
  if (file === undefined) {
    if (format === 'parquet') throw new UsageError('--format parquet needs a file');
    if (options.json === true) {
      throw new UsageError('--json needs a file; use --format ndjson to print JSON');
    }
    await print(piecesOf(connection, { ...series, format }));
    return;
  }
  const rows = await writeWhole(file, (unfinished) =>
    format === 'parquet'
      ? writeParquet(unfinished, dataset, piecesOf(connection, { ...series, format: 'csv' }))
      : writeText(unfinished, format, piecesOf(connection, { ...series, format })),
  );
  show(options, { file, dataset, format, rows }, (written) => listOf(Object.entries(written)));
}

function formatOf(file: string | undefined): Format {
  const ending = file?.slice(file.lastIndexOf('.') + 1);
  return FORMATS.find((format) => format === ending) ?? 'csv';
}

type ExportQuery = ReturnType<typeof seriesOf> & {
  dataset: Dataset;
  interval?: Interval;
  format: 'csv' | 'ndjson';
};

/** The body as it arrives. Throws one line if it breaks off. */
async function* piecesOf({ server, client }: AccountConnection, query: ExportQuery) {
  const abort = new AbortController();
  const onSilence = () => abort.abort(new Error(`${server} sends nothing more`));
  let timer = setTimeout(onSilence, SILENT_MS_MAX);
  try {
    // Its length is not bounded. Only its silence is.
    const init = { parseAs: 'stream', timeout: 0, signal: abort.signal } as const;
    const asked = client.exportHistory({ query }, init);
    const body = (await answerOf(server, asked)) as unknown as ReadableStream<Uint8Array>;
    for await (const piece of body) {
      clearTimeout(timer);
      yield piece;
      timer = setTimeout(onSilence, SILENT_MS_MAX);
    }
  } catch (error) {
    const { message, cause } = error as Error & { cause?: Error };
    if (message !== 'terminated') throw error;
    throw new Error(`the export broke off: ${cause?.message ?? 'the connection is lost'}`);
  } finally {
    clearTimeout(timer);
    abort.abort();
  }
}

async function print(pieces: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const piece of pieces) {
    if (!process.stdout.write(piece)) await once(process.stdout, 'drain');
  }
}

/** @returns how many rows were written */
async function writeText(
  file: string,
  format: 'csv' | 'ndjson',
  pieces: AsyncIterable<Uint8Array>,
): Promise<number> {
  const handle = await open(file, 'w');
  let lines = 0;
  try {
    for await (const piece of pieces) {
      for (const byte of piece) if (byte === LINE_END) lines++;
      await handle.write(piece);
    }
  } finally {
    await handle.close();
  }
  return format === 'csv' ? lines - 1 : lines;
}

/** An export of the history as a Parquet file, with typed columns. Rule U16 (api/RULES.md). */
import { fileWriter, parquetWriteRows } from 'hyparquet-writer';
import { CSV_COLUMNS } from '../../engine/history/export.ts';
import type { Dataset } from '../../engine/history/questions.ts';
import { LineSplitter } from '../../feeds/file/line-splitter.ts';

/** Rows that are in memory together, and then a row group of the file. */
const GROUP_ROWS = 20_000;

type Type = 'TIMESTAMP' | 'INT32' | 'INT64' | 'DOUBLE' | 'BOOLEAN' | 'STRING';
type Value = Date | number | bigint | boolean | string | null;
type ColumnType = { type: Type; nullable: boolean };

const READ: Readonly<Record<Type, (cell: string) => Value>> = {
  TIMESTAMP: (cell) => new Date(cell),
  INT32: Number,
  INT64: BigInt,
  DOUBLE: Number,
  BOOLEAN: (cell) => cell === 'true',
  STRING: (cell) => cell,
};

const required = (type: Type): ColumnType => ({ type, nullable: false });
const optional = (type: Type): ColumnType => ({ type, nullable: true });
const OHLC = ['Open', 'High', 'Low', 'Close'];
const ohlc = (of: string, type: Type) => OHLC.map((word) => [of + word, optional(type)] as const);

/** Whole cents are INT32; sizes are larger; a mid has halves. */
const TYPES: Readonly<Record<Dataset, Readonly<Record<string, ColumnType>>>> = {
  quotes: {
    at: required('TIMESTAMP'),
    yesBidCents: optional('INT32'),
    yesAskCents: optional('INT32'),
    yesBidContracts: optional('INT64'),
    yesAskContracts: optional('INT64'),
    live: required('BOOLEAN'),
  },
  trades: {
    at: required('TIMESTAMP'),
    yesPriceCents: required('INT32'),
    contracts: required('INT64'),
    side: required('STRING'),
  },
  candles: {
    start: required('TIMESTAMP'),
    end: required('TIMESTAMP'),
    ...Object.fromEntries([
      ...[...ohlc('bid', 'INT32'), ...ohlc('ask', 'INT32'), ...ohlc('mid', 'DOUBLE')],
      ...ohlc('trade', 'INT32'),
    ]),
    tradeCount: optional('INT64'),
    tradeContracts: optional('INT64'),
    vwapCents: optional('DOUBLE'),
    quotes: required('INT64'),
    liveSeconds: required('DOUBLE'),
  },
};

/**
 * Writes the CSV of an export. Memory holds one row group, however many there are. @returns how
 * many rows it has @throws if the CSV has other columns, or a value is not of its column's type
 */
export async function writeParquet(
  file: string,
  dataset: Dataset,
  pieces: AsyncIterable<Uint8Array>,
): Promise<number> {
  const columns = CSV_COLUMNS[dataset].map((name) => ({ name, ...TYPES[dataset][name]! }));
  let count = 0;
  async function* rows() {
    for await (const cells of rowsOf(dataset, pieces)) {
      count++;
      yield Object.fromEntries(columns.map(({ name, type }, at) => [name, read(cells[at]!, type)]));
    }
  }
  await parquetWriteRows({
    writer: fileWriter(file),
    rows: rows(),
    columns,
    rowGroupSize: GROUP_ROWS,
    createdBy: 'paperbook',
  });
  return count;
}

const read = (cell: string, type: Type) => (cell === '' ? null : READ[type](cell));

/** The cells of each line after the line that names the columns. */
async function* rowsOf(dataset: Dataset, pieces: AsyncIterable<Uint8Array>) {
  const heading = CSV_COLUMNS[dataset].join(',');
  let isFirst = true;
  const lines = new LineSplitter();
  for await (const piece of pieces) {
    for (const line of lines.push(Buffer.from(piece))) {
      if (isFirst && line !== heading) throw new Error(`the export has other columns: ${line}`);
      if (!isFirst) yield line.split(',');
      isFirst = false;
    }
  }
}

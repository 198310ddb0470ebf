/**
 * Orders that one really had at the venue, from a CSV file of their fills. Rules X16, X17
 * (feeds/FORMATS.md).
 */
import type { Action, ContractsE2, EpochMs, PriceE4, Side } from '../../engine/base/units.ts';
import type { Micros } from '../../engine/rules/exact.ts';
import { parseInstant } from '../../feeds/reading/instant.ts';

export type RealFill = {
  atMs: EpochMs;
  priceE4: PriceE4;
  contractsE2: ContractsE2;
  fee: Micros;
};

export type RealOrder = {
  /** The line of its first fill. */
  line: number;
  orderId: string | null;
  ticker: string;
  side: Side;
  action: Action;
  placedAtMs: EpochMs;
  /** Null: a market order. */
  limit: PriceE4 | null;
  /** By time. */
  fills: RealFill[];
};

/** A file has all of these. */
const NEEDED = [
  'at',
  'ticker',
  'side',
  'action',
  'priceDollars',
  'contracts',
  'feeDollars',
] as const;
/** A column that the file does not have is empty in every row. */
const OPTIONAL = ['orderId', 'placedAt', 'limitDollars'] as const;
const COLUMNS = [...NEEDED, ...OPTIONAL] as const;
type Column = (typeof COLUMNS)[number];

/** A row of the file, and where it is. */
type Row = { line: number; cells: Record<Column, string> };

/** @throws Error with the line and the column of what cannot be read */
export function realOrdersOf(csv: string): RealOrder[] {
  const orders: RealOrder[] = [];
  const byId = new Map<string, { order: RealOrder; row: Row }>();
  for (const row of rowsOf(csv)) {
    const { orderId, fills } = orderOf(row);
    const known = orderId === null ? undefined : byId.get(orderId);
    if (known === undefined) {
      const order = orderOf(row);
      orders.push(order);
      if (orderId !== null) byId.set(orderId, { order, row });
      continue;
    }
    for (const name of OF_ORDER) {
      if (row.cells[name] === known.row.cells[name]) continue;
      throw problem(row, name, `is not that of line ${known.row.line}, the same order`);
    }
    known.order.fills.push(...fills);
  }
  if (orders.length === 0) throw new Error('no fill is in it');
  for (const order of orders) {
    order.fills.sort((a, b) => a.atMs - b.atMs);
    // An order without a time of its own came as its first fill did.
    order.placedAtMs = Math.min(order.placedAtMs, order.fills[0]!.atMs);
  }
  return orders;
}

/** What all fills of an order have in common. */
const OF_ORDER = ['ticker', 'side', 'action', 'placedAt', 'limitDollars'] as const;

function orderOf(row: Row): RealOrder {
  const { cells, line } = row;
  const atMs = instant(row, 'at');
  const placedAtMs = cells.placedAt === '' ? atMs : instant(row, 'placedAt');
  if (placedAtMs > atMs) throw problem(row, 'placedAt', 'is later than at');
  if (cells.ticker === '') throw problem(row, 'ticker', 'is empty');
  const action = word(row, 'action', ['buy', 'sell']);
  const priceE4 = decimal(row, 'priceDollars', PRICE);
  const limit = cells.limitDollars === '' ? null : decimal(row, 'limitDollars', PRICE);
  if (limit !== null && (action === 'buy' ? priceE4 > limit : priceE4 < limit)) {
    throw problem(row, 'priceDollars', 'is beyond limitDollars');
  }
  const contractsE2 = decimal(row, 'contracts', SIZE);
  const fill = { atMs, priceE4, contractsE2, fee: decimal(row, 'feeDollars', FEE) };
  return {
    ...{ line, orderId: cells.orderId === '' ? null : cells.orderId, ticker: cells.ticker },
    ...{ side: word(row, 'side', ['yes', 'no']), action, placedAtMs, limit, fills: [fill] },
  };
}

/** A decimal text as a whole number of its smallest part. */
type Decimal = { decimals: number; least: number; most: number; form: string };
const PRICE: Decimal = {
  ...{ decimals: 4, least: 1, most: 9999 },
  form: 'must be dollars between 0 and 1, as 0.40, with at most 4 decimals',
};
const SIZE: Decimal = {
  ...{ decimals: 2, least: 1, most: 1e13 },
  form: 'must be a number above 0, with at most 2 decimals',
};
const FEE: Decimal = {
  ...{ decimals: 6, least: -1e14, most: 1e14 },
  form: 'must be a number, with at most 6 decimals',
};

function decimal(row: Row, name: Column, { decimals, least, most, form }: Decimal): number {
  const match = /^(-?)(?=\.?\d)(\d{0,11})(?:\.(\d*))?$/.exec(row.cells[name]);
  if (match === null) throw problem(row, name, form);
  const [, sign, whole = '', fraction = ''] = match;
  const significant = fraction.replace(/0+$/, '');
  if (significant.length > decimals) throw problem(row, name, form);
  const value = Number(`${whole}${significant.padEnd(decimals, '0')}`);
  const signed = sign === '-' ? 0 - value : value;
  if (signed < least || signed > most) throw problem(row, name, form);
  return signed;
}

function instant(row: Row, name: Column): EpochMs {
  const atMs = parseInstant(row.cells[name]);
  if (atMs === null) throw problem(row, name, 'must be a date-time with a zone');
  return atMs;
}

function word<Word extends string>(row: Row, name: Column, words: readonly Word[]): Word {
  const found = words.find((one) => one === row.cells[name]);
  if (found === undefined) throw problem(row, name, `must be ${words.join(' or ')}`);
  return found;
}

function problem({ line }: { line: number }, name: string, message: string): Error {
  return new Error(`line ${line}, ${name}: ${message}`);
}

/** The rows under the heading, whose columns may be in any order. */
function* rowsOf(csv: string): Generator<Row> {
  const lines = linesOf(csv.replace(/^\ufeff/, ''));
  const heading = lines.next().value as Line | undefined;
  if (heading === undefined) throw new Error('it is empty');
  const names = heading.cells.map((name) => name.trim());
  for (const [at, name] of names.entries()) {
    if (names.indexOf(name) < at) throw problem(heading, name, 'is there twice');
    if (!COLUMNS.some((column) => column === name)) {
      throw problem(heading, name === '' ? `column ${at + 1}` : name, 'is no column of fills');
    }
  }
  for (const name of NEEDED) {
    if (!names.includes(name)) throw problem(heading, name, 'is missing');
  }
  for (const { line, cells } of lines) {
    if (cells.every((cell) => cell.trim() === '')) continue;
    if (cells.length !== names.length) {
      const name = names[cells.length] ?? `column ${names.length + 1}`;
      throw problem({ line }, name, `the row has ${cells.length} cells, not ${names.length}`);
    }
    const empty = OPTIONAL.map((name) => [name, '']);
    const named = names.map((name, at) => [name, cells[at]!.trim()]);
    yield { line, cells: Object.fromEntries([...empty, ...named]) };
  }
}

type Line = { line: number; cells: string[] };

/** RFC 4180: a cell in quotes may hold commas, line ends and doubled quotes. */
function* linesOf(csv: string): Generator<Line> {
  let line = 1;
  let cells: string[] = [];
  let first = line;
  const cell = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r?\n|$)/y;
  while (cell.lastIndex < csv.length) {
    const match = cell.exec(csv);
    if (match === null) throw new Error(`line ${line}: a quote is not closed, or not alone`);
    const [, text = '', end = ''] = match;
    cells.push(text.startsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : text);
    line += text.split('\n').length - 1;
    if (end === ',' && cell.lastIndex < csv.length) continue;
    if (end === ',') cells.push('');
    yield { line: first, cells };
    cells = [];
    line++;
    first = line;
  }
}

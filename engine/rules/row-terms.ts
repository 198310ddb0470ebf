/**
 * Reads and writes the terms of an order in the columns of its row and of the position that it
 * opens. It is compiled from order-terms.ts once, because a loop would look up each term at every
 * order.
 */

import type { OrderRow, PositionRow } from '../base/units.ts';
import { actionOf, type Flags, isPlacedPrivate, routingOf } from './flags.ts';
import {
  COLUMN_TERM_NAMES,
  type FlagTerm,
  ORDER_TERM_NAMES,
  ORDER_TERMS,
  type OrderTerms,
  type TermForm,
  TRADE_COLUMN_NAMES,
  TRADE_TERM_NAMES,
  type TradeTerms,
} from './order-terms.ts';
import type { OrderTable, PositionTable } from './state.ts';

/**
 * Source text: converts a value to its number in a column, and back. `words`: the list of words.
 */
type Code = {
  to: (value: string, words: string) => string;
  of: (code: string, words: string) => string;
};
const ZERO_FOR_NULL: Code = {
  to: (value) => `(${value} ?? 0)`,
  of: (code) => `(${code} || null)`,
};
export const CODES: Record<TermForm, Code> = {
  word: {
    to: (value, words) => `${words}.indexOf(${value})`,
    of: (code, words) => `${words}[${code}]`,
  },
  'word or null': {
    to: (value, words) => `${words}.indexOf(${value}) + 1`,
    of: (code, words) => `(${words}[${code} - 1] ?? null)`,
  },
  flag: { to: (value) => `(${value} ? 1 : 0)`, of: (code) => `${code} === 1` },
  'small or null': ZERO_FOR_NULL,
  'time or null': ZERO_FOR_NULL,
  'number or null': ZERO_FOR_NULL,
};

const FLAGS: { [K in FlagTerm]: (flags: Flags) => OrderTerms[K] } = {
  action: actionOf,
  routing: routingOf,
  placedPrivate: isPlacedPrivate,
};

/** Writes the terms that have columns of their own. */
export const writeOrderTerms: (
  col: ReturnType<OrderTable['change']>,
  row: OrderRow,
  terms: OrderTerms,
) => void = compiled(
  ['col', 'row', 'terms'],
  COLUMN_TERM_NAMES.map((name) => `col.${name}.set(row, ${codeOf(name).to(`terms.${name}`)});`),
);

/** The terms of an order that rests, or has just ended. */
export const orderTermsAt: (col: OrderTable['col'], row: OrderRow) => OrderTerms = compiled(
  ['col', 'row'],
  [`return ${readFrom(ORDER_TERM_NAMES)};`],
);

export const tradeTermsAt: (col: PositionTable['col'], row: PositionRow) => TradeTerms = compiled(
  ['col', 'row'],
  [`return ${readFrom(TRADE_TERM_NAMES)};`],
);

/** Readers of single terms: a fact of a trade needs no object of all terms. */
export const TRADE_TERM_READERS = Object.fromEntries(
  TRADE_TERM_NAMES.map((name) => [name, compiled(['col', 'row'], [`return ${termFrom(name)};`])]),
) as { [K in keyof TradeTerms]: (col: PositionTable['col'], row: PositionRow) => TradeTerms[K] };

/** Copies an order's terms, except its flags, to the position that it opens. */
export const copyTradeTerms: (
  to: ReturnType<PositionTable['change']>,
  position: PositionRow,
  from: OrderTable['col'],
  order: OrderRow,
) => void = compiled(
  ['to', 'position', 'from', 'order'],
  TRADE_COLUMN_NAMES.map((name) => `to.${name}.set(position, from.${name}.get(order));`),
);

function codeOf(name: keyof OrderTerms) {
  const { to, of } = CODES[ORDER_TERMS[name].is.form];
  const words = `${name}Words`;
  return { to: (value: string) => to(value, words), of: (code: string) => of(code, words) };
}

/** An object of these terms, of the row `row` of the columns `col`. */
function readFrom(names: readonly (keyof OrderTerms)[]): string {
  return `{ ${names.map((name) => `${name}: ${termFrom(name)}`).join(', ')} }`;
}

function termFrom(name: keyof OrderTerms): string {
  const { row } = ORDER_TERMS[name];
  if (row === 'flags') return `${name}Of(col.flags.get(row))`;
  if (row === 'column') return codeOf(name).of(`col.${name}.get(row)`);
  return JSON.stringify(row.always);
}

function compiled<Compiled>(parameters: string[], statements: string[]): Compiled {
  const words = ORDER_TERM_NAMES.map((name) => `const ${name}Words = TERMS.${name}.is.words;`);
  const flags = Object.keys(FLAGS).map((name) => `const ${name}Of = FLAGS.${name};`);
  const source = `${[...words, ...flags].join(' ')} return (${parameters.join(', ')}) => { ${statements.join('\n')} };`;
  return new Function('TERMS', 'FLAGS', source)(ORDER_TERMS, FLAGS) as Compiled;
}

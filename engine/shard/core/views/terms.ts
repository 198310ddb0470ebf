/** The terms of an order that answers show by their names, unchanged. */
import { type JsonWriter, memberNames, type Piece } from '../../../format/json-writer.ts';
import {
  ORDER_TERM_NAMES,
  ORDER_TERMS,
  type OrderTerms,
  type ShownForm,
  TRADE_TERM_NAMES,
  type TradeTerms,
} from '../../../rules/order-terms.ts';

/** How a term is written. */
export const WRITTEN_BY = {
  word: 'text',
  'word or null': 'text',
  flag: 'flag',
  'small or null': 'number',
} as const satisfies Record<ShownForm, keyof JsonWriter>;

/** Members of an object: `,"placedVia":"api",…`. */
export const writeOrderTerms = membersOf<OrderTerms>(ORDER_TERM_NAMES);
export const writeTradeTerms = membersOf<TradeTerms>(TRADE_TERM_NAMES);

type Members<Terms> = (to: JsonWriter, terms: Terms) => void;

/** Compiled once: a loop would look up each term for every order. */
function membersOf<Terms>(all: readonly (keyof OrderTerms)[]): Members<Terms> {
  const shown = all.filter((name) => ORDER_TERMS[name].shown);
  const writes = shown.map((name) => {
    return `to.${WRITTEN_BY[ORDER_TERMS[name].is.form as ShownForm]}(names.${name}, terms.${name});`;
  });
  const make = new Function('names', `return (to, terms) => { ${writes.join(' ')} };`);
  return (make as (names: Record<string, Piece>) => Members<Terms>)(memberNames(...shown));
}

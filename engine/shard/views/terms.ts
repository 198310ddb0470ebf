/** The terms of an order that answers show by their names, as they are. */
import {
  ORDER_TERM_NAMES,
  ORDER_TERMS,
  type OrderTerms,
  type TermForm,
  TRADE_TERM_NAMES,
  type TradeTerms,
} from '../../rules/order-terms.ts';
import { isoOf } from '../../rules/units.ts';
import { wordText } from './json.ts';

/** Source text: the JSON of a value. */
const JSON_OF: Record<TermForm, (value: string) => string> = {
  word: (value) => `'"' + ${value} + '"'`,
  'word or null': (value) => `wordText(${value})`,
  flag: (value) => value,
  'small or null': (value) => value,
  'time or null': (value) => `wordText(${value} === null ? null : isoOf(${value}))`,
};

/** `,"statedProbPct":61,…`: members of a JSON object, a comma before each. */
export const orderTermsText = membersOf<OrderTerms>(ORDER_TERM_NAMES);
export const tradeTermsText = membersOf<TradeTerms>(TRADE_TERM_NAMES);

function membersOf<Terms>(names: readonly (keyof OrderTerms)[]): (terms: Terms) => string {
  const members = names
    .filter((name) => ORDER_TERMS[name].shown)
    .map((name) => `',"${name}":' + ${JSON_OF[ORDER_TERMS[name].is.form](`terms.${name}`)}`);
  const source = `return (terms) => ${members.join(' + ')};`;
  return new Function('wordText', 'isoOf', source)(wordText, isoOf) as (terms: Terms) => string;
}

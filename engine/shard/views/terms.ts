/** The terms of an order that answers show by their names, as they are. */
import {
  ORDER_TERM_NAMES,
  ORDER_TERMS,
  type OrderTerms,
  type ShownForm,
  TRADE_TERM_NAMES,
  type TradeTerms,
} from '../../rules/order-terms.ts';

/** Source text: the JSON of a value. */
export const JSON_OF: Record<ShownForm, (value: string) => string> = {
  word: (value) => `'"' + ${value} + '"'`,
  'word or null': (value) => `(${value} === null ? 'null' : '"' + ${value} + '"')`,
  flag: (value) => value,
  'small or null': (value) => value,
};

/** `,"statedProbPct":61,…`: members of a JSON object, a comma before each. */
export const orderTermsText = membersOf<OrderTerms>(ORDER_TERM_NAMES);
export const tradeTermsText = membersOf<TradeTerms>(TRADE_TERM_NAMES);

function membersOf<Terms>(names: readonly (keyof OrderTerms)[]): (terms: Terms) => string {
  const members = names
    .filter((name) => ORDER_TERMS[name].shown)
    .map(
      (name) =>
        `',"${name}":' + ${JSON_OF[ORDER_TERMS[name].is.form as ShownForm](`terms.${name}`)}`,
    );
  return new Function('terms', `return ${members.join(' + ')};`) as (terms: Terms) => string;
}

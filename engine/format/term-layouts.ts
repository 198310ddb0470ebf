/** The terms of an order as bytes: in a fact, which is on disk, and in a message. */
import {
  ORDER_TERM_NAMES,
  ORDER_TERMS,
  type OrderTerms,
  type TermForm,
  TRADE_TERM_NAMES,
  type TradeTerms,
} from '../rules/order-terms.ts';
import { f64, flag, type Layout, type Layouts, nullable, orNull, u8, u48, word } from './layout.ts';

type LayoutOf = (words: readonly string[]) => Layout<never>;

const IN_FACTS: Record<TermForm, LayoutOf> = {
  word: (words) => word(...words) as Layout<never>,
  'word or null': (words) => nullable(word(...words)) as Layout<never>,
  flag: () => flag as Layout<never>,
  'small or null': () => orNull(u8) as Layout<never>,
  'time or null': () => nullable(u48) as Layout<never>,
  'number or null': () => nullable(u48) as Layout<never>,
};

/** A number is sent at full width. The rules refuse a number that is too large. */
const IN_MESSAGES: Record<TermForm, LayoutOf> = {
  ...IN_FACTS,
  'small or null': () => nullable(f64) as Layout<never>,
  'time or null': () => nullable(f64) as Layout<never>,
  'number or null': () => nullable(f64) as Layout<never>,
};

export const FACT_TERMS = layouts<OrderTerms>(ORDER_TERM_NAMES, IN_FACTS);
export const TRADE_TERMS = layouts<TradeTerms>(TRADE_TERM_NAMES, IN_FACTS);
export const MESSAGE_TERMS = layouts<OrderTerms>(ORDER_TERM_NAMES, IN_MESSAGES);

function layouts<Terms extends Partial<OrderTerms>>(
  names: readonly (keyof OrderTerms)[],
  layoutOf: Record<TermForm, LayoutOf>,
): Layouts<Terms> {
  const layoutOfTerm = (name: keyof OrderTerms) => {
    const { form, words } = ORDER_TERMS[name].is;
    return layoutOf[form](words);
  };
  return Object.fromEntries(names.map((name) => [name, layoutOfTerm(name)])) as never;
}

/**
 * The terms of an order: the caller's wishes, which never change. This is their only description.
 * Requests, events, facts, columns, answers, the audit and the tests take the terms from here, in
 * this order. format/term-layouts.ts defines their bytes. Rules T20 to T28 (engine/RULES.md).
 */

import type {
  Action,
  EpochMs,
  InstrumentNumber,
  MarketNumber,
  PlacedVia,
  PriceCents,
  Routing,
  Side,
  StreamConnection,
  TimeInForce,
} from '../base/units.ts';
import { PLACED_VIA } from '../base/units.ts';
import type { ColumnType } from '../memory/columns.ts';

/**
 * The values that a term can have. On disk a word is its index in the list: append, never reorder.
 */
type Values<Form extends TermForm, Value> = {
  readonly form: Form;
  readonly words: readonly string[];
  /** Never set: it carries the type. */
  readonly value?: Value;
};
/** The forms, each with its column type: 0 is null, a word is its index + 1. */
const COLUMN_OF = {
  word: 'u8',
  'word or null': 'u8',
  flag: 'u8',
  /** 1 to 255. */
  'small or null': 'u8',
  'time or null': 'f64',
  /** 1 to 2^48 - 1. */
  'number or null': 'f64',
} as const satisfies Record<string, ColumnType>;
export type TermForm = keyof typeof COLUMN_OF;
/** A time has another name in answers than here, and no answer has a number of 48 bits. */
export type ShownForm = Exclude<TermForm, 'time or null' | 'number or null'>;

const oneOf = <Word extends string>(...words: readonly Word[]): Values<'word', Word> => {
  return { form: 'word', words };
};
const oneOfOrNull = <Word extends string>(
  ...words: readonly Word[]
): Values<'word or null', Word | null> => ({ form: 'word or null', words });
const yesOrNo: Values<'flag', boolean> = { form: 'flag', words: [] };
const smallOrNull = <Unit extends number>(): Values<'small or null', Unit | null> => {
  return { form: 'small or null', words: [] };
};
const timeOrNull: Values<'time or null', EpochMs | null> = { form: 'time or null', words: [] };
const numberOrNull = <Unit extends number>(): Values<'number or null', Unit | null> => {
  return { form: 'number or null', words: [] };
};

type Term = {
  /** The default: the value of a market buy by the API that does not state the term. */
  readonly usual: unknown;
  /**
   * How a row stores it: in its own column, as a bit (flags.ts), or not at all if all resting
   * orders have the same value.
   */
  readonly row: 'column' | 'flags' | { readonly always: unknown };
  /**
   * True: part of the request, so a second order under the same key must have the same value (T92).
   */
  readonly asked: boolean;
  /** True: the trade that a buy opens has it too. */
  readonly ofTrade: boolean;
} & (
  | {
      readonly is: Values<ShownForm, unknown>;
      /** True: answers show it by its name, unchanged. */
      readonly shown: boolean;
    }
  | { readonly is: Values<Exclude<TermForm, ShownForm>, unknown>; readonly shown: false }
);
const ASKED = { asked: true, ofTrade: false, shown: false } as const;
const OF_TRADE = { ofTrade: true, shown: true } as const;

export const ORDER_TERMS = {
  action: { is: oneOf<Action>('buy', 'sell'), usual: 'buy', row: 'flags', ...ASKED },
  routing: { is: oneOf<Routing>('venue_a', 'best'), usual: 'venue_a', row: 'flags', ...ASKED },
  /** gtc, ioc or fok of a limit order; null for a market order. */
  timeInForce: {
    is: oneOfOrNull<TimeInForce>('gtc', 'ioc', 'fok'),
    usual: null,
    row: { always: 'gtc' },
    ...ASKED,
  },
  /** Null: a market order (T26). */
  limitPriceCents: { is: smallOrNull<PriceCents>(), usual: null, row: 'column', ...ASKED },
  /** Market orders: `maxPriceCents` of a buy, `minPriceCents` of a sell. */
  boundPriceCents: {
    is: smallOrNull<PriceCents>(),
    usual: null,
    row: { always: null },
    ...ASKED,
  },
  /** For a buy: the probability of its side as the caller states it, in percent (T23). */
  statedProbPct: {
    is: smallOrNull<number>(),
    usual: null,
    row: 'column',
    asked: true,
    ...OF_TRADE,
  },
  placedVia: {
    is: oneOf<PlacedVia>(...PLACED_VIA),
    usual: 'api',
    row: 'column',
    asked: false,
    ...OF_TRADE,
  },
  /** The account was private when the order was placed. */
  placedPrivate: { is: yesOrNo, usual: false, row: 'flags', asked: false, ...OF_TRADE },
  expiresAtMs: { is: timeOrNull, usual: null, row: 'column', ...ASKED },
  /** The order is canceled when this connection ends; null: it ends with none (T134). */
  connection: {
    is: numberOrNull<StreamConnection>(),
    usual: null,
    row: 'column',
    asked: false,
    ofTrade: false,
    shown: false,
  },
} as const satisfies Record<string, Term>;

type Terms = typeof ORDER_TERMS;
type Name = keyof Terms;
type ValueOf<T> = T extends { is: Values<TermForm, infer Value> } ? Value : never;
/** Names of the terms with a property of that kind. */
type NamesWith<Has> = { [K in Name]: Terms[K] extends Has ? K : never }[Name];

export type OrderTerms = { readonly [K in Name]: ValueOf<Terms[K]> };
/** The terms that a trade copies from the buy that opened it. */
export type TradeTerms = Pick<OrderTerms, NamesWith<{ ofTrade: true }>>;

/** A side of a market, as an instrument shows it: the subject of orders and trades. */
export type TradedSide = {
  market: MarketNumber;
  instrument: InstrumentNumber;
  /** In the venue market's terms. */
  side: Side;
  instrumentSide: Side;
};

type ColumnTerm = NamesWith<{ row: 'column' }>;
type ColumnsOf<Names extends Name> = {
  readonly [K in Names & ColumnTerm]: (typeof COLUMN_OF)[Terms[K]['is']['form']];
};
/** Terms that a row stores as bits. */
export type FlagTerm = NamesWith<{ row: 'flags' }>;

const NAMES = Object.keys(ORDER_TERMS) as Name[];
const namesWith = (has: (term: Term) => boolean) => NAMES.filter((name) => has(ORDER_TERMS[name]));

export const ORDER_TERM_NAMES: readonly Name[] = NAMES;
export const TRADE_TERM_NAMES = namesWith((term) => term.ofTrade) as readonly (keyof TradeTerms)[];
export const ASKED_TERM_NAMES: readonly Name[] = namesWith((term) => term.asked);
/** Terms with their own columns, in rows of orders and of positions. */
export const COLUMN_TERM_NAMES = NAMES.filter(hasColumn);
export const TRADE_COLUMN_NAMES = TRADE_TERM_NAMES.filter(hasColumn);

export const ORDER_TERM_COLUMNS = columnsOf(COLUMN_TERM_NAMES);
export const TRADE_TERM_COLUMNS = columnsOf(TRADE_COLUMN_NAMES);

function hasColumn<Names extends Name>(name: Names): name is Names & ColumnTerm {
  return ORDER_TERMS[name].row === 'column';
}

function columnsOf<Names extends ColumnTerm>(names: readonly Names[]): ColumnsOf<Names> {
  const columns = names.map((name) => [name, COLUMN_OF[ORDER_TERMS[name].is.form]]);
  return Object.fromEntries(columns) as ColumnsOf<Names>;
}

/** The terms of a market buy by the API that states no others. */
export const USUAL_TERMS: OrderTerms = Object.fromEntries(
  NAMES.map((name) => [name, ORDER_TERMS[name].usual]),
) as { [K in Name]: Terms[K]['usual'] };

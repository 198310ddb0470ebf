/**
 * The most frequent messages, as fixed-layout bytes, one line per field. The terms of an order come
 * from order-terms.ts. Uuids are sent as text, because reading that text costs half of building it
 * from words. This is not on disk and may change freely.
 */

import { LIQUIDITIES, type Side, type TradeUse } from '../base/units.ts';
import {
  type CancelOrder,
  type Depth,
  type HeartbeatTick,
  LEVEL_CHANGES,
  type LevelTick,
  NETTINGS,
  type PlaceOrder,
  type PrintTick,
  type QuoteTick,
  type TimeTick,
  type TradeCounting,
  type TradeLimits,
  type TradeTick,
} from '../rules/messages.ts';
import type { PortfolioQuery, QuoteQuery } from '../rules/queries.ts';
import { FEE_CHOICES, REALISM_MODELS, type Realism } from '../rules/realism.ts';
import {
  always,
  count,
  f64,
  flag,
  nullable,
  pairs,
  record,
  text,
  u8,
  u32,
  word,
} from './layout.ts';
import { MESSAGE_TERMS } from './term-layouts.ts';

const side = word<Side>('yes', 'no');

const limits = record<TradeLimits>({ newPerMinute: f64, newPerDay: f64, closingPerMinute: f64 });
const use = record<TradeUse>({ atMs: f64, newInMinute: f64, newInDay: f64, closingInMinute: f64 });
const counting = record<TradeCounting>({
  keyId: text,
  keyLimits: limits,
  accountLimits: limits,
  elsewhere: nullable(use),
});

const realism = record<Realism>({
  model: word(...REALISM_MODELS),
  latencyMs: record<Realism['latencyMs']>({ min: f64, max: f64 }),
  fees: word(...FEE_CHOICES),
  liquidity: word(...LIQUIDITIES),
});

const place = record<PlaceOrder>({
  kind: always('place'),
  atMs: f64,
  account: text,
  orderId: text,
  idempotencyKey: text,
  ...MESSAGE_TERMS,
  instrumentId: nullable(text),
  ticker: nullable(text),
  side: nullable(side),
  contracts: nullable(f64),
  tradeId: nullable(text),
  netting: nullable(word(...NETTINGS)),
  postOnly: flag,
  orderGroupId: nullable(text),
  mayOpen: flag,
  mayTrade: flag,
  rejectIfLaterThanMs: nullable(f64),
  realism: nullable(realism),
  counting: nullable(counting),
});

const cancel = record<CancelOrder>({
  kind: always('cancel'),
  atMs: f64,
  account: text,
  orderId: text,
  counting: nullable(counting),
});

const top = {
  kind: always('quote'),
  atMs: f64,
  source: u32,
  market: u32,
  yesBidCents: u8,
  yesBidContracts: count,
  yesAskCents: u8,
  yesAskContracts: count,
  crossed: flag,
} as const;
const levels = record<Depth>({ yesBids: pairs, yesAsks: pairs });
/** A quote without the levels after its top. */
const quote = record<Omit<QuoteTick, 'depth' | 'depthChange' | 'unknown' | 'sinceMs'>>(top);
/** A quote with these levels. */
const deepQuote = record<Required<Omit<QuoteTick, 'depthChange' | 'unknown' | 'sinceMs'>>>({
  ...top,
  depth: levels,
});
/** A quote with the levels that have changed. */
const changedQuote = record<Required<Omit<QuoteTick, 'depth' | 'unknown' | 'sinceMs'>>>({
  ...top,
  depthChange: levels,
});

const trade = record<TradeTick>({
  kind: always('trade'),
  atMs: f64,
  source: f64,
  market: f64,
  yesPriceCents: f64,
  contracts: f64,
  side,
});

const level = record<LevelTick>({
  kind: always('level'),
  atMs: f64,
  source: u32,
  market: u32,
  change: word(...LEVEL_CHANGES),
  side,
  price: u32,
  contracts: count,
  size: count,
  decrease: count,
});

const print = record<PrintTick>({
  kind: always('print'),
  atMs: f64,
  source: u32,
  market: u32,
  side,
  price: u32,
  contracts: count,
  decrease: count,
});

const heartbeat = record<HeartbeatTick>({ kind: always('heartbeat'), atMs: f64, source: f64 });
const time = record<TimeTick>({ kind: always('time'), atMs: f64 });

const portfolio = record<PortfolioQuery>({
  kind: always('portfolio'),
  atMs: f64,
  account: text,
  organizationSlug: nullable(text),
});

const instrumentQuote = record<QuoteQuery>({
  kind: always('instrument_quote'),
  atMs: f64,
  instrumentId: text,
});

/**
 * By kind; quotes have three layouts. Messages of other kinds are rare or contain lists, and are
 * sent as msgpack.
 */
export const MESSAGE_LAYOUTS = {
  place,
  cancel,
  quote,
  deep_quote: deepQuote,
  changed_quote: changedQuote,
  trade,
  level,
  print,
  heartbeat,
  time,
  portfolio,
  instrument_quote: instrumentQuote,
} as const;

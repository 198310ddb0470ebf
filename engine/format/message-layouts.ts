/**
 * What a shard is asked most, as fixed-layout bytes: one line a field, and a new field of an order
 * needs no other line on its way to a shard. Numbers and uuids go as they are, since reading a uuid
 * as text costs half of making its text from words. Not on disk: it may change freely.
 */
import type {
  CancelOrder,
  Depth,
  HeartbeatTick,
  PlaceOrder,
  QuoteTick,
  TimeTick,
  TradeCounting,
  TradeLimits,
  TradeTick,
} from '../rules/messages.ts';
import type { PortfolioQuery, QuoteQuery } from '../rules/queries.ts';
import { PLACED_VIA, type Side, type TradeUse } from '../rules/units.ts';
import { always, f64, flag, nullable, pairs, record, text, word } from './layout.ts';

const side = word<Side>('yes', 'no');

const limits = record<TradeLimits>({ newPerMinute: f64, newPerDay: f64, closingPerMinute: f64 });
const use = record<TradeUse>({ atMs: f64, newInMinute: f64, newInDay: f64, closingInMinute: f64 });
const counting = record<TradeCounting>({
  keyId: text,
  keyLimits: limits,
  accountLimits: limits,
  elsewhere: nullable(use),
});

const place = record<PlaceOrder>({
  kind: always('place'),
  atMs: f64,
  account: text,
  orderId: text,
  idempotencyKey: text,
  action: word('buy', 'sell'),
  type: word('market', 'limit'),
  instrumentId: nullable(text),
  ticker: nullable(text),
  side: nullable(side),
  contracts: nullable(f64),
  tradeId: nullable(text),
  limitPriceCents: nullable(f64),
  boundPriceCents: nullable(f64),
  timeInForce: nullable(word('gtc', 'ioc', 'fok')),
  expiresAtMs: nullable(f64),
  routing: word('venue_a', 'best'),
  statedProbPct: nullable(f64),
  placedVia: word(...PLACED_VIA),
  placedPrivate: flag,
  mayOpen: flag,
  mayTrade: flag,
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
  source: f64,
  market: f64,
  yesBidCents: f64,
  yesBidContracts: f64,
  yesAskCents: f64,
  yesAskContracts: f64,
  crossed: flag,
} as const;
/** A quote without the levels behind its top. */
const quote = record<Omit<QuoteTick, 'depth'>>(top);
/** A quote with them. */
const deepQuote = record<Required<QuoteTick>>({
  ...top,
  depth: record<Depth>({ yesBids: pairs, yesAsks: pairs }),
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

/** By kind, but for quotes, which have two. Messages of other kinds are rare, or hold lists: they go by msgpack. */
export const MESSAGE_LAYOUTS = {
  place,
  cancel,
  quote,
  deep_quote: deepQuote,
  trade,
  heartbeat,
  time,
  portfolio,
  instrument_quote: instrumentQuote,
} as const;

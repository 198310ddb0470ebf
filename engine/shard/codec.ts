/**
 * Messages and events as bytes: msgpack records whose field lists both ends know beforehand. An
 * object of another shape is still written, with its own field list inline.
 *
 * The lists are part of the journal's format: append to them, never change or reorder one.
 */
import { Packr } from 'msgpackr';
import type { ClosedTrade, Event, OrderOutcome } from '../core/events.ts';
import type { Command, Query, Reply, Tick, TradeCounting, TradeLimits } from '../core/messages.ts';

type Fields<T> = T extends unknown ? readonly (keyof T & string)[] : never;
type FieldsByKind<T extends { kind: string }> = {
  [K in T['kind']]: Fields<Extract<T, { kind: K }>>;
};

const EVENT_FIELDS: FieldsByKind<Event> = {
  account_opened: ['kind', 'atMs', 'account', 'accountId'],
  order_placed: [
    'kind',
    'atMs',
    'order',
    'account',
    'orderId',
    'idempotencyKey',
    'action',
    'type',
    'market',
    'instrument',
    'side',
    'instrumentSide',
    'byTicker',
    'contracts',
    'position',
    'tradeId',
    'limitPriceCents',
    'boundPriceCents',
    'timeInForce',
    'expiresAtMs',
    'routing',
    'statedProbPct',
    'placedVia',
    'placedPrivate',
    'rests',
  ],
  order_filled: ['kind', 'atMs', 'order', 'priceCents', 'venue'],
  order_ended: ['kind', 'atMs', 'order', 'status', 'reason'],
  position_settled: ['kind', 'atMs', 'position', 'proceedsCents', 'outcome'],
  market_resolved: ['kind', 'atMs', 'market', 'outcome'],
  game_changed: ['kind', 'atMs', 'game', 'status'],
  cash_adjusted: ['kind', 'atMs', 'account', 'amountCents'],
  catalog_replaced: ['kind', 'atMs', 'catalog'],
  trade_counted: ['kind', 'atMs', 'account', 'keyId', 'closing'],
};

const OUTCOME_FIELDS: Fields<OrderOutcome> = [
  'atMs',
  'status',
  'reason',
  'fillPriceCents',
  'venue',
  'tradeId',
];

const TRADE_FIELDS: Fields<ClosedTrade> = [
  'tradeId',
  'account',
  'market',
  'instrument',
  'side',
  'instrumentSide',
  'contracts',
  'costCents',
  'entryPriceCents',
  'statedProbPct',
  'placedVia',
  'placedPrivate',
  'venue',
  'openedAtMs',
  'closedAtMs',
  'status',
  'closeReason',
  'proceedsCents',
  'outcome',
];

const TICK_FIELDS: FieldsByKind<Tick> = {
  quote: [
    'kind',
    'atMs',
    'source',
    'market',
    'yesBidCents',
    'yesBidContracts',
    'yesAskCents',
    'yesAskContracts',
    'crossed',
  ],
  trade: ['kind', 'atMs', 'source', 'market', 'yesPriceCents', 'contracts', 'side'],
  status: ['kind', 'atMs', 'source', 'market', 'status'],
  result: ['kind', 'atMs', 'source', 'market', 'outcome', 'yesPayoutCents', 'noPayoutCents'],
  game: ['kind', 'atMs', 'source', 'game', 'status'],
  heard: ['kind', 'atMs', 'source'],
  down: ['kind', 'atMs', 'source'],
  time: ['kind', 'atMs'],
};

type HotRequest = Extract<
  Command | Query,
  { kind: 'place' | 'cancel' | 'portfolio' | 'instrument_quote' }
>;
const REQUEST_FIELDS: FieldsByKind<HotRequest> = {
  place: [
    'kind',
    'atMs',
    'account',
    'orderId',
    'idempotencyKey',
    'action',
    'type',
    'instrumentId',
    'ticker',
    'side',
    'contracts',
    'tradeId',
    'limitPriceCents',
    'boundPriceCents',
    'timeInForce',
    'expiresAtMs',
    'routing',
    'statedProbPct',
    'placedVia',
    'placedPrivate',
    'mayOpen',
    'counting',
  ],
  cancel: ['kind', 'atMs', 'account', 'orderId', 'counting'],
  portfolio: ['kind', 'atMs', 'account', 'organizationSlug'],
  instrument_quote: ['kind', 'atMs', 'instrumentId'],
};

const REPLY_FIELDS: Fields<Reply>[] = [
  ['ok', 'body'],
  ['ok', 'code', 'message'],
  ['ok', 'code', 'message', 'retryAfterSeconds'],
];

function createCodec<T>(fieldLists: readonly (readonly string[])[]) {
  const packr = new Packr({
    structures: fieldLists.map((fields) => [...fields]),
    // No room to learn more: what a writer learned, a later reader could not know.
    maxSharedStructures: fieldLists.length,
  });
  return {
    /** A buffer of its own, safe to keep and to transfer. */
    pack: (value: T): Uint8Array<ArrayBuffer> => Uint8Array.from(packr.pack(value)),
    unpack: (bytes: Uint8Array): T => packr.unpack(bytes) as T,
  };
}

/** One batch's events, as the journal keeps them. */
export const eventsCodec = createCodec<Event[]>(Object.values(EVENT_FIELDS));

/** Rows of the archive tables. */
export const recordCodec = createCodec<unknown>([
  EVENT_FIELDS.order_placed,
  OUTCOME_FIELDS,
  TRADE_FIELDS,
]);

/** What a shard is asked. Ticks are not answered. */
export type Message = Tick | Command | Query;
const COUNTING_FIELDS: (readonly string[])[] = [
  ['keyId', 'keyLimits', 'accountLimits'] satisfies Fields<TradeCounting>,
  ['newPerMinute', 'newPerDay', 'closingPerMinute'] satisfies Fields<TradeLimits>,
];
export const messagesCodec = createCodec<Message[]>([
  ...COUNTING_FIELDS,
  ...Object.values(TICK_FIELDS),
  ...Object.values(REQUEST_FIELDS),
]);

/** Its answers, in the order of the commands and queries asked. */
export const repliesCodec = createCodec<Reply[]>(REPLY_FIELDS);

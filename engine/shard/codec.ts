/**
 * Messages as bytes: msgpack records whose field lists both ends know beforehand. An object of
 * another shape is still written, with its own field list inline.
 */
import { Packr } from 'msgpackr';
import type {
  Command,
  Depth,
  Query,
  QuoteTick,
  Reply,
  Tick,
  TradeCounting,
  TradeLimits,
} from '../core/messages.ts';

type Fields<T> = T extends unknown ? readonly (keyof T & string)[] : never;
type FieldsByKind<T extends { kind: string }> = {
  [K in T['kind']]: Fields<Extract<T, { kind: K }>>;
};

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

/** A quote where the fill model walks its levels. */
const DEPTH_FIELDS: (readonly string[])[] = [
  [...TICK_FIELDS.quote, 'depth'] satisfies Fields<QuoteTick>,
  ['yesBids', 'yesAsks'] satisfies Fields<Depth>,
];

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

/** The small state that a checkpoint keeps beside its pages. */
export const headCodec = createCodec<object>([]);

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
  ...DEPTH_FIELDS,
]);

/** Its answers, in the order of the commands and queries asked; null: not taken, the disk is full. */
export const repliesCodec = createCodec<(Reply | null)[]>(REPLY_FIELDS);

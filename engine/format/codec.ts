/**
 * Messages as bytes: msgpack records whose field lists both ends know beforehand. An object of
 * another shape is still written, with its own field list inline. Orders go as rows.
 */
import { Packr } from 'msgpackr';
import type { Command, Depth, QuoteTick, Reply, Tick } from '../rules/messages.ts';
import type { Query } from '../rules/queries.ts';
import { commandOf, type Row, rowOf } from './hop-tuples.ts';

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
  heartbeat: ['kind', 'atMs', 'source'],
  down: ['kind', 'atMs', 'source'],
  time: ['kind', 'atMs'],
};

/** A quote where the fill model walks its levels. */
const DEPTH_FIELDS: (readonly string[])[] = [
  [...TICK_FIELDS.quote, 'depth'] satisfies Fields<QuoteTick>,
  ['yesBids', 'yesAsks'] satisfies Fields<Depth>,
];

type HotQuery = Extract<Query, { kind: 'portfolio' | 'instrument_quote' }>;
const QUERY_FIELDS: FieldsByKind<HotQuery> = {
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
    // A writer may not learn new shapes: a later reader could not know them.
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

const sentCodec = createCodec<(Message | Row)[]>([
  ...Object.values(TICK_FIELDS),
  ...Object.values(QUERY_FIELDS),
  ...DEPTH_FIELDS,
]);
const sentOf = (message: Message): Message | Row =>
  message.kind === 'place' || message.kind === 'cancel' ? rowOf(message) : message;
const messageOf = (sent: Message | Row): Message => ('kind' in sent ? sent : commandOf(sent));

export const messagesCodec = {
  pack: (messages: readonly Message[]) => sentCodec.pack(messages.map(sentOf)),
  unpack: (bytes: Uint8Array): Message[] => sentCodec.unpack(bytes).map(messageOf),
};

/** Its answers, in the order of the commands and queries asked; null: not taken, the disk is full. */
export const repliesCodec = createCodec<(Reply | null)[]>(REPLY_FIELDS);

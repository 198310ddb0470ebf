/** The form of clients' messages, by `op`. Rules J3, J4 (api/RULES.md). */
import { type Static, type TProperties, type TSchema, Type } from '@sinclair/typebox';
import { strict } from '../base/common-schemas.ts';
import { invalidRequest } from '../base/errors.ts';
import { valueReader } from '../base/validation.ts';

/** Names of channels; the name of a quote channel ends with the instrument. */
export const ORDERS = 'orders';
export const GAMES = 'games';
export const QUOTES = 'quotes:';
/** At most so many channels a connection. */
export const CHANNELS_MAX = 200;
const ID_CHARACTERS_MAX = 128;

function messageOf<const Op extends string, P extends TProperties>(op: Op, fields: P) {
  return strict({ id: Type.Optional(Type.Unknown()), op: Type.Literal(op), ...fields });
}

const channels = Type.Array(Type.String(), { minItems: 1 });
const channelName = Type.String({
  pattern: `^(${ORDERS}|${GAMES}|${QUOTES}.*)$`,
  description: `${QUOTES}ins_..., ${GAMES} or ${ORDERS}`,
});
const organization = Type.Optional(Type.String({ format: 'uuid' }));
const SCHEMAS = {
  subscribe: messageOf('subscribe', {
    channels: Type.Array(channelName),
    after: Type.Optional(strict({ orders: Type.Optional(Type.String()) })),
    cancelOnDisconnect: Type.Optional(Type.Literal(true)),
  }),
  unsubscribe: messageOf('unsubscribe', { channels }),
  ping: messageOf('ping', {}),
  place: messageOf('place', { order: Type.Unknown(), organization }),
  cancel: messageOf('cancel', { orderId: Type.String(), organization }),
  cancel_all: messageOf('cancel_all', { instrumentId: Type.Optional(Type.String()), organization }),
} as const;

type Schemas = typeof SCHEMAS;
type Op = keyof Schemas;
export type Messages = { [K in Op]: Static<Schemas[K]> };
export type ClientMessage = Messages[Op];
/** An answer that an HTTP route gives, too. */
export type OrderMessage = Messages['place' | 'cancel' | 'cancel_all'];

export function isOrder(message: ClientMessage): message is OrderMessage {
  return message.op === 'place' || message.op === 'cancel' || message.op === 'cancel_all';
}

/**
 * The parts of a message about orders that an HTTP request has in its path, its query, its body.
 */
export function requestOf(message: OrderMessage) {
  switch (message.op) {
    case 'place':
      return { param: '', body: message.order };
    case 'cancel':
      return { param: message.orderId, body: null };
    case 'cancel_all': {
      const { instrumentId } = message;
      const query = instrumentId === undefined ? '' : new URLSearchParams({ instrumentId });
      return { param: '', query: String(query), body: null };
    }
    default:
      return message satisfies never;
  }
}

const OPS = Object.keys(SCHEMAS) as Op[];
const READERS = new Map<unknown, (value: unknown) => unknown>(
  OPS.map((op) => [op, valueReader<TSchema>(SCHEMAS[op], 'field')]),
);

/** Throws `invalid_request` naming the field. */
export function readMessage(value: object): ClientMessage {
  const { op } = value as { op?: unknown };
  const read = READERS.get(op);
  if (read === undefined) throw invalidRequest(`op must be one of ${OPS.join(', ')}`);
  return read(value) as ClientMessage;
}

/** The `id` of a message as JSON text; `null` without one. Throws `invalid_request`. */
export function idText(value: object): string {
  const { id = null } = value as { id?: unknown };
  const isId =
    id === null ||
    Number.isSafeInteger(id) ||
    (typeof id === 'string' && id.length <= ID_CHARACTERS_MAX);
  if (isId) return JSON.stringify(id);
  throw invalidRequest(`id must be a whole number, or at most ${ID_CHARACTERS_MAX} characters`);
}

/**
 * The pieces every wire schema is made of. Schemas are the one source of the types, the validators
 * and the API description. SPEC.md sections 1 and 2, CONTRACT.md section 1.
 */

import {
  type SchemaOptions,
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
  Type,
} from '@sinclair/typebox';
import { GAME_STATUSES } from '../../engine/core/units.ts';
import { ERRORS, type ErrorCode } from '../errors.ts';

/** An object without any other field. */
export function strict<P extends TProperties>(properties: P, options: SchemaOptions = {}) {
  return Type.Object(properties, { ...options, additionalProperties: false });
}

/** One of a few strings. */
export function oneOf<const V extends readonly string[]>(values: V, options: SchemaOptions = {}) {
  return Type.Unsafe<V[number]>({ ...options, type: 'string', enum: [...values] });
}

/** The value or null. */
export function nullable<T extends TSchema>(schema: T) {
  return Type.Unsafe<Static<T> | null>({ anyOf: [schema, { type: 'null' }] });
}

export const Uuid = Type.String({ format: 'uuid' });
export const DateTime = Type.String({ format: 'date-time' });
/** Dollars with at most two decimals. */
export const Dollars = Type.Number();
export const Count = Type.Integer({ minimum: 0 });
export const PriceCents = Type.Integer({ minimum: 1, maximum: 99 });
export const Contracts = Type.Integer({ minimum: 1 });
export const Mode = oneOf(['paper']);
export const SideSchema = oneOf(['yes', 'no']);
export const VenueSchema = oneOf(['venue_a', 'venue_b', 'venue_c', 'venue_c_intl']);
export const GameStatusSchema = oneOf(GAME_STATUSES);

const ID_LETTERS = '0-9A-HJKMNP-TV-Z';
export const InstrumentId = Type.String({
  pattern: `^ins_[${ID_LETTERS}]{12}$`,
  description: `ins_ and 12 characters of ${ID_LETTERS}`,
});
export const GameId = Type.String({ pattern: `^game_[${ID_LETTERS}]{10}$` });

/** What an opaque cursor is to a schema; its content is checked where it is read. */
export const Cursor = Type.String({ minLength: 1, maxLength: 256 });
export const NextCursor = nullable(Type.String());

/** `limit` of a paged list. SPEC.md section 8, Pagination. */
export function limitOf(maximum: number, defaultLimit: number) {
  return Type.Integer({ minimum: 1, maximum, default: defaultLimit });
}

/** SPEC.md section 2, Error. */
export const ErrorAnswer = strict({
  error: strict({
    code: oneOf(Object.keys(ERRORS) as ErrorCode[]),
    message: Type.String({ minLength: 1 }),
    retryAfterSeconds: Type.Optional(Type.Integer({ minimum: 1 })),
  }),
});

/** A route without query parameters. */
export const NoQuery: TObject<TProperties> = strict({});

/**
 * The parts of every wire schema. Types, validators and the API description all derive from the
 * schemas. A `title` makes a schema a named component. Rules A3 to A7, P1, E1 (api/RULES.md).
 */

import {
  type SchemaOptions,
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
  Type,
} from '@sinclair/typebox';
import { GAME_STATUSES, VENUES } from '../../engine/base/units.ts';
import { ERRORS, type ErrorCode } from './errors.ts';

/** An object without any other field. */
export function strict<P extends TProperties>(properties: P, options: SchemaOptions = {}) {
  return Type.Object(properties, { ...options, additionalProperties: false });
}

/** One of a few strings. */
export function oneOf<const V extends readonly string[]>(values: V, options: SchemaOptions = {}) {
  return Type.Unsafe<V[number]>({ ...options, type: 'string', enum: [...values] });
}

/** The value or null. */
export function nullable<T extends TSchema>(schema: T, options: SchemaOptions = {}) {
  return Type.Unsafe<Static<T> | null>({ ...options, anyOf: [schema, { type: 'null' }] });
}

const IN_PLACE = Symbol('said of a schema in one place');

/** The same schema, with an additional description for one place. */
export function described<T extends TSchema>(schema: T, text: string): T {
  return { ...schema, [IN_PLACE]: text };
}

/** The text given to `described`; undefined without one. */
export function saidInPlace(schema: object): string | undefined {
  return (schema as { [IN_PLACE]?: string })[IN_PLACE];
}

const AS_PARAMETER = Symbol('how a parameter of this schema is described');

/** A parameter as OpenAPI describes it, beside its name. */
export type ShownParameter = { schema: object; style?: string; explode?: boolean };

/** The same schema of a query's text, described as what a client sends by that text. */
export function shownAs<T extends TSchema>(schema: T, parameter: ShownParameter): T {
  return { ...schema, [AS_PARAMETER]: parameter };
}

/** The parameter given to `shownAs`; undefined without one. */
export function shownParameter(schema: object): ShownParameter | undefined {
  return (schema as { [AS_PARAMETER]?: ShownParameter })[AS_PARAMETER];
}

/** `true` or `false` in a query, described as a boolean. */
export function flag(description: string) {
  const schema = Type.Boolean({ description, examples: [true] });
  return shownAs(oneOf(['true', 'false'], { description }), { schema });
}

/** Texts in a query with commas between, described as a list. */
export function listed(description: string, lengthMax?: number) {
  const schema = Type.Array(Type.String({ minLength: 1 }), { minItems: 1, description });
  const longest = lengthMax === undefined ? {} : { maxLength: lengthMax };
  const text = Type.String({ minLength: 1, ...longest, description });
  return shownAs(text, { schema, style: 'form', explode: false });
}

export const Uuid = Type.String({ format: 'uuid' });
export const DateTime = Type.String({ format: 'date-time' });
/** Dollars with at most two decimals. */
export const Dollars = Type.Number();
export const Count = Type.Integer({ minimum: 0 });
export const PriceCents = Type.Integer({ minimum: 1, maximum: 99 });
export const Contracts = Type.Integer({ minimum: 1 });
export const Mode = oneOf(['paper'], { description: 'Every trade is a paper trade.' });
export const AsOf = Type.String({ format: 'date-time', description: 'Time of this answer.' });
export const VenueDataOn = Type.Boolean({
  description: 'Whether the venue-data switch is on: else no venue reference or price is here.',
});
export const SideSchema = oneOf(['yes', 'no'], { title: 'Side' });
export const VenueSchema = oneOf(VENUES, { title: 'Venue' });
export const GameStatusSchema = oneOf(GAME_STATUSES, { title: 'GameStatus' });

const ID_LETTERS = '0-9A-HJKMNP-TV-Z';
export const InstrumentId = Type.String({
  pattern: `^ins_[${ID_LETTERS}]{12}$`,
  description: `ins_ and 12 characters of ${ID_LETTERS}`,
});
export const GameId = Type.String({
  pattern: `^game_[${ID_LETTERS}]{10}$`,
  description: `game_ and 10 characters of ${ID_LETTERS}`,
});

export const IdempotencyKey = Type.String({
  pattern: '^[!-~]{1,128}$',
  description: '1 to 128 visible ASCII characters',
});

/** The schema of an opaque cursor; its content is checked where it is read. */
export const Cursor = Type.String({
  minLength: 1,
  maxLength: 256,
  description: 'The nextCursor of the page before. Opaque.',
});
export const NextCursor = nullable(Type.String(), {
  description: 'Send it as cursor for the next page; null at the end.',
});

/** `limit` of a paged list. Rules P1 to P5 (api/RULES.md). */
export function limitOf(maximum: number, defaultLimit: number) {
  return Type.Integer({
    minimum: 1,
    maximum,
    default: defaultLimit,
    description: 'How many at most.',
  });
}

export const ErrorCodeSchema = oneOf(Object.keys(ERRORS) as ErrorCode[], {
  title: 'ErrorCode',
  description: 'Stable: branch on this.',
});

/** Rule E1 (api/RULES.md). */
export const ErrorAnswer = strict(
  {
    error: strict({
      code: ErrorCodeSchema,
      message: Type.String({ minLength: 1, description: 'A sentence for people; may change.' }),
      retryAfterSeconds: Type.Optional(
        Type.Integer({
          minimum: 1,
          description: 'The Retry-After header. On every 429, and on a 503 that passes.',
        }),
      ),
      leader: Type.Optional(
        nullable(
          Type.String({
            description: 'Of not_leader: the address of the node to ask; null: none.',
          }),
        ),
      ),
    }),
  },
  { title: 'Error' },
);

/** Date, or date-time with a zone: Rules A48, A79 (api/RULES.md). */
export const instant = (which: string) =>
  Type.String({
    maxLength: 40,
    description: `${which}: a date (its UTC midnight) or a date-time with a zone.`,
  });

/** The window of a query in days. Its bounds are checked where it is read: Y71 (api/RULES.md). */
export const windowOf = (byDefault: string, of: string) =>
  Type.String({
    pattern: '^(all|[0-9]{1,4}d)$',
    default: byDefault,
    description: `all, or the days up to now ${of}: 1d to 3650d`,
  });

/** A route without query parameters. */
export const NoQuery: TObject<TProperties> = strict({});

/** Venues where orders might be executed in the future. Rule A35 (api/RULES.md). */
export const EXECUTION_VENUES = ['venue_a', 'venue_c_intl'] as const;
export const ExecutionVenueSchema = oneOf(EXECUTION_VENUES);
export type ExecutionVenue = Static<typeof ExecutionVenueSchema>;

/**
 * The shape of a catalog file. Rules K3 to K7 (feeds/FORMATS.md).
 *
 * An optional field that is left out becomes null, unless its comment says otherwise. Derived
 * fields may be present, so that an answer of the API can serve as a file. catalog-checks.ts
 * compares them with their source. Any other field is an error.
 */
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import {
  FUNGIBILITIES,
  GAME_STATUSES,
  instantOf,
  MARKET_TYPES,
  PERIODS,
  START_SOURCES,
  STRIKE_TYPES,
  VENUES,
} from '../../engine/base/units.ts';
import { FEE_SCHEDULES, RATE } from '../../engine/rules/fees.ts';
import { GAME_ID, INSTRUMENT_ID } from './ids.ts';

const SIDES = ['yes', 'no'] as const;

/** `description` finishes the sentence "must be ..." of an error. */
const closed = { additionalProperties: false } as const;

function oneOf<const T extends readonly (string | number)[]>(values: T) {
  return Type.Unsafe<T[number]>({ enum: [...values] });
}

function nullable<T extends TSchema>(schema: T) {
  return Type.Unsafe<Static<T> | null>({ ...schema, nullable: true });
}

function matching(pattern: RegExp, description: string) {
  return Type.String({ pattern: pattern.source, description });
}

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength });
const optionalText = Type.Optional(nullable(text(300)));
const slug = matching(
  /^(?!ins_|game_)[a-z0-9][a-z0-9._-]{0,159}$/,
  'a slug: up to 160 of a-z 0-9 . _ -, beginning with a letter or digit, not with ins_ or game_',
);
const gameId = matching(GAME_ID, 'game_ and 10 characters of 0-9A-HJKMNP-TV-Z');
const instrumentId = matching(INSTRUMENT_ID, 'ins_ and 12 characters of 0-9A-HJKMNP-TV-Z');
const league = matching(/^[a-z0-9][a-z0-9_-]{0,31}$/, 'a league: up to 32 of a-z 0-9 _ -');
const marketId = matching(/^[!-~]{1,256}$/, '1 to 256 visible ASCII characters');
const dateTime = Type.String({
  format: 'date-time',
  description: 'a date-time like 2026-11-21T05:00:00.000Z',
});
const team = Type.Object(
  { code: matching(/^\S{1,64}$/, 'a code: 1 to 64 characters without a space'), name: text(120) },
  closed,
);

const listing = Type.Object(
  {
    venue: oneOf(VENUES),
    polarity: oneOf([1, -1]),
    sideLabel: optionalText,
    fungibility: oneOf(FUNGIBILITIES),
    reviewed: Type.Boolean(),
    note: optionalText,
    /** Left out: the outcome that the polarity means. */
    buyForYes: Type.Optional(oneOf(SIDES)),
    buyForNo: Type.Optional(oneOf(SIDES)),
    venueMarketId: marketId,
    venueSideRef: optionalText,
    venueEvent: optionalText,
  },
  closed,
);

/** Left out: `catalog`, or the game's for an instrument without its own start. */
const startsAtSource = Type.Optional(
  Type.Unsafe<(typeof START_SOURCES)[number] | null>({ enum: [...START_SOURCES, null] }),
);

const game = Type.Object(
  {
    /** Left out: derived from the slug. */
    id: Type.Optional(gameId),
    slug,
    league,
    startsAt: dateTime,
    startsAtSource,
    status: oneOf(GAME_STATUSES),
    home: team,
    away: team,
    season: Type.Optional(nullable(Type.Integer())),
    seasonType: optionalText,
    week: Type.Optional(nullable(Type.Integer())),
    /** For human readers of the file. */
    note: optionalText,
    /** Derived; checked. */
    instrumentCount: Type.Optional(Type.Integer({ minimum: 0 })),
  },
  closed,
);

const strike = Type.Object(
  {
    type: oneOf(STRIKE_TYPES),
    floor: nullable(Type.Number()),
    cap: nullable(Type.Number()),
  },
  closed,
);

const instrument = Type.Object(
  {
    /** Left out: derived from the slug. */
    id: Type.Optional(instrumentId),
    slug,
    /** Either names the game; both left out or null: an instrument without a game. */
    gameSlug: Type.Optional(nullable(slug)),
    gameId: Type.Optional(nullable(gameId)),
    /** Left out: the game's. */
    league: Type.Optional(league),
    startsAt: Type.Optional(dateTime),
    startsAtSource,
    /** Left out or null: open, as far as the catalog knows. */
    opensAt: Type.Optional(nullable(dateTime)),
    /** Left out or null: no such time is known. */
    closesAt: Type.Optional(nullable(dateTime)),
    strike: Type.Optional(nullable(strike)),
    marketType: oneOf(MARKET_TYPES),
    period: oneOf(PERIODS),
    line: Type.Optional(nullable(Type.Number())),
    subject: Type.Optional(nullable(team)),
    label: text(300),
    oppositeLabel: optionalText,
    yesMeans: text(300),
    pushPossible: Type.Boolean(),
    stat: optionalText,
    tieRule: optionalText,
    settlesOn: optionalText,
    postponementWindowHours: Type.Optional(nullable(Type.Integer({ minimum: 0 }))),
    /** Left out: 1. */
    rulesVersion: Type.Optional(Type.Integer({ minimum: 1 })),
    listings: Type.Array(listing),
    /** Derived from the game and the listings; checked, except the status, which moves. */
    home: Type.Optional(nullable(team)),
    away: Type.Optional(nullable(team)),
    gameStatus: Type.Optional(
      Type.Unsafe<(typeof GAME_STATUSES)[number] | null>({ enum: [...GAME_STATUSES, null] }),
    ),
    venues: Type.Optional(Type.Array(oneOf(VENUES))),
  },
  closed,
);

const rate = matching(RATE, 'a decimal text like 0.0695, with at most eight decimals');

const fee = Type.Object(
  {
    venue: oneOf(VENUES),
    /** Left out or null: every market of the venue. */
    series: Type.Optional(nullable(marketId)),
    from: dateTime,
    schedule: oneOf(FEE_SCHEDULES),
    taker: rate,
    /** Left out: 0. */
    maker: Type.Optional(rate),
    /** Left out: 1. */
    multiplier: Type.Optional(rate),
    /** Left out: 1. */
    exponent: Type.Optional(Type.Integer({ minimum: 1, maximum: 4 })),
  },
  closed,
);

const catalogFile = Type.Object(
  {
    games: Type.Array(game),
    instruments: Type.Array(instrument),
    fees: Type.Optional(Type.Array(fee)),
    /** Whether the list that it was made from ended in an error: markets may be missing. */
    incomplete: Type.Optional(Type.Boolean()),
  },
  closed,
);

/** A catalog file as parsed from JSON. */
export type CatalogFile = Static<typeof catalogFile>;
export type GameEntry = CatalogFile['games'][number];
export type InstrumentEntry = CatalogFile['instruments'][number];
export type FeeLine = NonNullable<CatalogFile['fees']>[number];
export type ListingEntry = InstrumentEntry['listings'][number];

/** `place` is a path into the file, like `instruments[3].listings[0].polarity`. */
export type CatalogError = { place: string; message: string };

/** Every way in which a parsed file is not a `CatalogFile`; none when it is one. */
export function schemaErrors(file: unknown): CatalogError[] {
  isCatalogFile ??= compiled();
  return isCatalogFile(file) ? [] : (isCatalogFile.errors ?? []).map(errorOf);
}

/** Compiled when a file is read, because many processes that load this read none. */
let isCatalogFile: ValidateFunction<CatalogFile> | null = null;

function compiled(): ValidateFunction<CatalogFile> {
  // A test holds the schema against the meta-schema; compiling that here would lengthen each start.
  const ajv = new Ajv({ allErrors: true, verbose: true, validateSchema: false });
  ajv.addFormat('date-time', { type: 'string', validate: (value) => instantOf(value) !== null });
  return ajv.compile<CatalogFile>(catalogFile);
}

function errorOf(error: ErrorObject): CatalogError {
  const place = placeOf(error.instancePath);
  if (error.keyword === 'required') {
    return { place: member(place, error.params.missingProperty), message: 'is required' };
  }
  if (error.keyword === 'additionalProperties') {
    const name: string = error.params.additionalProperty;
    return { place: member(place, name), message: 'is not a field of a catalog' };
  }
  return { place: place === '' ? 'file' : place, message: messageOf(error) };
}

function messageOf({ keyword, params, parentSchema, message }: ErrorObject): string {
  if (keyword === 'enum') return `must be ${alternatives(params.allowedValues)}`;
  if (keyword === 'type') {
    return `must be ${params.type}${parentSchema?.nullable === true ? ' or null' : ''}`;
  }
  const described = parentSchema?.description;
  if (described !== undefined) return `must be ${described}`;
  return message ?? 'is not valid';
}

/** `1 or -1`; `a, b or c`. */
function alternatives(values: readonly unknown[]): string {
  const texts = values.map(String);
  const last = texts.pop() ?? '';
  return texts.length === 0 ? last : `${texts.join(', ')} or ${last}`;
}

/** A JSON pointer like `/instruments/3/label` as `instruments[3].label`. */
function placeOf(pointer: string): string {
  let place = '';
  for (const part of pointer.split('/').slice(1)) {
    place = /^\d+$/.test(part) ? `${place}[${part}]` : member(place, part);
  }
  return place;
}

function member(place: string, name: string): string {
  return place === '' ? name : `${place}.${name}`;
}

/** The shape of a catalog file as a JSON Schema (draft 2020-12), for editors and other programs. */
export function catalogJsonSchema(): object {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Paperbook catalog file',
    ...(plainSchema(JSON.parse(JSON.stringify(catalogFile))) as object),
  };
}

/** `nullable` is OpenAPI's word. JSON Schema expresses it by a choice. */
function plainSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(plainSchema);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { nullable: isNullable, ...words } = schema as Record<string, unknown>;
  const plain = Object.fromEntries(
    Object.entries(words).map(([word, value]) => [word, plainSchema(value)]),
  );
  return isNullable === true ? { anyOf: [plain, { type: 'null' }] } : plain;
}

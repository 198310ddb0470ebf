/**
 * Validators of the wire schemas, each compiled when it is first needed, and the texts of their
 * errors, which always name the field or parameter. Rules A8, A15 (api/RULES.md).
 */
import type { Static, TObject, TSchema } from '@sinclair/typebox';
import { Ajv, type ErrorObject, type SchemaValidateFunction, type ValidateFunction } from 'ajv';
import { jsonProblem, parseJson } from '../../engine/base/bounded-json.ts';
import { instantOf } from '../../engine/base/units.ts';
import { isUuid } from '../../engine/rules/ids.ts';
import { type ApiError, invalidRequest } from './errors.ts';
import { repeatedKey } from './repeated-keys.ts';
import { isPersonName, isShownText, PERSON_NAME, SHOWN_TEXT } from './shown-text.ts';

/** Reads a raw query string, returns its parameters or throws `invalid_request`. */
export type QueryReader<Q> = (query: string) => Q;
/** Takes a body's text, answers its value or throws `invalid_request`. */
export type BodyReader<B> = {
  (text: string): B;
  /** The same of a value that was part of another text, which `parseObject` read. */
  ofValue(value: unknown): B;
  /** What validates it. */
  schema: TSchema;
  /** What the description shows, if it can say more than what validates. */
  shown?: TSchema;
  isRequired: boolean;
};

/** Marks a string in a schema whose surrounding blanks are removed before its checks. */
export const TRIMMED = 'x-trimmed';

/** An Ajv with the formats of the wire. Requests share one instance; tests create their own. */
export function createAjv(): Ajv {
  // verbose: an error includes its schema, whose description explains a pattern. A test holds all schemas
  // against the meta-schema of OpenAPI; compiling Ajv's own would lengthen each start.
  const ajv = new Ajv({ verbose: true, useDefaults: false, validateSchema: false });
  ajv.addFormat('date-time', (text: string) => instantOf(text) !== null);
  // Ajv's own `uuid` also accepts `urn:uuid:` in front.
  ajv.addFormat('uuid', isUuid);
  ajv.addFormat(SHOWN_TEXT, isShownText);
  ajv.addFormat(PERSON_NAME, isPersonName);
  ajv.addKeyword({
    keyword: TRIMMED,
    type: 'string',
    before: 'maxLength',
    modifying: true,
    errors: false,
    validate: trimInPlace,
  });
  return ajv;
}

const trimInPlace: SchemaValidateFunction = (_wanted, text: string, _schema, at) => {
  at!.parentData[at!.parentDataProperty] = text.trim();
  return true;
};

const ajv = createAjv();

/**
 * A body reader for an object schema. `refine` checks conditions that no schema can express, and may
 * read the value in another form; it throws the 400. The description shows `shown`, if it can say
 * more than what validates.
 */
export function bodyReader<S extends TSchema, B = Static<S>>(
  schema: S,
  refine: (body: Static<S>) => B = (body) => body as B,
  shown?: TSchema,
): BodyReader<B> {
  const check = valueReader(schema, 'field');
  const ofValue = (value: unknown) => refine(check(asObject(value, 'the body')));
  const read = (text: string) => refine(check(parseObject(text, 'the body')));
  return Object.assign(read, {
    ...{ ofValue, schema, isRequired: true },
    ...(shown === undefined ? {} : { shown }),
  });
}

/** The same reader, which reads a missing body as an empty object. */
export function optionalBody<B>(reader: BodyReader<B>): BodyReader<B> {
  const read = (text: string) => reader(text === '' ? '{}' : text);
  const ofValue = (value: unknown) => reader.ofValue(value ?? {});
  return Object.assign(read, { ...reader, ofValue, isRequired: false });
}

/** Checks a parsed value. Throws `invalid_request` naming the field. */
export function valueReader<T extends TSchema>(
  schema: T,
  noun: 'field' | 'query parameter',
): (value: unknown) => Static<T> {
  let validate: ValidateFunction | null = null;
  return (value) => {
    // All of them would take a quarter of the time of a start.
    validate ??= ajv.compile(schema);
    if (validate(value)) return value as Static<T>;
    throw invalidRequest(explain(validate.errors![0]!, noun));
  };
}

/**
 * A text as a JSON object, in which no key occurs twice. Throws `invalid_request`, whose message
 * calls the text by its `noun`.
 */
export function parseObject(text: string, noun: string): object {
  const { object, repeated } = objectIn(text, noun);
  if (repeated !== null) throw givenTwice(repeated);
  return object;
}

/** The same of a file or an option: each message begins with its name. */
export function parseNamedObject(text: string, name: string): object {
  const { object, repeated } = objectIn(text, name);
  if (repeated !== null) throw invalidRequest(`${name}: ${givenTwice(repeated).message}`);
  return object;
}

/** `repeated`: a key that occurs twice in one object; null: none does. */
function objectIn(text: string, noun: string): { object: object; repeated: string | null } {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw invalidRequest(`${noun} ${jsonProblem(error)}`);
  }
  const object = asObject(value, noun);
  return { object, repeated: repeatedKey(text, object) };
}

/** The refusal of an object in which a key occurs twice. */
export function givenTwice(key: string): ApiError {
  return invalidRequest(`field ${quoted(key)} is given twice`);
}

function asObject(value: unknown, noun: string): object {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw invalidRequest(`${noun} must be a JSON object`);
}

/**
 * A query reader for an object schema of string and integer parameters. Parameters with a default
 * are always present in its result. Unknown and repeated parameters are refused.
 */
export function queryReader<Q extends TObject>(schema: Q): QueryReader<Static<Q>> {
  const check = valueReader(schema, 'query parameter');
  const integers = new Set<string>();
  const defaults: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(schema.properties)) {
    if (property.type === 'integer') integers.add(name);
    if (property.default !== undefined) defaults[name] = property.default;
  }
  const whenEmpty = Object.freeze({ ...defaults });
  const mayBeEmpty = (schema.required ?? []).every((name) => name in defaults);

  return (query) => {
    if (query === '' && mayBeEmpty) return whenEmpty as Static<Q>;
    const values: Record<string, unknown> = { ...defaults };
    for (const [name, text] of parametersOf(query)) {
      setOwn(values, name, integers.has(name) && INTEGER.test(text) ? Number(text) : text);
    }
    return check(values);
  };
}

const INTEGER = /^-?\d{1,15}$/;

/** Names and values, each name once. A loop over the text, because it runs at every request. */
function parametersOf(query: string): [name: string, text: string][] {
  const read = query.includes('%') || query.includes('+') ? decode : asIs;
  const parameters: [string, string][] = [];
  for (let start = 0; start <= query.length; ) {
    const ampersand = query.indexOf('&', start);
    const end = ampersand < 0 ? query.length : ampersand;
    if (end > start) {
      const equals = query.indexOf('=', start);
      const nameEnd = equals < 0 || equals > end ? end : equals;
      const name = read(query.slice(start, nameEnd));
      if (parameters.some(([known]) => known === name)) {
        throw invalidRequest(`query parameter ${quoted(name)} is given twice`);
      }
      parameters.push([name, read(query.slice(nameEnd + 1, end))]);
    }
    start = end + 1;
  }
  return parameters;
}

const asIs = (text: string) => text;

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw invalidRequest('the query is not percent-encoded UTF-8');
  }
}

/** `__proto__` too becomes an ordinary property, which is then refused as unknown. */
export function setOwn(values: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') values[name] = value;
  else Object.defineProperty(values, name, { value, enumerable: true });
}

function explain(error: ErrorObject, noun: string): string {
  const { keyword, params } = error;
  const field = fieldOf(error.instancePath);
  if (keyword === 'additionalProperties') {
    return `unknown ${noun} ${quoted(within(field, params.additionalProperty))}`;
  }
  if (keyword === 'required') return `${within(field, params.missingProperty)} is required`;
  const name = field === '' ? 'the body' : field;
  switch (keyword) {
    case 'type':
      return `${name} must be ${withArticle(params.type)}`;
    case 'enum':
      return `${name} must be one of ${params.allowedValues.join(', ')}`;
    case 'const':
      return `${name} must be ${params.allowedValue}`;
    case 'minimum':
      return `${name} must be at least ${params.limit}`;
    case 'maximum':
      return `${name} must be at most ${params.limit}`;
    case 'minLength':
      return params.limit === 1
        ? `${name} must not be empty`
        : `${name} must have at least ${params.limit} characters`;
    case 'maxLength':
      return `${name} must have at most ${params.limit} characters`;
    case 'minItems':
      return `${name} must not be empty`;
    case 'maxItems':
      return `${name} must have at most ${params.limit} entries`;
    case 'pattern':
      return `${name} must be ${error.parentSchema?.description ?? params.pattern}`;
    case 'format':
      return `${name} must be ${FORMAT_NAMES[params.format] ?? error.parentSchema?.description}`;
    default:
      return `${name} ${error.message}`;
  }
}

const FORMAT_NAMES: Record<string, string> = {
  'date-time': 'a date-time with a zone',
  uuid: 'a uuid',
};

/** `/scopes/0` as `scopes[0]`. */
function fieldOf(path: string): string {
  return path
    .slice(1)
    .replace(/\/(\d+)/g, '[$1]')
    .replaceAll('/', '.');
}

const within = (field: string, name: string) => (field === '' ? name : `${field}.${name}`);
const withArticle = (type: string) => (/^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`);

/** The caller's own text, shortened and escaped for a message. */
function quoted(text: string): string {
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}...` : text);
}

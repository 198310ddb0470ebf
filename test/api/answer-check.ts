/**
 * Holds answers of a server against its own OpenAPI description: status, headers, body and error
 * codes. Every test that calls a server checks every answer by this.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { isUuid } from '../../engine/rules/ids.ts';

export type SeenAnswer = {
  method: string;
  /** Below the base path, without the query: `/portfolio/orders`. */
  path: string;
  status: number;
  headers: Headers;
  text: string;
};

// biome-ignore lint/suspicious/noExplicitAny: a document that is walked by its own names
type Json = any;

const DOCUMENT = 'description.json';
const WHOLE = /^\d+$/;

export class AnswerCheck {
  readonly #document: Json;
  readonly #ajv: Ajv2020;
  /** By the text of the schema: operations share most of their refusals. */
  readonly #validators = new Map<string, ValidateFunction>();
  /** Fixed segments win over a parameter in the same place, as the specification has it. */
  readonly #paths: { pattern: RegExp; path: string }[];

  constructor(document: Json) {
    this.#document = document;
    // The description is a document, not a schema: its own words are unknown keywords.
    // A resource is compiled once, and not into each answer that has it: half of the time.
    const quick = { inlineRefs: false, code: { optimize: false } };
    this.#ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false, ...quick });
    addFormats.default(this.#ajv, ['date-time']);
    this.#ajv.addFormat('uuid', isUuid);
    this.#ajv.addSchema(document, DOCUMENT);
    const paths = Object.keys(document.paths);
    paths.sort((a, b) => Number(a.includes('{')) - Number(b.includes('{')));
    this.#paths = paths.map((path) => {
      const pattern = path.replaceAll('.', '\\.').replace(/\{\w+\}/, '[^/]+');
      return { path, pattern: new RegExp(`^${pattern}$`) };
    });
  }

  /** The deviations from the description, in words; null when there are none. */
  faultOf(answer: SeenAnswer): string | null {
    const fault = this.#faultOf(answer);
    if (fault === null) return null;
    const { method, path, status, text } = answer;
    return `${method} ${path} answered ${status}: ${fault}\n${text.slice(0, 500)}`;
  }

  #faultOf(answer: SeenAnswer): string | null {
    const { method, path, status, headers } = answer;
    const known = this.#paths.find(({ pattern }) => pattern.test(path));
    if (known === undefined) return this.#refusal(answer, 404, 'route_not_found');
    const operations = this.#document.paths[known.path];
    if (method === 'OPTIONS') {
      if (status !== 204 || answer.text !== '') return 'OPTIONS answers 204 without a body';
      if (!headers.has('allow')) return 'Allow is missing';
      return this.#headersFault(this.#toAnybody(), headers, ['allow']);
    }
    const described = method === 'HEAD' ? 'get' : method.toLowerCase();
    if (operations[described] === undefined) {
      if (!headers.has('allow')) return 'Allow is missing';
      return this.#refusal(answer, 405, 'method_not_allowed');
    }
    const response = operations[described].responses[status];
    if (response === undefined) return 'its description has no such status';
    const pointer = ['paths', known.path, described, 'responses', String(status)];
    return this.#headersFault(response, headers) ?? this.#bodyFault(answer, response, pointer);
  }

  /** @param more headers that it may have beside the headers of its description */
  #headersFault(response: Json, headers: Headers, more: string[] = []): string | null {
    const names = Object.keys(response.headers).map((name) => name.toLowerCase());
    for (const name of headers.keys()) {
      if ([...names, ...OF_THE_MESSAGE, ...more].includes(name)) continue;
      return `${name} is not described`;
    }
    for (const [name, described] of Object.entries<Json>(response.headers)) {
      const value = headers.get(name);
      const header = this.#resolve(described);
      if (value === null) {
        if (header.required === true) return `${name} is missing`;
        continue;
      }
      const isWhole = header.schema.type === 'integer' && WHOLE.test(value);
      const typed = isWhole ? Number(value) : value;
      if (!this.#ajv.validate(header.schema, typed)) return `${name} must not be ${value}`;
    }
    return quotaFault(headers);
  }

  /** The possible answers without a key and an operation. */
  #toAnybody(): Json {
    return this.#document.paths['/status'].get.responses[200];
  }

  /** The possible answers with a key and without an operation. */
  #toKeyHolder(): Json {
    return this.#document.paths['/me'].get.responses[200];
  }

  #bodyFault(
    { method, headers, text }: SeenAnswer,
    response: Json,
    pointer: string[],
  ): string | null {
    if (response.content === undefined || method === 'HEAD') {
      return text === '' ? null : 'it has a body';
    }
    const type = headers.get('content-type') ?? 'nothing';
    if (response.content[type] === undefined) return `its content type is ${type}`;
    const value = type === 'application/json' ? JSON.parse(text) : text;
    const validate = this.#validatorAt([...pointer, 'content', type, 'schema']);
    if (!validate(value)) return this.#ajv.errorsText(validate.errors);
    return retryFault(value, headers);
  }

  /**
   * The refusals that no operation describes: no operation at this path, or none of this method.
   */
  #refusal(answer: SeenAnswer, wanted: number, code: string): string | null {
    const { method, status, headers, text } = answer;
    if (status !== wanted) return `${wanted} ${code} is what is described`;
    const isKeyed = headers.has('service-plan');
    const like = isKeyed ? this.#toKeyHolder() : this.#toAnybody();
    const fault = this.#headersFault(like, headers, wanted === 405 ? ['allow'] : []);
    if (fault !== null) return fault;
    if (method === 'HEAD') return text === '' ? null : 'it has a body';
    const validate = this.#validatorAt(['components', 'schemas', 'Error']);
    if (!validate(JSON.parse(text))) return this.#ajv.errorsText(validate.errors);
    return JSON.parse(text).error.code === code ? null : `${code} is what is described`;
  }

  #validatorAt(pointer: string[]): ValidateFunction {
    const schema = JSON.stringify(pointer.reduce((inside, part) => inside[part], this.#document));
    let validate = this.#validators.get(schema);
    if (validate === undefined) {
      const escaped = pointer.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1'));
      validate = this.#ajv.compile({
        $ref: `${DOCUMENT}#/${escaped.map(encodeURIComponent).join('/')}`,
      });
      this.#validators.set(schema, validate);
    }
    return validate;
  }

  #resolve(value: Json): Json {
    if (value.$ref === undefined) return value;
    const parts: string[] = value.$ref.slice(2).split('/');
    return parts.reduce((inside, part) => inside[part], this.#document);
  }
}

/** The headers of HTTP itself, and of the library that speaks it. */
const OF_THE_MESSAGE = [
  ...['content-type', 'content-length', 'transfer-encoding', 'date', 'connection', 'keep-alive'],
  ...['uwebsockets'],
];

/** A caller with a key gets all of them. Rule Q9 (api/RULES.md). */
function quotaFault(headers: Headers): string | null {
  const there = QUOTA_HEADERS.filter((name) => headers.has(name));
  if (there.length === 0 || there.length === QUOTA_HEADERS.length) return null;
  return `of the headers of a plan there is only ${there}`;
}

const QUOTA_HEADERS = [
  'service-plan',
  'service-quota-limit',
  'service-quota-remaining',
  'service-quota-reset',
];

/** The field retryAfterSeconds equals the header. Rule E1 (api/RULES.md). */
function retryFault(value: Json, headers: Headers): string | null {
  const seconds = value?.error?.retryAfterSeconds;
  const header = headers.get('retry-after');
  if (String(seconds ?? null) === String(header)) return null;
  return `retryAfterSeconds is ${seconds}, Retry-After ${header}`;
}

/** One route as an operation of the description. */
import type { TSchema } from '@sinclair/typebox';
import { ErrorAnswer, shownParameter } from '../base/common-schemas.ts';
import { ERRORS } from '../base/errors.ts';
import type { About, Route } from '../dispatch/route.ts';
import type { Components, SchemaJson } from './components.ts';
import { headersOf, isPassing } from './headers.ts';
import { PARAMETERS, reference, SECURITY } from './parts.ts';
import { errorsOf, type RouteError } from './route-errors.ts';

/** The description of a route. It does not depend on the caller. */
export type Described = Omit<Route<never>, 'run' | 'readQuery' | 'requestsOf' | 'scopeOfBody'>;

type Json = { [name: string]: unknown };

/** Throws for a route without `about`, or with an incomplete one. */
export function operationOf(route: Described, components: Components): Json {
  const { about, access, scope, status } = route;
  const at = `${route.method} ${route.path}`;
  if (about === null) throw new Error(`${at} has no about`);
  if (route.path.includes('{') !== (about.param !== undefined)) {
    throw new Error(`${at}: a path with a {...} segment has a param, any other has none`);
  }
  return {
    operationId: about.operationId,
    tags: [about.tag],
    summary: about.summary,
    ...(about.description === undefined ? {} : { description: about.description }),
    ...(scope === null ? {} : { 'x-required-scope': scope }),
    security: SECURITY[access].map((name) => ({ [name]: scope === null ? [] : [scope] })),
    parameters: parametersOf(route, about, components),
    ...(route.readBody === null ? {} : { requestBody: bodyOf(route, about, components) }),
    responses: {
      [status]: successOf(route, about, components),
      ...refusalsOf(route, components),
    },
  };
}

function parametersOf(
  { path, query, ofAccount }: Described,
  { param }: About<unknown, unknown>,
  components: Components,
): Json[] {
  const parameters: Json[] = [];
  if (param !== undefined) {
    const name = /\{(\w+)\}/.exec(path)![1]!;
    parameters.push({ name, in: 'path', required: true, ...described(components.place(param)) });
  }
  for (const [name, property] of Object.entries(query.properties)) {
    // A parameter with a default is in the schema's `required`, since the default fills it in.
    const isRequired = (query.required ?? []).includes(name) && property.default === undefined;
    const { schema, ...form } = shownParameter(property) ?? { schema: property as TSchema };
    parameters.push({
      name,
      in: 'query',
      required: isRequired,
      ...form,
      ...described(components.place(schema)),
    });
  }
  if (ofAccount) parameters.push(reference('parameters', PARAMETERS.organization));
  parameters.push(reference('parameters', PARAMETERS.requestId));
  return parameters;
}

/** A parameter has its own description and example for `/docs`; its schema need not repeat them. */
function described({ description, examples, ...schema }: SchemaJson): Json {
  const example = Array.isArray(examples) ? { example: examples[0] } : {};
  return { description, ...example, schema };
}

function bodyOf({ readBody }: Described, about: About<unknown, unknown>, components: Components) {
  const examples = Object.entries(about.bodyExamples ?? {});
  return {
    required: readBody!.isRequired,
    content: {
      'application/json': {
        schema: components.place(readBody!.shown ?? readBody!.schema),
        examples: Object.fromEntries(
          examples.map(([name, value]) => [slugOf(name), { summary: name, value }]),
        ),
      },
    },
  };
}

const slugOf = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

function successOf(
  { access, status, response, contentType, streamed }: Described,
  about: About<unknown, unknown>,
  components: Components,
): Json {
  if (status === 101) {
    const description = 'The connection continues as a WebSocket.';
    return { description, headers: headersOf(access, status, []) };
  }
  return {
    description: 'Success.',
    headers: headersOf(access, status, [], streamed !== null),
    content: Object.fromEntries(
      (streamed ?? [contentType]).map((type) => [
        type,
        {
          schema: components.place(response),
          ...(about.example === undefined ? {} : { example: about.example }),
        },
      ]),
    ),
  };
}

/** One response per status, with an example per code. */
function refusalsOf(route: Described, components: Components): Json {
  const errors = errorsOf(route);
  const statuses = [...new Set(errors.map(({ status }) => status))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => {
      const codes = errors.filter((error) => error.status === status).map(({ code }) => code);
      const headers = headersOf(route.access, status, codes);
      return [String(status), { headers, ...refusalOf(status, codes, components) }];
    }),
  );
}

function refusalOf(status: number, codes: RouteError['code'][], components: Components): Json {
  const isPassed = (code: RouteError['code']) => isPassing(status) && code !== 'not_configured';
  const narrowed = {
    type: 'object',
    properties: {
      code: { type: 'string', enum: codes },
      message: { type: 'string' },
      retryAfterSeconds: { type: 'integer' },
    },
    required: codes.every(isPassed) ? ['code', 'retryAfterSeconds'] : ['code'],
  };
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].when}.`).join('\n\n'),
    content: {
      'application/json': {
        schema: {
          allOf: [
            components.place(ErrorAnswer),
            { type: 'object', properties: { error: narrowed } },
          ],
        },
        examples: Object.fromEntries(codes.map((code) => [code, exampleOf(code, isPassed(code))])),
      },
    },
  };
}

function exampleOf(code: RouteError['code'], passes: boolean): Json {
  const { message, when } = ERRORS[code];
  const retry = passes ? { retryAfterSeconds: 17 } : {};
  return { summary: when, value: { error: { code, message, ...retry } } };
}

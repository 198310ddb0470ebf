import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { apiRoutes } from '../../../api/operations/routes/api-routes.ts';
import { OrderBodySchema } from '../../../api/schemas/order-body.ts';
import { AnswerCheck, type SeenAnswer } from '../answer-check.ts';
import { IDS, NOW_MS, sampleCatalog, samplePortfolio } from '../samples.ts';
import { type Api, type Json, startApi } from '../support.ts';

async function descriptionOf(api: Api): Promise<Json> {
  return (await api.call('GET', '/openapi.json', { token: null })).json;
}

let ofSamples: AnswerCheck | null = null;
/** Of the sample catalog's description; compiled once, as its many schemas take a while. */
function checkOf(document: Json): AnswerCheck {
  ofSamples ??= new AnswerCheck(document);
  return ofSamples;
}

function* operationsOf(document: Json): Generator<[at: string, operation: Json]> {
  for (const [path, methods] of Object.entries<Json>(document.paths)) {
    for (const [method, operation] of Object.entries(methods))
      yield [`${method} ${path}`, operation];
  }
}

test('A70, GET /openapi.json: for anyone, kept for 60 s, version 1.11.0', async (t) => {
  const api = await startApi(t);
  const answer = await api.call('GET', '/openapi.json', { token: null });
  t.is(answer.status, 200);
  t.is(answer.headers.get('content-type'), 'application/json');
  t.is(answer.headers.get('cache-control'), 'max-age=60');
  t.regex(answer.json.openapi, /^3\.1\./);
  t.is(answer.json.info.version, '1.11.0');
  t.deepEqual(
    answer.json.servers.map(({ url }: Json) => url),
    ['/v1'],
  );
});

test('A70: examples name an instrument that can be traded now, where there is one', async (t) => {
  const api = await startApi(t);
  const named = async () => {
    const { paths } = await descriptionOf(api);
    const { content } = paths['/portfolio/orders'].post.requestBody;
    const { example, examples = {} } = content['application/json'];
    const bodies = [example, ...Object.values<Json>(examples).map(({ value }) => value)];
    return new Set(bodies.flatMap((body) => body?.instrumentId ?? []));
  };
  t.deepEqual(
    await named(),
    new Set([IDS.old]),
    'the first that GET /instruments?tradable=true has',
  );
  const market = sampleCatalog().marketNames.indexOf('venue_a/T-D1');
  api.bus.publish({ kind: 'status', atMs: NOW_MS, source: 0, market, status: 'closed' });
  t.deepEqual(await named(), new Set([IDS.lions]));
  api.setCatalog({ ...sampleCatalog(), instruments: [] });
  t.is((await named()).size, 1, 'some id, for want of one to trade');
});

test('A70: every route is described, with its scope', async (t) => {
  const api = await startApi(t);
  const document = await descriptionOf(api);
  const described = new Map(operationsOf(document));
  const routes = apiRoutes(api.context);
  t.deepEqual(
    [...described.keys()].sort(),
    routes.map(({ method, path }) => `${method.toLowerCase()} ${path}`).sort(),
  );
  const credentials = {
    open: [],
    visitor: [],
    key: ['bearerKey', 'serviceKey', 'sessionBearer', 'sessionCookie'],
    session: ['sessionBearer', 'sessionCookie'],
  };
  for (const { method, path, scope, access } of routes) {
    const operation = described.get(`${method.toLowerCase()} ${path}`);
    t.is(operation['x-required-scope'], scope ?? undefined, path);
    const scopes = scope === null ? [] : [scope];
    const wanted = credentials[access].map((name) => ({ [name]: scopes }));
    t.deepEqual(operation.security, wanted, path);
  }
});

test('every operation, parameter and JSON answer says what it is, with an example', async (t) => {
  const api = await startApi(t);
  const document = await descriptionOf(api);
  const ids = new Set<string>();
  for (const [at, operation] of operationsOf(document)) {
    ids.add(operation.operationId);
    t.regex(operation.summary, /^[A-Z].*[^.]$/, at);
    for (const parameter of operation.parameters) {
      const isShared = parameter.$ref !== undefined;
      t.true(isShared || parameter.description.length > 0, `${at} ${parameter.name}`);
    }
    const bodies = [operation.requestBody, ...Object.values(operation.responses)];
    for (const { content } of bodies.filter((body) => body?.content !== undefined) as Json[]) {
      const { example, examples = {} } = Object.values<Json>(content)[0];
      t.true(example !== undefined || Object.keys(examples).length > 0, at);
    }
  }
  t.is(ids.size, [...operationsOf(document)].length, 'operation ids are unique');
  const resources = [
    'Account',
    'Error',
    'Game',
    'Instrument',
    'Listing',
    'Me',
    'Order',
    'Portfolio',
  ];
  resources.push('Position', 'Quote', 'Status', 'Trade', 'OrderPlacement', 'OrderRequest');
  resources.push('KeyView', 'KeyList', 'KeyCreateRequest', 'KeyCreateResponse', 'Usage');
  for (const name of resources) t.true(name in document.components.schemas, name);
});

test('A8: the query parameters are those that are read, with bounds', async (t) => {
  const api = await startApi(t);
  const document = await descriptionOf(api);
  const [limit] = document.paths['/portfolio/trades'].get.parameters.filter(
    ({ name }: Json) => name === 'limit',
  );
  t.like(limit, { in: 'query', required: false });
  t.like(limit.schema, { type: 'integer', minimum: 1, maximum: 200, default: 50 });
  const [ids] = document.paths['/quotes'].get.parameters;
  t.like(ids, { name: 'ids', required: true });
});

test('A167: the description has a schema for each kind of order, as the server takes it', async (t) => {
  const api = await startApi(t);
  const document = await descriptionOf(api);
  const { OrderRequest, ...schemas } = document.components.schemas;
  const names = OrderRequest.anyOf.map(({ $ref }: Json) => $ref.split('/').at(-1));
  t.is(names.length, 6);
  const values: Json = { instrumentId: IDS.lions, ticker: 'T-LIONS', side: 'yes', count: 1 };
  Object.assign(values, { tradeId: '0195d3a0-0000-7000-8000-0000000000bb', limitPriceCents: 1 });
  const { properties } = OrderBodySchema;
  for (const name of names) {
    const { required, properties: own, additionalProperties } = schemas[name];
    t.false(additionalProperties);
    const [action, type] = [own.action.const, own.type.const];
    const body: Json = { action, type, idempotencyKey: name };
    for (const field of required) body[field] ??= values[field];
    const place = (sent: Json) => api.call('POST', '/portfolio/orders', { body: sent });
    t.not((await place(body)).status, 400, name);
    for (const field of required) {
      const { [field]: _, ...lacking } = body;
      t.is((await place(lacking)).status, 400, `${name} without ${field}`);
    }
    for (const field of Object.keys(properties)) {
      if (field in own || field in body) continue;
      const { status } = await place({ ...body, [field]: values[field] ?? 'x' });
      t.is(status, 400, `${name} with ${field}`);
    }
  }
});

test('A168: booleans and lists of a query are described as such', async (t) => {
  const api = await startApi(t);
  const document = await descriptionOf(api);
  const parameterOf = (at: string, name: string) =>
    document.paths[at].get.parameters.find((one: Json) => one.name === name);
  for (const name of ['tradable', 'priced']) {
    t.like(parameterOf('/instruments', name), { schema: { type: 'boolean' }, example: true });
  }
  const list = { style: 'form', explode: false, schema: { type: 'array' } };
  t.like(parameterOf('/quotes', 'ids'), list);
  t.like(parameterOf('/history/as_of', 'instrumentIds'), list);
  for (const [at, { parameters }] of operationsOf(document)) {
    for (const { name, schema } of parameters) {
      t.notDeepEqual(schema?.enum, ['true', 'false'], `${at} ${name}`);
    }
  }
});

test('examples are as their schemas say', async (t) => {
  const api = await startApi(t);
  const document = await descriptionOf(api);
  const check = checkOf(document);
  for (const [at, { responses }] of operationsOf(document)) {
    for (const [status, { content }] of Object.entries<Json>(responses)) {
      if (content?.['application/json'] === undefined) continue;
      const { example, examples } = content['application/json'];
      const values = examples === undefined ? [example] : Object.values<Json>(examples);
      for (const value of values.map((one) => one.value ?? one)) {
        const seen = answerOf(document, at, Number(status), value);
        t.is(check.faultOf(seen), null, at);
      }
    }
  }
});

const HEADERS: Record<string, string> = {
  'X-Request-Id': 'one',
  'Cache-Control': 'no-store',
  'RateLimit-Limit': '60',
  'RateLimit-Remaining': '0',
  'RateLimit-Reset': '40',
  'RateLimit-Policy': '"minute";q=60;w=60, "month";q=10000;w=2592000',
  RateLimit: '"minute";r=0;t=40, "month";r=9588;t=846000',
  'Service-Plan': 'basic',
  'Service-Quota-Limit': '10000',
  'Service-Quota-Remaining': '9588',
  'Service-Quota-Reset': '846000',
  'WWW-Authenticate': 'Bearer error="invalid_token"',
  'Retry-After': '17',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Strict-Transport-Security': 'max-age=31536000',
  'Content-Disposition': 'attachment; filename="quotes.csv"',
};

/** An answer with every header that the response is described with. */
function answerOf(document: Json, at: string, status: number, body: Json): SeenAnswer {
  const [method, path] = at.split(' ') as [string, string];
  const { headers: described } = document.paths[path][method].responses[status];
  const headers = new Headers({ 'content-type': 'application/json' });
  for (const name of Object.keys(described)) headers.set(name, HEADERS[name]!);
  // Where only some refusals of a status pass.
  if (body.error?.code === 'not_configured') headers.delete('retry-after');
  const filled = path.replace(/\{\w+\}/, 'x');
  const text = JSON.stringify(body);
  return { method: method.toUpperCase(), path: filled, status, headers, text };
}

test('A71: an answer that strays from the description is a fault', async (t) => {
  const api = await startApi(t);
  const document = await descriptionOf(api);
  const check = checkOf(document);
  const answered = (body: object) => answerOf(document, 'get /portfolio', 200, body);
  const good = answered(samplePortfolio);
  const refused = (code: string, status: number, extra: object = {}) =>
    answerOf(document, 'get /portfolio', status, { error: { code, message: 'No.', ...extra } });
  const status = { ok: true, version: 'v1', mode: 'paper', time: '2026-11-21T05:00:00.000Z' };
  const unkeyed = answerOf(document, 'get /status', 200, status);
  t.is(check.faultOf(good), null);
  t.is(check.faultOf(unkeyed), null);
  t.is(check.faultOf(refused('invalid_token', 401)), null);
  t.is(check.faultOf(refused('organization_not_found', 404)), null);
  const without = (name: string, from = good) => {
    const headers = new Headers(from.headers);
    headers.delete(name);
    return { ...from, headers };
  };
  const withHeader = (name: string, value: string, from = good) => {
    const headers = new Headers(from.headers);
    headers.set(name, value);
    return { ...from, headers };
  };
  const strays: [SeenAnswer, RegExp][] = [
    [{ ...good, status: 201 }, /no such status/],
    [{ ...good, status: 418 }, /no such status/],
    [answered({ ...samplePortfolio, more: 1 }), /additional properties/],
    [answered({ ...samplePortfolio, mode: 'live' }), /mode/],
    [refused('trading_off', 403), /allowed values/],
    [refused('no_such_code', 401), /allowed values/],
    [refused('internal_error', 503), /retryAfterSeconds|Retry-After/],
    [refused('invalid_token', 401, { retryAfterSeconds: 0 }), /retryAfterSeconds/],
    [refused('rate_limited', 429, { retryAfterSeconds: 18 }), /Retry-After 17/],
    [refused('rate_limited', 429), /retryAfterSeconds/],
    [without('ratelimit-reset'), /RateLimit-Reset is missing/],
    [without('service-plan'), /Service-Plan is missing/],
    [without('service-quota-limit', refused('organization_not_found', 404)), /there is only/],
    [refused('account_not_found', 404), /allowed values/],
    [withHeader('service-plan', 'basic', unkeyed), /service-plan is not described/],
    [withHeader('service-plan', 'gold'), /Service-Plan must not be gold/],
    [withHeader('ratelimit-limit', '6e1'), /RateLimit-Limit must not be 6e1/],
    [withHeader('ratelimit', 'minute;r=1'), /RateLimit must not be/],
    [withHeader('retry-after', '17'), /retry-after is not described/],
    [withHeader('x-powered-by', 'x'), /x-powered-by is not described/],
    [withHeader('set-cookie', 'a=b'), /set-cookie is not described/],
    [without('x-content-type-options'), /X-Content-Type-Options is missing/],
    [without('content-security-policy'), /Content-Security-Policy is missing/],
    [withHeader('referrer-policy', 'origin'), /Referrer-Policy must not be origin/],
    [without('x-request-id'), /X-Request-Id is missing/],
    [without('content-type'), /content type/],
    [without('cache-control'), /Cache-Control is missing/],
    [{ ...good, path: '/nowhere' }, /route_not_found/],
    [{ ...good, method: 'PUT' }, /Allow is missing/],
    [{ ...good, method: 'OPTIONS' }, /204/],
    [{ ...good, method: 'HEAD' }, /it has a body/],
  ];
  for (const [stray, fault] of strays) t.regex(check.faultOf(stray) ?? 'no fault', fault);
});

/** What RE2 has none of, and languages understand differently. */
const NOT_EVERYWHERE: [what: string, pattern: RegExp][] = [
  ['look-around', /\(\?(?!:)/],
  ['a class of Unicode', /\\[pPXuU]/],
  ['a back reference', /\\[1-9k]/],
  ['a possessive or lazy quantifier', /[*+?}][+?]/],
];

const LABELS = ['', 'bot', ' bot ', 'a  b', 'Jürgen 李 ❤️', '\t', '\u001b[2J', 'a\u202eb', 'a\nb'];
const NAMES = [
  'Ann',
  'Ann Lee',
  ' Ann',
  'Ann\u00a0',
  'a\u0000b',
  'a\u001bb',
  'Ödön',
  'نور',
  'xx\u200b',
];

test('A111: patterns are valid in every language, and none is stricter than the server', async (t) => {
  const api = await startApi(t);
  const patterns = new Set<string>();
  JSON.stringify(await descriptionOf(api), (name, value) => {
    if (name === 'pattern' && typeof value === 'string') patterns.add(value);
    return value;
  });
  t.true(patterns.size >= 10);
  for (const pattern of patterns) {
    for (const flags of ['', 'u']) t.notThrows(() => new RegExp(pattern, flags), pattern);
    for (const [what, known] of NOT_EVERYWHERE) t.notRegex(pattern, known, what);
    t.regex(pattern, /^[ -~]*$/, 'of ASCII alone');
  }
  const token = await api.signIn();
  const document = await descriptionOf(api);
  const { KeyCreateRequest, ProfileChange } = document.components.schemas;
  const label = new RegExp(KeyCreateRequest.properties.label.pattern);
  const [name] = ProfileChange.properties.displayName.anyOf;
  const displayName = new RegExp(name.pattern);
  for (const value of LABELS) {
    const answer = await api.call('POST', '/api_keys', { token, body: { label: value } });
    if (answer.status === 201) t.regex(value, label, 'what is taken matches');
  }
  for (const value of NAMES) {
    const body = { displayName: value };
    const { status } = await api.call('PATCH', '/me', { token, body });
    if (status === 200) t.regex(value, displayName, 'what is taken matches');
  }
  const python = spawnSync('python3', ['-c', COMPILE], {
    input: JSON.stringify([...patterns]),
    encoding: 'utf8',
  });
  if (python.error !== undefined) t.log('there is no python3: its patterns are not compiled');
  else t.deepEqual([python.status, python.stderr], [0, '']);
});

const COMPILE = `
import json, re, sys
for pattern in json.load(sys.stdin):
    re.compile(pattern)
`;

import { longTest } from '../../long-test.ts';

test('A110: answers have the headers of the description, those that guard them too', async (t) => {
  const api = await startApi(t);
  const document = await descriptionOf(api);
  const guarding = [
    ...['X-Content-Type-Options', 'Referrer-Policy', 'Cross-Origin-Resource-Policy'],
    'Content-Security-Policy',
  ];
  for (const [at, { responses }] of operationsOf(document)) {
    for (const [status, { headers }] of Object.entries<Json>(responses)) {
      for (const name of guarding) t.truthy(headers[name], `${at} ${status} ${name}`);
    }
  }
  // Every answer of `api.call` is held against it.
  const { headers } = await api.call('GET', '/status');
  for (const name of guarding) {
    const { schema } = document.components.headers[name.replaceAll('-', '')];
    t.is(headers.get(name), schema.const);
  }
});

longTest('the description is lint clean', async (t) => {
  const api = await startApi(t);
  const { text } = await api.call('GET', '/openapi.json');
  const dir = mkdtempSync(join(tmpdir(), 'paperbook-openapi-'));
  t.teardown(() => rmSync(dir, { recursive: true }));
  const file = join(dir, 'openapi.json');
  writeFileSync(file, text);
  const redocly = fileURLToPath(import.meta.resolve('@redocly/cli/bin/cli.js'));
  // What opens a WebSocket has 101 for its success.
  const skipped = '--skip-rule=operation-2xx-response';
  const args = [redocly, 'lint', '--extends=recommended-strict', skipped, '--format=stylish', file];
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  // Its own directory, so that no setting of a folder above has a say.
  const lint = promisify(execFile)(process.execPath, args, { env, cwd: dir });
  await t.notThrowsAsync(lint.catch(({ stdout, stderr }) => Promise.reject(stdout + stderr)));
});

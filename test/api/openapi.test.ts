import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { apiRoutes } from '../../api/server.ts';
import { AnswerCheck, type SeenAnswer } from './answer-check.ts';
import { samplePortfolio } from './samples.ts';
import { type Api, type Json, startApi } from './support.ts';

async function descriptionOf(api: Api): Promise<Json> {
  return (await api.call('GET', '/openapi.json', { token: null })).json;
}

function* operationsOf(document: Json): Generator<[at: string, operation: Json]> {
  for (const [path, methods] of Object.entries<Json>(document.paths)) {
    for (const [method, operation] of Object.entries(methods))
      yield [`${method} ${path}`, operation];
  }
}

test('SPEC.md section 4, GET /openapi.json: for anyone, kept for 60 s, version 1.11.0', async (t) => {
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

test('SPEC.md section 4: every route is described, with its scope', async (t) => {
  const api = await startApi(t);
  const document = await descriptionOf(api);
  const described = new Map(operationsOf(document));
  const routes = apiRoutes(api.deps);
  t.deepEqual(
    [...described.keys()].sort(),
    routes.map(({ method, path }) => `${method.toLowerCase()} ${path}`).sort(),
  );
  for (const { method, path, scope, access } of routes) {
    const operation = described.get(`${method.toLowerCase()} ${path}`);
    t.is(operation['x-required-scope'], scope ?? undefined, path);
    const scopes = scope === null ? [] : [scope];
    const wanted = {
      open: [],
      visitor: [],
      key: [{ bearerKey: scopes }, { serviceKey: scopes }],
      session: [{ sessionBearer: [] }, { sessionCookie: [] }],
    };
    t.deepEqual(operation.security, wanted[access], path);
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
    for (const { content } of bodies.filter((body) => body !== undefined) as Json[]) {
      const { example, examples = {} } = content['application/json'];
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
  for (const name of resources) t.true(name in document.components.schemas, name);
});

test('CONTRACT.md section 1: the query parameters are those that are read, with bounds', async (t) => {
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

test('examples are as their schemas say', async (t) => {
  const api = await startApi(t);
  const document = await descriptionOf(api);
  const check = new AnswerCheck(document);
  for (const [at, { responses }] of operationsOf(document)) {
    const [method, path] = at.split(' ') as [string, string];
    for (const [status, { content }] of Object.entries<Json>(responses)) {
      const { example, examples } = content['application/json'];
      const values = examples === undefined ? [example] : Object.values<Json>(examples);
      for (const value of values.map((one) => one.value ?? one)) {
        const seen = answerOf(method.toUpperCase(), path, Number(status), value);
        t.is(check.faultOf(seen), null, at);
      }
    }
  }
});

/** An answer with every header that any response is described with. */
function answerOf(method: string, path: string, status: number, body: Json): SeenAnswer {
  const retry = body.error?.retryAfterSeconds;
  const headers = new Headers({
    'x-request-id': 'one',
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'www-authenticate': 'Bearer error="invalid_token"',
    'ratelimit-limit': '60',
    'ratelimit-remaining': '59',
    'ratelimit-reset': '42',
    'ratelimit-policy': '"minute";q=60;w=60',
    ratelimit: '"minute";r=59;t=42',
    'service-quota-limit': '10000',
    'service-quota-remaining': '9999',
    'service-quota-reset': '846000',
    'service-plan': 'basic',
    ...(retry === undefined ? {} : { 'retry-after': String(retry) }),
  });
  const filled = path.replace(/\{\w+\}/, 'x');
  return { method, path: filled, status, headers, text: JSON.stringify(body) };
}

test('an answer that strays from the description is a fault', async (t) => {
  const api = await startApi(t);
  const check = new AnswerCheck(await descriptionOf(api));
  const good = answerOf('GET', '/portfolio', 200, samplePortfolio);
  const refused = (code: string, status: number, extra: object = {}) =>
    answerOf('GET', '/portfolio', status, { error: { code, message: 'No.', ...extra } });
  t.is(check.faultOf(good), null);
  t.is(check.faultOf(refused('invalid_token', 401)), null);
  const without = (name: string) => {
    const headers = new Headers(good.headers);
    headers.delete(name);
    return { ...good, headers };
  };
  const strays: [SeenAnswer, RegExp][] = [
    [{ ...good, status: 201 }, /no such status/],
    [{ ...good, status: 418 }, /no such status/],
    [answerOf('GET', '/portfolio', 200, { ...samplePortfolio, more: 1 }), /additional properties/],
    [answerOf('GET', '/portfolio', 200, { ...samplePortfolio, mode: 'live' }), /mode/],
    [refused('trading_off', 403), /allowed values/],
    [refused('no_such_code', 401), /allowed values/],
    [refused('internal_error', 503), /retryAfterSeconds|Retry-After/],
    [refused('invalid_token', 401, { retryAfterSeconds: 0 }), /retryAfterSeconds/],
    [without('x-request-id'), /X-Request-Id is missing/],
    [without('content-type'), /content type/],
    [without('cache-control'), /Cache-Control is missing/],
    [without('ratelimit-reset'), /RateLimit-Reset is missing/],
    [without('service-plan'), /Service-Plan is missing/],
    [{ ...good, path: '/nowhere' }, /route_not_found/],
    [{ ...good, method: 'PUT' }, /Allow is missing/],
    [{ ...good, method: 'OPTIONS' }, /204/],
    [{ ...good, method: 'HEAD' }, /it has a body/],
  ];
  for (const [stray, fault] of strays) t.regex(check.faultOf(stray) ?? 'no fault', fault);
});

test('the description is lint clean', async (t) => {
  const api = await startApi(t);
  const { text } = await api.call('GET', '/openapi.json');
  const dir = mkdtempSync(join(tmpdir(), 'paperbook-openapi-'));
  t.teardown(() => rmSync(dir, { recursive: true }));
  const file = join(dir, 'openapi.json');
  writeFileSync(file, text);
  const redocly = fileURLToPath(import.meta.resolve('@redocly/cli/bin/cli.js'));
  const args = [redocly, 'lint', '--extends=recommended-strict', '--format=stylish', file];
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  // Its own directory, so that no setting of a folder above has a say.
  const lint = promisify(execFile)(process.execPath, args, { env, cwd: dir });
  await t.notThrowsAsync(lint.catch(({ stdout, stderr }) => Promise.reject(stdout + stderr)));
});

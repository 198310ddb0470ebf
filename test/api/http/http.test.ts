import test from 'ava';
import type { Reply } from '../../../engine/rules/messages.ts';
import { Unavailable } from '../../../engine/threads/unavailable.ts';
import { ok } from '../fake-engine.ts';
import { RawConnection, request, until } from '../raw-connection.ts';
import { samplePlacement, samplePortfolio } from '../samples.ts';
import { startApi } from '../support.ts';

const MARKET_BUY = {
  action: 'buy',
  type: 'market',
  idempotencyKey: 'k-1',
  instrumentId: 'ins_0000000000A1',
  side: 'yes',
  count: 10,
};

test('A10, X-Request-Id: the caller`s own is echoed', async (t) => {
  const api = await startApi(t);
  const headers = { 'x-request-id': 'my-id/42~!' };
  const answer = await api.call('GET', '/status', { headers });
  t.is(answer.headers.get('x-request-id'), 'my-id/42~!');
  const missing = await api.call('GET', '/nowhere', { headers });
  t.is(missing.headers.get('x-request-id'), 'my-id/42~!');
});

test('A10, X-Request-Id: a new one for none, blanks and too long', async (t) => {
  const api = await startApi(t);
  const ids = new Set<string>();
  for (const sent of [undefined, 'has blank', 'x'.repeat(129), 'caf\u00e9']) {
    const headers: Record<string, string> = sent === undefined ? {} : { 'x-request-id': sent };
    const answer = await api.call('GET', '/status', { headers });
    const id = answer.headers.get('x-request-id')!;
    t.not(id, sent);
    ids.add(id);
  }
  t.is(ids.size, 4);
  const longest = 'x'.repeat(128);
  const answer = await api.call('GET', '/status', { headers: { 'x-request-id': longest } });
  t.is(answer.headers.get('x-request-id'), longest);
});

test('A1: the API is under /v1 alone, beside it /auth/v1 and /docs', async (t) => {
  const api = await startApi(t);
  const { origin } = new URL(api.baseUrl);
  t.is(api.baseUrl, `${origin}/v1`);
  const statusOf = async (path: string) => (await fetch(origin + path)).status;
  t.true(api.routes.length > 20);
  for (const { path } of api.routes) {
    t.not(await statusOf(`/v1${path}`), 404, path);
    t.is(await statusOf(path), 404, path);
  }
  t.is(await statusOf('/auth/v1/user'), 401);
  t.is(await statusOf('/v1/auth/v1/user'), 404);
  t.is(await statusOf('/docs'), 200);
  t.is(await statusOf('/v1/docs'), 404);
});

test('A17: an unknown path is 404 before the credential', async (t) => {
  const api = await startApi(t);
  for (const path of ['/nowhere', '/status/', '/portfolio/orders/', '/instruments//quote', '']) {
    const answer = await api.call('GET', path, { token: null });
    t.is(answer.status, 404, path);
    t.is(answer.json.error.code, 'route_not_found', path);
  }
  const beside = await fetch(new URL('/nowhere', api.baseUrl));
  t.is(beside.status, 404);
  t.is(((await beside.json()) as { error: { code: string } }).error.code, 'route_not_found');
});

test('A11, A17: a wrong method is 405 before the credential', async (t) => {
  const api = await startApi(t);
  const allowed = {
    '/status': 'GET, HEAD, OPTIONS',
    '/portfolio/orders': 'POST, GET, HEAD, DELETE, OPTIONS',
    '/portfolio/orders/0195d3a0-0000-7000-8000-000000000001': 'GET, HEAD, DELETE, PATCH, OPTIONS',
    '/portfolio/order_groups': 'POST, GET, HEAD, OPTIONS',
    '/instruments/some-slug/quote': 'GET, HEAD, OPTIONS',
  };
  for (const [path, allow] of Object.entries(allowed)) {
    const wrong = await api.call('PUT', path, { token: null });
    t.is(wrong.status, 405, path);
    t.is(wrong.json.error.code, 'method_not_allowed', path);
    t.is(wrong.headers.get('allow'), allow, path);
    const options = await api.call('OPTIONS', path, { token: null });
    t.is(options.status, 204, path);
    t.is(options.headers.get('allow'), allow, path);
  }
  t.is((await api.call('OPTIONS', '/nowhere')).status, 404);
});

test('A12, HEAD: the headers of GET and no body', async (t) => {
  const api = await startApi(t);
  for (const path of ['/status', '/me', '/portfolio', '/games', '/nowhere']) {
    const get = await api.call('GET', path, { headers: { 'x-request-id': 'one' } });
    const head = await api.call('HEAD', path, { headers: { 'x-request-id': 'one' } });
    t.is(head.status, get.status, path);
    for (const [name, value] of get.headers) {
      // The second of two requests has one less left, and one is written by the library.
      if (!/^(date|uwebsockets|connection|keep-alive|ratelimit.*|service-quota.*)$/.test(name))
        t.is(head.headers.get(name), value, `${path} ${name}`);
    }
  }
});

test('A8: unknown and repeated query parameters are 400 by name', async (t) => {
  const api = await startApi(t);
  const messages = {
    '/status?x=1': 'unknown query parameter "x"',
    '/me?limit=1': 'unknown query parameter "limit"',
    '/games?lmit=1': 'unknown query parameter "lmit"',
    '/games?limit=1&limit=1': 'query parameter "limit" is given twice',
    '/games?limit=0': 'limit must be at least 1',
    '/games?limit=101': 'limit must be at most 100',
    '/games?limit=1.5': 'limit must be an integer',
    '/games?limit=0x10': 'limit must be an integer',
    '/games?limit=': 'limit must be an integer',
    '/games?limit=%201': 'limit must be an integer',
    '/games?status=over':
      'status must be one of scheduled, inprogress, final, postponed, cancelled',
    '/games?league=%ff': 'the query is not percent-encoded UTF-8',
    '/quotes': 'ids is required',
    [`/games?${'x'.repeat(100)}=1`]: `unknown query parameter "${'x'.repeat(64)}..."`,
  };
  for (const [path, message] of Object.entries(messages)) {
    const answer = await api.call('GET', path);
    t.is(answer.status, 400, path);
    t.deepEqual(answer.json.error, { code: 'invalid_request', message }, path);
  }
  t.is((await api.call('GET', '/games?')).status, 200);
  t.is((await api.call('GET', '/games?limit=5&')).status, 200);
});

test('a caller who leaves before the answer is forgotten', async (t) => {
  const api = await startApi(t);
  const answers: ((reply: Reply) => void)[] = [];
  api.engine.reply = () => new Promise((resolve) => answers.push(resolve));
  const raw = new RawConnection(t, api.port);
  raw.send(request('GET', '/v1/portfolio', api));
  await until(() => answers.length === 1);
  raw.destroy();
  const second = api.call('GET', '/portfolio');
  await until(() => answers.length === 2);
  for (const answer of answers) answer(ok(samplePortfolio));
  t.is((await second).status, 200);
  t.false(api.log.some(({ level }) => level === 'error'));
});

test('A62: pipelined requests are answered in order while no answer is pending', async (t) => {
  const api = await startApi(t);
  const raw = new RawConnection(t, api.port);
  raw.send(
    request('GET', '/v1/status') + request('GET', '/v1/nowhere') + request('GET', '/v1/me', api),
  );
  await raw.until(({ text }) => text.includes('paperOnly'));
  const statuses = [...raw.text.matchAll(/HTTP\/1.1 (\d+)/g)].map((match) => match[1]);
  t.deepEqual(statuses, ['200', '404', '200']);
});

test('A62: a request pipelined after a pending answer closes that connection only', async (t) => {
  const api = await startApi(t);
  const answers: ((reply: Reply) => void)[] = [];
  api.engine.reply = () => new Promise((resolve) => answers.push(resolve));
  const raw = new RawConnection(t, api.port);
  raw.send(request('GET', '/v1/portfolio', api) + request('GET', '/v1/status'));
  await raw.until(({ isClosed }) => isClosed);
  answers[0]!(ok(samplePortfolio));
  t.is((await api.call('GET', '/status')).status, 200);
});

test('D6, internal_error: a busy engine is 503 with Retry-After', async (t) => {
  const api = await startApi(t);
  api.engine.reply = () => Promise.reject(new Unavailable('queue full', 3));
  api.engine.replyQuote = () => Promise.reject(new Unavailable('starting', 0.2));
  const order = await api.call('POST', '/portfolio/orders', { body: MARKET_BUY });
  t.is(order.status, 503);
  t.is(order.headers.get('retry-after'), '3');
  t.like(order.json.error, { code: 'internal_error', retryAfterSeconds: 3 });
  const quote = await api.call('GET', '/quotes?ids=ins_0000000000A1');
  t.is(quote.status, 503);
  t.is(quote.headers.get('retry-after'), '1');
});

test('A17: a full engine refuses after the credential, before the body', async (t) => {
  const api = await startApi(t);
  api.engine.busy = new Unavailable('queue full', 2);
  const unread = { ...MARKET_BUY, nonsense: true };
  const stranger = await api.call('POST', '/portfolio/orders', { body: unread, token: null });
  t.is(stranger.status, 401);
  const order = await api.call('POST', '/portfolio/orders', { body: unread });
  t.is(order.status, 503);
  t.is(order.headers.get('retry-after'), '2');
  t.like(order.json.error, { code: 'internal_error', retryAfterSeconds: 2 });
  t.is((await api.call('GET', '/usage')).status, 200, 'what asks no engine is answered');
  t.deepEqual(api.engine.requests, []);
  api.engine.busy = null;
  t.is((await api.call('POST', '/portfolio/orders', { body: MARKET_BUY })).status, 200);
});

test('E6, internal_error: our fault is 500, and its reason is in the log alone', async (t) => {
  const api = await startApi(t);
  api.engine.reply = () => Promise.reject(new Error('secret detail'));
  const answer = await api.call('GET', '/portfolio', { headers: { 'x-request-id': 'find-me' } });
  t.is(answer.status, 500);
  t.is(answer.json.error.code, 'internal_error');
  t.false(answer.text.includes('secret detail'));
  const lines = api.log.filter(({ level }) => level === 'error');
  t.is(lines.length, 1);
  t.like(lines[0]!.fields, { requestId: 'find-me', path: '/v1/portfolio' });
  t.false(JSON.stringify(lines).includes(api.token));
});

test('an answer with other than ASCII has the length of its bytes', async (t) => {
  const api = await startApi(t);
  const idempotencyKey = 'k-2';
  api.engine.reply = async () => ok({ ...samplePlacement, idempotencyKey: 'é€😀' });
  const body = { ...MARKET_BUY, idempotencyKey };
  const answer = await api.call('POST', '/portfolio/orders', { body });
  t.is(answer.json.idempotencyKey, 'é€😀');
});

test('A65: closing waits for the answer under way', async (t) => {
  const api = await startApi(t);
  const answers: ((reply: Reply) => void)[] = [];
  api.engine.reply = () => new Promise((resolve) => answers.push(resolve));
  const pending = api.call('GET', '/portfolio');
  await until(() => answers.length === 1);
  const closing = api.close();
  await t.throwsAsync(fetch(`${api.baseUrl}/status`, { headers: { connection: 'close' } }));
  answers[0]!(ok(samplePortfolio));
  t.is((await pending).status, 200);
  await closing;
});

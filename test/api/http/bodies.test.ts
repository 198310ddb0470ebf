import { request as httpRequest } from 'node:http';
import test from 'ava';
import { Metrics } from '../../../api/dispatch/metrics.ts';
import type { Route } from '../../../api/dispatch/route.ts';
import { EarlyBody, UnfinishedBodies } from '../../../api/http/body-text.ts';
import { SignIn } from '../../../api/identity/sign-in.ts';
import { ensureSigningKey } from '../../../api/identity/signing-key.ts';
import { adminRoutes } from '../../../api/operations/admin/admin.ts';
import { authRoutes } from '../../../api/operations/routes/auth.ts';
import { docsRoutes } from '../../../api/operations/routes/docs.ts';
import { pageRoutes } from '../../../api/operations/routes/page.ts';
import { RawConnection, request, until } from '../raw-connection.ts';
import { type Api, startApi } from '../support.ts';

const MARKET_BUY = {
  action: 'buy',
  type: 'market',
  idempotencyKey: 'k-1',
  instrumentId: 'ins_0000000000A1',
  side: 'yes',
  count: 10,
};

test('A9, body: not JSON and not an object are 400', async (t) => {
  const api = await startApi(t);
  const messages: [body: string | Uint8Array, message: string][] = [
    ['', 'the body is not JSON'],
    ['{', 'the body is not JSON'],
    ['{"a":1}}', 'the body is not JSON'],
    ['\ufeff{}', 'the body is not JSON'],
    ["{'a':1}", 'the body is not JSON'],
    [new Uint8Array([0x22, 0xff, 0xfe, 0x22]), 'the body is not UTF-8'],
    ['[]', 'the body must be a JSON object'],
    ['null', 'the body must be a JSON object'],
    ['"text"', 'the body must be a JSON object'],
    ['42', 'the body must be a JSON object'],
    ['{"__proto__":{"action":"buy"}}', 'action is required'],
    ['[[[[['.repeat(5000), 'the body is nested more than 100 deep'],
  ];
  for (const [body, message] of messages) {
    const answer = await api.call('POST', '/portfolio/orders', { body });
    t.is(answer.status, 400);
    t.deepEqual(answer.json.error, { code: 'invalid_request', message }, String(body).slice(0, 99));
  }
  const polluted = `${JSON.stringify(MARKET_BUY).slice(0, -1)},"__proto__":{"x":1}}`;
  const answer = await api.call('POST', '/portfolio/orders', { body: polluted });
  t.is(answer.json.error.message, 'unknown field "__proto__"');
  t.is(({} as { x?: number }).x, undefined);
  t.deepEqual(api.engine.requests, []);
});

test('A8: a key that occurs twice in a JSON body is 400, by its name', async (t) => {
  const api = await startApi(t);
  const session = await api.signIn();
  const twice = { name: 'invalid_request', message: 'field "count" is given twice' };
  const order = JSON.stringify(MARKET_BUY).slice(0, -1);
  for (const body of [
    `${order},"count":10}`,
    `${order},"\\u0063ount":1}`,
    `${order},"x":{},"count":1}`,
  ]) {
    const answer = await api.call('POST', '/portfolio/orders', { body });
    t.is(answer.status, 400);
    t.deepEqual(answer.json.error, { code: twice.name, message: twice.message }, body);
  }
  t.deepEqual(api.engine.requests, []);

  const headers = { 'content-type': 'application/json' };
  const label = '{"label":"a","label":"a"}';
  const key = await api.call('POST', '/api_keys', { token: session, headers, body: label });
  t.is(key.json.error.message, 'field "label" is given twice');
  const name = '{"private":true,"private":false}';
  const me = await api.call('PATCH', '/me', { token: session, headers, body: name });
  t.is(me.json.error.message, 'field "private" is given twice');
  const admin = await api.admin('PUT', '/admin/trading', { body: '{"on":false,"on":true}' });
  t.is(admin.json.error.message, 'field "on" is given twice');
  const credentials =
    '{"email":"a@example.com","data":{"a":[{"b":1,"b":2}]},"password":"long enough"}';
  const auth = await api.auth('POST', '/signup', { body: credentials });
  t.is(auth.status, 400);
  t.deepEqual(auth.json, {
    code: 400,
    error_code: 'validation_failed',
    msg: 'field "b" is given twice',
  });
});

test('A9, body: 64 KiB are read, a byte more is 413', async (t) => {
  const api = await startApi(t);
  const order = JSON.stringify(MARKET_BUY);
  const fits = await api.call('POST', '/portfolio/orders', { body: order.padEnd(65_536) });
  t.is(fits.status, 200);
  const tooLarge = await api.call('POST', '/portfolio/orders', { body: order.padEnd(65_537) });
  t.is(tooLarge.status, 413);
  t.deepEqual(tooLarge.json.error, {
    code: 'invalid_request',
    message: 'the body must have at most 65536 bytes',
  });
  t.is(api.engine.requests.length, 1);
});

test('A9, body: a chunked body is read whole, and bounded too', async (t) => {
  const api = await startApi(t);
  const order = JSON.stringify(MARKET_BUY);
  const raw = new RawConnection(t, api.port);
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
  const head = request('POST', '/v1/portfolio/orders', api, 'Transfer-Encoding: chunked\r\n');
  raw.send(head + chunk(order.slice(0, 10)));
  raw.send(chunk(order.slice(10)) + chunk(''));
  await raw.until(({ text }) => text.includes('"executed"'));
  t.like(api.engine.requests[0], { kind: 'place', idempotencyKey: 'k-1' });

  const large = new RawConnection(t, api.port);
  large.send(head);
  for (let i = 0; i < 9; i++) large.send(chunk(' '.repeat(8192)));
  await large.until(({ text }) => text.includes('413'));
  // The rest of the body is thrown away, and the connection goes on.
  large.send(chunk(order) + chunk('') + request('GET', '/v1/status'));
  await large.until(({ text }) => text.includes('"version":"v1"'));
  t.is(api.engine.requests.length, 1);
});

test('a body that arrives byte by byte is put together', async (t) => {
  const api = await startApi(t);
  const order = JSON.stringify({ ...MARKET_BUY, idempotencyKey: 'x'.repeat(128) });
  const raw = new RawConnection(t, api.port);
  const length = `Content-Length: ${order.length}\r\n`;
  raw.send(request('POST', '/v1/portfolio/orders', api, length));
  for (const byte of order) {
    raw.send(byte);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await raw.until(({ text }) => text.includes('"executed"'));
  t.like(api.engine.requests[0], { idempotencyKey: 'x'.repeat(128), contracts: 10 });
});

test('a body that never ends leaves no trace and the server goes on', async (t) => {
  const api = await startApi(t);
  const raw = new RawConnection(t, api.port);
  raw.send(`${request('POST', '/v1/portfolio/orders', api, 'Content-Length: 500\r\n')}{"action"`);
  t.is((await api.call('GET', '/status')).status, 200);
  raw.destroy();
  t.is((await api.call('GET', '/status')).status, 200);
  t.deepEqual(api.engine.requests, []);
});

test('A243: unfinished bodies of a caller fill no memory, and others are served', async (t) => {
  const api = await startApi(t);
  const half = Buffer.alloc(600_000, ' ');
  const rest = Buffer.alloc(400_000, ' ');
  const open = (token: string) => {
    const raw = new RawConnection(t, api.port);
    const headers = `Authorization: Bearer ${token}\r\nContent-Length: 1000000\r\n`;
    raw.send(`POST /v1/backtest HTTP/1.1\r\nHost: a\r\n${headers}\r\n`);
    raw.send(half);
    return raw;
  };
  const answered = (raw: RawConnection) =>
    raw.until(({ text, isClosed }) => isClosed || text.includes('HTTP/1.1'));
  const isRefused = ({ text }: RawConnection) =>
    /^HTTP\/1.1 503 [\s\S]*Retry-After: 1\r\n[\s\S]*unfinished body/.test(text);
  // Each takes 1 MiB, of the 64 that a caller has.
  const waiting = Array.from({ length: 66 }, () => open(api.token));
  await until(() => waiting.filter(isRefused).length >= 2);
  const kept = waiting.filter((raw) => !isRefused(raw));
  t.is(kept.length, 64);
  const session = await api.signIn();
  const other = open(session);
  other.send(rest);
  await answered(other);
  t.regex(other.text, /^HTTP\/1.1 400 /, 'another caller is heard');

  // The end of one makes room for another.
  kept[0]!.destroy();
  kept[1]!.send(rest);
  await answered(kept[1]!);
  t.regex(kept[1]!.text, /^HTTP\/1.1 400 /);
  const next = [open(api.token), open(api.token)];
  for (const raw of next) raw.send(rest);
  for (const raw of next) await answered(raw);
  t.deepEqual(next.map(isRefused), [false, false]);
});

test('A243: a body that comes before the turn of its request counts, too', (t) => {
  const unfinished = new UnfinishedBodies();
  // As one of 1 MiB, which nobody fills.
  const chunk = { byteLength: 2 ** 20, slice: () => chunk } as unknown as ArrayBuffer;
  const response = {
    onData: (take: (chunk: ArrayBuffer, isLast: boolean) => void) => take(chunk, false),
  };
  const early = (by: string) => new EarlyBody(response, unfinished, by);
  const bodies = Array.from({ length: 65 }, () => early('a'));
  t.deepEqual(
    bodies.filter(({ isCut }) => isCut),
    [bodies[64]!],
  );
  bodies[64]!.drop();
  const [one, two] = bodies as [EarlyBody, EarlyBody];
  const taken: ArrayBuffer[] = [];
  one.passTo((piece) => taken.push(piece));
  t.deepEqual(taken, [chunk]);
  two.drop();
  t.deepEqual(
    [early('a'), early('a'), early('a')].map(({ isCut }) => isCut),
    [false, false, true],
  );
  // All callers together have twice as much.
  const others = Array.from({ length: 65 }, (_, n) => early(`b${n % 2}`));
  t.is(others.filter(({ isCut }) => isCut).length, 1);
});

/** Any method may have a body on the wire, though `fetch` sends none with GET. */
function sendRaw(
  url: string,
  { method, token, body, chunked = false }: Sent,
): Promise<{ status: number; text: string }> {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'text/html',
  };
  if (token !== null) headers.authorization = `Bearer ${token}`;
  if (chunked) headers['transfer-encoding'] = 'chunked';
  else headers['content-length'] = String(Buffer.byteLength(body));
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method, headers, agent: false }, async (answer) => {
      let text = '';
      for await (const part of answer) text += part;
      resolve({ status: answer.statusCode!, text });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

type Sent = { method: string; token: string | null; body: string; chunked?: boolean };

/** Every route without a body, on every listener, with a credential that it takes. */
async function bodylessOf(api: Api) {
  const ID = '0195d3a0-0000-7000-8000-000000000001';
  const filled = (path: string) => path.replace(/\{\w+\}/, ID);
  const session = await api.signIn();
  const placed = (
    base: string,
    routes: readonly Pick<Route<never>, 'method' | 'path' | 'access' | 'readBody'>[],
    token: string,
  ) =>
    routes
      .filter(({ readBody }) => readBody === null)
      .map(({ method, path, access }) => ({
        name: `${method} ${path}`,
        url: base + filled(path),
        method,
        token: access === 'open' ? null : access === 'session' ? session : token,
      }));
  const { origin } = new URL(api.baseUrl);
  const key = await ensureSigningKey(api.dataDir, api.context.log);
  const signIn = new SignIn(api.store, key, api.context.log, 'none');
  return [
    ...placed(api.baseUrl, api.routes, api.token),
    ...placed(`${origin}/auth/v1`, authRoutes(signIn), session),
    ...placed(api.adminUrl, adminRoutes(api.context, new Metrics()), api.adminToken),
    ...placed(origin, [...pageRoutes('page'), ...docsRoutes()], api.token),
  ];
}

test('A105: a route without a body refuses one with fields, and does nothing', async (t) => {
  const api = await startApi(t);
  const routes = await bodylessOf(api);
  t.true(routes.length >= 60);
  t.true(routes.some(({ method }) => method === 'DELETE'));
  t.true(routes.some(({ method }) => method === 'POST'));
  const keysBefore = api.store.keysOf(api.user.id).length;
  for (const { name, url, ...sent } of routes) {
    for (const body of ['{"instrumentId":"ins_0000000000A1"}', '[]', 'x=1', '{"a":']) {
      const answer = await sendRaw(url, { ...sent, body });
      t.is(answer.status, 400, `${name} ${body}`);
      t.regex(answer.text, /instrumentId|body|is required/, name);
    }
  }
  t.deepEqual(api.engine.requests, []);
  t.is(api.store.keysOf(api.user.id).length, keysBefore);
});

test('A105: a route without a body takes an empty object, in pieces too', async (t) => {
  const api = await startApi(t);
  for (const { name, url, ...sent } of await bodylessOf(api)) {
    for (const chunked of [true, false]) {
      const answer = await sendRaw(url, { ...sent, body: ' {} ', chunked });
      t.notRegex(answer.text.slice(0, 120), /the body|no body/, name);
    }
  }
});

test('A105: a body in chunks, one too large and one that never comes do nothing', async (t) => {
  const api = await startApi(t);
  const url = `${api.baseUrl}/portfolio/orders`;
  const { token } = api;
  const body = '{"instrumentId":"ins_0000000000A1"}';
  const chunked = await sendRaw(url, { method: 'DELETE', token, body, chunked: true });
  t.is(chunked.status, 400);
  const large = { method: 'DELETE', token, body: `{"a":"${'x'.repeat(70_000)}"}` };
  for (const chunked of [true, false]) {
    const answer = await sendRaw(url, { ...large, chunked });
    t.is(answer.status, 400);
    t.is(JSON.parse(answer.text).error.message, 'this call takes no body, or {}');
  }
  const raw = new RawConnection(t, api.port);
  raw.send(request('DELETE', '/v1/portfolio/orders', api, 'Content-Length: 35\r\n'));
  t.is((await api.call('GET', '/status')).status, 200);
  t.deepEqual(api.engine.requests, []);
  raw.send(body);
  await raw.until(({ text }) => text.includes('unknown field \\"instrumentId\\"'));
  t.deepEqual(api.engine.requests, []);
  t.is((await api.call('DELETE', '/portfolio/orders', { body: {} })).status, 200);
  t.is(api.engine.requests.length, 1);
});

test('A19, A105: a key that ends while a body without fields arrives does nothing', async (t) => {
  const api = await startApi(t);
  const raw = new RawConnection(t, api.port);
  raw.send(`${request('DELETE', '/v1/portfolio/orders', api, 'Content-Length: 2\r\n')}{`);
  await api.call('GET', '/status');
  const [key] = api.store.keysOf(api.user.id);
  await api.store.putKey({ ...key!, revokedAtMs: Date.now() });
  raw.send('}');
  await raw.until(({ text }) => text.includes('invalid_token'));
  t.deepEqual(api.engine.requests, []);
});

test('A61: a handshake with a body is refused, and closes the connection', async (t) => {
  const api = await startApi(t);
  const raw = new RawConnection(t, api.port);
  const handshake =
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nContent-Length: 2\r\n';
  raw.send(`${request('GET', '/v1/stream', api, handshake)}{}`);
  await raw.until(({ isClosed }) => isClosed);
  t.regex(raw.text, /^HTTP\/1.1 400 /);
  t.true(raw.text.includes('invalid_request'));
});

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { forwardedHistory } from '../../../api/read-side/forwarded-history.ts';
import { variantsOfRun } from '../../model/seeds.ts';
import { type Api, startApi } from '../support.ts';

const TOKEN = 'the-servers-own-credential';
/** Longer than any answer takes, also on a busy machine. */
const WITHIN_MS = 60_000;
/** Where nothing is to come. */
const HANGS_MS = 1500;

type Play = (request: IncomingMessage, response: ServerResponse) => void;
type Service = { play: Play; seen: IncomingMessage[] };

/** A server that asks a history service, and that service, which plays what a test sets. */
async function start(
  t: ExecutionContext,
  withinMs = WITHIN_MS,
): Promise<{ api: Api; service: Service }> {
  const service: Service = { play: (_, response) => response.end('{}'), seen: [] };
  const server = createServer((request, response) => {
    service.seen.push(request);
    service.play(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const log = { info() {}, warn() {}, error() {} };
  const url = `http://127.0.0.1:${port}/base/`;
  const history = forwardedHistory({ service: { url, token: TOKEN }, log, withinMs });
  return { api: await startApi(t, { history }), service };
}

const answering =
  (status: number, body: string, type = 'application/json'): Play =>
  (_, response) => {
    response.writeHead(status, { 'content-type': type });
    response.end(body);
  };

/** An answer of any shape: the description does not bind a service. */
async function ask(api: Api, path: string, method = 'GET', token = api.token) {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(api.baseUrl + path, { method, headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

test('H20: path and query go as they came, with our credential and not with the key', async (t) => {
  const { api, service } = await start(t);
  const query = 'b=2&a=%20x(y)&a=again&unknown=;,%2C';
  for (const path of ['/history', '/history/candles', '/history/as_of', '/history/export']) {
    t.is((await ask(api, `${path}?${query}`)).status, 200);
    const request = service.seen.at(-1)!;
    t.is(request.url, `/base${path}?${query}`);
    t.is(request.headers.authorization, `Bearer ${TOKEN}`);
    t.false(JSON.stringify(request.rawHeaders).includes(api.token));
  }
  t.is((await ask(api, '/history')).status, 200);
  t.is(service.seen.at(-1)!.url, '/base/history');
});

test("H21: the service's JSON goes back unchanged, without a mode", async (t) => {
  const { api, service } = await start(t);
  const body = '{ "any":  [1, 2.50], "é": null }';
  service.play = answering(200, body);
  const answer = await ask(api, '/history?x=1');
  t.is(answer.text, body);
  t.is(answer.headers.get('content-type'), 'application/json');
  t.is(answer.headers.get('cache-control'), 'no-store');
  const head = await ask(api, '/history?x=1', 'HEAD');
  t.is(head.headers.get('content-length'), String(Buffer.byteLength(body)));
});

test('H21: each status of the service, and what the caller gets', async (t) => {
  const { api, service } = await start(t);
  const refused = JSON.stringify({ error: { code: 'credential_refused', message: 'no' } });
  const mine = JSON.stringify({ error: { code: 'too_far_back', message: 'not before 2020' } });
  for (const [status, body, expected, code] of [
    [400, '{}', 400, 'invalid_request'],
    [401, '{}', 503, 'internal_error'],
    [403, refused, 503, 'internal_error'],
    [403, mine, 403, 'invalid_request'],
    [403, 'not JSON', 403, 'invalid_request'],
    [404, '{}', 404, 'market_not_found'],
    [500, '{}', 503, 'internal_error'],
    [302, '', 503, 'internal_error'],
    [429, '{}', 503, 'internal_error'],
  ] as const) {
    service.play = answering(status, body);
    for (const path of ['/history', '/history/candles', '/history/as_of', '/history/export']) {
      const answer = await ask(api, path);
      t.is(answer.status, expected, `${status} ${body} ${path}`);
      t.is(JSON.parse(answer.text).error.code, code);
      if (expected === 503) t.truthy(answer.headers.get('retry-after'));
    }
  }
  service.play = answering(403, mine);
  t.regex((await ask(api, '/history')).text, /not before 2020/);
});

const PATHS = ['/history', '/history/candles', '/history/as_of', '/history/export'];

test('H32: what is not a 200 with JSON is 503, whatever it is called', async (t) => {
  const { api, service } = await start(t);
  for (const [status, body] of [
    [200, ''],
    [200, 'no JSON'],
    [200, '<html>sign in</html>'],
    [200, '{"half":'],
    [201, '{"any":1}'],
    [202, ''],
    [204, ''],
    [206, '{}'],
  ] as const) {
    service.play = answering(status, body);
    for (const path of PATHS) {
      const answer = await ask(api, path);
      t.is(answer.status, 503, `${status} ${body} ${path}`);
      t.is(JSON.parse(answer.text).error.code, 'internal_error');
      t.is((await ask(api, path, 'HEAD')).status, 503, `HEAD ${status} ${body} ${path}`);
    }
  }
  service.play = (_, response) => response.writeHead(200).end(Buffer.from([0x22, 0xff, 0x22]));
  t.is((await ask(api, '/history')).status, 503, 'not UTF-8');
  service.play = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    response.end(gzipSync('{}'));
  };
  for (const path of PATHS) t.is((await ask(api, path)).status, 503, path);
});

test('H33: an export goes on as CSV, NDJSON or JSON, and as nothing else', async (t) => {
  const { api, service } = await start(t);
  for (const [type, body, expected] of [
    ['text/csv', 'at,yesBidCents\n', 200],
    ['TEXT/CSV; charset=utf-8; header=present', 'at\n', 200],
    ['application/x-ndjson', '{}\n{}\n', 200],
    ['application/json', '{ "rows": [] }', 200],
    ['application/json', 'at,yesBidCents\n', 503],
    ['text/html', '<html>sign in</html>', 503],
    ['text/plain', 'at\n', 503],
  ] as const) {
    service.play = answering(200, body, type);
    const answer = await ask(api, '/history/export');
    t.is(answer.status, expected, type);
    if (expected !== 200) continue;
    t.is(answer.headers.get('content-type'), type);
    t.is(answer.text, body);
  }
});

test('H21: a service that hangs, at once or in the middle, is 503', async (t) => {
  const { api, service } = await start(t, HANGS_MS);
  service.play = () => {};
  t.is((await ask(api, '/history')).status, 503);
  t.is((await ask(api, '/history/export')).status, 503);
  service.play = (_, response) => {
    response.writeHead(200);
    response.write('{"half":');
  };
  t.is((await ask(api, '/history')).status, 503);
  await t.throwsAsync(ask(api, '/history/export'), undefined, 'its end is missing');
});

test('H21: an answer of more than 64 MiB is 503, of an export it is not', async (t) => {
  const { api, service } = await start(t);
  const piece = Buffer.alloc(2 ** 20, 0x20);
  const pieces = 66;
  service.play = async (request, response) => {
    request.socket.setNoDelay(true);
    response.writeHead(200, { 'content-type': 'text/csv', 'content-disposition': 'attachment' });
    for (let i = 0; i < pieces && !response.destroyed; i++) {
      if (!response.write(piece)) await new Promise((resolve) => response.once('drain', resolve));
    }
    response.end();
  };
  t.is((await ask(api, '/history')).status, 503);
  for (const path of variantsOfRun(['/history/export'], 0)) {
    const exported = await ask(api, path);
    t.is(exported.status, 200);
    t.is(exported.text.length, pieces * piece.length);
    t.is(exported.headers.get('content-type'), 'text/csv');
    t.is(exported.headers.get('content-disposition'), 'attachment');
  }
});

test('H20: key, scope and switch are checked before the service is asked', async (t) => {
  const { api, service } = await start(t);
  t.is((await ask(api, '/history', 'GET', 'svc_sk_no')).status, 401);
  const reader = await api.addKey({ scopes: ['records:read'] });
  t.is((await ask(api, '/history', 'GET', reader)).status, 403);
  t.is((await ask(api, '/history', 'POST')).status, 405);
  await api.switches.set('venueData', false);
  const dark = await ask(api, '/history');
  t.is(dark.status, 403);
  t.regex(dark.text, /venue_data_off/);
  t.deepEqual(service.seen, []);
});

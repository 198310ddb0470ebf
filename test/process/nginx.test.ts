/** The recipe api/deploy/nginx.conf, as nginx itself reads and runs it. */
import { createServer, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import test, { type ExecutionContext } from 'ava';
import { WebSocket, WebSocketServer } from 'ws';
import { longTest } from '../long-test.ts';
import { hasNginx, type Nginx, startNginx } from './nginx.ts';
import { run, startFor } from './server.ts';

// Without nginx these are shown as skipped.
const nginxTest = hasNginx ? test.serial : test.serial.skip;
const longNginxTest = hasNginx ? longTest.serial : test.serial.skip;

type Answer = { status: number; headers: Record<string, unknown>; text: string };
type Asked = { headers?: Record<string, string>; method?: string; body?: string };

/** A request over TLS, whose certificate is looked at. */
function ask({ host, ca }: Nginx, path: string, { headers, method, body }: Asked = {}) {
  return new Promise<Answer>((resolve, reject) => {
    const options = { ca, headers: headers ?? {}, method: method ?? 'GET' };
    const request = httpsRequest(`https://${host}${path}`, options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece) => {
        text += piece;
      });
      response.on('end', () => {
        resolve({ status: response.statusCode!, headers: response.headers, text });
      });
    });
    request.on('error', reject).end(body);
  });
}

const BEHIND_NGINX = { PAPERBOOK_BEHIND_TLS_PROXY: 'on' };

nginxTest('nginx.conf: the server is reached over TLS, with a key and with a body', async (t) => {
  const server = await startFor(t, 'serve', { env: BEHIND_NGINX });
  const admin = async (...args: string[]) => {
    const at = ['--data-dir', server.dataDir, '--admin-url', server.adminUrl, '--json'];
    return JSON.parse((await run(['admin', ...args, ...at])).stdout);
  };
  const { user } = await admin('user', 'create', '--email', 'ann@example.com', '--plan', 'basic');
  const scopes = ['--scopes', 'portfolio:read', 'trade:write'];
  const { token } = await admin('key', 'create', '--user', user.id, ...scopes);
  const nginx = await startNginx(t, portOf(server.baseUrl));

  const status = await ask(nginx, '/v1/status');
  t.is(status.status, 200);
  t.like(JSON.parse(status.text), { ok: true, version: 'v1' });
  t.is(status.headers['strict-transport-security'], 'max-age=31536000');

  const authorization = `Bearer ${token}`;
  const me = await ask(nginx, '/v1/me', { headers: { authorization } });
  t.is(JSON.parse(me.text).user.id, user.id);
  // The order goes as far as an empty catalog lets it.
  const order = { action: 'buy', type: 'market', instrumentId: 'ins_000000000000', side: 'yes' };
  const placed = await ask(nginx, '/v1/portfolio/orders', {
    method: 'POST',
    headers: { authorization },
    body: JSON.stringify({ ...order, count: 1, idempotencyKey: 'one' }),
  });
  t.is(JSON.parse(placed.text).error.code, 'instrument_not_found');
  const tooLarge = { method: 'POST', headers: { authorization }, body: ' '.repeat(70_000) };
  const refused = await ask(nginx, '/v1/portfolio/orders', tooLarge);
  t.is(refused.status, 413);
  t.is(JSON.parse(refused.text).error.code, 'invalid_request', 'in the words of the server');
});

longNginxTest(
  'nginx.conf: without proxy_http_version 1.1 the server answers 505',
  async (t: ExecutionContext) => {
    const server = await startFor(t, 'serve', { env: BEHIND_NGINX });
    const without = (recipe: string) => recipe.replace('proxy_http_version 1.1;', '');
    const nginx = await startNginx(t, portOf(server.baseUrl), without);
    t.is((await ask(nginx, '/v1/status')).status, 505);
  },
);

nginxTest('nginx.conf: plain HTTP is sent to HTTPS', async (t) => {
  const { httpHost } = await startNginx(t, 9);
  const location = await new Promise((resolve, reject) => {
    httpRequest(`http://${httpHost}/v1/status?x=1`, ({ statusCode, headers }) => {
      resolve([statusCode, headers.location]);
    })
      .on('error', reject)
      .end();
  });
  t.deepEqual(location, [301, 'https://localhost/v1/status?x=1']);
});

nginxTest(
  'nginx.conf: the caller`s address is nginx`s word alone, the host as asked for',
  async (t) => {
    const { port } = await startEcho(t);
    const nginx = await startNginx(t, port);
    const forged = { 'x-forwarded-for': '203.0.113.7', 'x-forwarded-proto': 'http' };
    const headers = { ...forged, connection: 'close', 'x-request-id': 'mine' };
    const { text } = await ask(nginx, '/v1/status?a=1', { headers });
    const seen = JSON.parse(text);
    t.is(seen.url, '/v1/status?a=1');
    t.like(seen.headers, {
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'https',
      host: nginx.host,
      'x-request-id': 'mine',
    });
    t.false('connection' in seen.headers, 'the connection to the server is kept');
    t.false('upgrade' in seen.headers);
    t.is(seen.version, '1.1');
  },
);

nginxTest('nginx.conf: a WebSocket passes, with its subprotocol and headers', async (t) => {
  const { port } = await startEcho(t);
  const nginx = await startNginx(t, port);
  const headers = { authorization: 'Bearer key' };
  const socket = new WebSocket(`wss://${nginx.host}/v1/stream`, ['msgpack'], {
    ca: nginx.ca,
    headers,
  });
  t.teardown(() => socket.terminate());
  const first = new Promise<string>((resolve, reject) => {
    socket.once('message', (data) => resolve(String(data)));
    socket.once('error', reject);
  });
  t.like(JSON.parse(await first), {
    url: '/v1/stream',
    headers: { ...headers, connection: 'upgrade', upgrade: 'websocket' },
  });
  t.is(socket.protocol, 'msgpack');
  const echoed = new Promise<string>((resolve) => {
    socket.once('message', (data) => resolve(String(data)));
  });
  socket.send('there and back');
  t.is(await echoed, 'there and back');
});

/** Answers a request, and greets a WebSocket, with what it was asked; then echoes messages. */
async function startEcho(t: ExecutionContext): Promise<{ port: number }> {
  const server = createServer(({ url, headers, httpVersion: version }, response) => {
    response.end(JSON.stringify({ url, headers, version }));
  });
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket, { url, headers }) => {
    socket.send(JSON.stringify({ url, headers }));
    socket.on('message', (data) => socket.send(String(data)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    server.close();
  });
  return server.address() as { port: number };
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}

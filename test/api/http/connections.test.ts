/** What callers do to connections: read nothing, send nothing, send too much or two things at once. */
import test from 'ava';
import { headerLines } from '../../../api/http/header-lines.ts';
import { listen } from '../../../api/http/http.ts';
import { shareOf, variantsOfRun } from '../../model/seeds.ts';
import { ok } from '../fake-engine.ts';
import { RawConnection, request } from '../raw-connection.ts';
import { type Api, startApi } from '../support.ts';

/** Far more than the sockets of both ends hold; each of these is answered with 3 KB or more. */
const UNREAD_MAX = 20_000;
const BATCH = 50;

/** The largest part of /docs. */
async function largePath(api: Api): Promise<string> {
  const { text } = await api.page('GET', '/docs');
  return `/${/docs\/swagger-ui-bundle[^"]+/.exec(text)![0]}`;
}

const UNREAD = [
  ['large answers', 'GET', largePath],
  ['small answers', 'GET', '/v1/status'],
  ['answers without a body', 'HEAD', '/v1/status'],
  ['answers without a body', 'OPTIONS', '/v1/status'],
  ['refusals', 'PUT', '/v1/status'],
] as const;

for (const [what, method, path] of variantsOfRun(UNREAD, 3)) {
  test(`A64: a caller who reads no ${what} to ${method} is dropped, not buffered for`, async (t) => {
    const api = await startApi(t);
    const known = typeof path === 'string' ? path : await path(api);
    const raw = new RawConnection(t, api.port);
    raw.stopReading();
    let sent = 0;
    while (!raw.isClosed && sent < UNREAD_MAX) {
      await raw.sendWhole(request(method, known).repeat(BATCH));
      sent += BATCH;
      // Answered after what was sent before it.
      t.is((await api.call('GET', '/status')).status, 200);
    }
    t.true(raw.isClosed, `${sent} requests, and it still listens`);
  });
}

/** Far more than the sockets of both ends hold, with characters of every length. */
const LARGE = 'é€𝄞 '.repeat(1_600_000);

const LARGE_ANSWERS = [
  ['text, no character cut in two', LARGE],
  ['asset', Buffer.from(LARGE)],
] as const;

for (const [what, large] of variantsOfRun(LARGE_ANSWERS)) {
  test(`a caller who reads slowly gets the whole of a large ${what}`, async (t) => {
    const listener = await listen({
      host: '127.0.0.1',
      port: 0,
      tls: null,
      socketPaths: [],
      headers: headerLines([]),
      isBehindProxy: false,
      onAnswer: null,
      handle: (http) => {
        http.answer(200, headerLines([]), http.path === '/large' ? large : 'small');
      },
    });
    t.teardown(() => listener.close(0));
    const raw = new RawConnection(t, listener.port);
    raw.stopReading();
    raw.send(request('GET', '/large'));
    // The sockets are full, and the rest waits, while others are answered.
    const origin = `http://127.0.0.1:${listener.port}`;
    t.is(await (await fetch(`${origin}/other`)).text(), 'small');
    const bodyBytes = Buffer.byteLength(large);
    const bodyAt = (text: string) => text.indexOf('\r\n\r\n') + 4;
    await raw.readSlowly(({ bytes, text }) => {
      return bytes > bodyBytes && bytes >= bodyAt(text) + bodyBytes;
    });
    const body = Buffer.from(raw.text.slice(bodyAt(raw.text)), 'latin1');
    t.is(body.length, bodyBytes, raw.isClosed ? 'the server ended the connection' : '');
    t.true(body.equals(Buffer.from(large)));
    raw.text = '';
    raw.send(request('GET', '/other'));
    await raw.until(({ text, isClosed }) => isClosed || text.endsWith('small'));
    t.false(raw.isClosed);
  });
}

const KEPT_MAX = 10_000;

/** Of answers without a body; whether all of HEAD, and no other, name a length. */
function countsOf(text: string, method: string) {
  const count = (line: RegExp) => text.match(line)?.length ?? 0;
  const answers = count(/^HTTP\/1.1 20[04] /gm);
  const dates = count(/^Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r$/gm);
  const lengths = count(/^Content-Length: [1-9]\d*\r$/gm);
  const ends = text.split('\r\n\r\n').length - 1;
  return { answers, dates, ends, lengths: lengths === (method === 'HEAD' ? answers : 0) };
}

for (const method of variantsOfRun(['HEAD', 'OPTIONS'])) {
  test(`A62: ten thousand answers to ${method} keep the connection, the next says that it ends`, async (t) => {
    const api = await startApi(t);
    const raw = new RawConnection(t, api.port);
    // So many at once are answered whatever else there is to do: Q21.
    const together = 8;
    const whole = { answers: together, dates: together, lengths: true };
    for (let kept = 0; kept < KEPT_MAX; kept += together) {
      raw.text = '';
      raw.send(request(method, '/v1/status').repeat(together));
      await raw.until(({ isClosed, text }) => isClosed || countsOf(text, method).ends === together);
      t.like(countsOf(raw.text, method), whole, `after ${kept}`);
      t.notRegex(raw.text, /^Connection:/im);
    }
    for (const last of [raw, new RawConnection(t, api.port)]) {
      last.text = '';
      last.send(request(method, '/v1/status'));
      await last.until(({ isClosed }) => isClosed);
      t.regex(last.text, /\r\nConnection: close\r\n\r\n$/);
      t.like(countsOf(last.text, method), { answers: 1, dates: 1, lengths: true });
    }
  });

  test(`A62: ${method} and a request after it in one packet are both answered`, async (t) => {
    const api = await startApi(t);
    api.engine.reply = async () => ok({});
    const raw = new RawConnection(t, api.port);
    raw.send(request(method, '/v1/status') + request('GET', '/v1/me', api));
    await raw.until(({ isClosed, text }) => isClosed || text.includes('"paperOnly"'));
    const answered = [...raw.text.matchAll(/HTTP\/1.1 (\d+)/g)].map((match) => match[1]!);
    t.deepEqual(answered, [method === 'HEAD' ? '200' : '204', '200']);
  });
}

test('Q21: a request without a body that waits for its turn is answered', async (t) => {
  t.timeout(30_000);
  const api = await startApi(t);
  const all = Array.from({ length: 100 }, () => new RawConnection(t, api.port));
  const answered = (part: string) =>
    Promise.all(all.map((raw) => raw.until(({ text }) => text.includes(part))));
  for (const raw of all) raw.send(request('GET', '/v1/status'));
  await answered('"ok":true');
  // So many at once that most of them wait.
  for (const raw of all) raw.send(request('POST', '/v1/portfolio/orders', api));
  await answered('the body is not JSON');
  t.true(all.every(({ isClosed }) => !isClosed));
});

const SMUGGLED = request('GET', '/v1/portfolio');

/** RFC 9112, sections 6 and 7.1: bodies whose end two readers could see in two places. */
const UNCLEAR: Record<string, string> = {
  'two Content-Lengths': `Content-Length: 2\r\nContent-Length: 4\r\n\r\n{}{}${SMUGGLED}`,
  'the same Content-Length twice': `Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}${SMUGGLED}`,
  'a list of Content-Lengths': `Content-Length: 2, 2\r\n\r\n{}${SMUGGLED}`,
  'a signed Content-Length': `Content-Length: +2\r\n\r\n{}${SMUGGLED}`,
  'a negative Content-Length': `Content-Length: -2\r\n\r\n{}${SMUGGLED}`,
  'a Content-Length in hex': `Content-Length: 0x2\r\n\r\n{}${SMUGGLED}`,
  'a Content-Length beyond numbers': `Content-Length: 99999999999999999999\r\n\r\n{}${SMUGGLED}`,
  'Content-Length and Transfer-Encoding': `Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n${SMUGGLED}`,
  'Transfer-Encoding and Content-Length': `Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n${SMUGGLED}`,
  'another coding': `Transfer-Encoding: xchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n${SMUGGLED}`,
  'two codings': `Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n${SMUGGLED}`,
  'two Transfer-Encodings': `Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n2\r\n{}\r\n0\r\n\r\n${SMUGGLED}`,
  'the coding identity': `Transfer-Encoding: identity\r\n\r\n{}${SMUGGLED}`,
  'a chunk size that is none': `Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n${SMUGGLED}`,
  'a chunk size beyond numbers': `Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{}${SMUGGLED}`,
  'a blank before the colon': `Transfer-Encoding : chunked\r\nContent-Length: 2\r\n\r\n{}${SMUGGLED}`,
  'a folded line': `X-A: b\r\n Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n{}${SMUGGLED}`,
};

for (const [what, rest] of Object.entries(UNCLEAR)) {
  test(`A61: request smuggling: ${what} ends the connection, and nothing after it is run`, async (t) => {
    const api = await startApi(t);
    api.engine.reply = async () => ok({});
    const raw = new RawConnection(t, api.port);
    const key = `x-service-key: ${api.token}\r\n`;
    const smuggled = rest.replace(SMUGGLED, request('GET', '/v1/portfolio', api));
    raw.send(`POST /v1/portfolio/orders HTTP/1.1\r\nHost: x\r\n${key}${smuggled}`);
    // At once, or after the time that a head may take.
    await raw.until(({ isClosed }) => isClosed);
    t.regex(raw.text, /^($|HTTP\/1\.1 400 )/);
    t.deepEqual(api.engine.requests, []);
  });
}

test('A61: a body without a clear end is 400 as any bad body, in JSON', async (t) => {
  const api = await startApi(t);
  const raw = new RawConnection(t, api.port);
  raw.send(`${request('GET', '/v1/status', null, 'Content-Length: 0\r\nContent-Length: 0\r\n')}`);
  await raw.until(({ isClosed }) => isClosed);
  const [head, body] = raw.text.split('\r\n\r\n') as [string, string];
  t.regex(head, /^HTTP\/1.1 400 Bad Request\r\nX-Request-Id: /);
  t.regex(head, /\r\nConnection: close$/);
  t.is(Number(/\r\nContent-Length: (\d+)/.exec(head)![1]), body.length);
  t.deepEqual(JSON.parse(body), {
    error: {
      code: 'invalid_request',
      message: 'Content-Length or Transfer-Encoding is ambiguous',
    },
  });
});

/** What uWebSockets.js refuses before there is a request: in its own words, without our headers. */
const NO_REQUEST: Record<string, [bytes: string, status: number]> = {
  'a head of more than 4 KiB': [
    request('GET', '/v1/status', null, `X: ${'a'.repeat(4096)}\r\n`),
    431,
  ],
  'a path of more than 4 KiB': [request('GET', `/v1/${'a'.repeat(4096)}`), 431],
  'more than 100 headers': [request('GET', '/v1/status', null, 'X: a\r\n'.repeat(120)), 431],
  'HTTP/1.0': ['GET /v1/status HTTP/1.0\r\nHost: x\r\n\r\n', 505],
  'a target with a host': ['GET http://x/v1/status HTTP/1.1\r\nHost: x\r\n\r\n', 505],
  'the target *': ['OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n', 505],
  'a head without a host': ['GET /v1/status HTTP/1.1\r\nX: a\r\n\r\n', 400],
  'what is no HTTP': ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 505],
};

for (const [what, [bytes, status]] of Object.entries(NO_REQUEST)) {
  test(`A63: ${what} is ${status}, and ends the connection`, async (t) => {
    const api = await startApi(t);
    const raw = new RawConnection(t, api.port);
    raw.send(bytes);
    await raw.until(({ isClosed }) => isClosed);
    t.regex(raw.text, new RegExp(`^HTTP/1.1 ${status} `));
    t.is((await api.call('GET', '/status')).status, 200);
  });
}

test('a Content-Length that is too small makes no request of the rest', async (t) => {
  const api = await startApi(t);
  const raw = new RawConnection(t, api.port);
  raw.send(
    `${request('POST', '/v1/portfolio/orders', api, 'Content-Length: 2\r\n')}{}{"action":1}`,
  );
  await raw.until(({ isClosed }) => isClosed);
  t.deepEqual(api.engine.requests, []);
});

test('A64: hundreds of callers who stall are dropped, and hold up nobody', async (t) => {
  const api = await startApi(t);
  const starts = [
    '',
    'GET /v1/status HTTP/1.1\r\nHos',
    'GET /v1/status HTTP/1.1\r\n\r\n',
    'GET /v1/status HTTP/1.1\r\nX-A: ',
    `${request('POST', '/v1/portfolio/orders', api, 'Content-Length: 100\r\n')}{"act`,
    `${request('POST', '/v1/portfolio/orders', api, 'Transfer-Encoding: chunked\r\n')}5\r\n{"a`,
  ];
  const stalled = Array.from({ length: Math.max(200, shareOf(500)) }, (_, i) => {
    const raw = new RawConnection(t, api.port);
    raw.send(starts[i % starts.length]!);
    return raw;
  });
  // A byte now and then is no progress either.
  const drip = setInterval(() => {
    for (const [i, raw] of stalled.entries()) if (i % starts.length > 1) raw.send('a');
  }, 1000);
  t.teardown(() => clearInterval(drip));
  let answered = 0;
  while (stalled.some(({ isClosed }) => !isClosed)) {
    t.is((await api.call('GET', '/portfolio')).status, 200);
    answered++;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  t.true(answered > 0);
  for (const [i, { text }] of stalled.entries()) t.is(text, '', starts[i % starts.length]);
});

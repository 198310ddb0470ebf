/** How good requests are made bad: a value, a field, a segment, a header or a byte at a time. */

import type { RandomSource } from '../model/random-source.ts';
import type { Json } from '../process/client.ts';

/** A request as it is sent; `body` null sends none. */
export type FuzzRequest = {
  method: string;
  path: string;
  query: [name: string, value: string][];
  headers: [name: string, value: string][];
  body: string | null;
  isChunked: boolean;
};

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'get', 'X'];
const TEXTS = [
  ...['', ' ', '0', '-1', '1e9', 'null', 'true', 'undefined', 'NaN', '__proto__', 'constructor'],
  ...['../..', '%00', '%ff', '%', '{}', '[]', '"', "' or 1=1 --", 'é', '😀', '\u0000'],
  ...['a'.repeat(65), 'a'.repeat(129), 'a'.repeat(600), '9'.repeat(30), '2026-13-45T99:99:99Z'],
  ...['2026-11-21T12:00:00.000Z', '2099-01-01', '0195d3a0-0000-7000-8000-000000000001', 'all'],
  ...['ins_000000000000', 'game_0000000000', '0d', '30d', '99999d', 'yes', 'buy', 'gtc', 'best'],
];
const VALUES: Json[] = [
  ...[null, true, false, 0, -0, 1, -1, 99, 100, 1.5, 0.1, 1e9, 1e9 + 1, 1e21, -1e308, 2 ** 53],
  ...[[], {}, [[]], [null], { a: 1 }, { length: 1 }, ['trade:write'], Array(50).fill('a')],
];
const HEADERS: [string, string][] = [
  ...([
    ['x-request-id', 'a b'],
    ['x-request-id', 'x'.repeat(200)],
    ['content-type', 'text/plain'],
    ['content-type', 'multipart/form-data; boundary=x'],
    ['accept', 'text/html'],
    ['accept-encoding', 'gzip, br'],
    ['origin', 'https://evil.example'],
    ['sec-fetch-site', 'cross-site'],
    ['cookie', 'sb-access-token=x; sb-access-token=y'],
    ['authorization', 'Basic YTpi'],
    ['authorization', 'Bearer'],
    ['authorization', `Bearer svc_sk_${'a'.repeat(43)}`],
    ['x-service-key', 'svc_sk_'],
    ['x-service-key', '\u00ff\u00fe'],
    ['x-service-org', ''],
    ['x-service-org', 'me'],
    ['x-service-org', '0195d3a0-0000-7000-8000-000000000001'],
    ['x-forwarded-for', '1.2.3.4, evil'],
    ['x-http-method-override', 'DELETE'],
    ['if-none-match', '*'],
    ['range', 'bytes=0-1'],
    ['upgrade', 'websocket'],
    ['x-many', 'a'.repeat(3000)],
    ['x-larger', 'a'.repeat(6000)],
  ] as [string, string][]),
];
/** Beyond the limit of a body. */
const TOO_LARGE = ' '.repeat(65_537);

/** Changes one thing. `ids` are things of this caller that exist. */
export function mutate(random: RandomSource, request: FuzzRequest, ids: readonly string[]): void {
  const text = () => (ids.length > 0 && random.oneIn(4) ? random.pick(ids) : random.pick(TEXTS));
  const what = random.weighted({ body: 8, query: 5, path: 4, header: 4, method: 1, size: 0.1 });
  if (what === 'method') request.method = random.pick(METHODS);
  else if (what === 'size') request.body = TOO_LARGE;
  else if (what === 'header') request.headers.push(random.pick(HEADERS));
  else if (what === 'path') request.path = pathOf(random, request.path, text());
  else if (what === 'query') mutateQuery(random, request.query, text());
  else if (request.body !== null) request.body = bodyOf(random, request.body, text);
  else request.body = random.pick(['', '{}', '[]', '{', text()]);
}

function pathOf(random: RandomSource, path: string, text: string): string {
  const segments = path.split('/');
  const at = random.int(1, segments.length - 1);
  switch (random.int(0, 5)) {
    case 0:
      return `${path}/`;
    case 1:
      return path.toUpperCase();
    case 2:
      segments.splice(at, 1);
      return segments.join('/') || '/';
    case 3:
      segments.splice(at, 0, visible(text));
      return segments.join('/');
    case 4:
      // The segment that may be a parameter.
      segments[segments.length - 1] = encodeURIComponent(text);
      return segments.join('/');
    default:
      segments[at] = random.oneIn(2) ? encodeURIComponent(text) : visible(text);
      return segments.join('/');
  }
}

/** Characters that a request line may have unchanged. */
const visible = (text: string) => text.replaceAll(/[^!-~]|[?#]/g, '') || 'x';

function mutateQuery(random: RandomSource, query: [string, string][], text: string): void {
  const encoded = random.oneIn(5) ? visible(text) : encodeURIComponent(text);
  if (query.length === 0 || random.oneIn(3)) {
    const name = random.pick(['limit', 'cursor', 'status', 'x', '__proto__', 'league', 'from']);
    query.push([name, encoded]);
    return;
  }
  const at = random.int(0, query.length - 1);
  const [name, value] = query[at]!;
  const how = random.int(0, 3);
  if (how === 0) query.splice(at, 1);
  else if (how === 1) query.push([name, value]);
  else query[at] = [name, encoded];
}

function bodyOf(random: RandomSource, body: string, text: () => string): string {
  if (random.oneIn(8)) return mangle(random, body);
  let value: Json;
  try {
    value = JSON.parse(body);
  } catch {
    return mangle(random, body);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return body;
  const names = Object.keys(value);
  const name = names.length === 0 || random.oneIn(6) ? text() : random.pick(names);
  const how = random.int(0, 3);
  if (how === 0) delete value[name];
  else if (how === 1) Object.defineProperty(value, name, shown(random.pick(VALUES)));
  else Object.defineProperty(value, name, shown(near(random, value[name], text())));
  return JSON.stringify(value);
}

/** As JSON would set it: `__proto__` is a name like any other. */
const shown = (value: Json) => ({
  ...{ value, enumerable: true, configurable: true, writable: true },
});

/** Another value of the same kind. */
function near(random: RandomSource, value: Json, text: string): Json {
  if (typeof value === 'number') return value + random.pick([-1, 1, 0.5, 100, -100, 1e9]);
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'string' && random.oneIn(2)) return mangle(random, value);
  return text;
}

/** Takes, adds, changes or repeats a few characters. */
export function mangle(random: RandomSource, text: string): string {
  let mangled = text;
  for (let times = random.int(1, 3); times > 0; times--) {
    const at = random.int(0, mangled.length);
    const length = random.int(0, 4);
    const put = random.pick([
      '',
      '"',
      '{',
      '}',
      ',',
      ':',
      '\\',
      '\n',
      '0',
      mangled.slice(at, at + 9),
    ]);
    mangled = mangled.slice(0, at) + put + mangled.slice(at + length);
  }
  return mangled;
}

/** The bytes of a request to a port of loopback, latin1 where it is no JSON. */
export function bytesOf(request: FuzzRequest, port: number): Buffer {
  const { method, path, query, headers, body, isChunked } = request;
  const search = query.map(([name, value]) => `${name}=${value}`).join('&');
  const target = search === '' ? path : `${path}?${search}`;
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const content = Buffer.from(body ?? '');
  let framing = '';
  if (isChunked) framing = 'transfer-encoding: chunked\r\n';
  else if (body !== null) framing = `content-length: ${content.length}\r\n`;
  const head = Buffer.from(
    `${method} ${target} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${lines}${framing}\r\n`,
    'latin1',
  );
  if (!isChunked) return Buffer.concat([head, content]);
  const size = content.length === 0 ? '' : `${content.length.toString(16)}\r\n`;
  const end = content.length === 0 ? '0\r\n\r\n' : '\r\n0\r\n\r\n';
  return Buffer.concat([head, Buffer.from(size), content, Buffer.from(end)]);
}

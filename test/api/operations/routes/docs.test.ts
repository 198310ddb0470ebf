import { createHash } from 'node:crypto';
import test from 'ava';
import { type Api, type Json, startApi } from '../../support.ts';
import { DECODE, wireOf } from '../../wire.ts';

test('A72: /docs, a page for anyone, all of it from this server', async (t) => {
  const api = await startApi(t);
  const page = await api.page('GET', '/docs');
  t.is(page.status, 200);
  t.is(page.headers.get('content-type'), 'text/html; charset=utf-8');
  t.is(page.headers.get('cache-control'), 'max-age=60');
  const linked = [...page.text.matchAll(/(?:href|src)="([^"]*)"/g)].map((match) => match[1]!);
  const urls = linked.filter((url) => !url.startsWith('data:'));
  t.true(urls.length >= 4);
  const base = new URL('/docs', api.baseUrl);
  for (const url of urls) {
    const { origin, pathname } = new URL(url, base);
    t.is(origin, base.origin, url);
    const answer = await fetch(origin + pathname);
    t.is(answer.status, 200, url);
    t.is(answer.headers.get('x-content-type-options'), 'nosniff');
    t.true((await answer.text()).length > 0);
  }
});

/** The path of a part of the page, whose name has a hash of its content in it. */
async function partOf(api: Api, stem: string): Promise<string> {
  const { text } = await api.page('GET', '/docs');
  const found = new RegExp(`"(docs/${stem}\\.[0-9a-f]{12}\\.\\w+)"`).exec(text);
  return `/${found![1]}`;
}

test('/docs: its own settings ask nobody outside, and it is dark where that is wanted', async (t) => {
  const api = await startApi(t);
  const script = await api.page('GET', await partOf(api, 'start'));
  t.regex(script.text, /url: 'v1\/openapi\.json'/);
  t.regex(script.text, /validatorUrl: null/);
  t.regex(script.text, /matchMedia\('\(prefers-color-scheme: dark\)'\)/);
});

test('A169: the introduction has every header that some answer has, and the page none of them again', async (t) => {
  const api = await startApi(t);
  const { info, components } = (await api.call('GET', '/openapi.json', { token: null })).json;
  const guarding = /^(X-?Content|Referrer|Cross|Content-Sec)/;
  for (const name of new Set<string>(namesOfHeaders(components.headers))) {
    if (!guarding.test(name)) t.true(info.description.includes(`| \`${name}\` |`), name);
  }
  const script = await api.page('GET', await partOf(api, 'start'));
  t.true(script.text.includes('wrapComponents: { headers: '));
  const styles = await api.page('GET', await partOf(api, 'short'));
  t.is(styles.status, 200);
});

/** Components are named without hyphens; the other form of a header is `…IfAny`. */
function namesOfHeaders(headers: Json): string[] {
  const known = [...Object.keys(headers)].map((name) => name.replace(/IfAny$/, ''));
  return known.map((name) =>
    name
      .replace(/^XRequestId$/, 'X-Request-Id')
      .replace(/^WWWAuthenticate$/, 'WWW-Authenticate')
      .replace(/(?<=[a-z])(?=[A-Z])/g, '-')
      .replace(/^Rate-Limit/, 'RateLimit'),
  );
}

test('A113: /docs: what cleans the HTML in texts of the description is of today', async (t) => {
  const api = await startApi(t);
  const { text } = await api.page('GET', await partOf(api, 'swagger-ui-bundle'));
  const [, major, minor] = /DOMPurify\.version="(\d+)\.(\d+)\.\d+"/.exec(text) ?? [];
  t.true(Number(major) > 3 || (Number(major) === 3 && Number(minor) >= 4), `${major}.${minor}`);
});

test('A13: /docs: parts are kept for ever under a name of their content, and are compressed', async (t) => {
  const api = await startApi(t);
  const path = await partOf(api, 'swagger-ui-bundle');
  const plain = await wireOf(api, path, null);
  t.is(plain.headers['content-type'], 'text/javascript; charset=utf-8');
  t.is(plain.headers['cache-control'], 'max-age=31536000, immutable');
  t.is(plain.headers.vary, 'Accept-Encoding');
  t.is(plain.headers['content-encoding'], undefined);
  const hash = createHash('sha256').update(plain.bytes).digest('hex').slice(0, 12);
  t.true(path.includes(`.${hash}.`), 'another content has another name');
  for (const [accepted, coding] of [
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip;q=1.0, br;q=0', 'gzip'],
    ['GZIP', 'gzip'],
    ['br;q=0.0, gzip;q=0', undefined],
    ['identity', undefined],
    ['*', undefined],
  ] as const) {
    const coded = await wireOf(api, path, accepted);
    t.is(coded.headers['content-encoding'], coding, accepted);
    t.is(coded.headers['content-length'], String(coded.bytes.length));
    if (coding !== undefined) t.true(coded.bytes.length < plain.bytes.length / 3);
    t.true(DECODE[coding ?? 'identity'](coded.bytes).equals(plain.bytes), accepted);
  }
});

test('A12, HEAD: a part of /docs has the same headers and no body', async (t) => {
  const api = await startApi(t);
  const path = await partOf(api, 'swagger-ui');
  const [whole, head] = [await wireOf(api, path, 'br'), await wireOf(api, path, 'br', 'HEAD')];
  t.is(head.bytes.length, 0);
  for (const name of ['content-length', 'content-encoding', 'cache-control', 'vary']) {
    t.is(head.headers[name], whole.headers[name], name);
  }
});

test('/docs: what is tried first answers with what there is', async (t) => {
  const api = await startApi(t);
  const { paths } = (await api.call('GET', '/openapi.json', { token: null })).json;
  for (const [path, { get: read }] of Object.entries<Json>(paths)) {
    const isForKey = read?.security.some((one: Json) => 'bearerKey' in one);
    const examples = (read?.parameters ?? []).filter(({ name }: Json) => name !== undefined);
    // Nothing is tried first that opens a WebSocket.
    const isRead = read?.responses['200'] !== undefined;
    if (!isForKey || !isRead || examples.some(({ required }: Json) => required)) continue;
    const filled = examples.filter(({ example }: Json) => example !== undefined);
    const query = filled.map(({ name, example }: Json) => `${name}=${example}`).join('&');
    const answer = await api.call('GET', `${path}?${query}`);
    t.is(answer.status, 200, `${path}?${query}`);
  }
  const [tradable] = paths['/instruments'].get.parameters.filter(
    ({ name }: Json) => name === 'tradable',
  );
  t.is(tradable.example, true, 'an instrument that an order may name');
});

test('A14, A72: /docs: nothing outside may be fetched, framed or run', async (t) => {
  const api = await startApi(t);
  const { headers } = await api.page('GET', '/docs');
  const policy = headers.get('content-security-policy')!.split('; ');
  t.true(policy.includes("default-src 'none'"));
  t.true(policy.includes("frame-ancestors 'none'"));
  for (const directive of policy) {
    t.regex(directive, /^[a-z-]+ ('none'|'self'( data:)?)$/, 'no other origin, nothing inline');
  }
  t.is(headers.get('referrer-policy'), 'no-referrer');
});

test('/docs: other methods, parameters and paths are refused as everywhere', async (t) => {
  const api = await startApi(t);
  t.is((await api.page('HEAD', '/docs')).status, 200);
  t.is((await api.page('POST', '/docs')).headers.get('allow'), 'GET, HEAD, OPTIONS');
  t.is((await api.page('GET', '/docs?url=https://example.com/')).status, 400);
  for (const path of ['/docs/', '/docs/package.json', '/docs/..%2fpackage.json', '/docsx']) {
    t.is((await api.page('GET', path)).json.error.code, 'route_not_found', path);
  }
});

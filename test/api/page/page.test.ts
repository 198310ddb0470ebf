import test from 'ava';
import { pageRoutes } from '../../../api/operations/routes/page.ts';
import { PAGE_POLICY } from '../../../api/page/page-policy.ts';
import { webBundle } from '../../../api/page/web-bundle.ts';
import { type Api, startApi } from '../support.ts';
import { DECODE, wireOf } from '../wire.ts';

const HTML = 'text/html,application/xhtml+xml,*/*;q=0.8';
const FIRST_VIEW_BYTES_MAX = 60_000;

async function documentOf(api: Api): Promise<string> {
  const page = await api.page('GET', '/', { headers: { accept: HTML } });
  if (page.status !== 200) throw new Error(`/ answered ${page.status}`);
  return page.text;
}

/** What the document loads, in its order, relative to it. */
function partsOf(html: string): string[] {
  const linked = [...html.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, url]) => url!);
  return linked.filter((url) => !url.startsWith('data:'));
}

test('A96: / is the page for a browser, and a short text for any other reader', async (t) => {
  const api = await startApi(t);
  const url = new URL('/', api.baseUrl);
  const ask = (method: string, accept: string) => fetch(url, { method, headers: { accept } });
  const page = await ask('GET', HTML);
  t.is(page.status, 200);
  t.is(page.headers.get('content-type'), 'text/html; charset=utf-8');
  t.is(page.headers.get('cache-control'), 'no-store');
  t.regex(await page.text(), /<title>Paperbook<\/title>/);
  const head = await ask('HEAD', HTML);
  t.is(head.status, 200);
  t.is(head.headers.get('content-length'), page.headers.get('content-length'));
  for (const accept of ['*/*', 'application/json']) {
    const answer = await ask('GET', accept);
    t.is(answer.status, 200, accept);
    t.is(answer.headers.get('content-type'), 'text/plain; charset=utf-8');
    t.regex(await answer.text(), /^Paperbook: .*\n.*\/v1\b/s);
  }
  const posted = await ask('POST', HTML);
  t.is(posted.status, 404);
  t.like(await posted.json(), { error: { code: 'route_not_found' } });
  const operator = await fetch(api.adminUrl, { headers: { accept: '*/*' } });
  t.is(operator.status, 404, 'the operator’s listener has the page alone');
  const metrics = await (await fetch(`${api.adminUrl}/metrics`)).text();
  t.regex(metrics, /requests_total\{method="GET",route="\/",status="200"\} 4/);
});

test('A97: the page allows nothing from elsewhere and nothing inline, and has none', async (t) => {
  const api = await startApi(t);
  const page = await api.page('GET', '/', { headers: { accept: HTML } });
  t.is(page.headers.get('content-security-policy'), PAGE_POLICY);
  t.true(PAGE_POLICY.includes("script-src 'self';"));
  for (const directive of PAGE_POLICY.split('; ')) {
    t.regex(directive, /^[a-z-]+ ('none'|'self'( data:)?)$/, 'no other origin, nothing inline');
  }
  t.notRegex(page.text, /<style|\sstyle=|\son\w+=|<script(?![^>]* src=")/);
  const { parts } = await webBundle();
  const sources = [...parts.values()].filter(({ name }) => name.endsWith('.js'));
  t.true(sources.length > 2);
  for (const source of sources) {
    const { bytes } = await source.bodyFor('');
    t.notRegex(Buffer.from(bytes).toString(), /\beval\(|new Function\(/, source.name);
  }
});

test('A98: every part of the page is there, kept for ever, compressed, and is nowhere else', async (t) => {
  const api = await startApi(t);
  const loaded = partsOf(await documentOf(api));
  t.true(loaded.length >= 2);
  for (const url of loaded) t.regex(url, /^web\/[\w-]+\.[0-9A-Z]{8}\.(js|css)$/);
  const { parts } = await webBundle();
  for (const url of loaded) t.true(parts.has(url.slice('web/'.length)), url);
  for (const name of parts.keys()) {
    const path = `/web/${name}`;
    const plain = await wireOf(api, path, null);
    const type = name.endsWith('.css') ? 'text/css' : 'text/javascript';
    t.is(plain.headers['content-type'], `${type}; charset=utf-8`);
    t.is(plain.headers['cache-control'], 'max-age=31536000, immutable');
    t.is(plain.headers['content-security-policy'], PAGE_POLICY);
    const coded = await wireOf(api, path, 'gzip, br');
    t.is(coded.headers['content-encoding'], 'br');
    t.true(DECODE.br(coded.bytes).equals(plain.bytes), name);
    const head = await wireOf(api, path, 'br', 'HEAD');
    t.is(head.headers['content-length'], coded.headers['content-length']);
    t.is(head.bytes.length, 0);
  }
  for (const path of [
    '/web/page.js',
    '/web/page.00000000.js',
    '/web/',
    '/web',
    '/web/../main.ts',
  ]) {
    t.is((await api.page('GET', path)).json.error.code, 'route_not_found', path);
  }
  const [script] = [...parts.keys()];
  t.is((await api.page('POST', `/web/${script}`)).status, 405);
});

test('A98: what the first view loads is below 60 KB compressed, and fetched at once', async (t) => {
  const api = await startApi(t);
  const html = await documentOf(api);
  const sizes = await Promise.all(
    partsOf(html).map(async (url) => (await wireOf(api, `/${url}`, 'gzip')).bytes.length),
  );
  const bytes = sizes.reduce((sum, size) => sum + size, html.length);
  t.true(bytes < FIRST_VIEW_BYTES_MAX, `${bytes} bytes`);
  t.log(`${bytes} bytes`);
  // A part that the script imports, and no link names, would be one more round trip.
  const { parts, pages } = await webBundle();
  const named = new Set(partsOf(html).map((url) => url.slice('web/'.length)));
  for (const name of [pages.page.script, ...pages.page.imported]) {
    const text = Buffer.from((await parts.get(name)!.bodyFor('')).bytes).toString();
    for (const [, other] of text.matchAll(/(?:from|import)"\.\/([^"]+)"/g))
      t.true(named.has(other!), other);
  }
});

test('A98: views and charts are parts of their own, which the first view does without', async (t) => {
  const api = await startApi(t);
  const { parts } = await webBundle();
  const loaded = partsOf(await documentOf(api)).join();
  for (const view of ['market', 'portfolio', 'boards', 'trader', 'backtest', 'settings']) {
    const [part] = [...parts.keys()].filter((name) => name.startsWith(`${view}.`));
    t.truthy(part, view);
    t.false(loaded.includes(part!), view);
  }
});

test('A96: the page of the operator is another document of the same parts', async (t) => {
  const [document] = pageRoutes('operator');
  const html = (await document!.run({} as never, {} as never)) as string;
  const { parts } = await webBundle();
  t.regex(html, /<title>Paperbook operator<\/title>/);
  t.regex(html, /src="web\/operator\.\w+\.js"/);
  for (const url of partsOf(html)) t.true(parts.has(url.slice('web/'.length)), url);
});

import test from 'ava';
import { startApi } from './support.ts';

test('/docs: a page for anyone, all of it from this server', async (t) => {
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
  const script = await api.page('GET', '/docs/start.js');
  t.regex(script.text, /url: 'v1\/openapi\.json'/);
  t.regex(script.text, /validatorUrl: null/);
  const bundle = await api.page('GET', '/docs/swagger-ui-bundle.js');
  t.is(bundle.headers.get('content-type'), 'text/javascript; charset=utf-8');
  t.is(bundle.headers.get('cache-control'), 'max-age=86400');
});

test('/docs: nothing outside may be fetched, framed or run', async (t) => {
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

test('/: a browser is sent to /docs, anyone else gets the 404 of an unknown path', async (t) => {
  const api = await startApi(t);
  const url = new URL('/', api.baseUrl);
  const ask = (method: string, accept: string) => {
    return fetch(url, { method, headers: { accept }, redirect: 'manual' });
  };
  const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
  const sent = await ask('GET', accept);
  t.is(sent.status, 302);
  t.is(new URL(sent.headers.get('location')!, url).pathname, '/docs');
  t.is(sent.headers.get('cache-control'), 'no-store');
  t.is(sent.headers.get('x-content-type-options'), 'nosniff');
  t.regex(sent.headers.get('content-security-policy')!, /^default-src 'none'/);
  t.regex(await sent.text(), /<a href="docs">/);
  t.is((await ask('HEAD', accept)).status, 302);
  const followed = await fetch(url, { headers: { accept } });
  t.regex(await followed.text(), /swagger-ui/);
  for (const [method, other] of [
    ['GET', '*/*'],
    ['GET', 'application/json'],
    ['POST', accept],
  ] as const) {
    const answer = await ask(method, other);
    t.is(answer.status, 404, `${method} ${other}`);
    t.like(await answer.json(), { error: { code: 'route_not_found' } });
  }
  const metrics = await (await fetch(`${api.adminUrl}/metrics`)).text();
  t.regex(metrics, /requests_total\{method="GET",route="\/",status="302"\} 3/);
});
